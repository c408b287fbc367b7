// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/attribute.hpp"

#include "replayer/attribute/clock_shares.hpp"
#include "replayer/attribute/code.hpp"
#include "replayer/attribute/gather.hpp"
#include "replayer/attribute/inside.hpp"
#include "replayer/attribute/sample_weights.hpp"
#include "replayer/attribute/stretch_finder.hpp"
#include "replayer/attribute/tally.hpp"
#include "replayer/attribute/thread_counts.hpp"
#include "replayer/clocks/clocks.hpp"
#include "replayer/order.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace
{

/// A fact that is gone at the end (add_unrecorded).
const char* skipped_key(model::Skipped::What what)
{
    switch (what) {
    case model::Skipped::What::Send:
        return "skipped_sends";
    case model::Skipped::What::Receive:
        return "skipped_receives";
    case model::Skipped::What::Collective:
        break;
    }
    return "skipped_collectives";
}

/// Facts that are sums over the processes of the replay.
std::map<std::string, std::int64_t> summed_facts(const Replay& replay, const Tally& tally)
{
    std::map<std::string, std::int64_t> facts;
    const auto add = [&](const char* key, std::uint64_t value) { facts[key] += static_cast<std::int64_t>(value); };
    for (const char* key : {"calls", "samples", "preempted_ns", "blocked_ns", "threads_calling_mpi", "skipped_sends",
                            "skipped_receives", "skipped_collectives"})
        add(key, 0);
    for (const model::AnomalyCount& anomaly : model::anomaly_counts)
        add(anomaly.name, 0);
    for (const model::ProcessTrace& trace : replay.processes) {
        for (const model::Skipped& skipped : trace.skipped) {
            facts[skipped_key(skipped.what)] += skipped.count;  // may be negative
        }
        for (const model::AnomalyCount& anomaly : model::anomaly_counts)
            add(anomaly.name, trace.anomalies.*anomaly.count);
        add("calls", tally.processes.at(trace.process.value).calls);
        for (const model::LocationTrace& location : trace.locations) {
            add("samples", location.samples.size());
            add("threads_calling_mpi",
                &location != &trace.locations.front() && location.calls.next_call(0) < location.calls.size());
            for (const model::OffProcessor& off : location.off) {
                add(off.preempted ? "preempted_ns" : "blocked_ns",
                    static_cast<std::uint64_t>((off.end - off.begin).count()));
            }
        }
    }
    add("path_samples", tally.path_samples);
    add("independent_samples", tally.independent_samples);
    add("low_confidence_segments", tally.low_confidence_segments);
    facts["low_confidence_ns"] = tally.low_confidence_ns;
    facts["led_by_doubt_ns"] = tally.led_by_doubt_ns;

    std::vector<std::int64_t> values;
    values.reserve(facts.size());
    for (const auto& [key, value] : facts)
        values.push_back(value);
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_SUM, replay.comm);
    std::size_t i = 0;
    for (auto& [key, value] : facts)
        value = values[i++];
    return facts;
}

void add_facts(const Replay& replay, const Findings& findings, const Path& path, const Numbers& numbers,
               const Tally& tally, model::Profile& profile)
{
    auto& facts = profile.facts;
    facts = summed_facts(replay, tally);
    const auto set = [&](const char* key, std::uint64_t value) { facts[key] = static_cast<std::int64_t>(value); };
    facts["makespan_ns"] = path.makespan.count();
    facts["path_ns"] = path.makespan.count();  // number_segments has verified it
    facts["begin_ns"] = path.begin.count();
    set("processes", replay.definitions.processes.size());
    set("locations", replay.definitions.locations.size());
    set("clock_domains", clocks::count_domains(replay.definitions));
    facts["clock_uncertainty_ns"] = replay.definitions.largest_uncertainty().count();
    set("segments", numbers.segments);
    set("hops", path.hops);
    set("messages", findings.pairs.messages);
    set("unmatched_sends", findings.pairs.unmatched_sends);
    set("unmatched_receives", findings.pairs.unmatched_receives);
    set("collectives", findings.collectives.counts.all);
    set("incomplete_collectives", findings.collectives.counts.incomplete);
    set("mismatched_collectives", findings.collectives.counts.mismatched);
    set("unknown_collectives", findings.collectives.counts.unknown);
    facts["clock_violations"] +=
        static_cast<std::int64_t>(findings.pairs.clock_violations + findings.predecessors.clock_violations);
}

/// What has no partner was most likely left without it by what is known not to be recorded, as far as that goes.
void add_unrecorded(model::Profile& profile)
{
    using What = model::Skipped::What;
    auto& facts = profile.facts;
    std::int64_t explained = 0;
    bool has_skipped = false;
    for (const auto& [key, what] :
         {std::pair{"unmatched_sends", What::Receive}, std::pair{"unmatched_receives", What::Send},
          std::pair{"incomplete_collectives", What::Collective}}) {
        const std::int64_t skipped = std::exchange(facts[skipped_key(what)], 0);
        const std::int64_t part = std::clamp<std::int64_t>(skipped, 0, facts[key]);
        facts[key] -= part;
        explained += part;
        has_skipped = has_skipped || skipped != 0;
        facts.erase(skipped_key(what));
    }
    if (has_skipped) {
        facts["partners_unrecorded"] = explained;
    }
}

/// What has no partner may have got one after the recording ended, so it says nothing about the application.
void add_incompleteness(const Replay& replay, model::Profile& profile)
{
    if (!replay.incomplete) {
        return;
    }
    auto& facts = profile.facts;
    facts["incomplete"] = 1;
    facts["cut_calls"] = static_cast<std::int64_t>(replay.incomplete->cut_calls);
    facts["missing_processes"] =
        std::ranges::count_if(replay.definitions.processes, [](const model::Process& p) { return p.is_missing; });
    facts["under_way"] = 0;
    for (const char* key : {"unmatched_sends", "unmatched_receives", "unfinished_requests", "incomplete_collectives"})
        facts["under_way"] += std::exchange(facts[key], 0);
    profile.properties["incomplete"] =
        replay.definitions.incomplete.empty() ? "cut short" : replay.definitions.incomplete;
}

void add_clocks(model::Profile& profile)
{
    auto& facts = profile.facts;
    facts["clock_decided_ns"] = facts["clock_doubted_ns"] = facts["clock_correction_ns"] = facts["clocks_unknown"] = 0;
    for (const model::ClockTotals& clock : profile.clocks) {
        facts["clock_decided_ns"] += clock.decided_ns;
        facts["clock_doubted_ns"] += clock.doubted_ns;
        facts["clock_correction_ns"] = std::max(facts["clock_correction_ns"], clock.correction_ns);
        facts["clocks_unknown"] += clock.is_known ? 0 : 1;
    }
    facts["clock_doubted_ns"] = std::min(facts["clock_doubted_ns"], facts["path_ns"]);
}

void add_properties(const Replay& replay, model::Profile& profile)
{
    const model::Definitions& definitions = replay.definitions;
    if (!definitions.inconsistent.empty()) {
        profile.properties["inconsistent"] = definitions.inconsistent;
    }
    profile.properties["rules"] = std::string(name(replay.rules));
    profile.properties["event"] = definitions.has_samples ? definitions.event : "";
    profile.properties["period"] = std::to_string(definitions.period);
    profile.properties["period_unit"] = definitions.period_unit;
    profile.properties["call_graph"] = definitions.call_graph;
    if (!definitions.left_out.empty()) {
        profile.properties["left_out"] = definitions.left_out;
    }
    if (!definitions.precise_ip.empty()) {
        profile.properties["precise_ip"] = definitions.precise_ip;
    }
    if (!definitions.refused_events.empty()) {
        std::vector<std::string> refused;
        for (const auto& [event, processes] : definitions.refused_events) {
            refused.push_back(fmt::format("{}={}={}", event.first, event.second, processes));
        }
        profile.properties["refused_events"] = fmt::format("{}", fmt::join(refused, ","));
    }
    profile.properties["command"] = definitions.command;
}

/// The binaries that rows lie in.
std::vector<model::Module> modules_of(const std::vector<model::Row>& rows,
                                      const std::map<std::string, std::string>& build_ids)
{
    std::map<std::string, std::string> modules;
    for (const model::Row& row : rows)
        if (row.kind == model::RowKind::Sampled && !row.module.empty()) {
            const auto known = build_ids.find(row.module);
            modules.emplace(row.module, known == build_ids.end() ? "" : known->second);
        }
    std::vector<model::Module> result;
    for (const auto& [path, build_id] : modules)
        result.push_back({path, build_id});
    return result;
}

/// By ContextId.
std::vector<std::uint32_t> call_paths_of_contexts(const Replay& replay, const Places& places)
{
    std::vector<std::uint32_t> ids;
    for (std::uint32_t context = 0; context < replay.definitions.contexts.size(); ++context)
        ids.push_back(places.id({model::ContextId{context}}).value);
    return ids;
}

/// Takes them out of the tally. Those of a process are mostly in order already, while the path goes to and fro between
/// processes.
std::vector<model::Attribution> in_order(GrowingList<PlacedAttribution> placed, const model::Definitions& definitions,
                                         const Places& places)
{
    const auto process_of = [&](const PlacedAttribution& p) {
        return definitions.locations[p.path_location.value].process.value;
    };
    std::map<std::uint32_t, std::size_t> next;  // by process: where its next one goes
    placed.for_each([&](const PlacedAttribution& p) { ++next[process_of(p)]; });
    std::size_t begin = 0;
    for (auto& [process, at] : next)
        begin += std::exchange(at, begin);
    std::vector<model::Attribution> result(placed.size());
    placed.for_each([&](const PlacedAttribution& p) {
        model::Attribution& attribution = result[next[process_of(p)]++];
        attribution = p.attribution;
        attribution.call_path = places.id(p.place).value;
    });
    begin = 0;
    for (const auto& [process, end] : next) {
        sort_runs(std::span(result).subspan(begin, end - begin), [](const model::Attribution& a) { return a.order(); });
        begin = end;
    }
    return result;
}

std::vector<model::CountTable> with_call_paths(std::vector<model::CountTable> counts, const Replay& replay,
                                               const Places& places)
{
    const CountPlaceNumbers numbers(replay.definitions);
    for (model::CountTable& table : counts)
        table.change_intervals([&](model::CountInterval& interval) {
            for (model::CountPlace* place : {&interval.last, &interval.before})
                if (place->owner != model::CountOwner::None)
                    place->call_path = places.id(numbers.place(place->call_path)).value;
        });
    return counts;
}

/// The calls around stretches have call paths, even if nothing of them took time, as of MPI_Finalize. Returns these.
std::vector<std::vector<PathStep>> add_places(const Stretches& stretches, std::vector<Place>& used)
{
    std::vector<std::vector<PathStep>> ways;
    for (const Stretches::At& at : stretches.stretches) {
        if (at.place.before.valid())
            used.push_back({at.place.before});
        used.push_back({at.place.after});
        ways.push_back(at.before);
        ways.push_back(at.after);
    }
    return ways;
}

/// `origin`: where the run begins.
void add_stretches(const Stretches& stretches, const Places& places, Ns origin, model::Profile& profile)
{
    for (const Stretches::At& at : stretches.stretches) {
        profile.stretches.push_back(at.sums);
        if (at.sums.costliest_rank >= 0)
            profile.stretches.back().costliest_begin_ns -= origin.count();
        profile.stretches.back().before = places.id_of(at.before);
        profile.stretches.back().after = places.id_of(at.after);
    }
    profile.stretch_shares = stretches.shares;
    profile.stretch_ranks = stretches.ranks;
}

}  // namespace

Attributed attribute(const Replay& replay, const Findings& findings, const Path& path)
{
    const SpinFunctions spin(replay, findings.predecessors);
    const SampleWeights weights(replay, path, findings.stretches.same);
    Tally sums =
        tally(replay, findings.predecessors, path, spin, weights, doubtful_ends(replay, findings.predecessors, path));
    add_transfers(replay, findings.predecessors, path, spin, sums);
    StretchFinder finder(replay, findings.stretches);
    const std::vector<ThreadsOfPeers> threads = add_code(replay, findings.stretches, finder, path.begin, weights, sums);
    const CodeOfPeers peers = code_of_peers(replay, findings.stretches.is_on_path, finder, weights, sums);
    std::vector<Place> used = sums.places();
    if (replay.definitions.has_samples)
        used.push_back({model::ContextId::none(), Pseudo::NotSampled});
    const std::vector<std::vector<PathStep>> ways = add_places(findings.stretches, used);
    const Places places(replay, used, ways);

    Attributed result;
    result.numbers = number_segments(replay, path, std::move(*sums.cut));
    result.call_paths = call_paths_of_contexts(replay, places);
    result.attributions = in_order(std::move(sums.attributions), replay.definitions, places);
    result.counts = with_call_paths(std::move(sums.counts), replay, places);
    result.totals = gather_totals(replay, sums.totals, places);
    result.computed = sums.totals.of_threads();
    std::ranges::sort(result.computed, {}, &model::ComputedParts::location);
    model::Profile& profile = result.profile;
    add_facts(replay, findings, path, result.numbers, sums, profile);
    if (replay.definitions.has_samples)
        profile.facts["equal_samples_ppm"] = weights.equal_ones();
    add_properties(replay, profile);
    profile.clocks = clock_shares(replay, findings.collectives, path, sums.choices);
    add_clocks(profile);
    add_incompleteness(replay, profile);
    add_unrecorded(profile);
    profile.rows = places.rows();
    profile.modules = modules_of(profile.rows, replay.definitions.build_ids);
    profile.call_paths = places.call_paths();
    add_stretches(findings.stretches, places, path.begin, profile);
    for (std::size_t i = 0; i < threads.size(); ++i) {
        profile.stretches[i].peers_spinning_ns = threads[i].spinning_ns;
        profile.stretches[i].peers_threads_preempted_ns = threads[i].preempted_ns;
        profile.stretches[i].code_gaps = peers.telling_gaps[i];
    }
    gather(replay, sums, peers, places, profile);
    for (model::StretchCode& code : profile.stretch_code)
        code.peers_ns = of_others(code.peers_ns, profile.stretches[code.stretch].gaps, peers.gaps[code.stretch]);
    for (model::StretchAddress& at : profile.stretch_addresses)
        at.peers_ns = of_others(at.peers_ns, profile.stretches[at.stretch].gaps, peers.gaps[at.stretch]);
    return result;
}

}  // namespace critpath::replayer
