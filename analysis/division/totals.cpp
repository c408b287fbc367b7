// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/division/totals.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace critpath::division
{

namespace
{

__extension__ using Wide = __int128;

using model::TimeSlots;
using model::TotalPart;

/// What the window has of an amount that [begin, end) has. Parts add up to the whole.
class Share
{
public:
    Share(std::int64_t begin, std::int64_t end, const Window& window)
        : length_(end - begin), from_(std::clamp<std::int64_t>(window.begin - begin, 0, length_)),
          to_(std::clamp<std::int64_t>(window.end - begin, 0, length_))
    {
    }

    [[nodiscard]] std::int64_t of(std::int64_t amount) const
    {
        // Of a run that is shorter than it has slots, those of no length have nothing but what lies outside of it.
        if (length_ == 0)
            return 0;
        return static_cast<std::int64_t>(Wide{amount} * to_ / length_ - Wide{amount} * from_ / length_);
    }

private:
    std::int64_t length_, from_, to_;
};

/// Where times are known by parts of so many slots.
TotalsKnown known_by(std::uint32_t slots_each, std::int64_t makespan_ns, const Window& window)
{
    const TimeSlots slots(makespan_ns);
    const auto is_cut = [&](std::int64_t time) {
        return time == makespan_ns || slots.begin(slots.at(time) / slots_each * slots_each) == time;
    };
    if (is_cut(window.begin) && is_cut(window.end))
        return TotalsKnown::Exactly;
    const std::int64_t part_ns = makespan_ns / (TimeSlots::number / slots_each);
    return window.length() < part_ns ? TotalsKnown::Not : TotalsKnown::Interpolated;
}

}  // namespace

TotalsKnown totals_known(std::int64_t makespan_ns, const Window& window)
{
    return known_by(1, makespan_ns, window);
}

TotalsKnown computed_known(std::int64_t makespan_ns, const Window& window)
{
    return known_by(model::ComputedParts::slots, makespan_ns, window);
}

std::vector<std::int64_t> computed_in(std::int64_t makespan_ns, std::size_t locations,
                                      std::span<const model::ComputedParts> parts, const Window& window)
{
    const TimeSlots slots(makespan_ns);
    std::vector<Share> shares;
    for (std::uint32_t slot = 0; slot < TimeSlots::number; slot += model::ComputedParts::slots)
        shares.emplace_back(slots.begin(slot), slots.begin(slot + model::ComputedParts::slots), window);
    std::vector<std::int64_t> result(locations, 0);
    for (const model::ComputedParts& of_thread : parts)
        for (std::size_t i = 0; i < shares.size(); ++i)
            result.at(of_thread.location) += shares[i].of(of_thread.ns[i]);
    return result;
}

std::vector<TotalsIn> totals_in(std::int64_t makespan_ns, std::size_t call_paths, std::span<const TotalPart> parts,
                                std::span<const Window> windows)
{
    const TimeSlots slots(makespan_ns);
    std::vector<TotalsIn> result;
    auto part = parts.begin();
    for (const Window& window : windows) {
        while (part != parts.end() && slots.end(part->slot) <= window.begin)
            ++part;
        TotalsIn& in = result.emplace_back();
        std::unordered_map<std::uint32_t, model::CallPathTime> sums;
        for (auto next = part; next != parts.end() && slots.begin(next->slot) < window.end; ++next) {
            const Share share(slots.begin(next->slot), slots.end(next->slot), window);
            if (!model::CallPathId{next->call_path}.valid()) {
                in.computed_ns += share.of(next->ns);
                continue;
            }
            if (next->call_path >= call_paths)
                throw std::out_of_range("the times of all ranks have a place that the result does not know");
            model::CallPathTime& sum = sums[next->call_path];
            sum.ns += share.of(next->ns);
            sum.samples += static_cast<std::uint64_t>(share.of(static_cast<std::int64_t>(next->samples)));
            sum.other_threads_ns += share.of(next->other_threads_ns);
            sum.in_calls_ns += share.of(next->in_calls_ns);
        }
        for (auto& [call_path, sum] : sums) {
            sum.call_path = {call_path};
            sum.process = model::ProcessId::none();
            if (sum.ns != 0 || sum.samples != 0)
                in.totals.push_back(sum);
        }
        std::ranges::sort(in.totals, {}, &model::CallPathTime::call_path);
    }
    return result;
}

}  // namespace critpath::division
