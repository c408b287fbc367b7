// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/spin.hpp"

#include "replayer/order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace critpath::replayer
{

namespace
{

using functions::FunctionId;
using model::LocationTrace;
using model::Ns;
using model::SegmentKind;

/// Parts of names: MPI libraries and those below them have one loop of this kind each, and it gives way with these.
constexpr std::array<std::string_view, 7> polling = {"progress",        "poll", "yield", "clock_gettime", "nanosleep",
                                                     "event_base_loop", "futex"};
/// And these move data, however much somebody waits meanwhile for other data.
constexpr std::array<std::string_view, 5> copying = {"memcpy", "memmove", "copy", "pack", "process_vm_"};

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

/// By RegionId, of all processes.
std::vector<SpinEvidence> evidence_of(const Replay& replay, const Predecessors& predecessors)
{
    const model::Definitions& definitions = replay.definitions;
    std::vector<SpinEvidence> evidence(definitions.regions.size());
    for (std::size_t p = 0; p < replay.processes.size(); ++p)
        for (std::size_t l = 0; l < replay.processes[p].locations.size(); ++l) {
            const LocationTrace& location = replay.processes[p].locations[l];
            Judge judge(replay, location, predecessors.processes[p][l]);
            for (const model::Sample& sample : location.samples)
                if (sample.context.valid())
                    ++(evidence[definitions.contexts[sample.context.value].region.value].*judge(sample.time));
        }
    constexpr std::size_t numbers = sizeof(SpinEvidence) / sizeof(std::int64_t);
    MPI_Allreduce(MPI_IN_PLACE, evidence.data(), static_cast<int>(evidence.size() * numbers), MPI_INT64_T, MPI_SUM,
                  replay.comm);
    return evidence;
}

}  // namespace

bool spins(std::string_view function, const SpinEvidence& evidence, const SpinEvidence& all)
{
    constexpr std::int64_t enough = 20;          // samples
    constexpr std::int64_t nearly_all = 95;      // percent
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

SpinFunctions::SpinFunctions(const Replay& replay, const Predecessors& predecessors)
    : replay_(replay), spins_(replay.definitions.regions.size(), false)
{
    if (!replay.definitions.has_samples)
        return;
    const std::vector<SpinEvidence> evidence = evidence_of(replay, predecessors);
    SpinEvidence all;
    for (const SpinEvidence& e : evidence) {
        all.waits += e.waits;
        all.flight += e.flight;
        all.work += e.work;
    }
    for (std::size_t region = 0; region < evidence.size(); ++region)
        spins_[region] = spins(replay.definitions.regions[region].name, evidence[region], all);
}

}  // namespace critpath::replayer
