// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/outlined.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace critpath::report
{

namespace
{

/// What is before the mark of a compiler; empty if nothing is; nothing if there is no mark.
std::optional<std::string_view> made_of(std::string_view name)
{
    for (const std::string_view mark : {" [clone ._omp_fn.", "._omp_fn.", " [clone .omp_outlined", ".omp_outlined"})
        if (const std::size_t at = name.find(mark); at != name.npos)
            return name.substr(0, at);
    return std::nullopt;
}

/// "m_phys::step" is `__m_phys_MOD_step` and "step" may be `step_` in names that debug information does not translate.
std::string from_fortran(std::string_view symbol)
{
    constexpr std::string_view begin = "__", middle = "_MOD_";
    const std::size_t at = symbol.find(middle);
    if (symbol.starts_with(begin) && at != symbol.npos)
        return std::string(symbol.substr(begin.size(), at - begin.size()))
            .append("::")
            .append(symbol.substr(at + middle.size()));
    return std::string(symbol.substr(0, symbol.find_last_not_of('_') + 1));
}

/// The nearest caller of its binary that is no such function itself: the ones between are those of OpenMP.
const model::Row* caller_in_binary(const model::Profile& profile, const model::CallPath& path)
{
    const std::string& module = profile.rows[path.row.value].module;
    for (model::CallPathId caller = path.parent; caller.valid(); caller = profile.call_paths[caller.value].parent)
        if (const model::Row& row = profile.row(caller); row.module == module && !made_of(row.name))
            return &row;
    return nullptr;
}

}  // namespace

std::set<std::string> outlined_of(const std::string& function, const std::set<std::string>& names,
                                  const model::Profile& profile)
{
    std::set<std::string> result;
    std::ranges::copy_if(names, std::inserter(result, result.end()), [&](const std::string& name) {
        const std::optional<std::string_view> origin = made_of(name);
        return origin && !origin->empty() && (*origin == function || from_fortran(*origin) == function);
    });
    for (const model::CallPath& path : profile.call_paths) {
        const std::string& name = profile.rows[path.row.value].name;
        if (made_of(name) != std::string_view() || !names.contains(name))
            continue;
        if (const model::Row* caller = caller_in_binary(profile, path); caller != nullptr && caller->name == function)
            result.insert(name);
    }
    return result;
}

}  // namespace critpath::report
