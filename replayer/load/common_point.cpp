// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/common_point.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace critpath::replayer::load
{

using namespace model;

namespace
{

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

bool has_events(const LocationTrace& location)
{
    return location.calls.size() > 0 || location.end > location.begin;
}

/// The enter of the call that the location did not leave, or its end.
Ns useful_end(const LocationTrace& location)
{
    return location.ends_in_call ? std::min(location.end, location.calls.enters().back()) : location.end;
}

/// Up to when it is known what the process did. A thread that was in a call when its process ended was there to the
/// end; of one that was not, nothing is known beyond the last sign of life of its process.
Ns reach(const ProcessTrace& process)
{
    Ns sign_of_life = Ns::min();
    for (const LocationTrace& location : process.locations) {
        if (has_events(location)) {
            sign_of_life = std::max(sign_of_life, location.end);
        }
    }
    Ns result{never};
    for (const LocationTrace& location : process.locations) {
        if (!has_events(location)) {
            continue;
        }
        if (location.recording_end == RecordingEnd::Full) {
            // Samples may go on when there is no room for calls any more.
            const Calls& calls = location.calls;
            result = std::min(result, calls.empty() ? location.begin : calls.leave(calls.size() - 1));
        } else if (location.recording_end == RecordingEnd::Died && !location.ends_in_call) {
            result = std::min(result, sign_of_life);
        }
    }
    return result;
}

/// What one process of a trace loses at `point`.
class Cutter
{
public:
    Cutter(ProcessTrace& trace, Ns point) : trace_(trace), point_(point) {}

    std::uint64_t run()
    {
        const auto post = [](const auto& message) { return message.post; };
        drop_later_of(trace_.sends, post);
        drop_later_of(trace_.receives, post);
        drop_later(
            trace_.probes, [](const Probe& probe) { return probe.call; }, trace_.receives.size());
        drop_later_of(trace_.collectives, [](const CollectiveCall& collective) { return collective.begin(); });
        drop_later(trace_.window_events, [](const WindowEvent& event) { return event.call; });
        drop_later(trace_.thread_waits, [](const ThreadWait& wait) { return wait.waiter; });
        for (LocationTrace& location : trace_.locations) {
            cut(location);
        }
        return dropped_;
    }

private:
    [[nodiscard]] const LocationTrace& location_of(CallRef call) const
    {
        return trace_.locations[call.location.value - trace_.locations.front().location.value];
    }

    [[nodiscard]] bool is_later(CallRef call) const { return location_of(call).calls.enter(call.call.value) >= point_; }

    /// What began before the point stays even if it was completed behind it: it has a place in the order of its
    /// channel.
    template <class Table, class Begin>
    void drop_later_of(Table& operations, Begin begin)
    {
        std::vector<std::uint32_t> kept;
        for (std::uint32_t i = 0; i < operations.size(); ++i) {
            if (!is_later(begin(operations[i]))) {
                kept.push_back(i);
            }
        }
        if (kept.size() < operations.size()) {
            operations.select(kept);
        }
    }

    template <class Operation, class Begin>
    void drop_later(std::vector<Operation>& operations, Begin begin)
    {
        std::erase_if(operations, [&](const Operation& operation) { return is_later(begin(operation)); });
    }

    template <class Begin>
    void drop_later(std::vector<Probe>& probes, Begin begin, std::size_t receives)
    {
        drop_later(probes, begin);
        for (Probe& probe : probes) {
            if (probe.receive >= receives) {
                probe.receive = static_cast<std::uint32_t>(-1);
            }
        }
    }

    [[nodiscard]] Ns end_of(const LocationTrace& location) const
    {
        if (location.recording_end == RecordingEnd::Died && !location.ends_in_call && point_ != Ns{never}) {
            return point_;  // it was computing, and its process lived
        }
        return std::min(useful_end(location), point_);
    }

    void cut(LocationTrace& location)
    {
        const auto& enters = location.calls.enters();
        const auto later = std::lower_bound(enters.begin(), enters.end(), point_);
        for (auto i = static_cast<std::size_t>(later - enters.begin()); i < enters.size(); ++i) {
            dropped_ += location.calls.is_point(i) ? 0 : 1;
        }
        location.end = std::max(location.begin, end_of(location));
        // A call that went on behind the point had no outcome before it.
        const auto last = static_cast<std::size_t>(later - enters.begin()) - 1;
        if (later != enters.begin() && location.calls.leave(last) > location.end) {
            location.end = std::min(location.end, enters[last]);
        }
        std::erase_if(location.samples, [&](const Sample& s) { return s.time >= location.end; });  // the last ones
        location.sample_counts.truncate(location.samples.size());
        std::erase_if(location.user_regions, [&](const RegionChange& change) { return change.time >= location.end; });
        cut(location.tool, location.end);
        cut(location.unrecorded, location.end);
        cut(location.off, location.end);
    }

    template <class Stretch>
    static void cut(std::vector<Stretch>& stretches, Ns end)
    {
        std::erase_if(stretches, [&](const Stretch& stretch) { return stretch.begin >= end; });
        for (Stretch& stretch : stretches) {
            stretch.end = std::min(stretch.end, end);
        }
    }

    ProcessTrace& trace_;
    Ns point_;
    std::uint64_t dropped_ = 0;
};

}  // namespace

void cut_at_common_point(Replay& replay)
{
    std::int64_t numbers[] = {never, never};  // the common point; minus the latest moment of all
    std::int32_t incomplete = replay.definitions.incomplete.empty() ? 0 : 1;
    for (const ProcessTrace& process : replay.processes) {
        numbers[0] = std::min(numbers[0], reach(process).count());
        for (const LocationTrace& location : process.locations) {
            incomplete |= location.recording_end != RecordingEnd::Complete ? 1 : 0;
            if (has_events(location)) {
                numbers[1] = std::min(numbers[1], -useful_end(location).count());
            }
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, numbers, 2, MPI_INT64_T, MPI_MIN, replay.comm);
    MPI_Allreduce(MPI_IN_PLACE, &incomplete, 1, MPI_INT32_T, MPI_MAX, replay.comm);
    if (incomplete == 0) {
        return;
    }
    replay.incomplete = Replay::Incomplete{};
    const bool is_needed = numbers[0] < -numbers[1];
    std::uint64_t calls = 0;
    for (ProcessTrace& process : replay.processes) {
        calls += Cutter(process, Ns{is_needed ? numbers[0] : never}).run();
    }
    MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_UINT64_T, MPI_SUM, replay.comm);
    replay.incomplete->cut_calls = calls;
}

}  // namespace critpath::replayer::load
