// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/comparison.hpp"

#include "analysis/naming/path_tails.hpp"
#include "analysis/report/numbered_names.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"
#include "formats/binary/demangle.hpp"
#include "formats/binary/folded_names.hpp"
#include "formats/result/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace critpath::report
{

bool Difference::is_below_error() const
{
    return could_be_missed || (change.low <= 0 && change.high >= 0);
}

namespace
{

/// How many directories tell the files of each run apart that are called alike; the runs may have been built at other
/// places.
class FileNames
{
public:
    void add(const Hotspots& run)
    {
        std::set<std::string> paths;
        for (const Hotspot& item : run.items)
            paths.insert(item.file);
        for (const auto& entry : naming::path_tails(paths)) {
            std::size_t& most = directories_[std::string(basename(entry.first))];
            most = std::max(most, static_cast<std::size_t>(std::ranges::count(entry.second, '/')));
        }
    }
    [[nodiscard]] std::string short_name(const std::string& path) const
    {
        return std::string(naming::path_tail(path, directories_.at(std::string(basename(path)))));
    }

private:
    std::map<std::string, std::size_t> directories_;  // by name
};

/// Of one function in one run.
struct PathTime {
    std::int64_t ns = 0;
    double below = 0, above = 0;  // ns: how far the ends of its interval are off
    bool is_there = false;
    bool is_estimate = false;
    bool is_sure = false;

    void add(const Hotspot& item, std::int64_t path_ns)
    {
        ns += item.path_ns;
        is_there = true;
        is_estimate = is_estimate || item.is_estimate;
        is_sure = is_sure || !item.is_below_error();
        // Several items are taken to be independent: what they are off adds up by its squares.
        below = std::hypot(below, (item.share.value - item.share.low) * static_cast<double>(path_ns));
        above = std::hypot(above, (item.share.high - item.share.value) * static_cast<double>(path_ns));
    }

    [[nodiscard]] double value() const { return static_cast<double>(ns); }
    [[nodiscard]] Interval interval() const { return {value() - below, value() + above}; }
};

/// Kind, binary, source file, line, name, and what it is inlined into.
using Identity = std::tuple<std::string, std::string, std::string, std::int64_t, std::string, std::string>;

/// The code of a lambda, and of no other one around it.
bool is_of_one_lambda(const std::string& function)
{
    const std::string name = without_numbers(function);
    const bool is_body =
        name.find("#*}::operator()") != std::string::npos || name.find("$_*::operator()") != std::string::npos;
    return is_body && std::ranges::count(name, '*') == 1 + std::ranges::count(function, '*');
}

/// Lambdas at one line of the source: compilers number them in their order, so that those of both runs are the same,
/// one by one, if they are as many, whatever numbers these have.
class LambdasOfLines
{
public:
    void add(NumberedNames::Run run, const Identity& line, const std::string& function)
    {
        if (is_of_one_lambda(function))
            functions_[line][run].insert({function.size(), function});
    }
    /// The number of the function among those of the line, from 1 on; 0: nobody knows which one it is.
    [[nodiscard]] std::size_t number(NumberedNames::Run run, const Identity& line, const std::string& function) const
    {
        const auto found = functions_.find(line);
        if (found == functions_.end() || found->second[0].size() != found->second[1].size())
            return 0;
        const Names& names = found->second[run];
        const auto at = names.find({function.size(), function});
        return at == names.end() ? 0 : static_cast<std::size_t>(std::distance(names.begin(), at)) + 1;
    }

private:
    using Names =
        std::set<std::pair<std::size_t, std::string>>;  // in the order of the numbers, which come first by length

    std::map<Identity, std::array<Names, 2>> functions_;  // by Run
};

struct Found {
    Difference difference;
    PathTime before, after;
};

/// What samples have found in the other run only may have been missed in `run`.
void allow_for_missed(PathTime& time, const PathTime& other, const Hotspots& run)
{
    if (!time.is_there && other.is_estimate)
        time.above = run.most_unseen() * static_cast<double>(run.path_ns);
}

/// Of the binaries of all functions, without directories.
std::set<std::string> binaries(const model::Profile& profile)
{
    std::set<std::string> names;
    for (const model::Row& row : profile.rows)
        if (row.kind == model::RowKind::Sampled && row.module.find('/') != std::string::npos)
            names.emplace(basename(row.module));
    return names;
}

/// Whether the first word of a command may be a path of `binary`. Words are not told apart by more than spaces.
bool calls(std::string_view command, std::string_view binary)
{
    for (std::size_t at = command.find(binary); at != std::string_view::npos; at = command.find(binary, at + 1)) {
        const std::size_t end = at + binary.size();
        const bool is_name = (at == 0 || command[at - 1] == '/') && (end == command.size() || command[end] == ' ');
        if (is_name && command.substr(0, at).find(' ') == std::string_view::npos)
            return true;
    }
    return false;
}

/// The command says, or else `main`: it may have been called by another name than its own, such as that of a link.
std::string program(const model::Profile& profile, const std::set<std::string>& binaries)
{
    const std::string command = property(profile, "command");
    for (const std::string& name : binaries)
        if (calls(command, name))
            return name;
    std::set<std::string> with_main;
    for (const model::Row& row : profile.rows)
        if (row.kind == model::RowKind::Sampled && row.name == "main" && row.module.find('/') != std::string::npos)
            with_main.emplace(basename(row.module));
    return with_main.size() == 1 ? *with_main.begin() : "";
}

/// With other options, compilers make other copies of a function, and lay other parts of it elsewhere.
std::string function_of(std::string_view name_with_twins)
{
    std::string_view name = binary::without_twins(name_with_twins);
    const std::string_view twins = name_with_twins.substr(name.size());
    for (const std::string_view mark : {".cold", ".llvm."})
        if (const std::size_t at = name.find(mark); at != 0)
            name = name.substr(0, at);
    // What OpenMP runs in parallel is called a clone, too, but is another part of the function.
    const std::size_t parallel = name.find(" [clone ._omp_");
    if (parallel == std::string_view::npos)
        return std::string(binary::without_clones(name)).append(twins);
    return std::string(name.substr(0, name.find(" [clone ", parallel + 1))).append(twins);
}

/// What tells an item's function from others.
struct Names {
    std::string binary, function, inlined_into;
};

/// Functions without a symbol are called by their binary: "app+0x1200", "[app]".
std::string renamed(const std::string& function, const Renamed& program)
{
    if (function == "[" + program.before + "]")
        return "[" + program.after + "]";
    return function.starts_with(program.before + "+0x") ? program.after + function.substr(program.before.size())
                                                        : function;
}

/// What the second run has nothing of keeps its own name: by that of the other binary, it would be another place.
void name_as_before(Difference& difference, const Renamed& program)
{
    const Renamed back = {program.after, program.before};
    if (difference.kind == "module" && difference.name == program.after)
        difference.name = program.before;
    for (std::string* name : {&difference.name, &difference.inlined_into, &difference.of_several})
        *name = renamed(*name, back);
}

/// As the second run calls them.
Names names_of(const Hotspot& item, const std::optional<Renamed>& program)
{
    const bool is_module = item.kind == "module";
    const bool is_sampled = item.kind == result::name(model::RowKind::Sampled);
    Names names = {std::string(basename(item.place())),
                   is_module    ? std::string(basename(item.name))
                   : is_sampled ? function_of(item.name)
                                : item.name,
                   function_of(item.inlined_into)};
    if (program && !item.module.empty() && names.binary == program->before) {
        names.binary = program->after;
        names.function = is_module ? names.binary : renamed(names.function, *program);
        names.inlined_into = renamed(names.inlined_into, *program);
    }
    return names;
}

/// Twins, which one of the builds made one function of, are named in the row.
bool is_of_several(const std::string& shared, const std::string& own)
{
    return shared != own && binary::folded_functions(shared).size() == 1;
}

/// Of the functions of binaries that may have been built anew.
NumberedNames numbered_names(const Hotspots& before, const Hotspots& after, const Builds& builds)
{
    NumberedNames result;
    const auto add = [&](const Hotspots& run, NumberedNames::Run which) {
        for (const Hotspot& item : run.items) {
            const Names names = names_of(item, builds.program);
            const bool is_function = item.kind != "module" && item.module.find('/') != std::string::npos;
            if (item.path_ns <= 0 || !is_function || builds.same.contains(names.binary))
                continue;
            result.add(which, names.binary, names.function);
            if (!names.inlined_into.empty())
                result.add(which, names.binary, names.inlined_into);
        }
    };
    add(before, NumberedNames::Before);
    add(after, NumberedNames::After);
    return result;
}

}  // namespace

std::optional<Renamed> renamed_program(const model::Profile& before, const model::Profile& after)
{
    const std::set<std::string> all_before = binaries(before), all_after = binaries(after);
    Renamed names{program(before, all_before), program(after, all_after)};
    // What has the same name in the other run is the same binary, whichever of them was the program.
    if (names.before.empty() || names.after.empty() || all_after.contains(names.before) ||
        all_before.contains(names.after))
        return std::nullopt;
    return names;
}

std::vector<Difference> compare(const Hotspots& before, const Hotspots& after, const Builds& builds, MatchBy by)
{
    const NumberedNames numbered = numbered_names(before, after, builds);
    std::map<std::pair<Identity, std::size_t>, Found> found;  // with the number of a lambda
    FileNames files;
    if (by == MatchBy::Line) {
        files.add(before);
        files.add(after);
    }
    const bool by_line = by == MatchBy::Line;
    LambdasOfLines lambdas;
    const auto visit_all = [&](const Hotspots& run, auto visit) {
        for (const Hotspot& item : run.items) {
            if (item.path_ns <= 0)
                continue;
            const Names names = names_of(item, builds.program);
            const std::string name = numbered.shared(names.binary, names.function);
            const std::string into = numbered.shared(names.binary, names.inlined_into);
            const bool is_into_several = is_of_several(into, names.inlined_into);
            const std::string inlined_into =
                is_into_several && !item.called_at.empty() ? fmt::format("{} at {}", into, item.called_at) : into;
            const std::string file = by_line ? files.short_name(item.file) : std::string();
            visit(item, names.function, is_into_several ? into : std::string(),
                  Identity{item.kind, names.binary, file, by_line ? item.line : 0, name, inlined_into});
        }
    };
    const auto learn = [&](const Hotspots& run, NumberedNames::Run which) {
        visit_all(run, [&](const Hotspot& item, const std::string& function, const std::string&, const Identity& line) {
            if (item.line > 0 && is_of_several(std::get<4>(line), function))
                lambdas.add(which, line, function);
        });
    };
    const auto visit = [&](const Hotspots& run, NumberedNames::Run which, PathTime Found::*time) {
        visit_all(run, [&](const Hotspot& item, const std::string& function, const std::string& into_several,
                           const Identity& identity) {
            const auto& [kind, binary, file, line, name, inlined_into] = identity;
            const std::size_t lambda = lambdas.number(which, identity, function);
            Found& row = found[{identity, lambda}];
            row.difference.name = lambda > 0 ? function : name;
            row.difference.of_several = lambda == 0 && is_of_several(name, function) ? name : into_several;
            row.difference.module = item.module;
            row.difference.kind = item.kind;
            row.difference.file = item.file;
            row.difference.short_file = file;
            row.difference.line = item.line;
            row.difference.inlined_into = inlined_into;
            (row.*time).add(item, run.path_ns);
        });
    };
    if (by_line) {
        learn(before, NumberedNames::Before);
        learn(after, NumberedNames::After);
    }
    visit(before, NumberedNames::Before, &Found::before);
    visit(after, NumberedNames::After, &Found::after);
    std::vector<Difference> result;
    for (auto& [key, row] : found) {
        allow_for_missed(row.before, row.after, before);
        allow_for_missed(row.after, row.before, after);
        Difference& difference = result.emplace_back(std::move(row.difference));
        if (builds.program && !row.after.is_there && std::get<1>(key.first) == builds.program->after)
            name_as_before(difference, *builds.program);
        difference.before_ns = row.before.ns;
        difference.after_ns = row.after.ns;
        difference.is_estimate = row.before.is_estimate || row.after.is_estimate;
        difference.could_be_missed =
            !row.before.is_sure && !row.after.is_sure && !(row.before.is_there && row.after.is_there);
        difference.change =
            difference_interval(row.before.value(), row.before.interval(), row.after.value(), row.after.interval());
    }
    std::stable_sort(result.begin(), result.end(), [](const Difference& a, const Difference& b) {
        return std::abs(a.change_ns()) > std::abs(b.change_ns());
    });
    return result;
}

Changed changed_rows(std::vector<Difference> all, std::int64_t path_ns)
{
    std::erase_if(all, [](const Difference& d) { return d.change_ns() == 0 || d.is_below_error(); });
    const std::size_t changed = all.size();
    std::erase_if(all, [&](const Difference& d) { return part(std::abs(d.change_ns()), path_ns) < least_change; });
    const std::size_t little = changed - all.size();
    return {std::move(all), little};
}

std::string kinds_note(const model::Profile& before, const model::Profile& after)
{
    const auto which = [](bool is_before) { return is_before ? "base" : "trace"; };
    if (has_samples(before) != has_samples(after))
        return fmt::format("The {} has no samples: its functions are all in [compute], and no change of these tells "
                           "anything.",
                           which(has_samples(after)));
    if (knows_time_off_processor(before) != knows_time_off_processor(after))
        return fmt::format("The {} was sampled by timers, which know nothing of the time without a processor: its "
                           "[preempted] and [blocked] are not 0, but not known.",
                           which(knows_time_off_processor(after)));
    const std::string event = property(before, "event"), other = property(after, "event");
    return event == other
               ? ""
               : fmt::format("The base was sampled by {}, the trace by {}: what one of them cannot see, such "
                             "as time in the kernel, is no change.",
                             event, other);
}

}  // namespace critpath::report
