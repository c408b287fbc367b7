// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/spin.hpp"

#include "replayer/order.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <iterator>

namespace critpath::replayer
{

namespace
{

using functions::FunctionId;
using model::ContextId;
using model::LocationTrace;
using model::Ns;
using model::RegionId;
using model::SegmentKind;

/// Parts of names: MPI libraries and those below them have one loop of this kind each, and it gives way with these.
constexpr std::array<std::string_view, 7> polling = {"progress",        "poll", "yield", "clock_gettime", "nanosleep",
                                                     "event_base_loop", "futex"};
/// What it calls are the looks of those that registered with it.
constexpr std::string_view calls_nothing_but_polling = "opal_progress";
/// And these move data, however much somebody waits meanwhile for other data.
constexpr std::array<std::string_view, 5> copying = {"memcpy", "memmove", "copy", "pack", "process_vm_"};

constexpr std::int64_t nearly_all = 95;  // percent

template <class Parts>
bool has_one_of(std::string_view name, const Parts& parts)
{
    return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != name.npos; });
}

/// Tells of the samples of one location, in order of time, what its thread did.
class Judge
{
public:
    Judge(const Replay& replay, const LocationTrace& location, const LocationPredecessors& predecessors)
        : definitions_(replay.definitions), location_(location), predecessors_(predecessors),
          jumps_(predecessors.jumps, location)
    {
    }

    std::int64_t SpinEvidence::*operator()(Ns time)
    {
        const model::Calls& calls = location_.calls;
        const auto& enters = calls.enters();
        near_call_ = count_first(
            calls.size(), [&](std::size_t i) { return enters[i] <= time; }, near_call_);
        const std::size_t behind = calls.behind_last_call(near_call_);
        if (behind == 0 || calls.leave(behind - 1) <= time)
            return &SpinEvidence::work;
        const auto call = static_cast<std::uint32_t>(behind - 1);
        near_jump_ = jumps_.before({call}, near_jump_);
        if (near_jump_ < jumps_.size() && jumps_.call(near_jump_) == call)
            return time < jumps_[near_jump_].to_enter ? &SpinEvidence::waits : &SpinEvidence::flight;
        const FunctionId function = definitions_.region(calls.context(call)).function;
        // Where the library begins, it waits for what is not in the trace.
        const bool begins = function == FunctionId::MPI_Init || function == FunctionId::MPI_Init_thread;
        const bool is_local = predecessors_.through[call].kind == SegmentKind::Mpi && !begins;
        return is_local ? &SpinEvidence::work : &SpinEvidence::flight;
    }

private:
    const model::Definitions& definitions_;
    const LocationTrace& location_;
    const LocationPredecessors& predecessors_;
    JumpList jumps_;
    std::size_t near_call_ = 0, near_jump_ = 0;
};

/// Who calls whom, by the contexts of a trace; as many as there are pairs of functions.
class CallGraph
{
public:
    struct Edge {
        RegionId caller, function;  // caller: none() where nobody is known
        auto operator<=>(const Edge&) const = default;
    };

    explicit CallGraph(const std::vector<model::CallingContext>& contexts)
    {
        const auto edge = [&](const model::CallingContext& context) {
            const bool is_called = context.parent.valid();
            return Edge{is_called ? contexts[context.parent.value].region : RegionId::none(), context.region};
        };
        edges_.reserve(contexts.size());
        std::ranges::transform(contexts, std::back_inserter(edges_), edge);
        std::ranges::sort(edges_);
        edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
        edge_of_.reserve(contexts.size());
        for (const model::CallingContext& context : contexts)
            edge_of_.push_back(
                static_cast<std::uint32_t>(std::ranges::lower_bound(edges_, edge(context)) - edges_.begin()));
    }

    [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
    [[nodiscard]] std::size_t edge_of(ContextId context) const { return edge_of_[context.value]; }

private:
    std::vector<Edge> edges_;
    std::vector<std::uint32_t> edge_of_;  // by ContextId
};

/// By edge, of all processes.
std::vector<SpinEvidence> evidence_of(const Replay& replay, const Predecessors& predecessors, const CallGraph& graph)
{
    std::vector<SpinEvidence> evidence(graph.edges().size());
    for (std::size_t p = 0; p < replay.processes.size(); ++p)
        for (std::size_t l = 0; l < replay.processes[p].locations.size(); ++l) {
            const LocationTrace& location = replay.processes[p].locations[l];
            Judge judge(replay, location, predecessors.processes[p][l]);
            for (const model::Sample& sample : location.samples)
                if (sample.context.valid())
                    ++(evidence[graph.edge_of(sample.context)].*judge(sample.time));
        }
    constexpr std::size_t numbers = sizeof(SpinEvidence) / sizeof(std::int64_t);
    MPI_Allreduce(MPI_IN_PLACE, evidence.data(), static_cast<int>(evidence.size() * numbers), MPI_INT64_T, MPI_SUM,
                  replay.comm);
    return evidence;
}

/// One level down the calls: whether that found more of those that spin.
bool spread_down(const std::vector<model::Region>& regions, const CallGraph& graph,
                 const std::vector<SpinEvidence>& by_edge, const std::vector<SpinEvidence>& evidence,
                 const SpinEvidence& spinning, std::vector<bool>& spins)
{
    std::vector<std::int64_t> for_spinning(regions.size(), 0), for_polling(regions.size(), 0);
    for (std::size_t edge = 0; edge < by_edge.size(); ++edge) {
        const auto [caller, function] = graph.edges()[edge];
        if (!caller.valid() || !spins[caller.value])
            continue;
        for_spinning[function.value] += by_edge[edge].samples();
        if (regions[caller.value].name == calls_nothing_but_polling)
            for_polling[function.value] += by_edge[edge].samples();
    }
    bool more = false;
    for (std::size_t region = 0; region < regions.size(); ++region) {
        const SpinEvidence& of_region = evidence[region];
        const auto are_nearly_all = [&](std::int64_t samples) {
            return samples > 0 && samples * 100 >= of_region.samples() * nearly_all;
        };
        if (spins[region] || !are_nearly_all(for_spinning[region]) || has_one_of(regions[region].name, copying))
            continue;
        if (are_nearly_all(for_polling[region]) || spins_for_callers(of_region, spinning))
            spins[region] = more = true;
    }
    return more;
}

}  // namespace

bool spins(std::string_view function, const SpinEvidence& evidence, const SpinEvidence& all)
{
    constexpr std::int64_t enough = 20;          // samples
    constexpr std::int64_t much_more_often = 4;  // times
    if (has_one_of(function, copying))
        return false;
    if (has_one_of(function, polling))  // calls that seem to wait for nobody may poll as well
        return true;
    if (evidence.waits + evidence.work < enough || evidence.waits * 100 < (evidence.waits + evidence.work) * nearly_all)
        return false;
    // A call that waits for one message may work on others meanwhile, but it works most while something comes.
    const double in_waits = static_cast<double>(evidence.waits) * static_cast<double>(all.flight);
    const double in_flight = static_cast<double>(evidence.flight) * static_cast<double>(all.waits);
    return in_flight <= much_more_often * in_waits;
}

bool spins_for_callers(const SpinEvidence& evidence, const SpinEvidence& callers)
{
    constexpr std::int64_t some = 3;       // samples
    constexpr double much_more_often = 4;  // times
    if (evidence.waits < some)
        return false;
    // What they call once something has come is not there while nothing can have come.
    const double elsewhere = static_cast<double>(evidence.samples() - evidence.waits);
    const double callers_elsewhere = static_cast<double>(callers.samples() - callers.waits);
    return elsewhere * static_cast<double>(callers.waits) <=
           much_more_often * callers_elsewhere * static_cast<double>(evidence.waits);
}

SpinEvidence& SpinEvidence::operator+=(const SpinEvidence& more)
{
    waits += more.waits;
    flight += more.flight;
    work += more.work;
    return *this;
}

SpinFunctions::SpinFunctions(const Replay& replay, const Predecessors& predecessors)
    : replay_(replay), spins_(replay.definitions.regions.size(), false)
{
    if (!replay.definitions.has_samples)
        return;
    const std::vector<model::Region>& regions = replay.definitions.regions;
    const CallGraph graph(replay.definitions.contexts);
    const std::vector<SpinEvidence> by_edge = evidence_of(replay, predecessors, graph);
    std::vector<SpinEvidence> evidence(regions.size());
    SpinEvidence all;
    for (std::size_t edge = 0; edge < by_edge.size(); ++edge) {
        evidence[graph.edges()[edge].function.value] += by_edge[edge];
        all += by_edge[edge];
    }
    SpinEvidence spinning;
    for (std::size_t region = 0; region < regions.size(); ++region)
        if ((spins_[region] = spins(regions[region].name, evidence[region], all)))
            spinning += evidence[region];
    while (spread_down(regions, graph, by_edge, evidence, spinning, spins_)) {
    }
}

}  // namespace critpath::replayer
