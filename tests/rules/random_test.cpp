// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random programs on more traced ranks than processes and the other way round: whoever replays them, the result is the
// same to the last byte, and the path has the properties that every path must have.
#include "analysis/report/calls_divided.hpp"
#include "analysis/report/computed_time.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/inclusive.hpp"
#include "formats/result/checksum.hpp"
#include "formats/result/segments.hpp"
#include "formats/support/error.hpp"
#include "replayer/attribute/attribute.hpp"
#include "replayer/attribute/segments_file.hpp"
#include "replayer/restore/tiers.hpp"
#include "tests/builder/replayed.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace critpath::tests
{
namespace
{

using model::SegmentKind;
using replayer::Rules;

/// A program of a few rounds on `ranks` ranks, simulated with transfers of 3 us, so that its times are possible.
class Simulation
{
public:
    Simulation(Program& program, std::uint32_t seed) : program_(program), random_(seed), now_(ranks())
    {
        for (int r = 0; r < ranks(); ++r) {
            now_[at(r)] = draw(5);
            program_[r].begin(now_[at(r)]);
        }
    }

    void run(int rounds)
    {
        teach();
        for (int i = 0; i < rounds; ++i) {
            for (int r = 0; r < ranks(); ++r)
                compute(r);
            switch (draw(5)) {
            case 0:
                ring();
                break;
            case 1:
                all_to_all();
                break;
            case 2:
                broadcast();
                break;
            case 3:
                pairs([this] { return draw(2) == 0; });
                break;
            default:
                reduce();
                break;
            }
        }
        for (int r = 0; r < ranks(); ++r)
            program_[r].finish(now_[at(r)] + draw(20));
    }

private:
    static constexpr std::int64_t latency = 3;

    [[nodiscard]] int ranks() const { return program_.ranks(); }
    static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
    int draw(int below) { return static_cast<int>(random_() % static_cast<std::uint32_t>(below)); }

    void sample(int r, std::int64_t time, const char* function, std::int64_t weight)
    {
        program_[r].sample(time, function, weight);
        program_[r].counts({{"instructions", 1000 + draw(5000)}, {"cache-misses", draw(3)}});
    }

    void compute(int r)
    {
        const std::int64_t time = 1 + draw(200);
        if (draw(3) == 0)
            for (std::int64_t t = 0; t < time; t += 7)
                sample(r, now_[at(r)] + t, draw(2) == 0 ? "f" : "g", 7);
        now_[at(r)] += time;
    }

    Span spend(int r, std::int64_t time)
    {
        const Span span{now_[at(r)], now_[at(r)] + time};
        if (draw(3) == 0)
            for (std::int64_t t = 0; t < time; t += 2)
                sample(r, now_[at(r)] + t, draw(2) == 0 ? "copy" : "poll", 2);
        now_[at(r)] = span.leave;
        return span;
    }

    /// What messages and collectives take while everybody has a processor.
    void teach()
    {
        pairs([] { return true; });
        all_to_all();
        may_be_preempted_ = true;
    }

    /// Seldom, somebody has no processor when all are there: until when.
    std::int64_t preempted(int r, std::int64_t begin)
    {
        if (!may_be_preempted_ || ranks() == 1 || draw(4) != 0)
            return begin;
        const std::int64_t end = begin + 80 + draw(200);
        program_[r].off({begin, end}, true);
        return end;
    }

    void ring()
    {
        std::vector<std::int64_t> sent(now_.size());
        std::vector<Request> receives(now_.size());
        for (int r = 0; r < ranks(); ++r) {
            receives[at(r)] = program_[r].irecv(spend(r, 1), (r + ranks() - 1) % ranks());
            compute(r);
            sent[at(r)] = now_[at(r)];
            program_[r].send(spend(r, 1), (r + 1) % ranks());
        }
        for (int r = 0; r < ranks(); ++r) {
            const std::int64_t arrival = sent[at((r + ranks() - 1) % ranks())] + latency;
            program_[r].waitall(spend(r, std::max<std::int64_t>(1, arrival - now_[at(r)])), {receives[at(r)]});
        }
    }

    template <class IsSync>
    void pairs(IsSync is_sync)
    {
        for (int r = 0; r + 1 < ranks(); r += 2) {
            const bool sync = is_sync();
            const std::int64_t sent = now_[at(r)];
            std::int64_t start = sync ? std::max(sent, now_[at(r + 1)]) : sent;
            if (sync)
                start = preempted(r + draw(2), start);
            if (sync)
                program_[r].ssend(spend(r, start + latency - sent), r + 1, 100);
            else
                program_[r].send(spend(r, 1), r + 1, 100);
            program_[r + 1].recv(spend(r + 1, std::max<std::int64_t>(1, start + latency - now_[at(r + 1)])), r, 100);
        }
    }

    void all_to_all()
    {
        const std::int64_t last = preempted(draw(ranks()), *std::max_element(now_.begin(), now_.end()));
        for (int r = 0; r < ranks(); ++r)
            program_[r].collective(FunctionId::MPI_Allreduce, spend(r, last + latency - now_[at(r)]));
    }

    void broadcast()
    {
        const int root = draw(ranks());
        const std::int64_t sent = now_[at(root)];
        for (int r = 0; r < ranks(); ++r) {
            const std::int64_t time = r == root ? 1 : std::max<std::int64_t>(1, sent + latency - now_[at(r)]);
            program_[r].rooted(FunctionId::MPI_Bcast, spend(r, time), root);
        }
    }

    void reduce()
    {
        const int root = draw(ranks());
        const std::int64_t last = *std::max_element(now_.begin(), now_.end());
        for (int r = 0; r < ranks(); ++r)
            program_[r].rooted(FunctionId::MPI_Reduce, spend(r, r == root ? last + latency - now_[at(r)] : 1), root);
    }

    Program& program_;
    std::mt19937 random_;
    std::vector<std::int64_t> now_;
    bool may_be_preempted_ = false;
};

void expect_a_path(const Replayed& r)
{
    std::int64_t time = 0;
    std::vector<std::int64_t> off_path_ns = r.profile.computed_ns;
    for (const model::Segment& segment : r.segments) {
        EXPECT_EQ(segment.begin, time);
        EXPECT_GT(segment.end, segment.begin);
        time = segment.end;
        if (static_cast<SegmentKind>(segment.kind) == SegmentKind::Compute)
            off_path_ns.at(segment.location) -= segment.end - segment.begin;
    }
    EXPECT_THAT(off_path_ns, testing::Each(testing::Ge(0)));
    EXPECT_EQ(time, r.fact("makespan_ns"));
    EXPECT_EQ(r.fact("clock_violations"), 0);
    std::int64_t rows = 0;
    for (const model::CallPathTime& t : r.profile.path) {
        EXPECT_GE(t.ns, 0);
        rows += t.ns;
    }
    EXPECT_EQ(rows, time);
}

/// Of what was sampled between calls, each sample counts once: on the path, or beside it. Where there is one rank, all
/// that it computes is on the path.
void expect_all_samples(const Replayed& r, int ranks)
{
    const auto is_between_calls = [&](const model::CallPathTime& t) {
        const std::string& name = r.profile.row(t.call_path).name;
        return name == "f" || name == "g";
    };
    std::map<std::uint32_t, std::int64_t> beside;  // by call path
    for (const model::CallPathTime& t : r.profile.totals)
        if (is_between_calls(t))
            beside[t.call_path.value] += static_cast<std::int64_t>(t.samples);
    std::int64_t on_path = 0;
    for (const model::CallPathTime& t : r.profile.path)
        if (is_between_calls(t)) {
            beside[t.call_path.value] -= static_cast<std::int64_t>(t.samples);
            on_path += static_cast<std::int64_t>(t.samples);
        }
    for (const auto& [call_path, samples] : beside)
        if (ranks == 1)
            EXPECT_EQ(samples, 0) << r.profile.row({call_path}).name;
        else
            EXPECT_GE(samples, 0) << r.profile.row({call_path}).name;
    EXPECT_GT(on_path, 0);
}

/// What the path waits for in calls, and has been under way before they were entered.
std::int64_t under_way_before_calls_ns(const Program& program, const Replayed& r)
{
    std::int64_t sum = 0;
    for (const model::Segment& segment : r.segments) {
        const auto kind = static_cast<SegmentKind>(segment.kind);
        if (kind != SegmentKind::Transfer && kind != SegmentKind::Collective && kind != SegmentKind::Delay)
            continue;
        const std::int64_t begin = segment.begin + r.fact("begin_ns"), end = segment.end + r.fact("begin_ns");
        const model::ProcessTrace trace = program.trace(static_cast<int>(segment.location));
        const model::Calls& calls = trace.locations[0].calls;
        std::int64_t enter = end;
        for (std::size_t i = 0; i < calls.size(); ++i)
            if (!calls.is_point(i) && calls.enter(i).count() < end && end <= calls.leave(i).count())
                enter = calls.enter(i).count();
        sum += std::max<std::int64_t>(0, enter - begin);
    }
    return sum;
}

/// Of what all ranks do, the path is a part; so it is of each call path with those below it. And what they do in calls,
/// or lack a processor there, is as long as the calls, with what was under way before.
void expect_path_within_totals(const Program& program, const Replayed& r)
{
    const model::Profile& profile = r.profile;
    std::vector<std::int64_t> path(profile.call_paths.size(), 0), all = path;
    for (const model::CallPathTime& t : profile.path)
        path[t.call_path.value] += t.ns;
    for (const model::CallPathTime& t : profile.totals) {
        EXPECT_GE(t.in_calls_ns, 0);
        EXPECT_GE(t.ns, t.in_calls_ns);
        all[t.call_path.value] += t.ns - t.in_calls_ns;
    }
    std::int64_t calls_ns = 0;
    for (std::size_t i = path.size(); i-- > 0;) {
        const model::CallPath& at = profile.call_paths[i];
        const model::Row& row = profile.rows[at.row.value];
        // Threads do not know these of themselves.
        const bool is_of_path = row.name == "[not sampled]" || row.name == "[start delay]" || row.name == "[transfer]";
        if (!is_of_path) {
            EXPECT_GE(all[i], path[i]) << row.name;
        }
        calls_ns += row.kind == model::RowKind::Mpi ? all[i] : 0;
        if (at.parent.valid()) {
            path[at.parent.value] += path[i];
            all[at.parent.value] += all[i];
        }
    }
    for (const model::ProcessTotals& process : profile.processes)
        calls_ns -= process.mpi_ns;
    EXPECT_EQ(calls_ns, under_way_before_calls_ns(program, r));
}

/// And so it is of the rows that cpreport shows.
void expect_path_within_rows(const Replayed& r)
{
    model::Profile profile = r.profile;
    report::divide_calls(profile, report::InsideOfCalls::OfTheCall);
    int rows = 0;
    for (const report::Hotspots& hotspots : {report::by_function(profile), report::by_module(profile),
                                             report::by_function_inclusive(profile), report::by_call_path(profile)})
        for (const report::Hotspot& item : hotspots.items)
            if (item.total_ns) {
                ++rows;
                EXPECT_GE(*item.total_ns, item.path_ns) << item.name;
                EXPECT_NE(item.name, "[transfer]");
            }
    EXPECT_GT(rows, 0);
    const report::ComputedTime computed(profile);
    for (std::uint32_t rank = 0; rank < computed.ranks(); ++rank)
        EXPECT_GE(computed.of_rank(rank), computed.on_path(rank));
}

/// For how long whom a segment is of had no processor there.
std::int64_t preempted_ns(const Program& program, const model::Segment& segment)
{
    const model::ProcessTrace trace = program.trace(static_cast<int>(segment.location));
    std::int64_t ns = 0;
    for (const model::OffProcessor& off : trace.locations[0].off)
        ns += std::max<std::int64_t>(0, std::min(off.end.count(), segment.end) -
                                            std::max(off.begin.count(), segment.begin));
    return ns;
}

/// With transfers of 3 us and local calls of 1 us, anything inside MPI that is longer was a wait, or the lack of a
/// processor.
void expect_no_wait(const Program& program, const Replayed& r)
{
    for (model::Segment segment : r.segments) {
        const auto kind = static_cast<SegmentKind>(segment.kind);
        if (kind != SegmentKind::Compute && kind != SegmentKind::StartDelay) {
            segment.begin += r.fact("begin_ns");
            segment.end += r.fact("begin_ns");
            EXPECT_LE(segment.end - segment.begin - preempted_ns(program, segment), 6'000) << model::name(kind);
        }
    }
}

class RandomPrograms : public testing::TestWithParam<std::uint32_t>
{
};

TEST_P(RandomPrograms, AnyNumberOfProcessesGivesTheSameBytes)
{
    const std::uint32_t seed = GetParam();
    for (const int ranks : {1, 2, 4, 7}) {
        SCOPED_TRACE(fmt::format("seed {}, {} ranks", seed, ranks));
        Program program(ranks);
        Simulation(program, seed).run(12);
        for (const Rules rules : {Rules::Arrival, Rules::Enter, Rules::Paper}) {
            const Replayed together = replay(load(program, MPI_COMM_WORLD, rules));
            int rank = 0;
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            if (rank != 0)
                continue;
            const Replayed alone = replay_alone(program, rules);
            expect_a_path(alone);
            expect_all_samples(alone, ranks);
            expect_path_within_totals(program, alone);
            expect_path_within_rows(alone);
            if (rules == Rules::Arrival)
                expect_no_wait(program, alone);
            EXPECT_THAT(differences(together, alone), testing::IsEmpty());
        }
    }
}

/// In parts, and however the trace is divided: the walk on one process is what all of them come to.
TEST_P(RandomPrograms, AllWaysToWalkComeToTheSamePath)
{
    const std::uint32_t seed = GetParam();
    for (const int ranks : {2, 7}) {
        Program program(ranks);
        Simulation(program, seed).run(12);
        const auto loaded = load(program, MPI_COMM_WORLD, Rules::Arrival);
        const Resolved resolved = resolve(loaded);
        ASSERT_TRUE(replayer::all_lead_back(loaded, replayer::own_jumps(loaded, resolved.predecessors)));
        const Replayed gathered = walk(loaded, resolved, replayer::gather_and_walk);
        const std::pair<const char*, replayer::WalkPath> ways[] = {{"token", replayer::pass_token},
                                                                   {"segments", replayer::walk_segments},
                                                                   {"lifting", replayer::lift},
                                                                   {"as fits", replayer::walk_as_fits}};
        for (const auto& [name, way] : ways) {
            SCOPED_TRACE(fmt::format("seed {}, {} ranks, {}", seed, ranks, name));
            const Replayed walked = walk(loaded, resolved, way);
            EXPECT_THAT(differences(walked, gathered), testing::IsEmpty());
        }
    }
}

#ifdef CRITPATH_SANITIZED
constexpr std::uint32_t random_programs = 6;
#else
constexpr std::uint32_t random_programs = 20;
#endif
INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, testing::Range(1U, 1 + random_programs));

TEST(SegmentsFile, HoldsThePathWhoeverWroteIt)
{
    Program program(4);
    Simulation(program, 77).run(20);
    const auto loaded = load(program, MPI_COMM_WORLD, Rules::Arrival);
    const auto expected = replay_alone(program, Rules::Arrival);
    std::array<char, 256> name{};
    if (loaded.rank == 0)
        fmt::format_to_n(name.data(), name.size() - 1, "{}/segments-{}",
                         std::filesystem::temp_directory_path().string(), getpid());
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    const std::filesystem::path trace = name.data();

    const std::int64_t makespan = expected.fact("makespan_ns");
    const std::size_t share = expected.segments.size() / static_cast<std::size_t>(loaded.size);
    const bool is_last = loaded.rank + 1 == loaded.size;
    const std::size_t first = share * static_cast<std::size_t>(loaded.rank);
    const std::span segments(expected.segments);
    const auto header =
        result::make_header(result::segments_format, segments.size(), expected.fact("begin_ns"), makespan);
    const auto visit_share = [&](const replayer::VisitBlock& visit) {
        visit(first, segments.subspan(first, is_last ? std::dynamic_extent : share));
    };
    const std::int64_t sum = replayer::write_segments(MPI_COMM_WORLD, trace, header, visit_share);
    EXPECT_EQ(sum, static_cast<std::int64_t>(result::checksum(segments, 0)));  // however it is divided
    if (loaded.rank == 0) {
        EXPECT_THROW(result::Segments{trace}, Failure);           // not yet
        EXPECT_THROW(replayer::publish_records(trace), Failure);  // the others are missing
    }
    MPI_Barrier(MPI_COMM_WORLD);
    replayer::write_segments(MPI_COMM_WORLD, trace, header, visit_share);
    replayer::write_attributions(MPI_COMM_WORLD, trace, 0, makespan, {});
    replayer::write_counts(MPI_COMM_WORLD, trace, 0, makespan, 1, {});
    replayer::write_totals(MPI_COMM_WORLD, trace, 0, makespan, {});
    replayer::write_computed(MPI_COMM_WORLD, trace, 0, makespan, {});
    if (loaded.rank == 0)
        replayer::publish_records(trace);
    MPI_Barrier(MPI_COMM_WORLD);
    {
        const result::Segments file(trace);
        ASSERT_EQ(file.records().size(), expected.segments.size());
        EXPECT_EQ(std::memcmp(file.records().data(), expected.segments.data(),
                              expected.segments.size() * sizeof(model::Segment)),
                  0);
        EXPECT_EQ(file.header().makespan_ns, makespan);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (loaded.rank == 0) {
        replayer::write_segments(MPI_COMM_SELF, trace, result::make_header(result::segments_format, 0, 0, makespan),
                                 [](const replayer::VisitBlock&) {});
        const auto files = [&] {
            const std::filesystem::directory_iterator entries(trace / "critpath");
            return std::distance(begin(entries), end(entries));
        };
        EXPECT_EQ(files(), 6);
        replayer::discard_records(trace);
        EXPECT_EQ(files(), 5);
        std::filesystem::remove_all(trace);
    }
}

TEST(SegmentsFile, FailsOnAllProcessesIfItCannotBeWritten)
{
    EXPECT_THROW(replayer::write_segments(MPI_COMM_WORLD, "/proc/nowhere",
                                          result::make_header(result::segments_format, 0, 0, 0),
                                          [](const replayer::VisitBlock&) {}),
                 Failure);
    EXPECT_THROW(replayer::write_attributions(MPI_COMM_WORLD, "/proc/nowhere", 0, 0, {}), Failure);
    EXPECT_THROW(replayer::write_counts(MPI_COMM_WORLD, "/proc/nowhere", 0, 0, 1, {}), Failure);
    EXPECT_THROW(replayer::write_totals(MPI_COMM_WORLD, "/proc/nowhere", 0, 0, {}), Failure);
    EXPECT_THROW(replayer::write_computed(MPI_COMM_WORLD, "/proc/nowhere", 0, 0, {}), Failure);
}

/// The last process may write files of 4 KiB only.
TEST(SegmentsFile, FailsOnAllProcessesIfOneCannotWriteAllOfItsPart)
{
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int of_first = getpid();
    MPI_Bcast(&of_first, 1, MPI_INT, 0, MPI_COMM_WORLD);
    const auto trace = std::filesystem::temp_directory_path() / fmt::format("critpath-segments-{}", of_first);
    const std::vector<model::ComputedParts> parts(1000);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
    if (rank == size - 1) {
        const rlimit small = {4096, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
    }
    std::string words;
    try {
        replayer::write_computed(MPI_COMM_WORLD, trace, 0, 0, parts);
    } catch (const Failure& failure) {
        words = failure.what();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_THAT(words, testing::HasSubstr("computed.bin.part: cannot be written: File too large"));
    if (rank == 0)
        std::filesystem::remove_all(trace);
}

}  // namespace
}  // namespace critpath::tests
