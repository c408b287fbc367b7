// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the ranks of a run compute, beside what its path does.
#pragma once

#include "analysis/model/profile.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace critpath::report
{

/// All in ns.
class ComputedTime
{
public:
    explicit ComputedTime(const model::Profile& profile);

    [[nodiscard]] std::size_t ranks() const { return computed_ns_.size(); }
    /// Between calls, by all threads, on and off the path.
    [[nodiscard]] std::int64_t of_rank(std::size_t rank) const { return computed_ns_[rank]; }
    /// Of the path's time, what it computes on this rank.
    [[nodiscard]] std::int64_t on_path(std::size_t rank) const { return path_ns_[rank]; }
    [[nodiscard]] std::int64_t on_path() const;
    /// Of a rank; nothing if ranks do not compare.
    [[nodiscard]] const std::optional<std::int64_t>& mean() const { return mean_ns_; }

private:
    std::vector<std::int64_t> computed_ns_, path_ns_;  // by rank
    std::optional<std::int64_t> mean_ns_;
};

}  // namespace critpath::report
