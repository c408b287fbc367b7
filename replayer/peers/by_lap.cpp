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
        if (list_of_[call.value] == is_none) {
            list_of_[call.value] = static_cast<std::uint32_t>(calls_.size());
            calls_.push_back(call);
        }
        return list_of_[call.value];
    }
    [[nodiscard]] const std::vector<model::ContextId>& calls() const { return calls_; }

    /// Of one more process: the first gaps of the laps that end with the call, by list.
    std::vector<std::vector<std::uint32_t>> begins(const Gaps& gaps, const Spans& spans) const
    {
        std::vector<std::vector<std::uint32_t>> result(calls_.size());
        std::vector<std::uint32_t> first(calls_.size(), 0);
        for (std::size_t i = 0; i < gaps.end(); ++i) {
            const std::uint32_t list = list_of_[spans.meeting(gaps.place(i).after).value];
            if (list == is_none)
                continue;
            result[list].push_back(std::exchange(first[list], static_cast<std::uint32_t>(i + 1)));
        }
        // From the start of the process on, one may work and another one not yet: that is little of many laps, but not
        // of its logarithm.
        for (std::vector<std::uint32_t>& laps : result)
            if (laps.size() > 2)
                laps.erase(laps.begin());
        return result;
    }

private:
    std::vector<std::uint32_t> list_of_;   // by ContextId
    std::vector<model::ContextId> calls_;  // by list
};

}  // namespace

ByLap by_lap(const std::vector<Gaps>& gaps, const Chosen& chosen, const Spans& spans,
             const std::vector<std::size_t>& places, const std::vector<GapPlace>& bounds)
{
    ByLap result;
    Chosen& found = result.chosen;
    Laps laps(spans.contexts());
    std::vector<std::uint32_t> index(chosen.places(), is_none);
    for (std::size_t i = 0; i < places.size(); ++i) {
        index[places[i]] = static_cast<std::uint32_t>(i);
        const GapPlace calls = bounds[places[i]];
        for (const model::ContextId call : {calls.after, calls.before.valid() ? calls.before : calls.after}) {
            found.list_of.push_back(laps.add(spans.meeting(call)));
            found.totals.push_back(chosen.totals[places[i]]);
            found.parts.push_back(calls);
        }
    }
    for (const model::ContextId call : laps.calls())
        result.laps.push_back(spans.laps(call));
    for (const std::size_t list : found.list_of)
        found.spans.push_back(&result.laps[list]);
    found.lists.resize(laps.calls().size(), std::vector<std::vector<std::uint32_t>>(gaps.size()));
    found.on_path.resize(gaps.size());
    for (std::size_t p = 0; p < gaps.size(); ++p) {
        std::vector<std::vector<std::uint32_t>> begins = laps.begins(gaps[p], spans);
        for (std::size_t list = 0; list < begins.size(); ++list)
            found.lists[list][p] = std::move(begins[list]);
        for (Chosen::OnPath on_path : chosen.on_path[p]) {
            const std::uint32_t i = index[on_path.place];
            if (i == is_none)
                continue;
            for (const std::size_t place : {2 * std::size_t{i}, 2 * std::size_t{i} + 1}) {
                // What is behind the last such call is in no lap, as what is before the first one.
                const std::vector<std::uint32_t>& list = found.gaps(place)[p];
                const auto lap = std::ranges::upper_bound(list, on_path.gap) - list.begin() - 1;
                const std::uint32_t first = lap < 0 ? on_path.gap : list[static_cast<std::size_t>(lap)];
                const std::size_t end = found.end(place, gaps[p], first);
                const bool is_in = lap >= 0 && on_path.gap < end;
                on_path.place = static_cast<std::uint32_t>(place);
                on_path.entry = is_in ? first : on_path.gap;
                on_path.occurrence = is_in ? static_cast<std::uint32_t>(lap) : Chosen::no_occurrence;
                found.on_path[p].push_back(on_path);
            }
        }
    }
    return result;
}

}  // namespace critpath::replayer
