// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/annotation.hpp"

#include "analysis/model/pseudo_rows.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/meant_function.hpp"
#include "analysis/report/outlined.hpp"

#include <algorithm>

namespace critpath::report
{

namespace
{

/// Visits all functions that an address lies in, innermost first: `visit(name, file, line)`, without file where
/// unknown.
template <class Visit>
void for_each_function(const model::Row& row, const std::vector<binary::SourceFrame>& frames, Visit visit)
{
    // Parts of a function may be inlined into itself, which debug information may know by an alias.
    for (std::size_t i = 0; i + 1 < frames.size(); ++i)
        visit(frames[i].function == frames.back().function ? row.name : frames[i].function, frames[i].file,
              frames[i].line);
    // The name of the row is what all other reports say.
    if (frames.empty())
        visit(row.name, std::string(), 0);
    else
        visit(row.name, frames.back().file, frames.back().line);
}

void add(SampledTime& sum, const model::AddressTime& time)
{
    sum.ns += time.ns;
    sum.samples += time.samples;
}

void add(InlinedTime& sum, const model::AddressTime& time, const std::string& file, int line)
{
    add(sum.time, time);
    if (line <= 0 || (!sum.file.empty() && file != sum.file))
        return;
    sum.first_line = sum.file.empty() ? line : std::min(sum.first_line, line);
    sum.last_line = std::max(sum.last_line, line);
    sum.file = file;
}

/// Of all rows with the function's name.
void add_time_off(const model::Profile& profile, const Selection& selection, Annotation& result)
{
    if (!knows_time_off_processor(profile) ||
        std::ranges::find(profile.rows, result.function, &model::Row::name) == profile.rows.end())
        return;
    result.off.emplace();
    for (const model::CallPathTime& time : profile.path) {
        const model::CallPathId caller = profile.call_paths[time.call_path.value].parent;
        const std::string& name = profile.row(time.call_path).name;
        if (!selection.has_rank(time.process) || !caller.valid() || profile.row(caller).name != result.function)
            continue;
        result.off->preempted_ns += name == model::pseudo::preempted ? time.ns : 0;
        result.off->blocked_ns += name == model::pseudo::blocked ? time.ns : 0;
    }
}

}  // namespace

Annotation annotate(const model::Profile& profile, const Selection& selection, const std::string& name,
                    std::string_view trace, binary::SourceLines& lines)
{
    const auto visit = [&](model::RowId row_id, std::uint64_t address, auto visit_function) {
        const model::Row& row = profile.rows[row_id.value];
        for_each_function(row, lines.find(recorded_module(profile, row.module), address), visit_function);
    };
    const auto visit_caller = [&](const CallTime& time, auto visit_function) {
        if (const auto& [function, caller, site] = profile.call_paths[time.call.value]; caller.valid() && site != 0)
            visit(profile.row_of(caller), site, visit_function);
    };
    const std::vector<CallTime> calls = call_times(profile, selection);
    std::set<std::string> names;
    const auto add_name = [&](const std::string& function, const std::string&, int) { names.insert(function); };
    for (const model::AddressTime& time : profile.addresses)
        visit(profile.row_of(time.call_path), time.address, add_name);
    for (const CallTime& time : calls)
        visit_caller(time, add_name);
    Annotation result;
    // What is inlined has its name from debug information.
    const auto hint = [&] {
        const std::vector<std::string> missing = missing_lines_notes(profile, selection, lines);
        return missing.empty() ? std::string() : missing.front();
    };
    result.function = meant_function(profile, selection, names, name, trace, hint);
    result.outlined = outlined_of(result.function, names, profile);
    add_time_off(profile, selection, result);
    for (const model::AddressTime& time : profile.addresses) {
        const std::string& module = profile.row(time.call_path).module;
        bool is_counted = false;  // a function may be inlined into itself
        std::map<std::string, std::pair<std::string, int>> inner;
        visit(profile.row_of(time.call_path), time.address,
              [&](const std::string& function, const std::string& file, int line) {
                  if (function != result.function && !is_counted)
                      inner.try_emplace(function, file, line);
                  if (function != result.function || is_counted)
                      return;
                  for (const auto& [inlined, place] : inner)
                      add(result.inlined[inlined], time, place.first, place.second);
                  is_counted = true;
                  add(result.time, time);
                  add(result.modules[module], time);
                  add(result.addresses[{profile.row_of(time.call_path), time.address}], time);
                  if (!file.empty() && line > 0)
                      add(result.lines[{module, file, line}].own, time);
              });
    }
    for (const CallTime& time : calls) {
        const model::CallPathId caller = profile.call_paths[time.call.value].parent;
        const std::string module = caller.valid() ? profile.row(caller).module : std::string();
        bool is_counted = false;
        visit_caller(time, [&](const std::string& function, const std::string& file, int line) {
            if (function != result.function || is_counted)
                return;
            is_counted = true;
            result.mpi_ns += time.ns;
            if (!file.empty() && line > 0)
                result.lines[{module, file, line}].mpi_ns += time.ns;
        });
    }
    return result;
}

}  // namespace critpath::report
