// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/builder/replayed.hpp"

#include "replayer/attribute/attribute.hpp"
#include "replayer/exchange.hpp"
#include "replayer/load/load.hpp"
#include "replayer/pair/call_costs.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string_view>

namespace critpath::tests
{

namespace
{

std::string place(const model::Segment& segment)
{
    const auto kind = static_cast<model::SegmentKind>(segment.kind);
    const std::string where = segment.origin() == segment.location
                                  ? fmt::format("{}", segment.location)
                                  : fmt::format("{}>{}", segment.origin(), segment.location);
    return fmt::format("{}{} {}", model::name(kind), segment.low_confidence != 0 ? "?" : "", where);
}

std::string us_text(std::int64_t ns)
{
    return ns % 1000 == 0 ? fmt::format("{}", ns / 1000) : fmt::format("{:.3f}", static_cast<double>(ns) / 1000);
}

std::int64_t sum_us(const model::Profile& profile, const std::vector<model::CallPathTime>& times,
                    const std::string& name)
{
    std::int64_t ns = 0;
    for (const model::CallPathTime& time : times)
        if (profile.row(time.call_path).name == name)
            ns += time.ns;
    return ns / 1000;
}

std::string words_of(const model::Profile& profile, const std::vector<model::CallPathTime>& times)
{
    std::map<std::string, std::int64_t> sums;
    for (const model::CallPathTime& time : times) {
        std::string name;
        for (model::CallPathId c = time.call_path; c.valid(); c = profile.call_paths[c.value].parent)
            name = profile.row(c).name + (name.empty() ? "" : ";" + name);
        sums[name] += time.ns;
    }
    std::string words;
    for (const auto& [name, ns] : sums)
        words += fmt::format("{}{}: {}", words.empty() ? "" : " | ", name, ns / 1000);
    return words;
}

using StretchWords = std::array<std::int64_t, sizeof(model::Stretch) / sizeof(std::int64_t)>;

struct Numbered {
    std::uint64_t number;
    model::Segment segment;
};

/// On process 0.
std::vector<model::Segment> all_segments(const replayer::Replay& replay, const replayer::Predecessors& predecessors,
                                         const replayer::Path& path, const replayer::Attributed& attributed)
{
    std::vector<std::vector<Numbered>> to(static_cast<std::size_t>(replay.size));
    replayer::for_each_block(replay, predecessors, path, attributed.numbers, attributed.call_paths,
                             [&](std::uint64_t first, std::span<const model::Segment> segments) {
                                 for (const model::Segment& segment : segments)
                                     to[0].push_back({first++, segment});
                             });
    const auto received = replayer::exchange(replay.comm, to).items;
    std::vector<model::Segment> all(received.size());
    for (const Numbered& numbered : received)
        all[numbered.number] = numbered.segment;
    return all;
}

/// On process 0, in the order of the processes.
template <class Record>
std::vector<Record> all_of(const replayer::Replay& replay, const std::vector<Record>& own)
{
    std::vector<std::vector<Record>> to(static_cast<std::size_t>(replay.size));
    to[0] = own;
    return replayer::exchange(replay.comm, to).items;
}

/// On process 0.
model::CountTable all_counts(const replayer::Replay& replay, std::span<const model::CountTable> own)
{
    const std::size_t events = replay.definitions.has_samples ? replay.definitions.counted.size() : 0;
    std::vector<std::vector<std::int64_t>> to(static_cast<std::size_t>(replay.size));
    for (const model::CountTable& table : own) {
        const std::span<const std::int64_t> mine = table.records().words();
        to[0].insert(to[0].end(), mine.begin(), mine.end());
    }
    const std::vector<std::int64_t> words = replayer::exchange(replay.comm, to).items;
    const model::CountRecords records(words, events);
    model::CountTable all(events);
    for (std::size_t i = 0; i < records.size(); ++i)
        all.push_back(records.interval(i), records.counts(i));
    return all;
}

template <class Record>
std::string_view bytes_of(const std::vector<Record>& records)
{
    return {reinterpret_cast<const char*>(records.data()), records.size() * sizeof(Record)};
}

}  // namespace

std::string Replayed::path() const
{
    std::string words;
    for (std::size_t i = 0; i < segments.size();) {
        const std::string where = place(segments[i]);
        const std::int64_t begin = segments[i].begin;
        const bool is_jump = segments[i].origin() != segments[i].location;
        std::size_t next = i + 1;
        while (!is_jump && next < segments.size() && place(segments[next]) == where)
            ++next;
        words += fmt::format("{}{}: {}-{}", words.empty() ? "" : " | ", where, us_text(begin),
                             us_text(segments[next - 1].end));
        i = next;
    }
    return words;
}

std::int64_t Replayed::path_us(const std::string& row) const
{
    return sum_us(profile, profile.path, row);
}

std::int64_t Replayed::total_us(const std::string& row) const
{
    return sum_us(profile, profile.totals, row);
}

std::string Replayed::call_paths() const
{
    return words_of(profile, profile.path);
}

std::string Replayed::all_call_paths() const
{
    return words_of(profile, profile.totals);
}

replayer::Replay load(const Program& program, MPI_Comm comm, replayer::Rules rules)
{
    replayer::Replay loaded;
    loaded.comm = comm;
    MPI_Comm_rank(comm, &loaded.rank);
    MPI_Comm_size(comm, &loaded.size);
    loaded.rules = rules;
    loaded.definitions = program.definitions();
    for (int r = 0; r < program.ranks(); ++r) {
        loaded.owner.push_back(program.ranks() >= loaded.size ? r * loaded.size / program.ranks() : r);
        if (loaded.owner.back() == loaded.rank)
            loaded.processes.push_back(program.trace(r));
    }
    replayer::load::complete(loaded);
    return loaded;
}

Resolved resolve(const replayer::Replay& loaded, const Knowledge& know, const replayer::Engine& engine, bool at_once)
{
    replayer::rules::Calibration calibration;
    calibration.clocks = replayer::rules::ClockUncertainty(loaded.definitions);
    calibration.calls = replayer::calibrate_calls(loaded);
    know(calibration);
    auto pairs = engine.pair(loaded, calibration);
    know(calibration);
    auto examples = replayer::learn_one_sided(loaded, calibration);
    know(calibration);
    const auto windows = replayer::one_sided(loaded, calibration, std::move(examples));
    auto answers = replayer::first_answers(loaded, calibration.calls);
    const replayer::Conclude conclude =
        at_once ? replayer::conclude_at_once(loaded, calibration, answers) : replayer::later;
    auto collectives = replayer::collect(loaded, calibration, engine.reduce_instances, conclude);
    know(calibration);
    auto predecessors = replayer::resolve(loaded, pairs, windows, collectives, calibration, std::move(answers));
    return {std::move(pairs), std::move(collectives), std::move(predecessors)};
}

Replayed replay(const replayer::Replay& loaded, const Knowledge& know, const replayer::Engine& engine)
{
    return walk(loaded, resolve(loaded, know, engine), engine.walk_path);
}

Replayed walk(const replayer::Replay& loaded, const Resolved& resolved, replayer::WalkPath walk_path)
{
    const auto& [pairs, collectives, predecessors] = resolved;
    const auto path = replayer::restore(loaded, predecessors, walk_path);
    const auto stretches = replayer::compare_with_peers(loaded, resolved.predecessors, path);
    const auto attributed = replayer::attribute(loaded, {pairs, collectives, predecessors, stretches}, path);
    return {attributed.profile,
            all_segments(loaded, predecessors, path, attributed),
            all_of(loaded, attributed.attributions),
            all_counts(loaded, attributed.counts),
            all_of(loaded, attributed.totals),
            all_of(loaded, attributed.computed)};
}

Replayed replay(const Program& program, replayer::Rules rules)
{
    const replayer::Replay loaded = load(program, MPI_COMM_WORLD, rules);
    Replayed together = replay(loaded);
    return loaded.rank == 0 ? together : replay_alone(program, rules);
}

Replayed replay_alone(const Program& program, replayer::Rules rules)
{
    return replay(load(program, MPI_COMM_SELF, rules));
}

std::string text(const model::Profile& profile)
{
    std::string words;
    for (const auto& [key, value] : profile.facts)
        words += fmt::format("{}={}\n", key, value);
    for (const auto& [key, value] : profile.properties)
        words += fmt::format("{}={}\n", key, value);
    for (const auto& p : profile.processes)
        words += fmt::format("{} {} {} {} {} {} {} {}\n", p.name, p.node, p.lifetime_ns, p.mpi_ns, p.path_ns,
                             p.sampled_ns, p.calls, p.samples);
    for (const auto& row : profile.rows)
        words += fmt::format("{} {} {} {} {}\n", static_cast<int>(row.kind), row.name, row.module, row.file, row.line);
    for (const auto* times : {&profile.path, &profile.totals})
        for (const auto& t : *times)
            words += fmt::format("{} {} {} {} {}\n", t.call_path.value, t.process.value, t.ns, t.samples, t.found_ns);
    for (const auto& path : profile.call_paths)
        words += fmt::format("{} {} {}\n", path.row.value, path.parent.value, path.site);
    for (const auto& e : profile.path_events)
        words += fmt::format("{} {} {} {} {} {} {}\n", e.call_path.value, e.process.value, profile.events[e.event],
                             e.count, e.ns, e.known_ns, e.scaled_ns);
    for (const auto* addresses : {&profile.addresses, &profile.total_addresses})
        for (const auto& a : *addresses)
            words += fmt::format("{} {} {} {}\n", a.call_path.value, a.address, a.ns, a.samples);
    for (const auto& k : profile.kinds)
        words += fmt::format("{} {} {} {} {}\n", static_cast<int>(k.kind), k.function.value, k.process.value, k.ns,
                             k.segments);
    for (const auto& s : profile.stretches)
        words += fmt::format("{}\n", fmt::join(std::bit_cast<StretchWords>(s), " "));
    for (const auto& s : profile.stretch_shares)
        words += fmt::format("{} {} {} {} {}\n", s.stretch, s.process.value, s.ns, s.gaps, s.longer_ns);
    for (const auto& r : profile.stretch_ranks) {
        words += fmt::format("{} {}", r.stretch, r.process.value);
        for (const model::DifferenceNumber& number : model::difference_numbers)
            words += fmt::format(" {}", r.*number.member);
        words += "\n";
    }
    for (const auto& c : profile.stretch_code)
        words += fmt::format("{} {} {} {} {} {} {}\n", c.stretch, c.call_path.value, c.ns, c.samples, c.spinning_ns,
                             c.blocked_ns, c.peers_ns);
    for (const auto& a : profile.stretch_addresses)
        words += fmt::format("{} {} {} {} {} {}\n", a.stretch, a.row.value, a.address, a.ns, a.samples, a.peers_ns);
    return words;
}

bool same_bytes(const std::vector<model::Segment>& a, const std::vector<model::Segment>& b)
{
    return bytes_of(a) == bytes_of(b);
}

bool same_bytes(const std::vector<model::Attribution>& a, const std::vector<model::Attribution>& b)
{
    return bytes_of(a) == bytes_of(b);
}

bool same_bytes(const std::vector<model::TotalPart>& a, const std::vector<model::TotalPart>& b)
{
    return bytes_of(a) == bytes_of(b);
}

bool same_bytes(const std::vector<model::ComputedParts>& a, const std::vector<model::ComputedParts>& b)
{
    return bytes_of(a) == bytes_of(b);
}

bool same_bytes(const model::CountTable& a, const model::CountTable& b)
{
    return a.events() == b.events() && std::ranges::equal(a.records().words(), b.records().words());
}

std::vector<std::string> differences(const Replayed& a, const Replayed& b)
{
    std::vector<std::string> result;
    const auto compare = [&](const char* part, bool is_same) {
        if (!is_same)
            result.emplace_back(part);
    };
    compare("tables", text(a.profile) == text(b.profile));
    compare("segments", same_bytes(a.segments, b.segments));
    compare("attributions", same_bytes(a.attributions, b.attributions));
    compare("counts", same_bytes(a.counts, b.counts));
    compare("totals", same_bytes(a.totals, b.totals));
    compare("computed", same_bytes(a.computed, b.computed));
    return result;
}

std::string path(const Program& program, replayer::Rules rules)
{
    return replay(program, rules).path();
}

}  // namespace critpath::tests
