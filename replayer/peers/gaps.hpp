// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the gaps of the owned processes: what a process' first thread does between two MPI calls, or before the first
// one, at which place of the program, and which of them are on the path.
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/peers/same_calls.hpp"
#include "replayer/peers/split.hpp"
#include "replayer/restore/restore.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace critpath::replayer
{

/// Where in the program a gap is: the calls before and after it.
struct GapPlace {
    model::ContextId before, after;  // before: none() from the start of the process to its first call
    auto operator<=>(const GapPlace&) const = default;

    /// Which of so many processes adds up what is known of the place.
    [[nodiscard]] std::size_t owner(int processes) const
    {
        return (std::size_t{before.value} * 31 + after.value) % static_cast<std::size_t>(processes);
    }
};

/// Whether a gap lies between two polls, which may be all that its process does while it waits.
class BetweenPolls
{
public:
    explicit BetweenPolls(const model::Definitions& definitions);
    [[nodiscard]] bool operator()(GapPlace place) const
    {
        return place.before.valid() && is_poll(place.before) && is_poll(place.after);
    }
    [[nodiscard]] bool is_poll(model::ContextId call) const { return is_poll_[call.value]; }

private:
    std::vector<bool> is_poll_;  // by ContextId
};

/// The gaps of one process. Gap i lies before call i: points are no calls, and what is entered behind the
/// end of the application or of a recording is none. Must not outlive the trace, nor `same`.
class Gaps
{
public:
    Gaps(const model::LocationTrace& location, const SameCalls& same);

    [[nodiscard]] std::size_t end() const { return end_; }  // one more than the last
    [[nodiscard]] GapPlace place(std::size_t i) const
    {
        const model::Calls& calls = location_->calls;
        return {i == 0 ? model::ContextId::none() : (*same_)(calls.context(calls_.number(i - 1))),
                (*same_)(calls.context(calls_.number(i)))};
    }
    /// Calls `visit(gap, place)` for all of them, in order.
    template <class Visit>
    void for_each_place(Visit visit) const
    {
        GapPlace place{model::ContextId::none(), model::ContextId::none()};
        for (std::size_t i = 0; i < end_; ++i, place.before = place.after) {
            place.after = (*same_)(location_->calls.context(calls_.number(i)));
            visit(i, place);
        }
    }
    /// Its number among calls and points; `i`: not the first gap.
    [[nodiscard]] std::uint32_t call_before(std::size_t i) const { return calls_.number(i - 1); }
    [[nodiscard]] model::Ns enter_before(std::size_t i) const { return calls_.enter(i - 1); }  // likewise
    [[nodiscard]] model::Ns begin_of(std::size_t i) const { return i == 0 ? location_->begin : calls_.leave(i - 1); }
    [[nodiscard]] model::Ns end_of(std::size_t i) const { return calls_.enter(i); }

    /// The first gap that ends behind `time`.
    [[nodiscard]] std::size_t first_behind(model::Ns time);
    /// Whether the thread had a processor in all of [begin, end), none of which is the collector's own or unrecorded.
    /// Most gaps are so, and one comparison tells it. Nothing is said if it returns false.
    [[nodiscard]] bool is_quiet(model::Ns begin, model::Ns end)
    {
        return (begin >= quiet_.begin && end <= quiet_.end) || find_quiet(begin, end);
    }
    /// Of [begin, end), what is neither the collector's own nor unrecorded, ns.
    [[nodiscard]] std::int64_t recorded(model::Ns begin, model::Ns end)
    {
        return is_quiet(begin, end) ? std::max<std::int64_t>((end - begin).count(), 0) : carved(begin, end);
    }
    /// Of [begin, end), when the thread had a processor, ns.
    [[nodiscard]] std::int64_t on_processor(model::Ns begin, model::Ns end)
    {
        const std::int64_t ns = std::max<std::int64_t>((end - begin).count(), 0);
        return meets(location_->off, begin, end, near_off_) ? without_off(begin, end, ns) : ns;
    }
    [[nodiscard]] Gap measure(std::size_t i);
    /// Of [first, end), one at least, as if they were one. Who is blocked between two polls only waits with them, most
    /// likely: behind the first gap that counts as no time.
    [[nodiscard]] Gap measure_span(std::size_t first, std::size_t end, const BetweenPolls& is_between_polls);

    [[nodiscard]] const model::LocationTrace& location() const { return *location_; }

private:
    /// Whether intervals meet [begin, end); if `near` is where they may be, it mostly knows that they do not.
    template <class Interval>
    static bool meets(const std::vector<Interval>& intervals, model::Ns begin, model::Ns end, std::size_t near)
    {
        return (near > 0 && intervals[near - 1].end > begin) ||
               (near < intervals.size() && intervals[near].begin < end);
    }
    bool find_quiet(model::Ns begin, model::Ns end);
    /// As recorded(), if that does not know at once.
    [[nodiscard]] std::int64_t carved(model::Ns begin, model::Ns end)
    {
        const std::int64_t ns = std::max<std::int64_t>((end - begin).count(), 0);
        return meets(location_->tool, begin, end, near_tool_) ||
                       meets(location_->unrecorded, begin, end, near_unrecorded_)
                   ? carved(begin, end, ns)
                   : ns;
    }
    [[nodiscard]] std::int64_t carved(model::Ns begin, model::Ns end, std::int64_t ns);
    [[nodiscard]] std::int64_t without_off(model::Ns begin, model::Ns end, std::int64_t ns);
    void measure_disturbed(model::Ns since, model::Ns begin, model::Ns end, Gap& gap);
    void find_fault_rates();
    [[nodiscard]] double fault_rate(GapPlace place) const;
    /// Of gap i, by parts_of_a_fault.
    [[nodiscard]] std::int64_t page_faults(std::size_t i, model::Ns begin, model::Ns end)
    {
        return begin > faultless_.begin && end <= faultless_.end ? 0 : find_page_faults(place(i), begin, end);
    }
    [[nodiscard]] std::int64_t find_page_faults(GapPlace place, model::Ns begin, model::Ns end);
    [[nodiscard]] Gap measure_behind_first(std::size_t i, const BetweenPolls& is_between_polls);
    void sum_up_blocks(const BetweenPolls& is_between_polls);

    static constexpr std::size_t block = 64;

    const model::LocationTrace* location_;
    const SameCalls* same_;
    model::CallsAlone calls_;
    std::size_t end_;
    bool knows_faults_ = false;  // not before a gap is measured: others only ask which gaps there are
    // By sample, if there are page faults, of the interval between the one before and it: how many were to be expected
    // in it by the rates of what was done in it; or less than 0, the time on the processor in it, if they are spread
    // over it evenly.
    std::vector<double> expected_faults_;
    std::vector<std::pair<GapPlace, double>> fault_rates_;       // faults a ns, sorted by place
    bool may_be_quiet_;                                          // what could disturb is in the order of time
    model::Interval quiet_{model::Ns::max(), model::Ns::min()};  // nothing disturbs in it; where the last answer was
    model::Interval faultless_{};  // between two samples, where the last answer was; most gaps are shorter than these
    // Where the last answers were: questions come mostly in the order of time.
    std::size_t near_ = 0, near_tool_ = 0, near_unrecorded_ = 0, near_off_ = 0, near_sample_ = 0;
    // As measure_behind_first(), of so many gaps, and of so many of these, which are many where a rank polls: spans may
    // be as long as the run, and several share what is in them. Empty: none was so long.
    std::vector<Gap> blocks_, large_blocks_;
};

/// A gap, as far as it is on the path.
struct GapOnPath {
    std::size_t process;  // index into Replay::processes
    std::size_t gap;
    std::int64_t ns;
};

/// Calls `visit(process, gap, begin, end)` for the parts of gaps on the path, of each process in order of time; a gap
/// may be on it in several parts. `gaps`: by index into Replay::processes.
template <class Visit>
void for_each_part_on_path(const Replay& replay, const Path& path, std::vector<Gaps>& gaps, Visit visit)
{
    for (const Piece& piece : path.pieces) {
        const model::ProcessId process = replay.definitions.locations[piece.location].process;
        if (replay.definitions.processes[process.value].locations.front().value != piece.location)
            continue;
        const std::size_t p = replay.index_of(process);
        const model::Ns begin{piece.stretch};
        const model::Ns end{piece.end};
        for (std::size_t gap = gaps[p].first_behind(begin); gap < gaps[p].end(); ++gap) {
            const model::Ns from = gaps[p].begin_of(gap);
            if (from >= end)
                break;
            visit(p, gap, std::max(begin, from), std::min(end, gaps[p].end_of(gap)));
        }
    }
}

/// Calls `visit(GapOnPath)` for the gaps on the path, each once, of each process in order of time. `gaps`: by index
/// into Replay::processes.
template <class Visit>
void for_each_gap_on_path(const Replay& replay, const Path& path, std::vector<Gaps>& gaps, Visit visit)
{
    std::vector<GapOnPath> open(gaps.size());  // by process: the last one, of which more may follow; none has 0 ns
    for_each_part_on_path(replay, path, gaps, [&](std::size_t p, std::size_t gap, model::Ns begin, model::Ns end) {
        const std::int64_t ns = gaps[p].recorded(begin, end);
        if (ns == 0)
            return;
        if (open[p].ns > 0 && open[p].gap == gap) {
            open[p].ns += ns;
            return;
        }
        if (open[p].ns > 0)
            visit(open[p]);
        open[p] = {p, gap, ns};
    });
    for (const GapOnPath& last : open)
        if (last.ns > 0)
            visit(last);
}

/// Numbers for places, or for some of them.
class GapPlaces
{
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    explicit GapPlaces(std::size_t contexts) : last_(contexts, none) {}

    [[nodiscard]] std::uint32_t find(GapPlace place) const
    {
        std::uint32_t i = last_[place.after.value];
        while (i != none && entries_[i].before != place.before)
            i = entries_[i].next;
        return i;
    }
    std::uint32_t add(GapPlace place)
    {
        if (const std::uint32_t known = find(place); known != none)
            return known;
        entries_.push_back({place.before, last_[place.after.value]});
        places_.push_back(place);
        return last_[place.after.value] = static_cast<std::uint32_t>(places_.size() - 1);
    }
    [[nodiscard]] const std::vector<GapPlace>& places() const { return places_; }

private:
    struct Entry {
        model::ContextId before;
        std::uint32_t next;  // of those with the same call after it
    };
    std::vector<std::uint32_t> last_;  // by the call after it
    std::vector<Entry> entries_;
    std::vector<GapPlace> places_;
};

}  // namespace critpath::replayer
