// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/naming/naming.hpp"

#include "analysis/model/sort_and_sum.hpp"
#include "analysis/naming/path_tails.hpp"
#include "formats/binary/demangle.hpp"
#include "formats/binary/folded_names.hpp"
#include "formats/binary/function_names.hpp"
#include "formats/binary/function_symbols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace critpath::naming
{

namespace
{

/// Of a function that is called by its place: "<file>+0x<start>" (formats/FORMAT.md).
std::optional<std::uint64_t> start_of(const model::Row& row)
{
    if (row.kind != model::RowKind::Sampled || !row.module.starts_with('/'))
        return std::nullopt;
    constexpr int hex = 16;
    constexpr std::string_view mark = "+0x";
    const std::string base = binary::Module{row.module, ""}.file().filename();
    std::string_view rest = row.name;
    if (!rest.starts_with(base) || !rest.substr(base.size()).starts_with(mark))
        return std::nullopt;
    rest.remove_prefix(base.size() + mark.size());
    std::uint64_t start = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), start, hex);
    return error == std::errc() && end == rest.data() + rest.size() ? std::optional(start) : std::nullopt;
}

/// By RowId: those on the path that are known to be in its code.
std::vector<std::vector<std::uint64_t>> addresses_of_rows(const model::Profile& profile)
{
    std::vector<std::vector<std::uint64_t>> addresses(profile.rows.size());
    for (const model::AddressTime& time : profile.addresses)
        addresses[profile.row_of(time.call_path).value].push_back(time.address);
    return addresses;
}

/// Gives the rows their order, and says where each of them is now.
std::vector<model::RowId> sort_rows(std::vector<model::Row>& rows)
{
    std::map<std::tuple<model::RowKind, std::string, std::string, std::string, std::uint32_t>, std::vector<std::size_t>>
        order;
    for (std::size_t i = 0; i < rows.size(); ++i)
        order[{rows[i].kind, rows[i].module, rows[i].name, rows[i].file, rows[i].line}].push_back(i);
    std::vector<model::RowId> places(rows.size());
    std::vector<model::Row> sorted;
    for (const auto& entry : order) {
        for (const std::size_t i : entry.second)
            places[i] = {static_cast<std::uint32_t>(sorted.size())};
        sorted.push_back(std::move(rows[entry.second.front()]));
    }
    rows = std::move(sorted);
    return places;
}

void use_rows(model::Profile& profile, const std::vector<model::RowId>& places)
{
    for (model::CallPath& path : profile.call_paths)
        path.row = places[path.row.value];
    for (model::StretchAddress& at : profile.stretch_addresses)
        at.row = places[at.row.value];
    model::sort_and_sum(
        profile.stretch_addresses,
        [](const model::StretchAddress& at) { return std::tuple(at.stretch, at.row, at.address); },
        [](model::StretchAddress& sum, const model::StretchAddress& at) {
            sum.ns += at.ns;
            sum.samples += at.samples;
            sum.peers_ns += at.peers_ns;
        });
    for (model::KindTime& time : profile.kinds)
        if (time.function.valid())
            time.function = places[time.function.value];
    model::sort_and_sum(
        profile.kinds, [](const model::KindTime& time) { return std::tuple(time.kind, time.function, time.process); },
        [](model::KindTime& sum, const model::KindTime& time) {
            sum.ns += time.ns;
            sum.segments += time.segments;
        });
}

/// "kernel [util.c:0x1240]", or "kernel [:0x1240]" of a file that is not known.
struct MarkedName {
    std::string function;
    std::string file;
    std::uint64_t start = 0;
};

std::optional<MarkedName> marked_name(const model::Row& row)
{
    constexpr int hex = 16;
    const std::string_view name = binary::without_twins(row.name);
    const std::size_t bracket = name.rfind(" [");
    const std::size_t mark = name.rfind(binary::file_mark);
    if (row.kind != model::RowKind::Sampled || !row.module.starts_with('/') || !name.ends_with(']') ||
        bracket == name.npos || mark == name.npos || mark < bracket + 2)
        return std::nullopt;
    MarkedName marked = {std::string(name.substr(0, bracket)),
                         std::string(name.substr(bracket + 2, mark - bracket - 2))};
    const char* const end = name.data() + name.size() - 1;
    const auto [behind, error] = std::from_chars(name.data() + mark + binary::file_mark.size(), end, marked.start, hex);
    return error == std::errc() && behind == end ? std::optional(std::move(marked)) : std::nullopt;
}

/// As GNU's and other compilers call procedures that are in no module: "step_", "inner.0", "MAIN__". Whether it is one,
/// only debug information knows, which takes its time.
bool may_be_fortran(std::string_view symbol)
{
    const std::string_view stem = symbol.substr(0, symbol.find_last_not_of("0123456789") + 1);
    return symbol.ends_with('_') || (stem.size() < symbol.size() && stem.size() > 1 && stem.ends_with('.'));
}

/// Of all that have the code of the row; empty if it is none of these, or if that is not known.
std::string fortran_name(const model::Profile& profile, const model::Row& row, const FortranNameOf& name_of)
{
    std::vector<std::string> names;
    bool is_found = false;
    for (const std::string_view symbol : binary::folded_functions(row.name)) {
        std::string name = may_be_fortran(binary::without_clones(symbol))
                               ? name_of(recorded_module(profile, row.module), std::string(symbol))
                               : std::string();
        is_found = is_found || !name.empty();
        names.push_back(name.empty() ? std::string(symbol) : std::move(name));
    }
    return is_found ? binary::with_twins(names.front(), std::span(names).subspan(1)) : std::string();
}

}  // namespace

bool is_called_by_place(const model::Row& row)
{
    return start_of(row).has_value();
}

binary::Module recorded_module(const model::Profile& profile, const std::string& path)
{
    const auto known =
        std::lower_bound(profile.modules.begin(), profile.modules.end(), path,
                         [](const model::Module& module, const std::string& p) { return module.path < p; });
    const bool is_known = known != profile.modules.end() && known->path == path;
    return {path, is_known ? known->build_id : std::string()};
}

void name_fortran(model::Profile& profile, const FortranNameOf& name_of)
{
    using Named = std::pair<std::string, std::string>;         // module and name
    std::map<Named, std::set<std::string_view>> symbols;       // what has it
    std::vector<std::pair<std::uint32_t, std::string>> found;  // by row
    for (std::uint32_t i = 0; i < profile.rows.size(); ++i) {
        const model::Row& row = profile.rows[i];
        if (row.kind != model::RowKind::Sampled || !row.module.starts_with('/'))
            continue;
        std::string name = row.file.empty() ? fortran_name(profile, row, name_of) : std::string();
        const std::string_view stem = binary::without_clones(binary::without_twins(row.name));
        symbols[{row.module, name.empty() ? row.name : name}].insert(stem);
        if (!name.empty())
            found.emplace_back(i, std::move(name));
    }
    std::erase_if(found, [&](const auto& named) {
        const auto& others = symbols[{profile.rows[named.first].module, named.second}];
        return others.size() > 1;
    });
    for (auto& [row, name] : found)
        profile.rows[row].name = std::move(name);
    if (!found.empty())
        use_rows(profile, sort_rows(profile.rows));
}

void complete_names(model::Profile& profile, const NameOf& name_of)
{
    bool is_changed = false;
    const std::vector<std::vector<std::uint64_t>> addresses = addresses_of_rows(profile);
    for (std::uint32_t i = 0; i < profile.rows.size(); ++i) {
        const binary::Module module = recorded_module(profile, profile.rows[i].module);
        const std::optional<std::uint64_t> start = start_of(profile.rows[i]);
        if (!start)
            continue;
        if (std::optional<std::string> name = name_of(module, *start, addresses[i])) {
            profile.rows[i].name = std::move(*name);
            is_changed = true;
        }
    }
    if (is_changed)
        use_rows(profile, sort_rows(profile.rows));
}

void name_namesakes(model::Profile& profile, const UnitFileOf& file_of, const NamesakeFilesOf& files_of)
{
    struct Namesakes {
        std::map<std::string, std::vector<std::uint32_t>> rows;  // by file; several if it was compiled several times
        std::set<std::string> others;                            // files, of all, whether sampled or not
    };
    std::map<std::pair<std::string, std::string>, Namesakes> namesakes;  // by binary and function
    for (std::uint32_t i = 0; i < profile.rows.size(); ++i) {
        const model::Row& row = profile.rows[i];
        const std::optional<MarkedName> marked = marked_name(row);
        if (!marked)
            continue;
        const binary::Module module = recorded_module(profile, row.module);
        std::string file = file_of(module, marked->start);
        const bool is_of_no_file = marked->file.empty();
        if (file.empty() || (!is_of_no_file &&
                             std::filesystem::path(file).filename() != std::filesystem::path(marked->file).filename()))
            continue;
        Namesakes& all = namesakes[{row.module, marked->function}];
        if (is_of_no_file && all.others.empty())
            for (std::string& other : files_of(module, marked->start))
                all.others.insert(std::move(other));
        all.rows[std::move(file)].push_back(i);
    }
    bool is_changed = false;
    for (const auto& [function, all] : namesakes) {
        std::set<std::string> paths = all.others;
        for (const auto& entry : all.rows)
            paths.insert(entry.first);
        // Others of the binary may not have been sampled, but in another run: where they are not known, one directory
        // says which this is.
        const std::map<std::string, std::string> tails = path_tails(paths, all.others.empty() ? 1 : 0);
        for (const auto& [file, rows] : all.rows) {
            if (rows.size() != 1)
                continue;
            std::string& name = profile.rows[rows.front()].name;
            name = fmt::format("{} [{}]{}", function.second, tails.at(file),
                               name.substr(binary::without_twins(name).size()));
            is_changed = true;
        }
    }
    if (is_changed)
        use_rows(profile, sort_rows(profile.rows));
}

void name_functions(model::Profile& profile, binary::SourceLines& lines, const IsWanted& is_wanted)
{
    binary::FunctionNames names;
    complete_names(profile,
                   [&](const binary::Module& module, std::uint64_t start, std::span<const std::uint64_t> addresses) {
                       return is_wanted(module.path.native()) ? names.find(module, start, addresses) : std::nullopt;
                   });
    name_fortran(profile, [&](const binary::Module& module, const std::string& symbol) {
        return is_wanted(module.path.native()) ? lines.fortran_name(module, symbol) : std::string();
    });
    name_namesakes(
        profile,
        [&](const binary::Module& module, std::uint64_t address) {
            return is_wanted(module.path.native()) ? lines.unit_file(module, address) : std::string();
        },
        [&](const binary::Module& module, std::uint64_t address) {
            return is_wanted(module.path.native()) ? lines.namesake_files(module, address) : std::vector<std::string>();
        });
}

}  // namespace critpath::naming
