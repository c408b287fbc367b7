// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what debug information says of a run: names of functions that the trace has by their addresses only, and the
// source lines of all instructions that samples found and of all calls whose places are known. Of binaries that are
// still those which ran, but not of those of the system.
#pragma once

#include "analysis/model/profile.hpp"
#include "replayer/analysis.hpp"

namespace critpath::replayer
{

/// Gives functions their names (analysis/naming), and fills source_files, source_functions and source_frames of
/// `profile` on process 0, and what its modules say of lines, from the rest of it; on the others it needs rows and
/// modules. Each reads a part of the debug information of this machine, and throws nothing for what that lacks.
/// Collective over `replay.comm`.
void add_sources(const Replay& replay, model::Profile& profile);

}  // namespace critpath::replayer
