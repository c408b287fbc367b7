// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns reports on a part of the run: which one --from, --to and --phases ask for, and its profile.
#pragma once

#include "analysis/division/totals.hpp"
#include "analysis/division/windows.hpp"
#include "analysis/report/command.hpp"
#include "analysis/report/hotspots.hpp"

#include <optional>
#include <string>
#include <vector>

namespace critpath::report
{

using division::Window;

/// The options of a command that has windows.
std::vector<Option> window_options();

/// What they ask for; nothing if they are not given. Throws Failure(Usage) if it is no part of the run.
std::optional<Window> window_of(const Arguments& arguments, const model::Profile& profile);

Window whole_run(const model::Profile& profile);

/// The equal parts that --by phase divides `whole` into; none if that has no length. Throws Failure(Usage) if there are
/// too many.
std::vector<Window> phases_of(const Arguments& arguments, const Window& whole);

/// What the path has in each window; windows follow each other. Addresses are those of the selected ranks. Throws
/// Failure(BadTrace) if the files of the result are missing, damaged, or of another result.
std::vector<division::Parts> parts_of(const Request& request, const model::Profile& profile,
                                      const std::vector<Window>& windows, const Selection& selection = {});

/// The profile of the window, of the path only, with threads in place of processes. Throws as parts_of does.
model::Profile threads_in(const Request& request, const model::Profile& profile, const Window& window);

/// The profile of the window: all views make theirs of it as they do of that of the whole run. Of the whole run, with
/// all that is known of all ranks.
model::Profile profile_in(const Request& request, const model::Profile& profile, const Window& window,
                          const Selection& selection = {});

/// "the critical path (10.0 s)", "the critical path from 1.5 s to 2.5 s (1.000 s)".
std::string path_text(const std::optional<Window>& window, std::int64_t path_ns);

/// For CSV and JSON: what part of the run a document is about, as fields and in each row.
void add_window(Document& document, const Window& window);

/// Of all ranks, on and off the path, by window; nothing of a window that is too short for it. Throws as parts_of does.
std::vector<division::TotalsIn> totals_of(const Request& request, const model::Profile& profile,
                                          const std::vector<Window>& windows);

/// How well a table knows the times of all ranks in the window; empty if exactly.
std::string totals_note(const model::Profile& profile, const Window& window);

/// Likewise, what each rank and thread computes.
std::string computed_note(const model::Profile& profile, const Window& window);

}  // namespace critpath::report
