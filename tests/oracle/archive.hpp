// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how an execution becomes a trace on disk, as the collector would have recorded it.
#pragma once

#include "tests/oracle/simulate.hpp"

#include <string>

namespace critpath::oracle
{

/// Makes an archive in `directory`, which must exist and be empty. Ticks become ns.
void write_archive(const std::string& directory, const Program& program, const Machine& machine,
                   const Execution& execution);

}  // namespace critpath::oracle
