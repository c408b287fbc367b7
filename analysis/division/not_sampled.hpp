// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the row "[not sampled]": how path time that samples divide and the periods of those samples are made to agree.
#pragma once

#include "analysis/model/profile.hpp"

#include <cstdint>
#include <vector>

namespace critpath::division
{

/// Sampled path time of one row on one process, or of one process altogether.
struct SampledTime {
    std::int64_t time = 0;     // ns of path; of a process
    std::int64_t sampled = 0;  // ns of sample periods
};

/// A sample stands for its period wherever in it the path was, so periods and path time agree only on average, and
/// the shorter the path was on a process, the less they do there. What is exact is the sum over all processes:
/// - what the samples of all processes leave of the path time of all processes is shared out among the processes whose
///   samples leave something, in proportion (result: [not sampled] by process, in the order of `processes`);
/// - if the samples of all processes exceed the path time, they are all scaled down by `scale`.
struct NotSampled {
    std::vector<std::int64_t> by_process;
    std::int64_t numerator = 1, denominator = 1;  // of the scale

    [[nodiscard]] std::int64_t scale(std::int64_t ns) const;
};
NotSampled not_sampled(const std::vector<SampledTime>& processes);

/// Makes the rows of `profile` sum to the path time of all `processes` (by ProcessId): scales what samples have found
/// if it is more, and adds [not sampled], which is the call path `rest`, if it is less.
void balance(model::Profile& profile, const std::vector<SampledTime>& processes, model::CallPathId rest);

}  // namespace critpath::division
