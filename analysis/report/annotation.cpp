// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/annotation.hpp"

#include "analysis/report/lines.hpp"
#include "formats/support/error.hpp"

#include <fmt/ranges.h>

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
    for (std::size_t i = 0; i + 1 < frames.size(); ++i)
        visit(frames[i].function, frames[i].file, frames[i].line);
    // The name of the row is what all other reports say.
    if (frames.empty())
        visit(row.name, std::string(), 0);
    else
        visit(row.name, frames.back().file, frames.back().line);
}

std::string without_parameters(const std::string& name)
{
    return name.substr(0, name.find('('));
}

std::string find_function(const std::set<std::string>& names, const std::string& wanted)
{
    if (names.count(wanted) > 0)
        return wanted;
    const auto matches = [&](auto is_meant) {
        std::vector<std::string> found;
        std::copy_if(names.begin(), names.end(), std::back_inserter(found), is_meant);
        return found;
    };
    std::vector<std::string> found =
        matches([&](const std::string& name) { return without_parameters(name) == wanted; });
    if (found.empty())
        found = matches([&](const std::string& name) { return name.find(wanted) != std::string::npos; });
    if (found.size() == 1)
        return found.front();
    if (found.empty())
        fail(ExitCode::Usage,
             "'{}': samples found no such function on the critical path, or the part of it that was asked for; see: "
             "cpreport hotspots",
             wanted);
    constexpr std::size_t most = 5;
    const std::size_t all = found.size();
    found.resize(std::min(all, most));
    fail(ExitCode::Usage, "'{}' is meant by {} functions: {}{}; give more of its name", wanted, all,
         fmt::join(found, ", "), all > most ? " ..." : "");
}

void add(SampledTime& sum, const model::AddressTime& time)
{
    sum.ns += time.ns;
    sum.samples += time.samples;
}

}  // namespace

Annotation annotate(const model::Profile& profile, const Selection& selection, const std::string& name,
                    binary::SourceLines& lines)
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
        visit(time.row, time.address, add_name);
    for (const CallTime& time : calls)
        visit_caller(time, add_name);
    Annotation result;
    result.function = find_function(names, name);
    for (const model::AddressTime& time : profile.addresses) {
        bool is_counted = false;  // a function may be inlined into itself
        visit(time.row, time.address, [&](const std::string& function, const std::string& file, int line) {
            if (function != result.function || is_counted)
                return;
            is_counted = true;
            add(result.time, time);
            add(result.addresses[{time.row, time.address}], time);
            if (!file.empty() && line > 0)
                add(result.lines[{file, line}].own, time);
        });
    }
    for (const CallTime& time : calls) {
        bool is_counted = false;
        visit_caller(time, [&](const std::string& function, const std::string& file, int line) {
            if (function != result.function || is_counted)
                return;
            is_counted = true;
            result.mpi_ns += time.ns;
            if (!file.empty() && line > 0)
                result.lines[{file, line}].mpi_ns += time.ns;
        });
    }
    return result;
}

}  // namespace critpath::report
