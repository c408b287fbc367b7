// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/annotation.hpp"

#include "analysis/report/lines.hpp"
#include "analysis/report/meant_function.hpp"

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
    result.function = meant_function(profile, selection, names, name);
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
