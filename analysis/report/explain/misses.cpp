// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain/misses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace critpath::report
{

namespace
{

using More = MissRate::More;

// Of 1,000 instructions, more than on the peers. A miss takes some hundred cycles and a wrong prediction about twenty,
// so that less than this adds no more than 0.04 cycles to an instruction.
constexpr double least_cache_misses = 0.1, least_branch_misses = 2;
constexpr double more_from = 1.1;     // times as many as on the peers: at least, all errors taken off
constexpr double not_more_to = 1.25;  // at most, with all errors

/// The first numbers are by 1e9 instructions. `ns`: of the path, for which they are known.
std::optional<MissRate> miss_rate(std::int64_t ns, std::int64_t own, std::int64_t peers, std::int64_t error,
                                  double least)
{
    constexpr double thousand = 1e-6, unit = 1e-9;
    if (ns == 0)
        return std::nullopt;
    MissRate rate{static_cast<double>(own) * thousand, static_cast<double>(peers) * thousand,
                  static_cast<double>(error) * unit};
    const double times = rate.own / std::max(rate.peers, thousand);
    const double uncertain = std::exp(rate.error);
    if (rate.own / uncertain - rate.peers >= least && times / uncertain >= more_from)
        rate.is_more = More::Yes;
    else if (rate.own * uncertain - rate.peers < least || times * uncertain <= not_more_to)
        rate.is_more = More::No;
    return rate;
}

bool are(const std::optional<MissRate>& rate, More more)
{
    return rate && rate->is_more == more;
}

/// " Cache misses in 1,000 instructions: 12.4, on its peers 2.1."
std::string in_words(const std::optional<MissRate>& rate, std::string_view what)
{
    if (!rate)
        return "";
    const auto number = [](double of) { return of < 0.01 ? "next to none" : fmt::format("{:.3g}", of); };
    const std::string_view judgement[] = {"", rate->own > rate->peers ? " (hardly more)" : " (not more)",
                                          " (which may be chance)"};
    return fmt::format(" {} in 1,000 instructions: {}, on its peers {}{}.", what, number(rate->own),
                       number(rate->peers), judgement[static_cast<std::size_t>(rate->is_more)]);
}

}  // namespace

void add_misses(Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    e.cache_misses =
        miss_rate(s.cache_misses_ns, s.cache_misses, s.peers_cache_misses, s.cache_misses_error, least_cache_misses);
    e.branch_misses = miss_rate(s.branch_misses_ns, s.branch_misses, s.peers_branch_misses, s.branch_misses_error,
                                least_branch_misses);
}

std::string_view missed(const Explanation& e)
{
    const bool caches = are(e.cache_misses, More::Yes), branches = are(e.branch_misses, More::Yes);
    if (!e.has_slow_instructions() || (!caches && !branches))
        return "";
    return !branches ? "cache misses" : !caches ? "branch misses" : "cache and branch misses";
}

std::string misses_in_words(const Explanation& e)
{
    if (!e.has_slow_instructions())
        return "";
    return in_words(e.cache_misses, "Cache misses") + in_words(e.branch_misses, "Branch misses");
}

std::string misses_remedy(const Explanation& e, bool are_many)
{
    const bool branches = are(e.branch_misses, More::Yes);
    const std::string accesses =
        are_many ? "look at the memory accesses of the slow ones: where their data lie, and who shares their caches"
                 : "look at its memory accesses: where its data lie, and who shares its caches";
    if (are(e.cache_misses, More::Yes))
        return accesses + (branches ? "; and at branches that depend on data" : "");
    const std::string_view whose = are_many ? " of the slow ones" : "";
    if (branches)
        return fmt::format("look at branches{} that depend on data: sort these, or do without", whose);
    constexpr std::string_view others = "divisions, denormal numbers, instructions that wait for each other";
    const std::string_view or_branches = e.branch_misses ? "" : ", branches predicted wrongly";
    if (are(e.cache_misses, More::No))
        return fmt::format(
            "look at what makes single instructions{} slow: data in a further cache or on another NUMA node, {}{}",
            whose, others, or_branches);
    return fmt::format("{}; or at slow instructions: {}{}", accesses, others, or_branches);
}

}  // namespace critpath::report
