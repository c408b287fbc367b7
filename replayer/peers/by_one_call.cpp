// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/chosen.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

/// Numbers for the calls that lists are by.
class ListNumbers
{
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    explicit ListNumbers(std::size_t contexts) : after_(contexts, none), before_(contexts + 1, none) {}

    std::uint32_t add_after(model::ContextId call) { return add(after_[call.value]); }
    std::uint32_t add_before(model::ContextId call) { return add(before_[before_index(call)]); }
    [[nodiscard]] std::uint32_t after(model::ContextId call) const { return after_[call.value]; }
    [[nodiscard]] std::uint32_t before(model::ContextId call) const { return before_[before_index(call)]; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    std::uint32_t add(std::uint32_t& number)
    {
        if (number == none)
            number = size_++;
        return number;
    }

    /// The start of the process stands last.
    [[nodiscard]] std::size_t before_index(model::ContextId call) const
    {
        return call.valid() ? call.value : before_.size() - 1;
    }

    std::vector<std::uint32_t> after_, before_;
    std::uint32_t size_ = 0;
};

bool is_collective(const model::Definitions& definitions, model::ContextId call)
{
    return call.valid() && functions::group_of(functions::semantic_class(definitions.region(call).function)) ==
                               functions::Group::Collective;
}

}  // namespace

Chosen by_one_call(const Replay& replay, const std::vector<Gaps>& gaps, const Chosen& chosen,
                   const std::vector<GapPlace>& places, const std::vector<std::size_t>& lonely)
{
    ListNumbers numbers(replay.definitions.contexts.size());
    Chosen result;
    result.is_by_one_call = true;
    result.on_path.resize(gaps.size());
    std::vector<std::uint32_t> entries(places.size(), ListNumbers::none);  // the first one of each place
    for (const std::size_t place : lonely) {
        entries[place] = static_cast<std::uint32_t>(result.list_of.size());
        result.list_of.push_back(numbers.add_after(places[place].after));
        result.list_of.push_back(numbers.add_before(places[place].before));
        result.totals.insert(result.totals.end(), 2, chosen.totals[place]);
    }
    result.lists.resize(numbers.size(), std::vector<std::vector<std::uint32_t>>(gaps.size()));
    for (std::size_t p = 0; p < gaps.size(); ++p) {
        for (std::size_t i = 0; i < gaps[p].end(); ++i) {
            const GapPlace place = gaps[p].place(i);
            for (const std::uint32_t list : {numbers.after(place.after), numbers.before(place.before)})
                if (list != ListNumbers::none)
                    result.lists[list][p].push_back(static_cast<std::uint32_t>(i));
        }
        for (const Chosen::OnPath& on_path : chosen.on_path[p]) {
            const std::uint32_t first = entries[on_path.place];
            if (first == ListNumbers::none)
                continue;
            const std::uint32_t gap = chosen.gaps(on_path.place)[p][on_path.occurrence];
            for (const std::uint32_t entry : {first, first + 1}) {
                const std::vector<std::uint32_t>& list = result.gaps(entry)[p];
                const auto occurrence = std::ranges::lower_bound(list, gap) - list.begin();
                result.on_path[p].push_back(
                    {on_path.ns, entry, static_cast<std::uint32_t>(occurrence), on_path.stands_for});
            }
        }
    }
    return result;
}

std::optional<model::ComparedBy> choose_call(const model::Definitions& definitions, GapPlace place,
                                             const model::Stretch& after, const model::Stretch& before)
{
    using model::ComparedBy;
    if (!has_peers(after) || !has_peers(before))
        return has_peers(after)    ? std::optional(ComparedBy::CallAfter)
               : has_peers(before) ? std::optional(ComparedBy::CallBefore)
                                   : std::nullopt;
    // All take part in the same collective operation, while a message may be any of many.
    const bool is_after_collective = is_collective(definitions, place.after);
    if (is_after_collective != is_collective(definitions, place.before))
        return is_after_collective ? ComparedBy::CallAfter : ComparedBy::CallBefore;
    // Of calls of one kind, the one that makes the smaller difference: the others may do this on the other side of
    // theirs.
    const auto peers = [](const model::Stretch& sums, const model::Stretch& other) {
        return static_cast<double>(sums.peers_ns) * static_cast<double>(other.compared_ns);
    };
    return peers(after, before) >= peers(before, after) ? ComparedBy::CallAfter : ComparedBy::CallBefore;
}

}  // namespace critpath::replayer
