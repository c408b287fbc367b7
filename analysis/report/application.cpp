// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/application.hpp"

namespace critpath::report
{

std::set<std::string_view> modules_with_main(const model::Profile& profile)
{
    std::set<std::string_view> modules;
    for (const model::Row& row : profile.rows)
        if (row.name == "main")
            modules.insert(row.module);
    return modules;
}

std::set<std::string_view> modules_of_application(const model::Profile& profile)
{
    std::set<std::string_view> modules = modules_with_main(profile);
    for (const model::CallPath& path : profile.call_paths)
        if (profile.rows[path.row.value].kind == model::RowKind::Mpi && path.parent.valid())
            modules.insert(profile.row(path.parent).module);
    return modules;
}

}  // namespace critpath::report
