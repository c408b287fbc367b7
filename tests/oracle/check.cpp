// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/check.hpp"

#include "replayer/clocks/tighten.hpp"
#include "replayer/load/load.hpp"
#include "tests/oracle/grammar/sketch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>

#include <unistd.h>

namespace critpath::oracle
{

namespace
{

namespace fs = std::filesystem;

constexpr const char* all_messages_used[] = {"unmatched_sends",        "unmatched_receives",     "unfinished_requests",
                                             "incomplete_collectives", "mismatched_collectives", "clock_violations",
                                             "ignored_records"};

/// In memory, if there is such a place: half of the time goes into files otherwise.
fs::path scratch_place()
{
    const char* in_memory = "/dev/shm";
    const bool is_wanted_elsewhere = std::getenv("TMPDIR") != nullptr;
    return !is_wanted_elsewhere && access(in_memory, W_OK) == 0 ? fs::path(in_memory) : fs::temp_directory_path();
}

class ScratchDirectory
{
public:
    ScratchDirectory()
    {
        std::string pattern = (scratch_place() / "critpath-oracle-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr)
            throw std::runtime_error("cannot make a directory like " + pattern);
        path_ = pattern;
    }
    ~ScratchDirectory() { fs::remove_all(path_); }
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;

    [[nodiscard]] const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

/// One chain from the first moment to the last.
std::string broken_chain(const tests::Replayed& replayed, std::int64_t makespan)
{
    std::int64_t time = 0;
    for (const model::Segment& segment : replayed.segments) {
        if (segment.begin != time || segment.end <= segment.begin)
            return fmt::format("the path is broken at {} ns", time);
        time = segment.end;
    }
    if (time != makespan || replayed.fact("makespan_ns") != makespan)
        return fmt::format("the path ends at {} ns, the program at {}", time, makespan);
    return {};
}

/// By one walk back over the whole path. `unseen`: whether decisions that take no time are doubtful.
std::int64_t led_by_doubt(const tests::Replayed& replayed, bool unseen)
{
    constexpr std::int64_t far_from_critical = 50;
    constexpr std::int64_t leads_all = INT64_MAX / far_from_critical;
    const std::vector<model::Segment>& path = replayed.segments;
    const std::int64_t clock_error = replayed.fact("clock_uncertainty_ns");
    std::int64_t ns = 0;
    std::int64_t length = 0;  // of the last decision, if it is doubtful
    std::int64_t led = 0;     // by it
    const auto decide = [&](std::int64_t next) {
        ns += led < far_from_critical * length ? led : 0;
        length = next;
        led = 0;
    };
    for (std::size_t i = path.size(); i-- > 0;) {
        const model::Segment& segment = path[i];
        const auto kind = static_cast<model::SegmentKind>(segment.kind);
        const std::int64_t own = segment.end - segment.begin;
        if (i + 1 < path.size() && path[i + 1].location != segment.location && !model::is_jump(path[i + 1]))
            decide(unseen ? leads_all : 0);
        if (const auto confidence = static_cast<model::Confidence>(segment.low_confidence);
            model::is_doubtful(confidence)) {
            const bool is_poll = functions::is_poll(
                functions::semantic_class(replayed.profile.row(model::CallPathId{segment.call}).name));
            decide(is_poll ? leads_all : own + (confidence == model::Confidence::WithinClocks ? clock_error : 0));
            ns += own;
        } else if (model::is_jump(segment) || kind == model::SegmentKind::Delay) {
            decide(0);
        } else {
            led += own;
        }
    }
    decide(0);
    return ns;
}

std::string wrong_doubt(const tests::Replayed& replayed)
{
    const std::int64_t found = replayed.fact("led_by_doubt_ns");
    const std::int64_t least = led_by_doubt(replayed, false), most = led_by_doubt(replayed, true);
    return least <= found && found <= most
               ? ""
               : fmt::format("doubt leads {} ns of the path, which should be {} to {}", found, least, most);
}

std::string anomaly(const tests::Replayed& replayed, std::span<const char* const> all_used)
{
    for (const char* key : all_used)
        if (replayed.fact(key) != 0)
            return fmt::format("{} is {}", key, replayed.fact(key));
    return {};
}

using replayer::rules::Calibration;
using replayer::rules::FastestMessages;

/// The size of the collective operations of a bucket.
std::uint64_t collective_size(int bucket)
{
    const auto found = std::ranges::find(collective_sizes, bucket, replayer::rules::size_bucket);
    return found == collective_sizes.end() ? usual_bytes : *found;
}

/// Every call costs the same, but for collectives that no member can leave before the end.
std::int64_t call_cost(FunctionId function, int bucket, const Machine& machine)
{
    const bool to_the_end = (function == FunctionId::MPI_Scan && bucket > 0) || function == FunctionId::MPI_Init;
    return (to_the_end ? machine.completion(collective_size(bucket)) : machine.call) * machine.tick_ns;
}

/// Made once a machine: that takes longer than a program.
const replayer::rules::CallCosts& call_costs(const Machine& machine)
{
    static std::map<std::array<std::int64_t, 4>, replayer::rules::CallCosts> made;
    const auto [found, is_new] = made.try_emplace(
        {machine.tick_ns, machine.call, machine.collective, static_cast<std::int64_t>(machine.bytes_a_tick)});
    replayer::rules::CallCosts& costs = found->second;
    if (!is_new)
        return costs;
    for (std::uint16_t number = 0; number < static_cast<std::uint16_t>(FunctionId::count); ++number) {
        const FunctionId function{number};
        for (int bucket = 0; bucket < replayer::rules::size_buckets; ++bucket) {
            replayer::rules::Durations durations;
            durations.add(model::Ns{call_cost(function, bucket, machine)});
            costs.set({function, bucket}, durations);
        }
    }
    return costs;
}

replayer::rules::TransferTime transfer_time(const Machine& machine, bool same_node)
{
    FastestMessages fastest;
    const int other = same_node ? 0 : machine.ranks_a_node;
    for (std::uint64_t bytes = 1; bytes <= 1ULL << 20; bytes *= 2)
        for (const std::uint64_t size : {bytes - 1, bytes})
            fastest[static_cast<std::size_t>(replayer::rules::size_bucket(size))].add(
                machine.transfer(0, other, size) * machine.tick_ns, size);
    return replayer::rules::TransferTime(fastest);
}

/// Made once a machine.
const replayer::rules::CollectiveTimes& collective_times(const Machine& machine)
{
    static std::map<std::array<std::int64_t, 3>, replayer::rules::CollectiveTimes> made;
    const auto [found, is_new] =
        made.try_emplace({machine.tick_ns, machine.collective, static_cast<std::int64_t>(machine.bytes_a_tick)});
    replayer::rules::CollectiveTimes& times = found->second;
    constexpr int most_members_bucket = 8;
    for (std::uint16_t number = 0; is_new && number < static_cast<std::uint16_t>(FunctionId::count); ++number)
        for (const std::uint64_t size : collective_sizes)
            for (int members = 0; members <= most_members_bucket; ++members)
                times.set({FunctionId{number}, replayer::rules::size_bucket(size), members},
                          model::Ns{machine.completion(size) * machine.tick_ns});
    return times;
}

}  // namespace

Machine as_told(Machine machine, Weights weights)
{
    if (weights == Weights::TwiceAsFast) {
        machine.latency /= 2;
        machine.bytes_a_tick *= 2;
        machine.collective /= 2;
    } else if (weights == Weights::HalfAsFast) {
        machine.latency *= 2;
        machine.bytes_a_tick /= 2;
        machine.collective *= 2;
    }
    return machine;
}

void tell(const Machine& machine, Calibration& calibration)
{
    calibration.calls = call_costs(machine);
    calibration.transfer = {transfer_time(machine, true), transfer_time(machine, false)};
    calibration.eager_limit.fill(static_cast<std::int64_t>(machine.eager_limit));
    calibration.local_limit.fill(static_cast<std::int64_t>(std::min(machine.local_limit, machine.eager_limit)));
    calibration.collectives = collective_times(machine);
}

replayer::Replay load(MPI_Comm comm, const std::function<void(const std::string& directory)>& write)
{
    replayer::Replay replay;
    replay.comm = comm;
    MPI_Comm_rank(comm, &replay.rank);
    MPI_Comm_size(comm, &replay.size);
    std::optional<ScratchDirectory> directory;
    std::array<char, 4096> path{};
    if (replay.rank == 0) {
        directory.emplace();
        write(directory->path());
        directory->path().string().copy(path.data(), path.size() - 1);
    }
    MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, comm);
    replay.trace = path.data();
    const replayer::load::Summary summary = replayer::load::load(fs::path(path.data()) / "traces.otf2", replay);
    replayer::clocks::Findings found = replayer::clocks::compare(replay, summary.clock_domains_known);
    replayer::clocks::tighten(replay, found);
    replayer::load::complete(replay);
    MPI_Barrier(comm);  // before the directory goes
    return replay;
}

replayer::Replay load(const Program& program, const Machine& machine, const Execution& execution, const Clocks& clocks,
                      MPI_Comm comm)
{
    return load(comm,
                [&](const std::string& directory) { write_archive(directory, program, machine, execution, clocks); });
}

tests::Replayed analyze(const Program& program, const Machine& machine, const Execution& execution, Weights weights,
                        replayer::Rules rules, const Clocks& clocks)
{
    replayer::Replay replay = load(program, machine, execution, clocks);
    replay.rules = rules;
    if (weights == Weights::Learned)
        return tests::replay(replay);
    return tests::replay(replay, [&](Calibration& calibration) { tell(as_told(machine, weights), calibration); });
}

std::string broken(const tests::Replayed& replayed, std::int64_t makespan, std::span<const char* const> all_used)
{
    const std::string chain = broken_chain(replayed, makespan);
    if (!chain.empty())
        return chain;
    const std::string doubt = wrong_doubt(replayed);
    return doubt.empty() ? anomaly(replayed, all_used) : doubt;
}

Outcome check(const Recipe& recipe, const Machine& machine, Weights weights, replayer::Rules rules)
{
    const Program program = expand(recipe);
    Outcome outcome;
    try {
        const Execution execution = simulate(program, machine);
        const tests::Replayed replayed = analyze(program, machine, execution, weights, rules);
        outcome.verdict = judge(execution, machine, replayed.segments);
        outcome.verdict.led_by_doubt = replayed.fact("led_by_doubt_ns");
        outcome.broken = broken(replayed, outcome.verdict.makespan, all_messages_used);
    } catch (const std::exception& error) {
        outcome.broken = error.what();
    }
    return outcome;
}

}  // namespace critpath::oracle
