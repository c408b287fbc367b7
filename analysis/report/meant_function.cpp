// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/meant_function.hpp"

#include "analysis/model/pseudo_rows.hpp"
#include "analysis/report/function_name.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/names.hpp"
#include "analysis/report/outlined.hpp"
#include "analysis/report/seen_names.hpp"
#include "analysis/report/text.hpp"
#include "formats/binary/debug_info.hpp"
#include "formats/binary/folded_names.hpp"
#include "formats/support/error.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace critpath::report
{

namespace
{

using IsMeant = bool (*)(const std::string& name, const std::string& wanted);

std::string lower(std::string_view text)
{
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
    return result;
}

/// Fortran knows no case, and its compilers add underscores.
std::string in_fortran(std::string_view name)
{
    return lower(name.substr(0, name.find_last_not_of('_') + 1));
}

/// As tables show names that are too long.
bool is_as_shown(const std::string& name, const std::string& wanted)
{
    if (wanted.find(ellipsis) != std::string::npos)
        return reads_as(name, wanted);
    std::optional<FunctionName> parsed = parse_function_name(name);
    if (!parsed)
        return false;
    const bool is_without_type = text_of(*parsed) == wanted;
    parsed->suffix.clear();
    return is_without_type || text_of(*parsed) == wanted;
}

/// "Solver::step", "step<3>" or "step(int)" of "void grid::Solver::step<3>(int)".
bool is_qualified(const std::string& name, const std::string& wanted)
{
    const std::string all = qualified_name(name);
    const std::string end = qualified_name(wanted);
    const bool has_it = all == end || (!end.empty() && all.ends_with("::" + end));
    return has_it && (wanted.find_first_of("<(") == std::string::npos || name.find(wanted) != std::string::npos);
}

/// "grid::step" of "grid::v2::Solver::step(int)": what is left out may be an inline namespace, which sources do not
/// name.
bool is_but_for_namespaces(const std::string& name, const std::string& wanted)
{
    const std::optional<FunctionName> all = parse_function_name(name), some = parse_function_name(wanted);
    const auto is_same = [](const NameComponent& a, const NameComponent& of_wanted) {
        return a.identifier == of_wanted.identifier &&
               (of_wanted.arguments.empty() || a.arguments == of_wanted.arguments);
    };
    if (!all || !some || some->components.size() < 2 || !is_same(all->components.back(), some->components.back()) ||
        (!some->parameters.empty() && some->parameters != all->parameters))
        return false;
    auto next = some->components.begin();
    for (const NameComponent& component : all->components)
        if (next != some->components.end() && is_same(component, *next))
            ++next;
    return next == some->components.end();
}

/// "kernel [q/k.cpp]" of "(anonymous namespace)::kernel() [q/k.cpp]": functions of several files that are called alike.
bool is_of_that_file(const std::string& name, const std::string& wanted)
{
    const auto file_at = [](const std::string& text) {
        return text.ends_with(']') ? text.rfind(" [") : std::string::npos;
    };
    const std::size_t at = file_at(name), wanted_at = file_at(wanted);
    return at != std::string::npos && wanted_at != std::string::npos && name.substr(at) == wanted.substr(wanted_at) &&
           is_qualified(name.substr(0, at), wanted.substr(0, wanted_at));
}

/// "relax", "Grid.relax" or "py::Grid.relax" of "py::Grid.relax:/home/me/grid.py", as Python calls it.
bool is_in_python(const std::string& name, const std::string& wanted)
{
    constexpr std::string_view prefix = "py::";
    if (!name.starts_with(prefix))
        return false;
    const std::string function = name.substr(0, name.find(':', prefix.size()));
    const std::string_view bare = std::string_view(function).substr(prefix.size());
    return function == wanted || bare == wanted || bare.ends_with("." + wanted);
}

/// As one of the functions that have the same code, or as they stand in tables together.
bool is_meant_by(IsMeant rule, const std::string& name, const std::string& wanted)
{
    return rule(name, wanted) || std::ranges::any_of(binary::folded_functions(name), [&](std::string_view function) {
               return function.size() < name.size() && rule(std::string(function), wanted);
           });
}

/// The next one counts where nothing is meant by those before it.
constexpr IsMeant rules[] = {
    [](const std::string& name, const std::string& wanted) { return name == wanted; },
    is_as_shown,
    [](const std::string& name, const std::string& wanted) { return qualified_name(name) == wanted; },
    [](const std::string& name, const std::string& wanted) { return name.substr(0, name.find('(')) == wanted; },
    is_of_that_file,
    is_qualified,
    is_in_python,
    [](const std::string& name, const std::string& wanted) { return in_fortran(name) == in_fortran(wanted); },
    is_but_for_namespaces,
    [](const std::string& name, const std::string& wanted) { return name.find(wanted) != std::string::npos; },
    [](const std::string& name, const std::string& wanted) {
        return lower(name).find(lower(wanted)) != std::string::npos;
    },
};

/// A function stands for the parallel regions that were made functions, too.
std::vector<std::string> without_outlined(const model::Profile& profile, const std::set<std::string>& names)
{
    std::set<std::string> outlined;
    if (names.size() > 1)
        for (const std::string& name : names)
            outlined.merge(outlined_of(name, names, profile));
    std::vector<std::string> result;
    std::ranges::set_difference(names, outlined, std::back_inserter(result));
    return result;
}

/// Of several that may be shown so, the only one that is among all of `names`; else empty.
std::string only_shown_so(const std::set<std::string>& names, const std::string& wanted)
{
    if (wanted.find(ellipsis) == std::string::npos)
        return {};
    std::string result;
    for (const auto& [name, shown] : shorten_names(names, display_width(wanted)))
        if (shown == wanted) {
            if (!result.empty())
                return {};
            result = name;
        }
    return result;
}

/// Nothing if it is none of `names`.
std::string only_one(const model::Profile& profile, const std::set<std::string>& names, const std::string& wanted,
                     IsMeant is_meant)
{
    std::set<std::string> matching;
    std::ranges::copy_if(names, std::inserter(matching, matching.end()),
                         [&](const std::string& name) { return is_meant_by(is_meant, name, wanted); });
    std::vector<std::string> found = without_outlined(profile, matching);
    if (found.size() <= 1)
        return found.empty() ? std::string() : found.front();
    for (const std::set<std::string>& listed : {names, matching})
        if (std::string name = only_shown_so(listed, wanted); !name.empty())
            return name;
    constexpr std::size_t most = 5, width = 60;
    const std::size_t all = found.size();
    found.resize(std::min(all, most));
    const auto short_names = shorten_names({found.begin(), found.end()}, width);
    std::ranges::transform(found, found.begin(), [&](const std::string& name) { return short_names.at(name); });
    fail(ExitCode::Usage, "'{}' is meant by {} functions: {}{}; give more of its name", wanted, all,
         fmt::join(found, ", "), all > most ? " ..." : "");
}

/// How much of a row is in the part of the path that is looked at.
enum class Presence { None, WithoutProcessor, Caller, Own };

Presence presence_of(const model::Profile& profile, const Selection& selection, model::RowId row)
{
    Presence presence = Presence::None;
    for (const model::CallPathTime& time : profile.path) {
        if (!selection.has_rank(time.process) || time.ns <= 0)
            continue;
        if (profile.row_of(time.call_path) == row)
            return Presence::Own;
        auto caller = profile.call_paths[time.call_path.value].parent;
        const std::string& own = profile.row(time.call_path).name;
        if (caller.valid() && (own == model::pseudo::blocked || own == model::pseudo::preempted)) {
            if (profile.row_of(caller) == row)
                presence = std::max(presence, Presence::WithoutProcessor);
            caller = profile.call_paths[caller.value].parent;
        }
        for (; caller.valid() && presence < Presence::Caller; caller = profile.call_paths[caller.value].parent)
            if (profile.row_of(caller) == row)
                presence = Presence::Caller;
    }
    return presence;
}

/// "cause; next action".
std::string why_no_function(const model::Row& row, std::string_view trace)
{
    using namespace model::pseudo;
    const std::string action = row.name == blocked || row.name == preempted
                                   ? "see below which functions it is: " + command_line("hotspots --by callpath", trace)
                               : row.name == transfer
                                   ? "see whose messages these are: " + command_line("hotspots --by transfer", trace)
                                   : "cpreport(1) says what it is, under READING THE TABLES";
    return fmt::format("time that belongs to no function; {}", action);
}

std::string why_no_lines(const model::Row& row, Presence presence, std::string_view trace)
{
    const std::string who_calls = "see what calls it: " + command_line("hotspots --by callpath", trace);
    if (row.kind == model::RowKind::Mpi)
        return fmt::format(
            "a function of MPI, which has no lines here; see those that call it: {}; what was done in it: {}",
            command_line("hotspots --by line", trace), command_line("hotspots --inside", trace));
    if (row.kind == model::RowKind::Pseudo || (row.module.empty() && row.name.starts_with('[')))
        return why_no_function(row, trace);
    if (presence == Presence::None)
        return "not on the critical path, or not in the part of it that was asked for; see its time elsewhere: " +
               command_line("hotspots --sort all", trace);
    if (row.kind == model::RowKind::Region)
        return "the trace has its enters and leaves, but no samples, by which lines are known; record the application "
               "with cpcollect";
    if (presence == Presence::WithoutProcessor)
        return fmt::format("no sample on the critical path, or the part of it that was asked for, is in it, but the "
                           "thread had no processor there; {}",
                           who_calls);
    if (row.module == made_code)
        return fmt::format(
            "it has no lines, since {}; see what it has with what it calls: {}", why_in_no_file(row.module),
            command_line(fmt::format("hotspots --inclusive --module {}", shell_quoted(row.module)), trace));
    if (presence == Presence::Caller)
        return "no sample on the critical path, or the part of it that was asked for, is in itself, but only in what "
               "it calls; see what that is: " +
               command_line("hotspots --by callpath", trace);
    if (const std::string_view why = why_in_no_file(row.module); !why.empty())
        return fmt::format("it has no lines, since {}; {}", why, who_calls);
    return fmt::format("the trace does not say at which of its instructions it was sampled; {}", who_calls);
}

/// Several rows may have the name; the one that has most of the path counts.
[[noreturn]] void fail_without_lines(const model::Profile& profile, const Selection& selection, const std::string& name,
                                     std::string_view trace)
{
    const model::Row* row = nullptr;
    Presence most = Presence::None;
    for (std::uint32_t i = 0; i < profile.rows.size(); ++i)
        if (profile.rows[i].name == name)
            if (const Presence presence = presence_of(profile, selection, {i}); row == nullptr || presence > most) {
                row = &profile.rows[i];
                most = presence;
            }
    fail(ExitCode::Usage, "'{}': {}", name, why_no_lines(*row, most, trace));
}

/// The only one of the functions that were made of the parallel regions of `name`; empty if there is none.
std::string only_outlined(const model::Profile& profile, const std::set<std::string>& known, const std::string& name,
                          std::string_view trace)
{
    const std::set<std::string> outlined = outlined_of(name, known, profile);
    if (outlined.size() <= 1)
        return outlined.empty() ? std::string() : *outlined.begin();
    fail(ExitCode::Usage,
         "'{}': its time is in its parallel regions, which the compiler made functions of; see one: {}", name,
         annotate_commands(outlined, trace));
}

}  // namespace

std::string annotate_commands(const std::set<std::string>& functions, std::string_view trace)
{
    std::vector<std::string> commands;
    for (const std::string& function : functions)
        commands.push_back(command_line(fmt::format("annotate {}", shell_quoted(function)), trace));
    return fmt::format("{}", fmt::join(commands, ", "));
}

std::string meant_function(const model::Profile& profile, const Selection& selection,
                           const std::set<std::string>& known, const std::string& wanted, std::string_view trace,
                           const std::function<std::string()>& hint)
{
    if (wanted.find_first_not_of(' ') == std::string::npos)  // it is a part of each name
        fail(ExitCode::Usage, "FUNCTION is empty; give a name that is listed by: cpreport hotspots");
    std::set<std::string> without_lines;
    for (const model::Row& row : profile.rows)
        if (!known.contains(row.name))
            without_lines.insert(row.name);
    for (const IsMeant is_meant : rules) {
        if (std::string name = only_one(profile, known, wanted, is_meant); !name.empty())
            return name;
        const std::string name = only_one(profile, without_lines, wanted, is_meant);
        if (name.empty())
            continue;
        if (name == "main" && known.contains(std::string(binary::unnamed_fortran_program)))
            return std::string(binary::unnamed_fortran_program);
        if (std::string outlined = only_outlined(profile, known, name, trace); !outlined.empty())
            return outlined;
        fail_without_lines(profile, selection, name, trace);
    }
    if (!has_samples(profile))
        fail(ExitCode::Usage,
             "'{}': the trace has no samples, by which functions and lines are known; record it with samples", wanted);
    const std::string more = hint ? hint() : std::string();
    fail(ExitCode::Usage,
         "'{}': samples found no such function on the critical path, or the part of it that was asked for{}; see: {}",
         wanted, more.empty() ? "" : fmt::format(" ({})", more), command_line("hotspots", trace));
}

}  // namespace critpath::report
