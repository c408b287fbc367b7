// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what every report says of the clocks: how much of the path was decided within their error, and how far that
// leaves open which ranks the path is on. (docs/ALGORITHM, "Uncertainty")
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/report/table.hpp"

#include <string>
#include <vector>

namespace critpath::report
{

/// For CSV and JSON. Also where there is one clock, so that nobody has to ask whether they are there.
std::vector<Field> clock_fields(const model::Profile& profile);

/// Sentences below tables; none where all ranks share one clock.
std::vector<std::string> clock_notes(const model::Profile& profile);

/// Both, at the ends of the document's: each report says how far its path can be told.
void add_clocks(Document& document, const model::Profile& profile);

/// A row a clock, those first to which all-to-all collectives waited most often. Empty where there is one.
Table clock_table(const model::Profile& profile);

}  // namespace critpath::report
