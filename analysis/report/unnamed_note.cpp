// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/unnamed_note.hpp"

#include "analysis/naming/naming.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace critpath::report
{

namespace
{

constexpr double worth_saying = 0.01;  // of the whole path

/// The function of CPython that runs what is written in Python; it has clones.
bool is_interpreter(const model::Row& row)
{
    return row.name.starts_with("_PyEval_EvalFrameDefault") || row.name.starts_with("PyEval_EvalFrameDefault");
}

/// What CPython names in a perf map.
bool is_python(const model::Row& row)
{
    return row.module == made_code && row.name.starts_with("py::");
}

/// Where all functions of Python are the one that runs them; empty elsewhere.
std::string python_note(const model::Profile& profile, const Hotspots& functions, std::int64_t all_ns)
{
    if (std::ranges::any_of(profile.rows, is_python))
        return "";
    std::int64_t ns = 0;
    for (std::size_t i = 0; i < functions.items.size(); ++i)
        ns += is_interpreter(profile.rows[i]) ? functions.items[i].sampled_ns : 0;
    if (part(ns, functions.path_ns) < worth_saying || part(ns, all_ns) < notable_share)
        return "";
    const auto call_graph = profile.properties.find("call_graph");
    const bool has_callers = call_graph != profile.properties.end() && call_graph->second.starts_with("dwarf");
    return fmt::format("Functions written in Python have no names: {} % of the path is in the interpreter's own, which "
                       "runs them (_PyEval_EvalFrameDefault). CPython names them from 3.12 on: record python3 -X "
                       "perf{}.",
                       percent_text(part(ns, functions.path_ns)),
                       has_callers ? "" : ", with cpcollect --call-graph=dwarf for their callers");
}

/// A function that stands for all of a binary of which nothing is known: "[gone.so (deleted)]" (formats/FORMAT.md).
bool is_whole_binary(const model::Row& row)
{
    return row.kind == model::RowKind::Sampled && row.module.starts_with('/') &&
           row.name == fmt::format("[{}]", basename(row.module));
}

/// Of binaries whose file was gone, or was no longer the one that ran, when the trace was written.
std::string gone_note(const model::Profile& profile, const Hotspots& functions, std::int64_t all_ns)
{
    constexpr std::string_view remark = " (deleted)";
    constexpr std::size_t most = 3;
    std::int64_t ns = 0;
    std::vector<std::pair<std::int64_t, std::string_view>> names;
    for (std::size_t i = 0; i < functions.items.size(); ++i) {
        const model::Row& row = profile.rows[i];
        if (!is_whole_binary(row) || !row.module.ends_with(remark) || functions.items[i].sampled_ns == 0)
            continue;
        ns += functions.items[i].sampled_ns;
        names.emplace_back(functions.items[i].sampled_ns, row.name);
    }
    if (part(ns, functions.path_ns) < worth_saying || part(ns, all_ns) < notable_share)
        return "";
    std::ranges::stable_sort(names, std::ranges::greater(), [](const auto& of) { return of.first; });
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
        list += fmt::format("{}{}", i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i].second);
    if (names.size() > most)
        list += fmt::format(" and {} more", names.size() - most);
    return fmt::format(
        "{}: {} % of the path is in functions without names, as these files had been deleted or replaced "
        "before the names were looked up (in MPI_Finalize, or by cpcollect recover). To have them, keep the files "
        "until then.",
        list, percent_text(part(ns, functions.path_ns)));
}

/// Of code made while the program ran, where its maker had made other code before (formats/FORMAT.md).
std::string remade_note(const model::Profile& profile, const Hotspots& functions, std::int64_t all_ns)
{
    constexpr std::string_view remark = "[last made here]";
    std::int64_t ns = 0;
    for (std::size_t i = 0; i < functions.items.size(); ++i) {
        const model::Row& row = profile.rows[i];
        ns += row.module == made_code && row.name.ends_with(remark) ? functions.items[i].sampled_ns : 0;
    }
    if (part(ns, functions.path_ns) < worth_saying || part(ns, all_ns) < notable_share)
        return "";
    return fmt::format(
        "{}: {} % of the path is in code that was made where other code had been. The program's perf map "
        "does not say when, so that the last name has the time of all of them.",
        remark, percent_text(part(ns, functions.path_ns)));
}

}  // namespace

std::vector<std::string> unnamed_notes(const model::Profile& profile, const Selection& selection)
{
    constexpr std::size_t most = 3;
    const Hotspots functions = by_function(profile, selection);
    std::int64_t all_ns = 0;
    std::map<std::string_view, std::int64_t> unnamed;  // by module
    for (std::size_t i = 0; i < functions.items.size(); ++i) {
        all_ns += functions.items[i].sampled_ns;
        if (naming::is_called_by_place(profile.rows[i]))
            unnamed[profile.rows[i].module] += functions.items[i].sampled_ns;
    }
    std::vector<std::pair<std::string_view, std::int64_t>> modules(unnamed.begin(), unnamed.end());
    std::erase_if(modules, [&](const auto& of) {
        return part(of.second, functions.path_ns) < worth_saying || part(of.second, all_ns) < notable_share;
    });
    std::ranges::stable_sort(modules, std::ranges::greater(), [](const auto& of) { return of.second; });
    modules.resize(std::min(modules.size(), most));
    std::vector<std::string> notes;
    for (const auto& [module, ns] : modules)
        notes.push_back(fmt::format(
            "Functions of {0} that have {1} % of the path have no names but their places ({0}+0x...), as it has no "
            "symbols for them: name the directory of its debug file in CRITPATH_DEBUG_PATH (this run need not be "
            "recorded again), or do not strip it.{2}",
            basename(module), percent_text(part(ns, functions.path_ns)),
            refused_debug_files_text(profile, std::string(module))));
    if (std::string note = gone_note(profile, functions, all_ns); !note.empty())
        notes.push_back(std::move(note));
    if (std::string note = remade_note(profile, functions, all_ns); !note.empty())
        notes.push_back(std::move(note));
    if (std::string note = python_note(profile, functions, all_ns); !note.empty())
        notes.push_back(std::move(note));
    return notes;
}

}  // namespace critpath::report
