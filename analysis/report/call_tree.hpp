// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the call tree as it stands in the source: a result has call paths by the places of calls, from which this one
// knows what is inlined on the way.
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/report/hotspots.hpp"
#include "formats/binary/source_lines.hpp"

#include <vector>

namespace critpath::report
{

/// A profile whose call paths have the functions that are inlined, too, and where a function that is called at several
/// places of another one is called once; but for MPI functions.
struct CallTree {
    model::Profile profile;                 // the sums of the original; without stretches and counts of events
    std::vector<bool> is_inlined;           // by CallPathId: into the one that it is below
    std::vector<model::CallPathId> places;  // by CallPathId of the original: what it is in `profile`
};

/// The addresses of the profile must be those of the selected ranks (window.hpp). What is inlined in binaries of
/// the system is left out: functions of theirs have no places of calls.
/// Without `lines`, nothing that is inlined is known.
CallTree call_tree(const model::Profile& profile, const Selection& selection, binary::SourceLines* lines);

/// In a part of the run, addresses are known on the path only, and so is what is inlined.
void forget_all_ranks(Hotspot& item);

/// For a profile with other call paths: without those that it has, and all that refers to them but their times.
model::Profile without_call_paths(model::Profile profile);

/// Sorts times by call path and process, and makes those that have the same one time.
void sum_up(std::vector<model::CallPathTime>& times);

}  // namespace critpath::report
