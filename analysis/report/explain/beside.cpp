// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain/beside.hpp"

#include "analysis/model/pseudo_rows.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
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
constexpr double much = 0.05;          // likewise: without a processor
constexpr std::string_view processors_remedy =
    "Find out who else uses these processors: more ranks or threads than processors, other programs.";

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
    for (const model::KindTime& time : profile.kinds)
        result.measurement_ns += time.kind == model::SegmentKind::Tool ? time.ns : 0;
    for (const auto& [name, ns] : functions)
        result.functions.push_back({name, ns});
    std::ranges::stable_sort(result.functions, [](const auto& a, const auto& b) { return a.ns > b.ns; });
    return result;
}

std::string Beside::sentence(bool lacks_said) const
{
    constexpr std::size_t most_functions = 3;
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
    add("what recording took", measurement_ns);
    if (parts.empty())
        return {};
    const std::string last = parts.back();
    parts.pop_back();
    std::string text = fmt::format("Beside computation, the path has {}{}{}.", fmt::join(parts, ", "),
                                   parts.empty() ? "" : " and ", last);
    if (share(preempted_ns) >= much && !lacks_said)
        text += fmt::format(" {}", processors_remedy);
    return text;
}

Lack lack_of_processors(const model::Profile& profile, const Beside& beside)
{
    Lack lack;
    lack.path_ns = beside.path_ns;
    lack.in_mpi_ns = beside.preempted_ns;
    lack.largest_other_ns = std::max({beside.mpi_ns, beside.transfer_ns, beside.blocked_ns});
    for (const model::Stretch& s : profile.stretches) {
        const double had_one = 1 - part(s.own_preempted_ns, s.looked_at_ns);
        const std::int64_t ns = std::llround(static_cast<double>(s.path_ns) * had_one);
        lack.largest_other_ns = std::max(lack.largest_other_ns, ns);
    }
    for (const model::CallPathTime& time : profile.path) {
        if (profile.row(time.call_path).name != model::pseudo::preempted)
            continue;
        lack.in_computation_ns += time.ns;
        lack.of_rank[time.process] += time.ns;
    }
    lack.in_computation_ns -= lack.in_mpi_ns;
    return lack;
}

bool Lack::is_main_finding() const
{
    return all_ns() > largest_other_ns && part(all_ns(), path_ns) >= much;
}

std::string Lack::sentence() const
{
    const auto share = [&](std::int64_t ns) { return percent_text(part(ns, path_ns)) + " %"; };
    std::vector<std::string> where;
    if (part(in_mpi_ns, path_ns) >= least_beside)
        where.push_back(fmt::format("in calls of MPI that could have gone on ({})", share(in_mpi_ns)));
    if (part(in_computation_ns, path_ns) >= least_beside)
        where.push_back(fmt::format("in computation ({})", share(in_computation_ns)));
    const std::string ranks = mostly_on(of_rank, all_ns());
    return fmt::format("Most of all, the path lacks processors: for {} of it ({}{}{}), {}. {}", duration_text(all_ns()),
                       share(all_ns()), ranks.empty() ? "" : ", most of it ", ranks, fmt::join(where, " and "),
                       processors_remedy);
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
            ? fmt::format("the {} costliest places of first threads that end in an MPI call are", model::most_stretches)
            : fmt::format("places of first threads that end in an MPI call are, with {} % of it or more each",
                          100.0 / model::least_stretch_parts);
    return fmt::format(
        "Other computation ({} % of the path) is not compared with other ranks: only {}. Its functions are "
        "among those of: {}",
        percent_text(part(not_compared_ns, path_ns)), which, command_line("hotspots", trace));
}

}  // namespace critpath::report
