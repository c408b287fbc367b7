// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/empty_note.hpp"

#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace critpath::report
{

namespace
{

/// Off the path; nothing where it is not known of what was asked for.
std::string off_path_text(const Asked& asked, std::string_view trace)
{
    // Transfers are known on the path only; and of a part of the run, or of some ranks, not always all the rest is.
    if (asked.of_transfers || asked.of_window || !asked.selection.ranks.empty() || !asked.all_ranks_ns)
        return ".";
    if (*asked.all_ranks_ns <= 0)
        return ", nor off it.";
    return fmt::format(
        "; of the time on all ranks, they have {}: {}", duration_text(*asked.all_ranks_ns),
        command_line(fmt::format("hotspots --sort all --module {}", shell_quoted(asked.selection.module)), trace));
}

}  // namespace

std::optional<std::int64_t> all_ranks_time(const model::Profile& profile, const Selection& selection)
{
    std::int64_t ns = 0;
    std::int64_t in_calls_ns = 0;
    for (const model::CallPathTime& time : profile.totals) {
        const model::Row& row = profile.row(time.call_path);
        if (selection.has_row(row) && !is_transfer(row))
            (row.kind == model::RowKind::Mpi && has_samples(profile) ? in_calls_ns : ns) += time.ns;
    }
    return ns == 0 && in_calls_ns > 0 ? std::nullopt : std::optional(ns);
}

std::optional<std::string> empty_note(const model::Profile& profile, const Asked& asked, std::string_view trace)
{
    const Selection& selection = asked.selection;
    if (!asked.of_transfers) {
        if (selection.ranks.empty() && selection.module.empty())
            return std::nullopt;
        for (const model::CallPathTime& time : profile.path)
            if (time.ns > 0 && selection.has_rank(time.process) && selection.has_row(profile.row(time.call_path)))
                return std::nullopt;
    }
    std::string what = asked.of_transfers ? "No transfer" : "Nothing";
    if (!selection.module.empty())
        what += fmt::format(" in binaries with '{}' in their path", printable(selection.module));
    if (!selection.ranks.empty())
        what += " of these ranks";
    what += " is on the critical path";
    if (asked.of_window)
        what += " in this part of the run";
    return what + off_path_text(asked, trace);
}

}  // namespace critpath::report
