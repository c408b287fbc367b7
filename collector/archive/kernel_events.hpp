// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the writing of what the kernel recorded of a thread: its samples and the time that it spent off the processor,
// between the events that the thread recorded itself.
#pragma once

#include "collector/archive/process.hpp"
#include "formats/otf2/event_writer.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace critpath::archive
{

/// A thread that waits and gives way in a loop may be preempted tens of thousands of times a second. Preemptions with
/// no more than this of running in between, and nothing recorded there, become one interval.
inline constexpr std::uint64_t largest_bridge = 5'000;  // ns

/// Exact, whatever was bridged.
struct OffTotals {
    std::uint64_t preempted_ns = 0, preemptions = 0;
    std::uint64_t woken_ns = 0, wake_ups = 0;  // of these, behind being blocked
    std::uint64_t blocked_ns = 0, blocks = 0;
    std::uint64_t migrations = 0;
    std::uint64_t bridged_ns = 0, bridges = 0;  // running that lies within intervals
};

class KernelEvents
{
public:
    /// `position`: of the thread, in `ids`.
    KernelEvents(const ThreadData& thread, const EventIds& ids, std::size_t position, otf2::EventWriter& out)
        : thread_(thread), ids_(ids), generator_(ids.generators[position]), metric_(ids.event_metrics[position]),
          out_(out), counts_(thread.events), sample_(thread.samples.begin()), samples_end_(thread.samples.end()),
          off_(thread.off.begin()), off_end_(thread.off.end())
    {
    }

    /// Writes what came before `time`, a moment at which the thread had the processor.
    void write_before(std::uint64_t time);
    /// The same for a moment that is not one of the thread's own: an interval off the processor goes on behind it.
    void write_around(std::uint64_t time);
    /// Including `time`: a sample at the leave of a call still belongs to it.
    void write_until(std::uint64_t time);
    /// Writes the samples before `time`. What there was of time off the processor lies within the collector's own time,
    /// or in time that the user did not want to have recorded.
    void write_tool_before(std::uint64_t time);

    [[nodiscard]] std::uint64_t samples() const { return samples_; }
    [[nodiscard]] const OffTotals& off() const { return totals_; }

private:
    void write_samples_before(std::uint64_t time);
    void write_counts(const SamplePoint& sample);
    [[nodiscard]] const OffInterval* next_off() const;
    OffInterval take_one(std::uint64_t limit);
    OffInterval take_off(std::uint64_t limit);
    [[nodiscard]] bool can_bridge(const OffInterval& off, std::uint64_t limit) const;
    void write_off(const OffInterval& off);
    void count(const OffInterval& off, bool is_rest);

    const ThreadData& thread_;
    const EventIds& ids_;
    OTF2_InterruptGeneratorRef generator_;
    OTF2_MetricRef metric_;
    otf2::EventWriter& out_;
    SampleCounts counts_;
    std::vector<std::int64_t> sums_;  // of a record
    std::vector<SamplePoint>::const_iterator sample_, samples_end_;
    std::vector<OffInterval>::const_iterator off_, off_end_;
    std::optional<OffInterval> cut_;   // what of the last one taken was beyond the limit
    std::optional<OffInterval> rest_;  // such a one that goes on: comes before those in off_
    std::uint64_t samples_ = 0;
    OffTotals totals_;
};

}  // namespace critpath::archive
