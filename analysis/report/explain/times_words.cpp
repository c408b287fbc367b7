// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns where else to look, as commands: at the time when a stretch took longer, at its lines.
#include "analysis/report/explain/times_words.hpp"

#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace critpath::report
{

namespace
{

constexpr std::int64_t ns_in_us = 1000;  // bounds of other commands are rounded to these, outwards

}  // namespace

std::string down_to(std::int64_t ns)
{
    return exact_seconds(ns / ns_in_us * ns_in_us);
}

std::string up_to(std::int64_t ns)
{
    return exact_seconds((ns + ns_in_us - 1) / ns_in_us * ns_in_us);
}

namespace
{

/// What shows the functions of that, such as those that load libraries: the MPI calls around it tell little of it.
std::string start_in_words(const Explanation& e, std::string_view trace)
{
    const model::Stretch& s = *e.stretch;
    const bool is_known = s.costliest_rank == static_cast<std::int64_t>(e.rank);
    const std::int64_t end_ns = is_known ? s.costliest_begin_ns + s.costliest_length_ns : s.path_ns;
    const std::string arguments = fmt::format("hotspots --rank {} --from 0 --to {}", e.rank, up_to(end_ns));
    return fmt::format(" All of its functions: {}", command_line(arguments, trace));
}

/// What shows what a rank does at a time, as the options of other commands want it. Nothing comes behind a command, so
/// that it can be copied.
std::string window_command(std::int64_t rank, std::int64_t begin_ns, std::int64_t end_ns, std::string_view trace)
{
    return command_line(fmt::format("hotspots --rank {} --from {} --to {}", rank, down_to(begin_ns), up_to(end_ns)),
                        trace);
}

/// Where nothing has peers, the one that stands out.
std::string longest_in_words(const Explanation& e, std::string_view trace)
{
    constexpr double stands_out_from = 1.5;  // of the mean
    const model::Stretch& s = *e.stretch;
    const double mean_ns = static_cast<double>(s.path_ns) / static_cast<double>(std::max<std::int64_t>(s.gaps, 1));
    if (s.compared > 0 || s.costliest_rank < 0 || static_cast<double>(s.costliest_ns) < stands_out_from * mean_ns)
        return "";
    return fmt::format(
        " The longest of {} times is {} on rank {}: {}", count_text(static_cast<std::uint64_t>(s.gaps)),
        duration_text(s.costliest_ns), s.costliest_rank,
        window_command(s.costliest_rank, s.costliest_begin_ns, s.costliest_begin_ns + s.costliest_length_ns, trace));
}

}  // namespace

std::string costliest_in_words(const Explanation& e, std::string_view trace)
{
    const model::Stretch& s = *e.stretch;
    if (e.is_at_start())
        return start_in_words(e, trace);
    if (e.part_of_run)
        return fmt::format(" What it does there: {}",
                           window_command(static_cast<std::int64_t>(e.longer_rank), e.part_of_run->begin_ns,
                                          e.part_of_run->end_ns, trace));
    if (e.verdict == Verdict::NoPeers)
        return longest_in_words(e, trace);
    const bool is_of_other = e.other && static_cast<std::int64_t>(e.other->rank) == s.costliest_rank;
    const bool is_once_more = e.is_persistent_by_times() && e.is_mostly_once();
    if (s.costliest_rank < 0 || (e.verdict != Verdict::Transient && !is_of_other && !is_once_more))
        return "";
    const std::string most = fmt::format(" Most of all once on rank {}, {} longer than on its peers", s.costliest_rank,
                                         duration_text(s.costliest_ns));
    if (!e.is_costliest_known)
        return fmt::format("{}, {} s after the run began; no sample was taken then, so that what it did is not known: "
                           "record with a higher --frequency.",
                           most, down_to(s.costliest_begin_ns));
    return fmt::format(
        "{}: {}", most,
        window_command(s.costliest_rank, s.costliest_begin_ns, s.costliest_begin_ns + s.costliest_length_ns, trace));
}

std::string lines_in_words(const Explanation& e, std::string_view trace)
{
    const std::vector<FunctionShare>& functions = e.code.functions;
    if (functions.empty() || functions.front().share < most_from || e.is_mostly_measurement() ||
        !functions.front().inlined.empty() || printable(functions.front().name) != e.innermost_caller ||
        e.after_site.find(':') == std::string::npos)
        return "";
    const std::string ranks = e.rank_share >= mostly_from ? fmt::format("--rank {} ", e.rank) : "";
    return fmt::format(" Lines of {}: {}", functions.front().shown.name,
                       command_line(fmt::format("annotate {}{}", ranks, shell_quoted(functions.front().name)), trace));
}

}  // namespace critpath::report
