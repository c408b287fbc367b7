// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the samples themselves may have added to the path. It goes where a rank was late, and who was just
// interrupted by a sample is: so there may be many more of them on it than its time would have. (docs/ALGORITHM,
// "Samples")
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/report/table.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace critpath::report
{

struct SamplingCost {
    static constexpr double least_ns = 5'000, most_ns = 50'000;  // what a sample takes; bench/RESULTS.md

    double samples = 0;   // that divide time of the path
    double expected = 0;  // as many as that time has where nobody chooses it by them
    double path_ns = 0;

    [[nodiscard]] double times() const { return samples / expected; }
    /// More than chance (a Poisson variable) can be.
    [[nodiscard]] bool is_drawn_to_samples() const;
    /// Parts of the path.
    [[nodiscard]] double least() const { return std::min(1.0, samples * least_ns / path_ns); }
    [[nodiscard]] double most() const { return std::min(1.0, samples * most_ns / path_ns); }
};

/// Nothing where no sample is on the path.
std::optional<SamplingCost> sampling_cost(const model::Profile& profile);

/// For CSV and JSON.
std::vector<Field> sampling_cost_fields(const model::Profile& profile);
/// A sentence, where that may be much: 2 % of the path, or more.
std::optional<std::string> sampling_cost_note(const model::Profile& profile);

}  // namespace critpath::report
