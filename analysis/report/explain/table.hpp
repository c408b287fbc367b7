// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the table of `cpreport explain`: a row a stretch; what each column has of it stands beside its name.
#pragma once

#include "analysis/report/explain/explain.hpp"
#include "analysis/report/table.hpp"

namespace critpath::report
{

/// `trace`: as the user may type it.
Table explanation_table(const model::Profile& profile, const std::vector<Explanation>& explanations,
                        std::string_view trace);

}  // namespace critpath::report
