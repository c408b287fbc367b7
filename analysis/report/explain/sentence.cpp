// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the sentences about an explanation, put together.
#include "analysis/report/explain/comparison_words.hpp"
#include "analysis/report/explain/explain.hpp"
#include "analysis/report/explain/losses_words.hpp"
#include "analysis/report/explain/times_words.hpp"
#include "analysis/report/explain/verdict_words.hpp"
#include "analysis/report/numbers.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace critpath::report
{

std::string Explanation::sentence(const model::Profile& profile, std::string_view trace) const
{
    // Between calls that are made there: what was called in between may have left it, and come back.
    const std::string where = caller.empty() ? "" : fmt::format(" in {}", caller);
    const std::string who =
        ranks_on_path == 1 ? fmt::format("on rank {}", rank)
        : rank_share >= mostly_from
            ? fmt::format("mostly on rank {} ({})", rank, whole_percent(rank_share))
            : fmt::format("on {} ranks, most on rank {} ({})", ranks_on_path, rank, whole_percent(rank_share));
    std::string words =
        fmt::format("{} of the path ({} %): computation from {}{} to {}{}{}, {}.", duration_text(stretch->path_ns),
                    percent_text(path_share), before, before_shown_site, after, after_shown_site, where, who);
    words += code_in_words(code);
    // What it lacks is said next to the rank that it is about.
    const std::string comparison = verdict == Verdict::NoPeers ? "" : comparison_in_words(*this);
    words +=
        verdict == Verdict::FasterRanks ? losses_in_words(*this) + comparison : comparison + losses_in_words(*this);
    const std::string times = costliest_in_words(*this, trace);
    return words + verdict_in_words(*this, profile) + other_in_words(*this) + left_out_in_words(*this, profile) +
           besides_in_words(*this) + (times.empty() ? lines_in_words(*this, trace) : times);
}

}  // namespace critpath::report
