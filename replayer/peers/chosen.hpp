// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the steps of the phase "peers" behind the choice of places: the gaps on the path against those of the peers, and
// the gaps of all ranks against each other.
#pragma once

#include "analysis/model/stretch.hpp"
#include "replayer/growing_list.hpp"
#include "replayer/peers/gaps.hpp"
#include "replayer/peers/notable.hpp"
#include "replayer/peers/spans.hpp"
#include "replayer/peers/spread.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace critpath::replayer
{

/// The places that are worth an explanation, and the gaps of the owned processes there.
struct Chosen {
    struct OnPath {
        std::int64_t ns;
        std::uint32_t place, occurrence;  // no_occurrence: it is in none of the lists
        std::int64_t stands_for;          // so many gaps, itself among them
        std::uint32_t gap;                // itself
    };
    static constexpr std::uint32_t no_occurrence = UINT32_MAX;
    struct Total {
        std::int64_t ns = 0, gaps = 0;
    };
    using Lists = std::vector<std::vector<std::vector<std::uint32_t>>>;
    /// By list and by index into Replay::processes: gaps, or the first ones of spans, ascending. Entry k is occurrence
    /// k.
    Lists lists;
    std::vector<std::size_t> list_of;  // by place
    /// Of lists of spans, or of laps, that share one of the calls around them: peers are then only who comes to that
    /// call as often. nullptr: lists are of gaps. It must outlive this.
    const Spans* spans = nullptr;
    /// By list and by index into Replay::processes, of laps, each of which ends where the next one begins: behind the
    /// last one. Of spans empty.
    std::vector<std::vector<std::uint32_t>> laps_end;
    /// By place, of spans: the gaps that they are compared for, by index into Replay::processes. These, too.
    std::vector<const std::vector<std::vector<std::uint32_t>>*> parts;
    /// By index into Replay::processes: those that are on the path and to be compared, in order of time.
    std::vector<std::vector<OnPath>> on_path;
    /// By place and by index into Replay::processes: all that is on the path.
    std::vector<std::vector<Total>> totals;

    /// The lists of a process, by list, which are empty then.
    void take(std::vector<GrowingList<std::uint32_t>>& of_process, std::size_t p)
    {
        for (std::size_t list = 0; list < of_process.size(); ++list)
            lists[list][p] = of_process[list].take();
    }

    [[nodiscard]] std::size_t places() const { return list_of.size(); }
    /// Gaps of one process that are compared as if they were one: [first, end).
    struct Range {
        std::size_t first = 0, end = 0;
        bool operator==(const Range&) const = default;
    };
    /// Those of an occurrence. `p`: index into Replay::processes.
    [[nodiscard]] Range range(std::size_t place, std::size_t p, std::size_t occurrence) const
    {
        return {gaps(place)[p][occurrence], end(place, p, occurrence)};
    }
    [[nodiscard]] Gap measure(Gaps& of_process, const Range& range) const
    {
        return spans == nullptr ? of_process.measure(range.first) : spans->measure(of_process, range.first, range.end);
    }
    /// Behind the last gap of an occurrence.
    [[nodiscard]] std::size_t end(std::size_t place, std::size_t p, std::size_t occurrence) const
    {
        const std::vector<std::uint32_t>& list = gaps(place)[p];
        if (spans == nullptr)
            return list[occurrence] + std::size_t{1};
        if (laps_end.empty())
            return spans->end(p, list[occurrence]);
        return occurrence + 1 < list.size() ? list[occurrence + 1] : laps_end[list_of[place]][p];
    }
    /// Whether an occurrence has what is compared in it: spans may have other things, too, that a program does in turn.
    [[nodiscard]] bool is_there(std::size_t place, std::size_t p, std::size_t occurrence) const
    {
        if (spans == nullptr)
            return true;
        const std::vector<std::uint32_t>& compared = (*parts[place])[p];
        const auto next = std::ranges::lower_bound(compared, gaps(place)[p][occurrence]);
        return next != compared.end() && *next < end(place, p, occurrence);
    }
    /// Gaps by index into Replay::processes.
    [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& gaps(std::size_t place) const
    {
        return lists[list_of[place]];
    }
};

/// Of the gaps of one owned process at a place that are on the path and compared, those of which nobody has counted
/// instructions or cycles.
struct Uncounted {
    std::int64_t gaps = 0;
    std::int64_t processor_ns = 0;  // what they take longer on the processor
    std::int64_t per_log_ns = 0;    // what they take longer for each unit of the logarithm of a factor
};

/// Of the gaps of a place on the path, the one that takes most longer than its peers, or just longest; of several, the
/// first of the first process.
struct Costliest {
    std::int64_t longer_ns = 0;  // or all of it on the path; 0: none does
    std::int64_t process = -1;
    std::int64_t begin_ns = 0, length_ns = 0;

    void consider(const Costliest& other)
    {
        const auto order = [](const Costliest& c) { return std::tuple(-c.longer_ns, c.process, c.begin_ns); };
        if (other.longer_ns > 0 && order(other) < order(*this))
            *this = other;
    }
};

/// What entries on the path take longer, on the ranks where they do so together; and what they take their peers.
struct Longer {
    std::int64_t ns = 0;  // of whole entries, not only what is on the path
    std::int64_t peers_ns = 0;
    std::int64_t path_ns = 0;       // likewise of what is on the path
    std::int64_t preempted_ns = 0;  // of that, by being preempted
};

struct Compared {
    std::vector<Longer> longer;                     // by place
    std::vector<model::StretchShare> shares;        // of the owned processes
    std::vector<Costliest> costliest;               // by place, of the owned processes
    std::vector<Costliest> longest;                 // likewise, whatever their peers take
    std::vector<Spread> spreads;                    // by place, of the owned processes
    std::vector<std::vector<Uncounted>> uncounted;  // by place, and by index into Replay::processes
    NotableRanks notable;
};

/// Compares each gap on the path with the same occurrence on the other processes; adds to `sums`, by place, what the
/// owned processes have on the path. Collective over `replay.comm`.
Compared compare(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen,
                 std::vector<model::Stretch>& sums);

/// Moves in `sums`, and in `notable`, what uncounted gaps take longer on the processor to instructions, cycles and
/// frequency, where samples of all processes count these; and adds how often these miss caches, as sums for
/// rates_of_sums(). Returns, by place, who has the fewest of such samples. Collective over `replay.comm`.
struct FewestSamples {
    std::int64_t samples = 0;
    std::int64_t rank = -1;  // none, if the trace has no such samples
};
std::vector<FewestSamples> tell_by_samples(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen,
                                           const std::vector<std::vector<Uncounted>>& uncounted,
                                           std::vector<model::Stretch>& sums, NotableRanks& notable);

/// Makes rates of what tell_by_samples() has added up on all processes: Stretch::cache_misses and the like.
void rates_of_sums(model::Stretch& sums);

/// Fills in which differences between ranks, and nodes, persist, and how many ranks are slow: of their time, or of that
/// without what they were preempted, which is chance of the machine. `longer`: by place, of all ranks. Collective over
/// `replay.comm`; the same on all processes.
void find_persistence(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen,
                      const std::vector<model::StretchShare>& shares, const std::vector<Longer>& longer,
                      std::vector<model::Stretch>& stretches);

/// The spans that gaps on the path at `places` are in, for each of these twice: by the call behind them, and by the
/// call before them. Several calls may be so: then by the one with the most on the path of a rank. `places`: some of
/// `chosen`. Entry 2 i + 1 is `places[i]` by its call before. Or once, by the call behind them alone: entry i is
/// `places[i]`. Collective over `replay.comm`.
enum class SpansBy : std::uint8_t { EachCall, CallAfter };
struct ByOneCall {
    Chosen spans;
    std::vector<GapPlace> bounds;  // by index into `places`: these calls
};
ByOneCall by_one_call(const Replay& replay, const std::vector<Gaps>& gaps, const Chosen& chosen, const Spans& spans,
                      const std::vector<std::size_t>& places, SpansBy by = SpansBy::EachCall);

/// By index into `places`: whether, of most of what is on the path there, the process waits in no call of the span that
/// it is in. Collective over `replay.comm`.
std::vector<bool> waits_in_none(const Replay& replay, const Predecessors& predecessors, const std::vector<Gaps>& gaps,
                                const Chosen& chosen, const Spans& spans, const std::vector<std::size_t>& places);

/// The laps that gaps on the path at `places` are in, for each of these twice: from the call behind them to the next,
/// and from the call before them. Entry 2 i + 1 is `places[i]` by its call before.
Chosen by_lap(const std::vector<Gaps>& gaps, const Chosen& chosen, const Spans& spans,
              const std::vector<std::size_t>& places, const std::vector<GapPlace>& bounds);

/// Parts of the time on the path; the mean of the other processes.
struct Meanwhile {
    double at_work = 0;  // they work between calls, wherever they are in the program
    double there = 0;    // of that, the same, if SameWork tells
    // As at_work, of those that come to the place, if any does; and in calls while these wait for nobody. Not where
    // SameWork is asked.
    double busy = 0;
};

/// Where the others do the same work as at a place.
class SameWork
{
public:
    /// `spans`: between calls that can wait; `meetings`: between collectives. Of places for which none are added
    /// nothing is asked.
    SameWork(std::size_t places, const Spans& spans, const Spans& meetings)
        : same_(places), spans_(spans), meetings_(meetings)
    {
    }
    /// `calls` are around the gaps there, or around the spans that these are in. If one of them is a collective, all
    /// that leads to it, or comes behind it, is the same, whatever the other one is; if both are, all between them.
    void add(std::size_t place, GapPlace calls, const model::Definitions& definitions);

    [[nodiscard]] bool is_asked(std::size_t place) const { return same_[place].what != What::Nothing; }
    /// Whether that of a gap of another process is; `p`: its index into Replay::processes.
    [[nodiscard]] bool is_there(std::size_t place, std::size_t p, const Gaps& gaps, std::size_t gap) const;

private:
    enum class What {
        Nothing,
        Gap,
        SpanTo,
        SpanFrom,
        Region,  // between two collectives
    };
    struct Same {
        What what = What::Nothing;
        GapPlace calls{};
    };
    std::vector<Same> same_;  // by place
    const Spans& spans_;
    const Spans& meetings_;
};

/// By place; `same`: of which places, and what else the others do there; or null, of all that they work. While the
/// process on the path lacks a processor, in a gap or before it in a call that could have been
/// over, the others have that much more time to work. Of many gaps on the path some are drawn. Collective over
/// `replay.comm`; the same on all processes.
std::vector<Meanwhile> others_at_work(const Replay& replay, const Predecessors& predecessors, std::vector<Gaps>& gaps,
                                      const Chosen& chosen, const SameWork* same);

/// The place has peers for half of what is on the path, at least.
inline bool has_peers(const model::Stretch& sums)
{
    return sums.looked_at_ns > 0 && 2 * sums.compared_ns >= sums.looked_at_ns;
}

/// How many times as long as its peers it takes, as far as it is compared.
inline double times_of_peers(const model::Stretch& sums)
{
    return static_cast<double>(sums.compared_ns) / static_cast<double>(std::max<std::int64_t>(sums.peers_ns, 1));
}

/// Whether the call is an operation of all members of a communicator.
bool is_collective(const model::Definitions& definitions, model::ContextId call);

/// Which of the calls around spans they are to be compared by, if by any of the two; `after`, `before`: what comes of
/// each.
std::optional<model::ComparedBy> choose_call(const model::Definitions& definitions, const SameCalls& same,
                                             GapPlace bounds, const model::Stretch& after,
                                             const model::Stretch& before);

}  // namespace critpath::replayer
