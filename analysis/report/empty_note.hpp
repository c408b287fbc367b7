// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns why a list of hotspots has no rows.
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/report/hotspots.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace critpath::report
{

/// What was asked for.
struct Asked {
    Selection selection{};
    bool of_transfers = false;
    bool of_window = false;                      // `profile` is of a part of the run
    std::optional<std::int64_t> all_ranks_ns{};  // all_ranks_time(), where it is of what was asked for
};

/// What `hotspots --sort all` has of the selected binaries, on the path and off it; nothing if that has not all of it.
/// The profile must not be divided yet (calls_divided.hpp).
std::optional<std::int64_t> all_ranks_time(const model::Profile& profile, const Selection& selection);

/// "Nothing in binaries with 'libc' in their path is on the critical path; of the time on all ranks, they have 12 ms:
/// ...". Nothing where something that was asked for is there, so that it is another reason that there are no rows.
/// `trace`: as the user may type it.
std::optional<std::string> empty_note(const model::Profile& profile, const Asked& asked, std::string_view trace);

}  // namespace critpath::report
