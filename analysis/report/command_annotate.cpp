// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport annotate`: the source and the instructions of a function with their time on the critical path.
#include "analysis/naming/path_tails.hpp"
#include "analysis/report/annotation.hpp"
#include "analysis/report/clocks.hpp"
#include "analysis/report/command.hpp"
#include "analysis/report/disassembly.hpp"
#include "analysis/report/function_name.hpp"
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/left_out.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/load.hpp"
#include "analysis/report/meant_function.hpp"
#include "analysis/report/names.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"
#include "analysis/report/window.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>

namespace critpath::report
{

namespace
{

constexpr std::size_t most_lines = 10'000'000;  // of a source file

/// Share of the path with its sampling error.
Hotspot measured(const Hotspots& sums, const SampledTime& time)
{
    Hotspot item;
    item.path_ns = item.sampled_ns = time.ns;
    item.path_samples = time.samples;
    sums.add_share(item);
    return item;
}

void add_cells(Row& row, const Hotspots& sums, const SampledTime* time)
{
    if (time == nullptr || (time->ns == 0 && time->samples == 0)) {
        row.insert(row.end(), time_columns(false).size(), Cell());
        return;
    }
    add_time_cells(row, measured(sums, *time), false);
}

void add_cells(Row& row, const Hotspots& sums, const LineTime* time)
{
    add_cells(row, sums, time == nullptr ? nullptr : &time->own);
    row.push_back(time == nullptr || time->mpi_ns == 0 ? Cell() : Cell(Seconds{time->mpi_ns}));
}

std::vector<Column> with_times(std::vector<Column> first, std::vector<Column> last)
{
    for (std::vector<Column> more : {time_columns(false), std::move(last)})
        std::ranges::move(more, std::back_inserter(first));
    return first;
}

/// The first `most` lines; none if it is no file, or cannot be read.
std::vector<std::string> read_lines(const std::string& path, std::size_t most)
{
    constexpr std::size_t tab = 8;
    std::error_code error;
    std::vector<std::string> lines;
    if (!std::filesystem::is_regular_file(path, error))  // compilers also read from terminals and pipes
        return lines;
    std::ifstream file(path);
    for (std::string line; lines.size() < most && std::getline(file, line);) {
        std::string text;
        for (const char c : line) {
            if (c == '\t')
                text.append(tab - text.size() % tab, ' ');
            else if (c != '\r')
                text += c;
        }
        lines.push_back(std::move(text));
    }
    return lines;
}

/// Places with time and `context` places around them; `time_of(i)` is null where there is none, and `first_cells(i)`
/// and `text(i)` are what stands before and behind the time.
template <class TimeOf, class FirstCells, class Text>
void add_rows(std::vector<Row>& rows, const Hotspots& sums, std::size_t size, std::size_t context, TimeOf time_of,
              FirstCells first_cells, Text text)
{
    context = std::min(context, size);
    std::size_t next = 0;  // to be shown at the earliest
    for (std::size_t with_time = 0; with_time < size; ++with_time) {
        if (time_of(with_time) == nullptr)
            continue;
        next = std::max(next, with_time - std::min(with_time, context));
        for (const std::size_t end = std::min(size, with_time + context + 1); next < end; ++next) {
            rows.push_back(first_cells(next));
            add_cells(rows.back(), sums, time_of(next));
            rows.back().push_back(text(next));
        }
    }
}

/// Whether somebody has changed the source file since the trace was recorded; not, where that is not known.
bool is_newer(const std::string& source, const std::filesystem::path& trace)
{
    std::error_code error;
    const std::filesystem::file_time_type recorded = std::filesystem::last_write_time(trace / "traces.otf2", error);
    if (error)
        return false;
    const std::filesystem::file_time_type changed = std::filesystem::last_write_time(source, error);
    return !error && changed > recorded;
}

/// As short as they can be told apart.
using ShortPaths = std::map<std::string, std::string>;

ShortPaths short_modules(const Annotation& annotation)
{
    std::set<std::string> modules;
    for (const auto& entry : annotation.modules)
        modules.insert(entry.first);
    for (const auto& entry : annotation.lines)
        modules.insert(std::get<0>(entry.first));
    return naming::path_tails(modules);
}

void add_lines(Document& document, const Annotation& annotation, const Hotspots& sums, std::size_t context,
               const std::filesystem::path& trace)
{
    std::map<std::pair<std::string, std::string>, std::map<std::size_t, LineTime>> files;  // by binary and file
    std::set<std::string> paths;
    for (const auto& [place, time] : annotation.lines) {
        const auto& [module, file, line] = place;
        files[{module, file}][static_cast<std::size_t>(line)] = time;
        paths.insert(file);
    }
    if (files.empty())
        return;
    const ShortPaths modules = short_modules(annotation);
    const ShortPaths short_files = naming::path_tails(paths);
    const auto note = [&](std::string text) {
        if (std::ranges::find(document.notes, text) == document.notes.end())
            document.notes.push_back(std::move(text));
    };
    std::vector<Row> rows;
    for (const auto& entry : files) {
        const std::string& module = entry.first.first;
        const std::string& file = entry.first.second;
        const auto first_cells = [&](std::size_t line) {
            return Row{modules.at(module), module, short_files.at(file), file, static_cast<std::int64_t>(line)};
        };
        const std::map<std::size_t, LineTime>& times = entry.second;
        const std::size_t last = times.rbegin()->first;
        const std::vector<std::string> text = read_lines(file, last + std::min(context, most_lines));
        if (text.size() < last) {
            note(fmt::format("{}: cannot be read here, or is another file by now.", file));
            for (const auto& [line, time] : times) {
                rows.push_back(first_cells(line));
                add_cells(rows.back(), sums, &time);
                rows.back().emplace_back();
            }
            continue;
        }
        if (is_newer(file, trace))
            note(fmt::format("{}: changed after the recording; its lines may be others now.", file));
        add_rows(
            rows, sums, text.size(), context,
            [&](std::size_t i) {
                const auto time = times.find(i + 1);
                return time == times.end() ? nullptr : &time->second;
            },
            [&](std::size_t i) { return first_cells(i + 1); }, [&](std::size_t i) { return Cell(text[i]); });
    }
    const bool is_alone = modules.size() == 1 && paths.size() == 1;
    Table table;
    table.key = "lines";
    table.kind = "line";
    table.title = is_alone ? *paths.begin() : "";
    table.columns = with_times(
        {{"", modules.size() == 1 ? "" : "Module", Align::Left, Fit::Middle},
         {"module", ""},
         {"", is_alone ? "" : "File", Align::Left, Fit::Middle},
         {"file", ""},
         {"line", "Line"}},
        {{"mpi_seconds", annotation.mpi_ns > 0 ? "In MPI s" : ""}, {"source", "Source", Align::Left, Fit::End}});
    table.each_row = rows_of(std::move(rows));
    document.tables.push_back(std::move(table));
}

/// What has the code of the function, or of that which it is inlined into.
struct FunctionCode {
    std::uint64_t begin = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t end = 0;
    std::map<std::uint64_t, SampledTime> times;
};

/// Where a function begins that is called by its place, "app+0x1200"; nothing of others.
std::optional<std::uint64_t> begin_in_name(const model::Row& row)
{
    constexpr int hexadecimal = 16;
    const std::string before = fmt::format("{}+0x", basename(row.module));
    std::uint64_t begin = 0;
    const char* const end = row.name.data() + row.name.size();
    if (!row.name.starts_with(before) ||
        std::from_chars(row.name.data() + before.size(), end, begin, hexadecimal).ptr != end)
        return std::nullopt;
    return begin;
}

void add_instructions(Document& document, const model::Profile& profile, const Annotation& annotation,
                      const Hotspots& sums, binary::SourceLines& lines, std::size_t context)
{
    constexpr std::uint64_t longest_instruction = 16;  // bytes
    std::map<model::RowId, FunctionCode> codes;
    for (const auto& [place, time] : annotation.addresses) {
        const auto& [row, address] = place;
        FunctionCode& code = codes[row];
        code.times[address] = time;
        code.begin = std::min(code.begin, address);
        code.end = std::max(code.end, address + longest_instruction);
        if (const std::optional<std::uint64_t> begin = begin_in_name(profile.rows[row.value]);
            begin && *begin < address)
            code.begin = std::min(code.begin, *begin);
        for (const binary::AddressRange& range :
             lines.function_ranges(recorded_module(profile, profile.rows[row.value].module), address))
            if (address >= range.start && address < range.end) {
                code.begin = std::min(code.begin, range.start);
                code.end = std::max(code.end, range.end);
            }
    }
    const ShortPaths modules = short_modules(annotation);
    std::vector<Row> rows;
    std::size_t shown = 0;
    for (const auto& entry : codes) {
        const auto row = entry.first;
        const FunctionCode& code = entry.second;
        const model::Row& function = profile.rows[row.value];
        const std::string& module = function.module;
        // Lines may be known of a binary that is another one by now.
        const binary::Module recorded = recorded_module(profile, module);
        const binary::ElfFile file(recorded.file());
        const bool is_there = file.is_open() && recorded.is(file);
        const auto instructions =
            is_there ? disassemble(module, code.begin, code.end) : std::optional<std::vector<Instruction>>();
        if (!instructions) {
            const std::string_view why = why_in_no_file(module);
            document.notes.push_back(fmt::format("No instructions of {}: {}.", basename(module),
                                                 !why.empty() ? why
                                                 : is_there
                                                     ? "objdump (package binutils) is not there, or cannot read it"
                                                     : "it is not there, or has changed since the run"));
            continue;
        }
        ++shown;
        add_rows(
            rows, sums, instructions->size(), context,
            [&](std::size_t i) {
                const auto time = code.times.find((*instructions)[i].address);
                return time == code.times.end() ? nullptr : &time->second;
            },
            [&](std::size_t i) {
                return Row{function.name, modules.at(module), module, fmt::format("{:#x}", (*instructions)[i].address)};
            },
            [&](std::size_t i) { return Cell((*instructions)[i].text); });
    }
    if (shown == 0)
        return;
    const bool is_alone = shown == 1 && codes.size() == 1;
    Table table;
    table.key = "instructions";
    table.kind = "instruction";
    table.title = is_alone ? profile.rows[codes.begin()->first.value].module : "";
    table.columns = with_times({{"function", is_alone ? "" : "Function", Align::Left, Fit::Name},
                                {"", modules.size() == 1 ? "" : "Module", Align::Left, Fit::Middle},
                                {"module", ""},
                                {"address", "Address"}},
                               {{"instruction", "Instruction", Align::Left, Fit::End}});
    table.each_row = rows_of(std::move(rows));
    document.tables.push_back(std::move(table));
}

/// What is inlined into it, the most first.
std::string inlined_note(const Annotation& annotation, std::int64_t whole_ns)
{
    constexpr std::size_t most = 5, width = 48;
    constexpr double worth_it = 0.02;  // of its time
    std::vector<std::pair<std::string, InlinedTime>> inlined;
    for (const auto& [name, of] : annotation.inlined)
        if (!is_of_cpp_library(name) && part(of.time.ns, whole_ns) >= worth_it)
            inlined.emplace_back(name, of);
    std::ranges::stable_sort(inlined, std::ranges::greater(), [](const auto& of) { return of.second.time.ns; });
    inlined.resize(std::min(inlined.size(), most));
    std::vector<std::string> words;
    for (const auto& [name, of] : inlined) {
        const std::string lines = of.first_line == of.last_line ? fmt::format("{}", of.first_line)
                                                                : fmt::format("{}-{}", of.first_line, of.last_line);
        words.push_back(fmt::format("{} {} %{}", shorten_name(printable(name), width),
                                    percent_text(part(of.time.ns, whole_ns)),
                                    of.first_line > 0 ? fmt::format(" ({}:{})", basename(of.file), lines) : ""));
    }
    return words.empty() ? "" : fmt::format("Inlined here, of its time: {}.", fmt::join(words, ", "));
}

/// Of the binaries that have the function and no lines of it, however little of the path these are.
void add_missing_lines(Document& document, const model::Profile& profile, const Annotation& annotation,
                       binary::SourceLines& lines)
{
    std::set<std::string> with_lines;
    for (const auto& entry : annotation.lines)
        with_lines.insert(std::get<0>(entry.first));
    for (const auto& [module, time] : annotation.modules)
        if (!with_lines.contains(module) && part(time.ns, annotation.time.ns) >= notable_share)
            std::ranges::move(missing_lines_notes(profile, {{}, module}, lines), std::back_inserter(document.notes));
}

std::string path_part_text(const Hotspot& item)
{
    return item.path_ns == 0 ? "no sample"
                             : fmt::format("{} ({} % of it)", duration_text(item.path_ns), estimate_text(item.share));
}

/// Functions of one name: what each of them has.
std::vector<Field> module_fields(const Annotation& annotation, const Hotspots& sums)
{
    std::vector<Field> fields;
    const ShortPaths names = short_modules(annotation);
    if (names.size() > 1)
        for (const auto& [module, name] : names) {
            const auto sampled = annotation.modules.find(module);
            const SampledTime time = sampled == annotation.modules.end() ? SampledTime() : sampled->second;
            fields.push_back({"", "In " + name, path_part_text(measured(sums, time))});
        }
    return fields;
}

Document run_annotate(const Request& request)
{
    const model::Profile whole_profile = load(request.trace);
    const std::optional<Window> window = window_of(request.arguments, whole_profile);
    const Selection selection = {request.arguments.ranks("--rank", whole_profile.processes.size()), ""};
    std::optional<model::Profile> part;
    if (window || !selection.ranks.empty())
        part = profile_in(request, whole_profile, window.value_or(whole_run(whole_profile)), selection);
    const model::Profile& profile = part ? *part : whole_profile;
    binary::SourceLines lines = source_lines(whole_profile);
    const Annotation annotation =
        annotate(profile, selection, request.arguments.text("FUNCTION"), request.trace_name, lines);
    const Hotspots sums = report::sums(profile);
    const auto context = static_cast<std::size_t>(request.arguments.number("--context"));
    const Hotspot whole = measured(sums, annotation.time);
    const TimeOff off = annotation.off.value_or(TimeOff());
    Document document;
    document.view = "annotate";
    document.fields = {{"function", "Function", annotation.function, Fit::Name},
                       {"", "On the path", path_part_text(whole)},
                       {"path_seconds", "", Seconds{whole.path_ns}},
                       {"path_percent", "", Share{whole.share.value}},
                       {"path_percent_low", "", Share{whole.share.low}},
                       {"path_percent_high", "", Share{whole.share.high}},
                       {"path_samples", "", static_cast<std::int64_t>(whole.path_samples)},
                       {"mpi_seconds", annotation.mpi_ns > 0 ? "In calls of MPI" : "", Seconds{annotation.mpi_ns}},
                       {"preempted_seconds", off.preempted_ns > 0 ? "Preempted" : "",
                        annotation.off ? Cell(Seconds{off.preempted_ns}) : Cell()},
                       {"blocked_seconds", off.blocked_ns > 0 ? "Blocked" : "",
                        annotation.off ? Cell(Seconds{off.blocked_ns}) : Cell()}};
    const std::vector<Field> of_modules = module_fields(annotation, sums);
    document.fields.insert(document.fields.begin() + 2, of_modules.begin(), of_modules.end());
    add_lines(document, annotation, sums, context, request.trace);
    if (request.arguments.flag("--instructions") || annotation.lines.empty())
        add_instructions(document, profile, annotation, sums, lines, context);
    add_missing_lines(document, profile, annotation, lines);
    if (std::string note = inlined_note(annotation, whole.path_ns); !note.empty())
        document.notes.push_back(std::move(note));
    if (!annotation.outlined.empty())
        document.notes.push_back(fmt::format("Its parallel regions are functions of their own; see one: {}",
                                             annotate_commands(annotation.outlined, request.trace_name)));
    explain_errors(document, sums);
    if (std::string note = skid_note(profile); !note.empty())
        document.notes.push_back(std::move(note));
    if (window) {
        document.notes.push_back(fmt::format("Shares are of {}.", path_text(window, window->length())));
        add_window(document, *window);
    }
    add_clocks(document, whole_profile);
    add_left_out(document, whole_profile);
    return document;
}

}  // namespace

Command annotate_command()
{
    return {
        "annotate",
        "the source lines and instructions of a function with their time on the path",
        {
            {"--context", "N", "lines to show around those with time", "3", {}},
            {"--instructions", "", "the instructions, too (needs objdump)", "", {}},
            {"--rank", "RANKS", "path time on these ranks only, as 0,4-7", "", {}, true},
            window_options()[0],
            window_options()[1],
        },
        {"annotate solve", "annotate --instructions 'Grid::apply' cp-app-1"},
        run_annotate,
        {"FUNCTION", "a function on the path, or the part of its name that says which"},
    };
}

}  // namespace critpath::report
