// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what every report says of MPI calls that the user did not have recorded.
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/report/table.hpp"

#include <string>

namespace critpath::report
{

/// What that leaves open; empty if all calls were recorded that processes can wait in for each other.
std::string left_out_note(const model::Profile& profile);

/// The same, at the end of the document's notes.
void add_left_out(Document& document, const model::Profile& profile);

}  // namespace critpath::report
