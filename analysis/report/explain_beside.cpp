// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain_beside.hpp"

#include "analysis/model/pseudo_rows.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace critpath::report
{

namespace
{

/// "on rank 1", if few ranks have nearly all of it; else empty.
std::string mostly_on(const std::map<model::ProcessId, std::int64_t>& of_rank, std::int64_t all)
{
    constexpr std::size_t few = 3;
    constexpr double nearly_all = 0.8;
    std::vector<std::pair<model::ProcessId, std::int64_t>> ranks(of_rank.begin(), of_rank.end());
    std::ranges::stable_sort(ranks, [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::uint32_t> named;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < std::min(few, ranks.size()) && part(sum, all) < nearly_all; ++i) {
        named.push_back(ranks[i].first.value);
        sum += ranks[i].second;
    }
    const bool are_all = named.size() > 1 && named.size() == ranks.size();
    if (part(sum, all) < nearly_all || are_all)
        return {};
    std::ranges::sort(named);
    return fmt::format("on rank{} {}", named.size() > 1 ? "s" : "", fmt::join(named, ", "));
}

constexpr double least_beside = 0.01;  // of the path

}  // namespace

Beside beside_computation(const model::Profile& profile)
{
    Beside result;
    std::map<std::string, std::int64_t> functions;
    for (const model::CallPathTime& time : profile.path) {
        result.path_ns += time.ns;
        const model::Row& row = profile.row(time.call_path);
        const model::CallPathId parent = profile.call_paths[time.call_path.value].parent;
        const bool is_in_mpi = parent.valid() && profile.row(parent).kind == model::RowKind::Mpi;
        if (row.kind == model::RowKind::Mpi) {
            functions[row.name] += time.ns;
            result.mpi_ns += time.ns;
        } else if (row.name == model::pseudo::transfer) {
            result.transfer_ns += time.ns;
        } else if (is_in_mpi && row.name == model::pseudo::preempted) {
            result.preempted_ns += time.ns;
            result.preempted_of[time.process] += time.ns;
        } else if (is_in_mpi && row.name == model::pseudo::blocked) {
            result.blocked_ns += time.ns;
        }
    }
    for (const auto& [name, ns] : functions)
        result.functions.push_back({name, ns});
    std::ranges::stable_sort(result.functions, [](const auto& a, const auto& b) { return a.ns > b.ns; });
    return result;
}

std::string Beside::sentence() const
{
    constexpr std::size_t most_functions = 3;
    constexpr double much = 0.05;
    const auto share = [&](std::int64_t ns) { return part(ns, path_ns); };
    const auto percent = [&](std::int64_t ns) { return percent_text(share(ns)) + " %"; };
    std::vector<std::string> parts;
    if (share(mpi_ns) >= least_beside) {
        std::vector<std::string> names;
        for (const Function& function : functions)
            if (names.size() < most_functions && share(function.ns) >= least_beside)
                names.push_back(fmt::format("{} {}", function.name, percent(function.ns)));
        parts.push_back(names.empty() ? fmt::format("calls of MPI ({})", percent(mpi_ns))
                                      : fmt::format("calls of MPI ({}: {})", percent(mpi_ns), fmt::join(names, ", ")));
    }
    const auto add = [&](const char* what, std::int64_t ns) {
        if (share(ns) >= least_beside)
            parts.push_back(fmt::format("{} ({})", what, percent(ns)));
    };
    add("messages on their way", transfer_ns);
    const std::string where = mostly_on(preempted_of, preempted_ns);
    if (share(preempted_ns) >= least_beside)
        parts.push_back(fmt::format("calls of MPI that could have gone on, but had no processor ({}{}{})",
                                    percent(preempted_ns), where.empty() ? "" : ", most of it ", where));
    add("calls of MPI that were blocked", blocked_ns);
    if (parts.empty())
        return {};
    const std::string last = parts.back();
    parts.pop_back();
    std::string text = fmt::format("Beside computation, the path has {}{}{}.", fmt::join(parts, ", "),
                                   parts.empty() ? "" : " and ", last);
    if (share(preempted_ns) >= much)
        text += " Find out who else uses these processors: more ranks than processors, other programs.";
    return text;
}

Computation computation_of(const model::Profile& profile)
{
    Computation result;
    for (const model::KindTime& time : profile.kinds) {
        result.path_ns += time.ns;
        result.all_ns += time.kind == model::SegmentKind::Compute ? time.ns : 0;
    }
    std::int64_t compared_ns = 0;
    for (const model::Stretch& stretch : profile.stretches)
        compared_ns += stretch.path_ns;
    result.not_compared_ns = std::max<std::int64_t>(result.all_ns - compared_ns, 0);
    result.stretches = profile.stretches.size();
    return result;
}

std::string Computation::sentence(std::string_view trace) const
{
    if (part(not_compared_ns, path_ns) < least_beside)
        return {};
    const std::string which =
        stretches >= model::most_stretches
            ? fmt::format("the {} costliest places are", model::most_stretches)
            : fmt::format("places with {} % of it or more are", 100.0 / model::least_stretch_parts);
    return fmt::format(
        "Other computation ({} % of the path) is not compared with other ranks: only {}. Its functions are "
        "among those of: {}",
        percent_text(part(not_compared_ns, path_ns)), which, command_line("hotspots", trace));
}

}  // namespace critpath::report
