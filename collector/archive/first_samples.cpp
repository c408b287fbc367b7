// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/first_samples.hpp"

#include <algorithm>

namespace critpath::archive
{

std::vector<std::uint64_t> FirstSamples::periods() const
{
    std::vector<std::uint64_t> result;
    if (counts_.empty()) {
        return result;
    }
    const auto in_first = static_cast<std::size_t>(
        std::find_if(counts_.begin() + 1, counts_.end(), [this](std::uint64_t count) { return count > own_; }) -
        counts_.begin());
    for (std::size_t i = 0; i < in_first; ++i) {
        result.push_back(own_ * (i + 1) / in_first - own_ * i / in_first);
    }
    for (std::size_t i = in_first; i < counts_.size(); ++i) {
        result.push_back(counts_[i] > counts_[i - 1] ? std::min(counts_[i] - counts_[i - 1], 2 * own_) : 0);
    }
    return result;
}

}  // namespace critpath::archive
