// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/lines.hpp"

#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace critpath::report
{

namespace
{

/// Takes one sample address out of its function.
void take(Hotspot& function, const model::AddressTime& time)
{
    function.path_ns -= time.ns;
    function.sampled_ns -= time.ns;
    function.path_samples -= std::min(time.samples, function.path_samples);
}

void give(Hotspot& line, const model::AddressTime& time)
{
    line.path_ns += time.ns;
    line.sampled_ns += time.ns;
    line.path_samples += time.samples;
}

}  // namespace

binary::Module recorded_module(const model::Profile& profile, const std::string& path)
{
    const auto known =
        std::lower_bound(profile.modules.begin(), profile.modules.end(), path,
                         [](const model::Module& module, const std::string& p) { return module.path < p; });
    const bool is_known = known != profile.modules.end() && known->path == path;
    return {path, is_known ? known->build_id : std::string()};
}

std::optional<SourceLine> source_line_of(const model::Profile& profile, const model::Row& row, std::uint64_t address,
                                         binary::SourceLines& lines)
{
    if (address == 0)
        return std::nullopt;
    const auto& frames = lines.find(recorded_module(profile, row.module), address);
    if (frames.empty() || frames.front().file.empty() || frames.front().line == 0)
        return std::nullopt;
    const binary::SourceFrame& inner = frames.front();
    return SourceLine{inner.file, inner.line, inner.function.empty() ? row.name : inner.function,
                      frames.size() > 1 ? row.name : std::string()};
}

Hotspots by_line(const model::Profile& profile, const Selection& selection, binary::SourceLines& lines)
{
    Hotspots hotspots = by_function(profile, selection);
    std::map<std::tuple<std::string, std::string, int, std::string, std::string>, Hotspot> found;
    for (const model::AddressTime& time : profile.addresses) {
        const model::Row& row = profile.rows[time.row.value];
        if (!selection.has_row(row))
            continue;
        const std::optional<SourceLine> at = source_line_of(profile, row, time.address, lines);
        if (!at)
            continue;
        const auto [entry, is_new] =
            found.try_emplace({row.module, at->file, at->line, at->function, at->inlined_into});
        Hotspot& line = entry->second;
        if (is_new) {
            line.name = at->function;
            line.module = row.module;
            line.kind = "line";
            line.file = at->file;
            line.line = at->line;
            line.inlined_into = at->inlined_into;
        }
        give(line, time);
        take(hotspots.items[time.row.value], time);
    }
    for (auto& [key, line] : found)
        hotspots.items.push_back(std::move(line));
    for (Hotspot& item : hotspots.items) {
        item.total_ns.reset();  // by function only
        item.off_path_ns.reset();
        item.imbalance_ns.reset();
        hotspots.add_share(item);
    }
    return hotspots;
}

std::vector<std::string> missing_lines_notes(const model::Profile& profile, const Selection& selection,
                                             binary::SourceLines& lines)
{
    constexpr double worth_it = 0.01;  // of the path
    constexpr std::size_t most = 3;
    std::vector<std::string> notes;
    Hotspots modules = by_module(profile, selection);
    sort_by_path(modules.items);
    for (const Hotspot& module : modules.items) {
        const double share = part(module.sampled_ns, modules.path_ns);
        if (module.kind != "module" || share < worth_it || notes.size() == most)
            continue;
        const auto note = [&](std::string_view what) {
            notes.push_back(
                fmt::format("No lines of {} ({} % of the path): {}", basename(module.name), percent_text(share), what));
        };
        switch (lines.state(recorded_module(profile, module.name))) {
        case binary::ModuleState::Found:
            if (lines.lacks_split_units(recorded_module(profile, module.name)))
                notes.push_back(fmt::format(
                    "What is inlined in {} ({} % of the path) is not known: its .dwo files are not where they were "
                    "made (of a .dwp, only elfutils from 0.191 on knows).",
                    basename(module.name), percent_text(share)));
            break;
        case binary::ModuleState::NoLines:
            note("it has no debug information; build it with -g, or name the directory of its debug file in "
                 "CRITPATH_DEBUG_PATH.");
            break;
        case binary::ModuleState::Changed:
            note("it has changed since the run; restore it, or record again.");
            break;
        case binary::ModuleState::Missing:
            note("it is not on this machine; name a directory with its debug file in CRITPATH_DEBUG_PATH.");
            break;
        }
    }
    return notes;
}

}  // namespace critpath::report
