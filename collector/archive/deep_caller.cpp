// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/deep_caller.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>

namespace critpath::archive
{

namespace
{

constexpr std::uint64_t enough_images = 16;    // that show it, at any time
constexpr std::uint64_t long_period = 8;       // images that show the same one, one behind the other
constexpr std::uint64_t part_of_others = 100;  // of those that show it, one such part may show others for less
constexpr std::uint64_t part_of_perhaps = 10;  // likewise

}  // namespace

// Images one behind the other that show the same.
struct CallerEvidence::Period {
    Seen who = Seen::Nobody;
    std::uint32_t begin = 0, end = 0;

    [[nodiscard]] std::uint64_t images() const { return end - begin; }
};

CallerEvidence::CallerEvidence(std::span<const DeepStacks::Run> runs,
                               const std::function<Seen(std::uint64_t word)>& seen)
{
    std::array<std::uint64_t, 4> images{};
    std::array<std::uint64_t, 4> in_short{};  // periods: there may be others that are too short to be seen
    const auto count = [&](const Period& period) {
        const auto who = static_cast<std::size_t>(period.who);
        const bool is_long = period.images() >= long_period;
        images[who] += period.images();
        in_short[who] += is_long ? 0 : period.images();
        if (is_long && period.who == Seen::This) {
            long_periods_.emplace_back(period.begin, period.end);
        }
    };
    std::unordered_map<std::uint64_t, Seen> known;
    Period period;
    for (const DeepStacks::Run& run : runs) {
        const auto [found, is_new] = known.try_emplace(run.word);
        if (is_new) {
            found->second = seen(run.word);
        }
        if (found->second != period.who || run.first != period.end) {
            count(period);
            period = {found->second, run.first, run.first};
        }
        period.end = run.last + 1;
    }
    count(period);
    const auto of = [](const std::array<std::uint64_t, 4>& counts, Seen who) {
        return counts[static_cast<std::size_t>(who)];
    };
    const std::uint64_t own = of(images, Seen::This);
    has_others_ = of(images, Seen::Other) > 0;
    is_enough_ = own >= enough_images && of(in_short, Seen::Other) * part_of_others <= own &&
                 of(in_short, Seen::Perhaps) * part_of_perhaps <= own;
}

bool CallerEvidence::is_certain(std::span<const DeepStacks::Run> around) const
{
    if (around.empty() || !is_enough_ || !has_others_) {
        return !around.empty() && is_enough_;
    }
    // By others that were there for long it is cut into periods.
    const auto period = std::partition_point(long_periods_.begin(), long_periods_.end(),
                                             [&](const auto& p) { return p.second <= around.back().last; });
    return period != long_periods_.end() && period->first <= around.front().first;
}

}  // namespace critpath::archive
