// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain_callers.hpp"

#include "analysis/report/lines.hpp"
#include "analysis/report/names.hpp"

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
        if (const model::CallPathId caller = profile.call_paths[call.value].parent; caller.valid())
            if (const std::string_view module = profile.row(caller).module; !module.empty())
                call_mpi_.insert(module);
    own_ = call_mpi_;
    for (const model::Row& row : profile.rows)
        if (row.name == "main")
            own_.insert(row.module);
}

template <class Is>
const model::Row* Callers::nearest(model::CallPathId call_path, Is is) const
{
    while (call_path.valid() && !is(profile_.row(call_path)))
        call_path = profile_.call_paths[call_path.value].parent;
    return call_path.valid() ? &profile_.row(call_path) : nullptr;
}

const model::Row* Callers::of(model::CallPathId call_path) const
{
    const model::Row& function = profile_.row(call_path);
    if (const model::Row* made = nearest(call_path, was_made_while_it_ran))
        return made == &function ? nullptr : made;
    if (is_own(function) && !is_of_cpp_library(function.name))
        return nullptr;
    return nearest(call_path, [&](const model::Row& row) {
        return call_mpi_.contains(row.module) && !is_of_cpp_library(row.name);
    });
}

}  // namespace critpath::report
