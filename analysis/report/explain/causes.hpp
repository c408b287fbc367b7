// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which causes of what takes longer are others than one that is known: those of another rank, or of another kind.
#pragma once

#include "analysis/report/explain/explain.hpp"

#include <optional>

namespace critpath::report
{

/// What work makes, of whatever factors, or what this one makes.
double part_of_kind(const Reason& reason, Factor factor);

/// The largest part that is more than what samples may be wrong by; none is larger than 0.
struct CauseOf {
    bool is_by_rank = false;     // only of what is so time and again
    bool not_preempted = false;  // and that is known of all but being preempted
};
std::optional<Factor> largest_part(const Reason& reason, CauseOf of);

/// What makes most of the one makes little of the other.
bool has_another_reason(const Reason& one, const Reason& other);

/// Of those of another kind than the cause, the largest, if it is nearly as large.
std::optional<Factor> second_cause(const Explanation& e);

}  // namespace critpath::report
