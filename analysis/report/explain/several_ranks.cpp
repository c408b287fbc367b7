// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns when a stretch is about two ranks, and not one: they take longer, or come to the place more often than all
// others.
#include "analysis/report/explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace critpath::report
{

namespace
{

constexpr double much_more_often = 1.25;

/// The mean of all but the `first` ones, which come so often.
double mean_of_others(const model::Stretch& s, std::int64_t first, std::int64_t their_times)
{
    return static_cast<double>(s.all_times - their_times) /
           static_cast<double>(std::max<std::int64_t>(s.ranks_there - first, 1));
}

}  // namespace

bool Explanation::have_two_most_times() const
{
    const model::Stretch& s = *stretch;
    return s.ranks_there > 2 && s.second_times_rank >= 0 &&
           static_cast<double>(s.most_times) < much_more_often * static_cast<double>(s.second_times) &&
           static_cast<double>(s.second_times) >= much_more_often * mean_of_others(s, 2, s.most_times + s.second_times);
}

double Explanation::mean_times_of_others() const
{
    const model::Stretch& s = *stretch;
    return have_two_most_times() ? mean_of_others(s, 2, s.most_times + s.second_times)
                                 : mean_of_others(s, 1, s.most_times);
}

bool Explanation::comes_unevenly() const
{
    constexpr std::int64_t several = 4;
    return stretch->ranks_there > 1 && stretch->most_times >= several &&
           static_cast<double>(stretch->most_times) >= much_more_often * mean_times_of_others();
}

bool Explanation::are_always_two_ranks() const
{
    constexpr double many = 0.25;  // of what takes longer
    const bool are_two = stretch->slow_ranks == 2 && second_longer_share >= many &&
                         longer_share + second_longer_share >= nearly_all_times;
    const auto is_one_of_them = [&](std::int64_t slow) {
        return slow == static_cast<std::int64_t>(longer_rank) || slow == static_cast<std::int64_t>(second_longer_rank);
    };
    return are_two && stretch->ranks > 2 && !is_always_one_rank() && is_one_of_them(stretch->slowest_rank);
}

std::string two_ranks_in_words(std::size_t one, std::size_t other)
{
    return fmt::format("ranks {} and {}", std::min(one, other), std::max(one, other));
}

}  // namespace critpath::report
