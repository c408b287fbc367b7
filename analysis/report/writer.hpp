// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the list of formats. To add one: write a function like those below in a file of its own, and add it to the
// list in writer.cpp.
#pragma once

#include "analysis/report/output.hpp"
#include "analysis/report/table.hpp"

#include <string>
#include <vector>

namespace critpath::report
{

struct Style {
    std::size_t width = 100;  // columns that a table may take
    bool colour = false;
    bool header = true;  // false: rows only
    std::string tool_version;
};

/// Writes `document` and does not flush.
using Writer = void (*)(const Document& document, const Style& style, Output& output);

void write_table(const Document& document, const Style& style, Output& output);
void write_csv(const Document& document, const Style& style, Output& output);
void write_json(const Document& document, const Style& style, Output& output);

/// The names for --format, the default first.
std::vector<std::string> writer_names();

/// `name` must be one of writer_names().
Writer find_writer(const std::string& name);

}  // namespace critpath::report
