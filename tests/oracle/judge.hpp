// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a replay says of a simulated program, and how much of that is false: path time that has slack in the truth,
// so that the run would have taken as long without it.
#pragma once

#include "analysis/model/path.hpp"
#include "tests/oracle/simulate.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace critpath::oracle
{

struct Verdict {
    std::int64_t makespan = 0;  // ns
    std::int64_t critical = 0;  // ns of the path that have none
    std::int64_t false_critical = 0;
    std::int64_t misleading = 0;      // of that, what has a slack of more than 2 % of the run, or is not there
    std::int64_t led_by_doubt = 0;    // ns of the path that the replay says may be elsewhere
    std::vector<std::string> faults;  // each segment with slack, in words
};

/// `segments`: the path that was found, whose locations are ranks.
Verdict judge(const Execution& execution, const Machine& machine, std::span<const model::Segment> segments);

}  // namespace critpath::oracle
