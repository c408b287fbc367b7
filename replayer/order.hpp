// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how rows are ordered and searched that mostly are in order already.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <vector>

namespace critpath::replayer
{

/// Sorts by `key`, stably, what consists of R runs that are in order: N log R steps. `items`: a vector, or a span.
template <class Items, class Key>
void sort_runs(Items&& items, Key key)
{
    std::vector<std::size_t> ends{0};  // of the runs; the first is empty
    while (ends.back() < items.size()) {
        const auto begin = items.begin() + static_cast<std::ptrdiff_t>(ends.back());
        const auto end = std::ranges::is_sorted_until(begin, items.end(), std::ranges::less{}, std::ref(key));
        ends.push_back(static_cast<std::size_t>(end - items.begin()));
    }
    while (ends.size() > 2) {
        std::vector<std::size_t> merged{0};
        for (std::size_t run = 1; run < ends.size(); run += 2) {
            const std::size_t last = std::min(run + 1, ends.size() - 1);
            const auto at = [&](std::size_t i) { return items.begin() + static_cast<std::ptrdiff_t>(ends[i]); };
            std::ranges::inplace_merge(at(run - 1), at(run), at(last), std::ranges::less{}, std::ref(key));
            merged.push_back(ends[last]);
        }
        ends = std::move(merged);
    }
}

/// How many of `size` items the predicate holds for, which holds for a first part of them. Fast if the answer is about
/// `near`, which may be anything.
template <class Predicate>
[[nodiscard]] std::size_t count_first(std::size_t size, Predicate predicate, std::size_t near)
{
    std::size_t low = 0;
    std::size_t high = size;
    std::size_t probe = std::min(near, high);
    for (std::size_t step = 1; low < high && probe > low; step *= 2) {  // downwards, as walks go
        if (predicate(probe - 1)) {
            low = probe;
            break;
        }
        high = probe - 1;
        probe = high - std::min(high, step);
    }
    for (std::size_t step = 1; low < high; step *= 2) {
        probe = std::min(low + step, high);
        if (!predicate(probe - 1)) {
            high = probe - 1;
            break;
        }
        low = probe;
    }
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (predicate(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

}  // namespace critpath::replayer
