// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/made_code_note.hpp"

#include "analysis/report/lines.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>

#include <vector>

namespace critpath::report
{

std::optional<std::string> made_code_note(const model::Profile& profile, const Selection& selection,
                                          std::string_view trace)
{
    // Calls of MPI, and time without a processor, are rows of their own wherever the code is from.
    const auto is_function = [&](model::CallPathId path) {
        const model::RowKind kind = profile.row(path).kind;
        return kind == model::RowKind::Sampled || kind == model::RowKind::Region;
    };
    const auto is_made = [&](model::CallPathId path) { return profile.row(path).module == made_code; };
    std::vector<bool> is_below(profile.call_paths.size(), false);  // callers come first
    for (std::uint32_t i = 0; i < profile.call_paths.size(); ++i)
        if (const model::CallPathId caller = profile.call_paths[i].parent; caller.valid())
            is_below[i] = is_below[caller.value] || is_made(caller);
    std::int64_t all = 0, below = 0;
    for (const model::CallPathTime& time : profile.path) {
        if (!selection.has_rank(time.process))
            continue;
        all += time.ns;
        if (is_below[time.call_path.value] && !is_made(time.call_path) && is_function(time.call_path))
            below += time.ns;
    }
    if (part(below, all) < notable_share)
        return std::nullopt;
    return fmt::format(
        "Functions that were made while the program ran, such as those of Python, have {} of the critical "
        "path in what they call, most likely the interpreter's: {}",
        whole_percent(part(below, all)),
        command_line(fmt::format("hotspots --inclusive --module {}", shell_quoted(std::string(made_code))), trace));
}

}  // namespace critpath::report
