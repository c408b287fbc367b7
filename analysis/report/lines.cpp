// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/lines.hpp"

#include "analysis/report/function_name.hpp"
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/numbered_names.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"
#include "formats/binary/debug_file.hpp"
#include "formats/binary/folded_names.hpp"
#include "formats/result/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

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

/// Likewise, of its time on all ranks.
void take_total(Hotspot& function, std::int64_t ns, std::uint64_t samples)
{
    function.total_ns = function.total_ns.value_or(0) - ns;
    function.total_samples -= std::min(samples, function.total_samples);
}

void give_total(Hotspot& line, const Hotspot& function, std::int64_t ns, std::uint64_t samples)
{
    line.total_ns = line.total_ns.value_or(0) + ns;
    line.total_samples += samples;
    line.has_waits = line.has_waits || function.has_waits;
    line.has_other_threads = line.has_other_threads || function.has_other_threads;
}

/// Items by source line, function, function that it is inlined into, and where it is called.
class Lines
{
public:
    Hotspot& at(const SourceLine& place, const std::string& module, std::string_view kind)
    {
        const auto [entry, is_new] =
            found_.try_emplace({module, place.file, place.line, place.function, place.inlined_into, place.called_at});
        Hotspot& line = entry->second;
        if (is_new) {
            line.name = place.function;
            line.module = module;
            line.kind = kind;
            line.file = place.file;
            line.line = place.line;
            line.inlined_into = place.inlined_into;
            line.called_at = place.called_at;
        }
        return line;
    }

    void move_to(std::vector<Hotspot>& items)
    {
        for (auto& [key, line] : found_)
            items.push_back(std::move(line));
    }

private:
    std::map<std::tuple<std::string, std::string, int, std::string, std::string, std::string>, Hotspot> found_;
};

std::vector<CallTime> calls_among(const model::Profile& profile, const std::vector<model::CallPathTime>& all,
                                  const Selection& selection)
{
    std::vector<CallTime> times;
    for (const model::CallPathTime& time : all) {
        const model::Row& row = profile.row(time.call_path);
        if (!selection.has_rank(time.process) || !selection.has_row(row))
            continue;
        if (const model::CallPathId call = call_of(profile, time.call_path); call.valid())
            times.push_back({profile.row_of(time.call_path), call, time.ns});
    }
    return times;
}

}  // namespace

binary::SourceLines source_lines(const model::Profile& profile)
{
    binary::SourceLines lines;
    std::vector<std::vector<binary::KnownAddress>> known(profile.modules.size());
    for (const model::SourceFrame& frame : profile.source_frames) {
        std::vector<binary::KnownAddress>& addresses = known.at(frame.module);
        if (addresses.empty() || addresses.back().address != frame.address)
            addresses.push_back({frame.address, {}, {}});
        const auto& [name, declared_in, declared_at] = profile.source_functions.at(frame.function);
        addresses.back().frames.push_back({name, profile.source_files.at(frame.file), static_cast<int>(frame.line)});
        addresses.back().declarations.push_back({profile.source_files.at(declared_in), static_cast<int>(declared_at)});
    }
    for (std::size_t i = 0; i < known.size(); ++i) {
        const model::Module& module = profile.modules[i];
        if (module.has_lines)
            lines.know({module.path, module.build_id}, module.lacks_split_units, std::move(known[i]));
    }
    return lines;
}

namespace
{

/// Two names of C in one place, as `__libc_write` and `write`, or one of several functions with the same code: all
/// other reports have that of the row.
bool is_alias(std::string_view function, std::string_view name)
{
    if (binary::without_twins(name).size() < name.size())
        return true;
    constexpr std::string_view never_in_c = ".+:([ ";
    return function.find_first_of(never_in_c) == function.npos && name.find_first_of(never_in_c) == name.npos;
}

}  // namespace

std::optional<SourceLine> source_line_of(const model::Profile& profile, const model::Row& row, std::uint64_t address,
                                         binary::SourceLines& lines)
{
    if (address == 0)
        return std::nullopt;
    const auto& frames = lines.find(recorded_module(profile, row.module), address);
    if (frames.empty() || frames.front().file.empty() || frames.front().line == 0)
        return std::nullopt;
    const binary::SourceFrame& inner = frames.front();
    // Compilers inline parts of a function into itself.
    const bool is_inlined = inner.function != frames.back().function && inner.function != row.name;
    if (is_inlined)
        return SourceLine{inner.file, inner.line, inner.function.empty() ? row.name : inner.function, row.name};
    const bool has_rows_name = inner.function.empty() || is_alias(inner.function, row.name);
    return SourceLine{inner.file, inner.line, has_rows_name ? row.name : inner.function, {}};
}

std::vector<std::string> inlined_functions_at(const model::Profile& profile, const model::Row& row,
                                              std::uint64_t address, binary::SourceLines& lines)
{
    std::vector<std::string> functions;
    const auto& frames = lines.find(recorded_module(profile, row.module), address);
    for (std::size_t i = 0; i + 1 < frames.size(); ++i) {
        const std::string& name = frames[i].function;
        const bool is_itself = name == row.name || name == frames.back().function;
        if (!name.empty() && !is_itself && !is_of_cpp_library(name) &&
            std::ranges::find(functions, name) == functions.end())
            functions.push_back(name);
    }
    return functions;
}

model::CallPathId call_of(const model::Profile& profile, model::CallPathId place)
{
    const auto is_call = [&](model::CallPathId path) {
        return path.valid() && profile.row(path).kind == model::RowKind::Mpi;
    };
    if (is_call(place))
        return place;
    const model::CallPathId parent = profile.call_paths[place.value].parent;
    return profile.row(place).kind == model::RowKind::Pseudo && is_call(parent) ? parent : model::CallPathId::none();
}

std::vector<CallTime> call_times(const model::Profile& profile, const Selection& selection)
{
    return calls_among(profile, profile.path, selection);
}

std::optional<SourceLine> line_of_call(const model::Profile& profile, model::CallPathId call,
                                       binary::SourceLines& lines)
{
    const auto& [function, caller, site] = profile.call_paths[call.value];
    if (!caller.valid())
        return std::nullopt;
    return source_line_of(profile, profile.row(caller), site, lines);
}

std::string site_text(const model::Profile& profile, model::CallPathId call, std::uint64_t site,
                      binary::SourceLines& lines)
{
    const model::CallPathId caller = profile.call_paths[call.value].parent;
    if (site == 0 || !caller.valid())
        return {};
    const model::Row& row = profile.row(caller);
    if (const std::optional<SourceLine> line = source_line_of(profile, row, site, lines))
        return fmt::format("{}:{}", line->file, line->line);
    return fmt::format("{}+{:#x}", basename(row.module), site);
}

namespace
{

/// Binaries that have path time, or call MPI on the path. `functions`: by RowId.
std::set<std::string_view> modules_on_path(const model::Profile& profile, const Selection& selection,
                                           const std::vector<Hotspot>& functions)
{
    std::set<std::string_view> modules;
    for (const Hotspot& function : functions)
        if (function.path_ns > 0)
            modules.insert(function.module);
    for (const model::AddressTime& time : profile.addresses)
        modules.insert(profile.row(time.call_path).module);
    for (const CallTime& time : call_times(profile, selection))
        if (const model::CallPathId caller = profile.call_paths[time.call.value].parent; caller.valid())
            modules.insert(profile.row(caller).module);
    return modules;
}

/// By what is known of addresses (`place_of`, which finds nothing where that belongs to its function) and of the calls
/// of MPI (`place_of_call`).
template <class PlaceOf, class PlaceOfCall>
Hotspots by_place(const model::Profile& profile, const Selection& selection, Items wanted, std::string_view kind,
                  PlaceOf place_of, PlaceOfCall place_of_call)
{
    const Selection of_ranks = {selection.ranks, {}};  // a line that calls MPI is of the module of the caller
    Hotspots hotspots = by_function(profile, of_ranks);
    const std::set<std::string_view> on_path = modules_on_path(profile, of_ranks, hotspots.items);
    add_addresses(profile, hotspots.items);
    Lines found;
    const auto line_of = [&](const model::AddressTime& time) -> Hotspot* {
        const model::Row& row = profile.row(time.call_path);
        if (!selection.has_row(row) || (wanted == Items::OnPath && !on_path.contains(row.module)))
            return nullptr;  // it stays with its function, which is left out as its lines would be
        const std::optional<SourceLine> at = place_of(row, time.address);
        if (!at)
            return nullptr;
        Hotspot& item = found.at(*at, row.module, kind);
        item.address = time.address;
        return &item;
    };
    const auto line_of_caller = [&](model::CallPathId call, const Hotspot& function) -> Hotspot* {
        std::optional<SourceLine> at = place_of_call(call);
        if (!at)
            return nullptr;
        at->function = function.name;
        at->inlined_into.clear();
        return &found.at(*at, profile.row(profile.call_paths[call.value].parent).module, function.kind);
    };
    for (model::AddressTime time : profile.addresses)
        if (Hotspot* line = line_of(time); line != nullptr) {
            Hotspot& function = hotspots.items[profile.row_of(time.call_path).value];
            // In a part of the run, both were rounded: the addresses by themselves, the function by process.
            time.ns = std::clamp<std::int64_t>(time.ns, 0, std::max<std::int64_t>(function.path_ns, 0));
            give(*line, time);
            take(function, time);
        }
    for (const CallTime& time : call_times(profile, of_ranks)) {
        Hotspot& function = hotspots.items[time.function.value];
        if (Hotspot* line = line_of_caller(time.call, function); line != nullptr) {
            line->path_ns += time.ns;
            function.path_ns -= time.ns;
        }
    }
    for (const model::AddressTime& time : profile.total_addresses)
        if (Hotspot* line = line_of(time); line != nullptr) {
            Hotspot& function = hotspots.items[profile.row_of(time.call_path).value];
            give_total(*line, function, time.ns, time.samples);
            take_total(function, time.ns, time.samples);
        }
    for (const CallTime& time : calls_among(profile, profile.totals, {})) {
        if (is_transfer(profile.rows[time.function.value]))
            continue;
        Hotspot& function = hotspots.items[time.function.value];
        if (Hotspot* line = line_of_caller(time.call, function); line != nullptr) {
            give_total(*line, function, time.ns, 0);
            take_total(function, time.ns, 0);
        }
    }
    found.move_to(hotspots.items);
    std::erase_if(hotspots.items, [&](const Hotspot& item) {
        // As their functions are, of which these are the calls.
        const bool is_of_mpi = item.kind == result::name(model::RowKind::Mpi) && selection.has_module("MPI");
        return !is_of_mpi && !selection.has_module(item.module);
    });
    for (Hotspot& item : hotspots.items) {
        item.off_path_ns.reset();
        item.imbalance_ns.reset();
    }
    finish(profile, of_ranks, hotspots);
    return hotspots;
}

/// "loop.c:12": where the first of the numbered functions around `function` is when it is called, since others of these
/// call the same, or else that which it is inlined into. Empty if it is not inlined, or if that is not known.
std::string call_site(const std::vector<binary::SourceFrame>& frames, std::string_view function)
{
    const auto inlined = std::ranges::find(frames, function, &binary::SourceFrame::function);
    if (inlined == frames.end() || std::next(inlined) == frames.end())
        return {};
    const auto numbered = std::find_if(std::next(inlined), frames.end(),
                                       [](const binary::SourceFrame& frame) { return is_numbered(frame.function); });
    const binary::SourceFrame& caller = numbered == frames.end() ? *std::next(inlined) : *numbered;
    return caller.line == 0 ? std::string() : fmt::format("{}:{}", basename(caller.file), caller.line);
}

/// With what tells it from what is inlined into other numbered functions.
std::optional<SourceLine> with_site(std::optional<SourceLine> line, const model::Profile& profile,
                                    const model::Row& row, std::uint64_t address, binary::SourceLines& lines)
{
    if (line && !line->inlined_into.empty() && is_numbered(row.name))
        line->called_at = call_site(lines.find(recorded_module(profile, row.module), address), line->function);
    return line;
}

}  // namespace

Hotspots by_line(const model::Profile& profile, const Selection& selection, Items wanted, binary::SourceLines& lines,
                 CallSites sites)
{
    return by_place(
        profile, selection, wanted, "line",
        [&](const model::Row& row, std::uint64_t address) {
            std::optional<SourceLine> line = source_line_of(profile, row, address, lines);
            return sites == CallSites::Apart ? with_site(std::move(line), profile, row, address, lines) : line;
        },
        [&](model::CallPathId call) { return line_of_call(profile, call, lines); });
}

Hotspots by_inlined_function(const model::Profile& profile, const Selection& selection, Items wanted,
                             binary::SourceLines& lines, CallSites sites)
{
    return by_place(
        profile, selection, wanted, result::name(model::RowKind::Sampled),
        [&](const model::Row& row, std::uint64_t address) -> std::optional<SourceLine> {
            const std::vector<std::string> inlined = inlined_functions_at(profile, row, address, lines);
            if (inlined.empty())
                return std::nullopt;
            const SourceLine line = {"", 0, inlined.front(), row.name};
            return sites == CallSites::Apart ? with_site(line, profile, row, address, lines) : line;
        },
        [](model::CallPathId) { return std::optional<SourceLine>(); });
}

void add_declarations(const model::Profile& profile, binary::SourceLines& lines, std::vector<Hotspot>& items)
{
    for (Hotspot& item : items) {
        if (item.address == 0 || item.line != 0)
            continue;
        const binary::Module module = recorded_module(profile, item.module);
        const std::vector<binary::SourceFrame>& frames = lines.find(module, item.address);
        const std::vector<binary::SourcePlace> places = lines.declarations(module, item.address);
        if (places.empty() || places.size() != frames.size())
            continue;
        const auto frame = item.inlined_into.empty()
                               ? std::prev(frames.end())
                               : std::ranges::find(frames, item.name, &binary::SourceFrame::function);
        if (frame == frames.end())
            continue;
        const binary::SourcePlace& place = places[static_cast<std::size_t>(frame - frames.begin())];
        item.file = place.file;
        item.line = place.line;
    }
}

std::string_view why_in_no_file(std::string_view module)
{
    constexpr std::pair<std::string_view, std::string_view> reasons[] = {
        {made_code, "it was made while the program ran"},
        {"[anon]", "it was made while the program ran, and nothing names its functions"},
        {"[kernel]", "it is the kernel's own"},
        {"[vdso]", "it is the kernel's, which lends it to programs"},
    };
    const auto* const found = std::ranges::find(reasons, module, &std::pair<std::string_view, std::string_view>::first);
    return found == std::end(reasons) ? std::string_view() : found->second;
}

std::string refused_debug_files_text(const model::Profile& profile, const std::string& module)
{
    constexpr std::size_t most = 2;
    const binary::Module recorded = recorded_module(profile, module);
    const binary::ElfFile file(recorded.file()), none;
    const bool is_there = file.is_open() && recorded.is(file);
    const std::string build_id = is_there                  ? file.build_id()
                                 : recorded.has_build_id() ? recorded.build_id
                                                           : std::string();
    std::string text;
    std::size_t said = 0;
    for (const binary::RefusedDebugFile& refused :
         binary::refused_debug_files(recorded.file(), build_id, is_there ? file : none, binary::debug_directories()))
        if (said++ < most)
            text += fmt::format(" {} was not taken: {}.", printable(refused.path.string()), refused.why);
    return text;
}

std::vector<std::string> missing_lines_notes(const model::Profile& profile, const Selection& selection,
                                             binary::SourceLines& lines)
{
    constexpr std::size_t most = 3;
    std::vector<std::string> notes;
    Hotspots modules = by_module(profile, selection);
    std::int64_t shown_ns = 0;
    for (Hotspot& module : modules.items) {
        shown_ns += module.path_ns;
        module.path_ns = module.sampled_ns;
    }
    for (const CallTime& time : call_times(profile, selection)) {
        const auto& [function, caller, site] = profile.call_paths[time.call.value];
        if (!caller.valid() || site == 0 || line_of_call(profile, time.call, lines))
            continue;
        const auto module = std::ranges::find(modules.items, profile.row(caller).module, &Hotspot::name);
        if (module != modules.items.end())
            module->path_ns += time.ns;
    }
    sort_by_path(modules.items);
    for (const Hotspot& module : modules.items) {
        const double share = part(module.path_ns, modules.path_ns);
        const bool is_notable = module.path_ns > 0 && part(module.path_ns, shown_ns) >= notable_share;
        if (module.kind != "module" || !is_notable || notes.size() == most)
            continue;
        const auto note = [&](std::string_view what) {
            notes.push_back(
                fmt::format("No lines of {} ({} % of the path): {}", basename(module.name), percent_text(share), what));
        };
        const auto note_with_refused = [&](std::string_view what) {
            note(what);
            notes.back() += refused_debug_files_text(profile, module.name);
        };
        if (const std::string_view why = why_in_no_file(module.name); !why.empty()) {
            note(fmt::format("{}.", why));
            continue;
        }
        if (module.name.ends_with(" (deleted)") && !recorded_module(profile, module.name).has_build_id()) {
            note("nothing of it could be read when the trace was written.");
            continue;
        }
        switch (lines.state(recorded_module(profile, module.name))) {
        case binary::ModuleState::Found:
            if (lines.lacks_split_units(recorded_module(profile, module.name)))
                notes.push_back(fmt::format(
                    "What is inlined in {} ({} % of the path) is not known: its .dwo files are not where they were "
                    "made (of a .dwp, only elfutils from 0.191 on knows).",
                    basename(module.name), percent_text(share)));
            break;
        case binary::ModuleState::NoLines:
            note_with_refused(
                "it has no debug information; build it with -g, or name the directory of its debug file in "
                "CRITPATH_DEBUG_PATH.");
            break;
        case binary::ModuleState::Changed:
            note_with_refused("it has changed since the run; restore it, or record again.");
            break;
        case binary::ModuleState::Missing:
            note_with_refused(
                "it is not on this machine; name a directory with its debug file in CRITPATH_DEBUG_PATH.");
            break;
        }
    }
    return notes;
}

std::string skid_note(const model::Profile& profile)
{
    const std::string precise_ip = property(profile, "precise_ip");
    if (precise_ip.empty() || precise_ip >= "2")
        return {};
    return fmt::format(
        "Lines may have time of the line before, where the processor said too late where it was "
        "(precise_ip {}): functions are surer (cpcollect --call-graph=none asks for the very instruction).",
        precise_ip);
}

}  // namespace critpath::report
