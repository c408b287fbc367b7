// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which causes of what takes longer are others than one that is known: those of another rank, or of another kind.
#pragma once

#include "analysis/report/explain/explain.hpp"

#include <optional>

namespace critpath::report
{

/// What makes most of the one makes little of the other.
bool has_another_reason(const Reason& one, const Reason& other);

/// Of those of another kind than the cause, the largest, if it is nearly as large.
std::optional<Factor> second_cause(const Explanation& e);

}  // namespace critpath::report
