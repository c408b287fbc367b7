// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how sure the share of a count is: samples bring counts of different sizes, and all of one hangs on where it is.
// (docs/ALGORITHM, "How sure a count is")
#pragma once

#include "analysis/model/counts.hpp"
#include "analysis/report/table.hpp"

namespace critpath::report
{

/// So many samples that count alike would tell as much of `amount`, as a part of `path`; 0: nothing was counted.
double samples_behind(const model::EventAmount& amount, const model::EventAmount& path);
/// The share of the path, and what samples leave open of it.
Estimate count_share(const model::EventAmount& amount, const model::EventAmount& path);
/// Whether the samples that have counted `amount` could just as well be none.
bool could_be_none(const model::EventAmount& amount, const model::EventAmount& path);

}  // namespace critpath::report
