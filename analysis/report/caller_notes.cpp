// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/caller_notes.hpp"

#include "analysis/model/pseudo_rows.hpp"
#include "analysis/report/numbers.hpp"
#include "formats/support/longest_chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace critpath::report
{

namespace
{

constexpr double least_printed = 0.001;
constexpr std::string_view kernel_module = "[kernel]";

/// Path time of chains that have as many functions as are recorded.
std::int64_t time_in_longest_chains(const model::Profile& profile, const Selection& selection)
{
    struct Chain {
        bool is_cut = false, has_call = false;
        std::uint32_t functions = 0;  // of those that were recorded one by one: the kernel's is none of them
        [[nodiscard]] bool is_longest() const
        {
            return is_cut && functions >= (has_call ? longest_chain_to_call : longest_sampled_chain);
        }
    };
    std::vector<Chain> chains;  // by CallPathId
    chains.reserve(profile.call_paths.size());
    for (const model::CallPath& path : profile.call_paths) {
        const model::Row& row = profile.rows[path.row.value];
        Chain& chain = chains.emplace_back(path.parent.valid() ? chains[path.parent.value] : Chain());
        const bool is_mark = row.name == unknown_callers;
        chain.is_cut = path.parent.valid() ? chain.is_cut : is_mark;
        chain.has_call = chain.has_call || row.kind == model::RowKind::Mpi;
        chain.functions += row.kind == model::RowKind::Sampled && !is_mark && row.module != kernel_module ? 1 : 0;
    }
    std::int64_t ns = 0;
    for (const model::CallPathTime& time : profile.path)
        if (selection.has_rank(time.process) && selection.has_row(profile.row(time.call_path)) &&
            chains[time.call_path.value].is_longest())
            ns += time.ns;
    return ns;
}

/// Another way of recording than this one.
std::string how_to_know_callers(std::string_view call_graph)
{
    if (call_graph == "dwarf,32768")
        return fmt::format(
            ": as much of the stack was copied as can be, and what cpcollect saw beyond now and then does "
            "not tell (a longer recording may); of binaries with frame pointers "
            "(-fno-omit-frame-pointer) cpcollect --call-graph=fp tells up to {}, whatever is on the "
            "stack",
            longest_sampled_chain);
    if (call_graph.starts_with("dwarf"))
        return ": more was on the stack than was copied (cpcollect --call-graph=dwarf,32768 copies the most), and what "
               "cpcollect saw beyond now and then does not tell (a longer recording may), or there "
               "is no unwind information where they were called (--call-graph=fp tells callers of code with frame "
               "pointers), or only the functions that call MPI were recorded (--callpath=full, the default, tells "
               "their callers)";
    if (call_graph == "fp")
        return ": cpcollect --call-graph=dwarf, the default, tells those of binaries without frame pointers, too";
    return " (cpcollect --call-graph=dwarf and --callpath=full, the defaults, tell most)";
}

std::string unknown_note(const Hotspots& hotspots, std::int64_t longest_ns, std::string_view call_graph)
{
    const bool is_row = std::ranges::any_of(
        hotspots.items, [](const Hotspot& item) { return item.name == unknown_callers && item.path_ns > 0; });
    const auto percent = [&](std::int64_t ns) { return percent_text(part(ns, hotspots.path_ns)); };
    const std::string note = fmt::format("{}: of {} % of the path it is not known where from its functions were "
                                         "called, so that other rows may have that time, too",
                                         is_row ? unknown_callers : "Callers", percent(hotspots.unknown_callers_ns));
    const std::int64_t rest_ns = hotspots.unknown_callers_ns - longest_ns;
    if (part(longest_ns, hotspots.path_ns) < least_printed)
        return note + how_to_know_callers(call_graph) + ".";
    const std::string of_longest =
        fmt::format("the chain of calls is longer than what is recorded, with every --call-graph: the innermost {} "
                    "functions of a sample, and {} of a call of MPI",
                    longest_sampled_chain, longest_chain_to_call);
    if (part(rest_ns, hotspots.path_ns) < least_printed)
        return fmt::format("{}: {}.", note, of_longest);
    return fmt::format("{}. In {} % {}. The other {} %{}.", note, percent(longest_ns), of_longest, percent(rest_ns),
                       how_to_know_callers(call_graph));
}

}  // namespace

bool can_call(const Hotspot& item)
{
    return (item.kind == "sampled" || item.kind == "region") && item.name != unknown_callers;
}

std::vector<std::string> caller_notes(const Hotspots& hotspots, const model::Profile& profile,
                                      const Selection& selection)
{
    std::vector<std::string> notes;
    if (hotspots.unknown_callers_ns > 0 && std::ranges::any_of(hotspots.items, can_call))
        notes.push_back(
            unknown_note(hotspots, time_in_longest_chains(profile, selection), property(profile, "call_graph")));
    if (const double guessed = part(hotspots.guessed_ns, hotspots.path_ns); guessed >= least_printed)
        notes.push_back(
            fmt::format("{}: of {} % of the path it is a guess in which function the thread was blocked, by "
                        "what it did before and after it or at other times, so that other rows may have it.",
                        model::pseudo::blocked, percent_text(guessed)));
    return notes;
}

}  // namespace critpath::report
