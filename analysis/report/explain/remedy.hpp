// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what to do about what makes a stretch long. (docs/ALGORITHM, "Explanations")
#pragma once

#include "analysis/report/explain/explain.hpp"

#include <string>

namespace critpath::report
{

/// What to do about a factor where the rank of the path is slow, and where most ranks are.
struct Remedy {
    std::string one, many;
};

/// Whether page faults may be a part of what this cause makes: those of large pages, or that wait for a disk or for a
/// lock of the kernel, take longer than any bound that tells them from work.
bool may_be_faults(Factor cause, const Explanation& e);

Remedy remedy_of(Factor cause, const Explanation& explanation);

/// What threads are blocked for, outside of MPI: "outside of MPI: files, locks, memory, or a stop", "in load: a file, a
/// pipe or a socket (read)".
std::string waited_for(const Explanation& explanation);

}  // namespace critpath::report
