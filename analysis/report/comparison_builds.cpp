// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/comparison_builds.hpp"

#include "analysis/naming/naming.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

namespace critpath::report
{

namespace
{

/// All binaries of a run that have the same name.
struct Binary {
    std::int64_t path_ns = 0;     // of its functions
    std::int64_t unnamed_ns = 0;  // of those that are called by their places
    std::set<std::string> build_ids;

    [[nodiscard]] bool has_names() const { return 2 * unnamed_ns < path_ns; }
};

/// By name, without directories; those with a notable part of the path.
std::map<std::string, Binary> binaries_of(const model::Profile& profile)
{
    constexpr double notable = 0.01;
    const Hotspots functions = by_function(profile);
    std::map<std::string, Binary> binaries;
    for (std::size_t i = 0; i < functions.items.size(); ++i) {
        const model::Row& row = profile.rows[i];
        if (row.kind != model::RowKind::Sampled || row.module.find('/') == std::string::npos)
            continue;
        Binary& binary = binaries[std::string(basename(row.module))];
        binary.path_ns += functions.items[i].path_ns;
        binary.unnamed_ns += naming::is_called_by_place(row) ? functions.items[i].path_ns : 0;
    }
    std::erase_if(binaries, [&](const auto& of) { return part(of.second.path_ns, functions.path_ns) < notable; });
    for (const model::Module& module : profile.modules)
        if (const auto found = binaries.find(std::string(basename(module.path)));
            found != binaries.end() && !module.build_id.empty())
            found->second.build_ids.insert(module.build_id);
    return binaries;
}

std::string stripped_note(const std::string& binary, bool is_before)
{
    return fmt::format("In the {0}, {1} has no symbols, and its functions have no names but their places ({1}+0x...): "
                       "those of the {2} stand in other rows. Name the directory of its debug file in "
                       "CRITPATH_DEBUG_PATH, or compare --by module.",
                       is_before ? "base" : "trace", printable(binary), is_before ? "trace" : "base");
}

/// By name, without directories.
std::map<std::string, std::set<std::string>> build_ids(const model::Profile& profile)
{
    std::map<std::string, std::set<std::string>> ids;
    for (const model::Module& module : profile.modules)
        ids[std::string(basename(module.path))].insert(module.build_id);
    return ids;
}

}  // namespace

Builds builds_of(const model::Profile& before, const model::Profile& after)
{
    Builds builds = {renamed_program(before, after), {}};
    const auto others = build_ids(after);
    for (const auto& [name, ids] : build_ids(before)) {
        const std::string new_name = builds.program && name == builds.program->before ? builds.program->after : name;
        const auto found = others.find(new_name);
        if (found != others.end() && found->second == ids && ids.size() == 1 && !ids.begin()->empty())
            builds.same.insert(new_name);
    }
    return builds;
}

std::vector<std::string> build_notes(const model::Profile& before, const model::Profile& after,
                                     const std::optional<Renamed>& program)
{
    std::vector<std::string> notes, rebuilt, without_names;
    const std::map<std::string, Binary> others = binaries_of(after);
    for (const auto& [name, one] : binaries_of(before)) {
        const auto found = others.find(program && name == program->before ? program->after : name);
        if (found == others.end())
            continue;
        const Binary& other = found->second;
        const bool is_rebuilt =
            one.build_ids.size() == 1 && other.build_ids.size() == 1 && one.build_ids != other.build_ids;
        if (one.has_names() != other.has_names())
            notes.push_back(stripped_note(one.has_names() ? found->first : name, other.has_names()));
        else if (is_rebuilt)
            (one.has_names() ? rebuilt : without_names).push_back(printable(found->first));
    }
    if (!rebuilt.empty())
        notes.push_back(fmt::format("Built anew between the runs: {}.", fmt::join(rebuilt, ", ")));
    for (const std::string& name : without_names)
        notes.push_back(
            fmt::format("{0} was built anew between the runs, so that a place in it ({0}+0x...) need not be "
                        "the same function in both: compare --by module.",
                        name));
    return notes;
}

}  // namespace critpath::report
