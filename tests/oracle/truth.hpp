// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the truth about a simulated program is written beside its archive, for whoever wants to put another analysis
// beside it.
#pragma once

#include "tests/oracle/simulate.hpp"

#include <filesystem>

namespace critpath::oracle
{

inline constexpr const char* truth_name = "truth.json";

/// Writes DIRECTORY/truth.json: an object of
///   machine    what the simulated machine costs, in ticks; tick_ns of them
///   threads    in the order of the graph (ranks first): begin, and calls, each with function, enter, leave (ticks; the
///              archive has them in ns behind the begin of its clock) and slack: ticks by which its leave may be later
///              and the run ends no later; null: nothing depends on it
///   weights    edges of the graph: from and to are [thread, call, "enter" or "leave"], weight and slack are ticks. No
///              node is earlier than `from` and `weight`, and each leave is as late as the latest of them. What lies
///              between two calls is computation, with its own length.
/// Throws std::runtime_error if it cannot be written.
void write_truth(const std::filesystem::path& directory, const Machine& machine, const Graph& graph,
                 const Functions& functions);

}  // namespace critpath::oracle
