// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns where a stretch lies, in words that tell it from all others of the run.
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/report/explain/explain.hpp"
#include "formats/binary/source_lines.hpp"

#include <cstddef>

namespace critpath::report
{

/// Of the stretch with this index, whose Stretch the explanation has. Few functions of each call path are named, and no
/// addresses, but those that it takes to tell stretches apart.
void add_place(const model::Profile& profile, std::size_t stretch, binary::SourceLines* lines, Explanation& e);

}  // namespace critpath::report
