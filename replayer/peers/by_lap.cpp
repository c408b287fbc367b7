// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/chosen.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace
{

constexpr std::uint32_t is_none = UINT32_MAX;

/// Laps of several calls at once, while one passes the gaps of a process.
class Laps
{
public:
    /// `contexts`: so many are there.
    explicit Laps(std::size_t contexts) : list_of_(contexts, is_none) {}

    /// The number of the list for the call, which may have one.
    std::uint32_t add(model::ContextId call)
    {
        if (list_of_[call.value] == is_none)
            list_of_[call.value] = size_++;
        return list_of_[call.value];
    }
    [[nodiscard]] std::size_t size() const { return size_; }

    /// Adds the laps of a process, `p`, to `found`.
    void find(const Gaps& gaps, const Spans& spans, std::size_t p, Chosen& found) const
    {
        std::vector<GrowingList<std::uint32_t>> lists(size_);
        std::vector<std::uint32_t> begin(size_, 0);
        for (std::uint32_t i = 0; i < gaps.end(); ++i) {
            const std::uint32_t list = list_of_[spans.meeting(gaps.place(i).after).value];
            if (list != is_none)
                lists[list].push_back(std::exchange(begin[list], i + 1));
        }
        found.take(lists, p);
        for (std::size_t list = 0; list < size_; ++list) {
            found.laps_end[list][p] = begin[list];
            // From the start of the process on, one may work and another one not yet: that is little of many laps, but
            // not of its logarithm.
            if (std::vector<std::uint32_t>& laps = found.lists[list][p]; laps.size() > 2)
                laps.erase(laps.begin());
        }
    }

private:
    std::vector<std::uint32_t> list_of_;  // by ContextId
    std::uint32_t size_ = 0;
};

}  // namespace

Chosen by_lap(const std::vector<Gaps>& gaps, const Chosen& chosen, const Spans& spans,
              const std::vector<std::size_t>& places, const std::vector<GapPlace>& bounds)
{
    Chosen found;
    found.spans = &spans;
    Laps laps(spans.contexts());
    std::vector<std::uint32_t> index(chosen.places(), is_none);
    for (std::size_t i = 0; i < places.size(); ++i) {
        index[places[i]] = static_cast<std::uint32_t>(i);
        const GapPlace calls = bounds[places[i]];
        for (const model::ContextId call : {calls.after, calls.before.valid() ? calls.before : calls.after}) {
            found.list_of.push_back(laps.add(spans.meeting(call)));
            found.totals.push_back(chosen.totals[places[i]]);
            found.parts.push_back(&chosen.gaps(places[i]));
        }
    }
    found.lists.resize(laps.size(), std::vector<std::vector<std::uint32_t>>(gaps.size()));
    found.laps_end.resize(laps.size(), std::vector<std::uint32_t>(gaps.size()));
    found.on_path.resize(gaps.size());
    for (std::size_t p = 0; p < gaps.size(); ++p) {
        laps.find(gaps[p], spans, p, found);
        for (Chosen::OnPath on_path : chosen.on_path[p]) {
            const std::uint32_t i = index[on_path.place];
            if (i == is_none)
                continue;
            for (const std::size_t place : {2 * std::size_t{i}, 2 * std::size_t{i} + 1}) {
                // What is behind the last such call is in no lap, as what is before the first one.
                const std::vector<std::uint32_t>& list = found.gaps(place)[p];
                const std::ptrdiff_t lap = std::ranges::upper_bound(list, on_path.gap) - list.begin() - 1;
                const bool is_in = lap >= 0 && on_path.gap < found.end(place, p, static_cast<std::size_t>(lap));
                on_path.place = static_cast<std::uint32_t>(place);
                on_path.occurrence = is_in ? static_cast<std::uint32_t>(lap) : Chosen::no_occurrence;
                found.on_path[p].push_back(on_path);
            }
        }
    }
    return found;
}

}  // namespace critpath::replayer
