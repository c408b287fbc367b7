// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain/callers.hpp"

#include "analysis/report/application.hpp"
#include "analysis/report/function_name.hpp"
#include "analysis/report/lines.hpp"

namespace critpath::report
{

namespace
{

bool was_made_while_it_ran(const model::Row& row)
{
    return row.module == made_code;
}

}  // namespace

Callers::Callers(const model::Profile& profile, const model::Stretch& stretch) : profile_(profile)
{
    for (const model::CallPathId call : {stretch.before, stretch.after})
        if (const model::CallPathId caller = call.valid() ? profile.call_paths[call.value].parent : call;
            caller.valid())
            if (const std::string_view module = profile.row(caller).module; !module.empty())
                call_mpi_.insert(module);
    own_ = modules_with_main(profile);
    own_.insert(call_mpi_.begin(), call_mpi_.end());
}

bool Callers::is_of_application(const model::Row& function) const
{
    return was_made_while_it_ran(function) || (is_own(function) && !is_of_cpp_library(function.name));
}

template <class Is>
std::optional<Caller> Callers::nearest(model::CallPathId call_path, Is is) const
{
    std::uint64_t site = 0;
    while (call_path.valid() && !is(profile_.row(call_path))) {
        site = profile_.call_paths[call_path.value].site;
        call_path = profile_.call_paths[call_path.value].parent;
    }
    return call_path.valid() ? std::optional(Caller{&profile_.row(call_path), site}) : std::nullopt;
}

std::optional<Caller> Callers::of(model::CallPathId call_path) const
{
    const model::Row& function = profile_.row(call_path);
    if (const std::optional<Caller> made = nearest(call_path, was_made_while_it_ran))
        return made->function == &function ? std::nullopt : made;
    if (is_own(function) && !is_of_cpp_library(function.name))
        return std::nullopt;
    return nearest(call_path, [&](const model::Row& row) {
        return call_mpi_.contains(row.module) && !is_of_cpp_library(row.name);
    });
}

}  // namespace critpath::report
