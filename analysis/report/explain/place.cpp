// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain/place.hpp"

#include "analysis/report/explain/around.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/names.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace critpath::report
{

namespace
{

using model::CallPathId;

constexpr std::size_t most_callers = 3;  // of a call path, the innermost

/// Where a call is made.
struct Site {
    std::string text;     // as in Explanation; empty: not known
    std::string address;  // "solve+0x1234"; likewise
};

/// The ways to the two calls, and where these are made.
struct Ways {
    std::vector<CallPathId> before, after;
    std::size_t common = 0;  // functions that both calls were made by, and what is between them is in
    Site before_site, after_site;
};

Site site_of(const model::Profile& profile, CallPathId call, std::int64_t address, binary::SourceLines& lines)
{
    const CallPathId caller = call.valid() ? profile.call_paths[call.value].parent : CallPathId::none();
    if (address == 0 || !caller.valid())
        return {};
    return {site_text(profile, call, static_cast<std::uint64_t>(address), lines),
            fmt::format("{}+{:#x}", basename(profile.row(caller).module), address)};
}

Ways ways_of(const model::Profile& profile, std::size_t number, binary::SourceLines* lines)
{
    const model::Stretch& stretch = profile.stretches[number];
    Ways ways;
    ways.before = way_to(profile, stretch.before);
    ways.after = way_to(profile, stretch.after);
    ways.common = functions_around(profile, number);
    if (lines == nullptr)
        return ways;
    ways.before_site = site_of(profile, stretch.before, stretch.before_site, *lines);
    ways.after_site = site_of(profile, stretch.after, stretch.after_site, *lines);
    return ways;
}

std::string short_name(const model::Profile& profile, CallPathId path)
{
    return shorten_name(printable(profile.row(path).name), sentence_name_width);
}

/// Of the site of a call.
enum class ShownSite : std::uint8_t {
    Line,           // only if it is known
    Site,           // even if it is an address
    LineAndAddress  // several calls are made in one line
};

/// What is said of a place beyond what mostly is enough.
struct Emphasis {
    ShownSite before_site = ShownSite::Line, after_site = ShownSite::Line;
    std::map<CallPathId, std::string> functions;  // however far from the call, as they read
};

/// By index into `way`: whether the function is one by which an interpreter runs a function that was made while the
/// program ran (`py::solve:/src/run.py` of Python). To who wrote that one, it is a part of it. An interpreter is a
/// binary that calls such functions and is called by them.
std::vector<bool> interpreters_of(const model::Profile& profile, const std::vector<CallPathId>& way)
{
    const auto module = [&](std::size_t i) { return std::string_view(profile.row(way[i]).module); };
    const auto is_made = [&](std::size_t i) { return module(i) == made_code; };
    std::set<std::string_view> callers, called;
    for (std::size_t i = 1; i < way.size(); ++i) {
        if (is_made(i) && !is_made(i - 1))
            callers.insert(module(i - 1));
        if (is_made(i - 1) && !is_made(i))
            called.insert(module(i));
    }
    std::vector<bool> result(way.size(), false);
    bool is_below_made = false;
    for (std::size_t i = 0; i < way.size(); ++i) {
        result[i] = is_below_made && callers.contains(module(i)) && called.contains(module(i));
        is_below_made = is_below_made || is_made(i);
    }
    return result;
}

/// The last few of them, and those that must not be left out.
std::string names(const model::Profile& profile, const std::vector<CallPathId>& way, std::size_t from, std::size_t end,
                  const Emphasis& emphasis)
{
    const std::vector<bool> is_interpreters = interpreters_of(profile, way);
    std::vector<CallPathId> functions;
    for (; from < end; ++from)
        if (!is_interpreters[from] || emphasis.functions.contains(way[from]))
            functions.push_back(way[from]);
    std::vector<std::string> words;
    const std::size_t innermost = functions.size() - std::min(functions.size(), most_callers);
    bool is_left_out = false;
    for (std::size_t i = 0; i < functions.size(); ++i) {
        const auto emphasized = emphasis.functions.find(functions[i]);
        const bool is_named = i >= innermost || emphasized != emphasis.functions.end();
        if (is_named)
            words.push_back(emphasized != emphasis.functions.end() ? emphasized->second
                                                                   : short_name(profile, functions[i]));
        else if (!is_left_out)
            words.emplace_back("...");
        is_left_out = !is_named;
    }
    return fmt::format("{}", fmt::join(words, " > "));
}

/// "solve.c:12", "solve+0x1234", "solve.c:12, solve+0x1234".
std::string site_words(const Site& site, ShownSite shown)
{
    const std::string words(basename(printable(site.text)));
    return shown == ShownSite::LineAndAddress && site.text != site.address
               ? fmt::format("{}, {}", words, printable(site.address))
               : words;
}

/// " (solve.c:12)"; addresses are for machines, unless nothing else tells stretches apart.
std::string site_in_brackets(const Site& site, ShownSite shown)
{
    const bool is_line = site.text.find(':') != std::string::npos;
    return site.text.empty() || (!is_line && shown == ShownSite::Line) ? ""
                                                                       : fmt::format(" ({})", site_words(site, shown));
}

struct PlaceWords {
    std::string caller, before, after, before_site, after_site;

    bool operator==(const PlaceWords&) const = default;
};

PlaceWords words_of(const model::Profile& profile, const Ways& ways, const Emphasis& emphasis)
{
    return {names(profile, ways.before, 0, ways.common, emphasis),
            ways.before.empty() ? "the start of the process"
                                : names(profile, ways.before, ways.common, ways.before.size(), emphasis),
            names(profile, ways.after, ways.common, ways.after.size(), emphasis),
            site_in_brackets(ways.before_site, emphasis.before_site),
            site_in_brackets(ways.after_site, emphasis.after_site)};
}

/// The index of the first function in which the ways differ; the end of the shorter one if there is none.
std::size_t first_difference(const std::vector<CallPathId>& one, const std::vector<CallPathId>& other)
{
    const auto end = one.begin() + static_cast<std::ptrdiff_t>(std::min(one.size(), other.size()));
    return static_cast<std::size_t>(std::mismatch(one.begin(), end, other.begin()).first - one.begin());
}

/// Whether a call is one of those that a stretch has, `of`, the call paths of which may have sites that are not told.
bool is_one_of(const model::Profile& profile, CallPathId call, CallPathId of)
{
    for (; call != of; call = profile.call_paths[call.value].parent, of = profile.call_paths[of.value].parent) {
        if (!call.valid() || !of.valid())
            return false;
        const model::CallPath &one = profile.call_paths[call.value], &other = profile.call_paths[of.value];
        if (one.row != other.row || (other.site != 0 && one.site != other.site))
            return false;
    }
    return true;
}

/// Where the function `index` of a way is called, if a stretch has it at several sites: their line, if that is one.
/// What is a call of other stretches is none of these.
std::string line_of_sites(const model::Profile& profile, const std::vector<CallPathId>& way, std::size_t index,
                          binary::SourceLines& lines)
{
    std::string found;
    for (std::uint32_t i = 0; i < profile.call_paths.size(); ++i) {
        const auto is_its_call = [&](const model::Stretch& s) {
            return s.before == CallPathId{i} || s.after == CallPathId{i};
        };
        if (profile.call_paths[i].row != profile.row_of(way.back()) || !is_one_of(profile, {i}, way.back()) ||
            std::ranges::any_of(profile.stretches, is_its_call))
            continue;
        CallPathId function{i};
        for (std::size_t above = index + 1; above < way.size(); ++above)
            function = profile.call_paths[function.value].parent;
        const std::string text = site_text(profile, function, profile.call_paths[function.value].site, lines);
        if (text.find(':') == std::string::npos || (!found.empty() && text != found))
            return {};
        found = text;
    }
    return found;
}

/// How far one function is to be told from another one, of another stretch.
enum class Apart : std::uint8_t { Not, ByName, BySite };

/// Has the first function named in which `one` differs from `other`, if they do; with where it is called from, if that
/// is all of the difference.
Apart emphasize(const model::Profile& profile, const std::vector<CallPathId>& one, const std::vector<CallPathId>& other,
                binary::SourceLines* lines, Emphasis& emphasis)
{
    const std::size_t i = first_difference(one, other);
    if (i == one.size() || i == other.size())
        return Apart::Not;
    const std::string name = short_name(profile, one[i]);
    std::string& text = emphasis.functions.try_emplace(one[i], name).first->second;
    if (name != short_name(profile, other[i]))
        return Apart::ByName;
    if (profile.row(one[i]).name != profile.row(other[i]).name) {
        text = printable(profile.row(one[i]).name);
        return Apart::ByName;
    }
    const auto site = [&](const std::vector<CallPathId>& way) {
        const auto address = static_cast<std::int64_t>(profile.call_paths[way[i].value].site);
        return lines == nullptr ? Site()
               : address != 0   ? site_of(profile, way[i], address, *lines)
                                : Site{line_of_sites(profile, way, i, *lines), ""};
    };
    const Site own = site(one);
    const bool are_in_one_line = own.text == site(other).text && !own.address.empty();
    const ShownSite shown = are_in_one_line ? ShownSite::LineAndAddress : ShownSite::Site;
    if (std::string words = name + site_in_brackets(own, shown); words.size() > text.size())
        text = std::move(words);
    return Apart::BySite;
}

bool have_same_caller(const model::Profile& profile, const std::vector<CallPathId>& one,
                      const std::vector<CallPathId>& other)
{
    return one.size() > 1 && other.size() > 1 &&
           profile.row_of(one[one.size() - 2]) == profile.row_of(other[other.size() - 2]);
}

/// How a call of one function is told from another one in the same function, if they are not the same; has it shown so.
bool emphasize(const Site& site, const Site& other, ShownSite& shown)
{
    if (site.address == other.address)
        return false;
    shown = std::max(shown, site.text == other.text ? ShownSite::LineAndAddress : ShownSite::Site);
    return true;
}

/// What `ways` need to be told from `other`, which reads alike. Where a function makes several calls says most.
void tell_apart(const model::Profile& profile, const Ways& ways, const Ways& other, binary::SourceLines* lines,
                Emphasis& emphasis)
{
    const bool before = have_same_caller(profile, ways.before, other.before) &&
                        emphasize(ways.before_site, other.before_site, emphasis.before_site);
    const bool after = have_same_caller(profile, ways.after, other.after) &&
                       emphasize(ways.after_site, other.after_site, emphasis.after_site);
    // What differs by sites only is told by those of both ends, as a piece of a function is.
    if (!before && !after && emphasize(profile, ways.before, other.before, lines, emphasis) != Apart::ByName)
        emphasize(profile, ways.after, other.after, lines, emphasis);
}

/// Of the functions from the index `begin` on: the one that tells it from those that differ from it last. Empty if
/// there is none.
std::string innermost_emphasized(const std::vector<CallPathId>& way, std::size_t begin, std::size_t end,
                                 const Emphasis& emphasis)
{
    for (; end > begin; --end)
        if (const auto found = emphasis.functions.find(way[end - 1]); found != emphasis.functions.end())
            return found->second;
    return {};
}

/// Of a stretch that reads like others: "from pw.x+0x4a2c94 to pw.x+0x4a2f1d, by pw.x+0x48bc10", "from dot (cg.c:12) to
/// dot (cg.c:15)".
std::string emphasis_in_words(const Ways& ways, const Emphasis& emphasis)
{
    std::string sites;
    const auto add_site = [&](ShownSite shown, std::string_view preposition, const Site& site) {
        if (shown != ShownSite::Line && !site.text.empty())
            sites += fmt::format("{}{} {}", sites.empty() ? "" : " ", preposition, site_words(site, shown));
    };
    add_site(emphasis.before_site, "from", ways.before_site);
    add_site(emphasis.after_site, "to", ways.after_site);
    std::vector<std::string> words;
    if (!sites.empty())
        words.push_back(sites);
    const std::size_t common = first_difference(ways.before, ways.after);
    const std::string from = innermost_emphasized(ways.before, common, ways.before.size(), emphasis);
    const std::string to = innermost_emphasized(ways.after, common, ways.after.size(), emphasis);
    if (!from.empty() && !to.empty() && from != to)
        words.push_back(fmt::format("from {} to {}", from, to));
    else if (!from.empty() || !to.empty())
        words.push_back("by " + (from.empty() ? to : from));
    if (const std::string by = innermost_emphasized(ways.after, 0, common, emphasis); !by.empty())
        words.push_back("by " + by);
    return fmt::format("{}", fmt::join(words, ", "));
}

/// The two calls, and the innermost function that both were made by: all that a headline has.
struct CallNames {
    std::string before, after, caller;

    bool operator==(const CallNames&) const = default;
};

CallNames call_names(const model::Profile& profile, const Ways& ways)
{
    const auto last = [&](const std::vector<CallPathId>& way, std::size_t end) {
        return end > 0 ? printable(profile.row(way[end - 1]).name) : std::string();
    };
    const std::vector<bool> is_interpreters = interpreters_of(profile, ways.before);
    std::size_t common = ways.common;
    while (common > 0 && is_interpreters[common - 1])
        --common;
    return {ways.before.empty() ? "start" : last(ways.before, ways.before.size()), last(ways.after, ways.after.size()),
            last(ways.before, common)};
}

}  // namespace

void add_place(const model::Profile& profile, std::size_t stretch, binary::SourceLines* lines, Explanation& e)
{
    const Ways ways = ways_of(profile, stretch, lines);
    const PlaceWords usual = words_of(profile, ways, {});
    const CallNames calls = call_names(profile, ways);
    Emphasis emphasis, of_calls;
    for (std::size_t i = 0; i < profile.stretches.size(); ++i) {
        if (i == stretch)
            continue;
        const Ways other = ways_of(profile, i, lines);
        if (words_of(profile, other, {}) == usual)
            tell_apart(profile, ways, other, lines, emphasis);
        if (call_names(profile, other) == calls)
            tell_apart(profile, ways, other, lines, of_calls);
    }
    const PlaceWords words = words_of(profile, ways, emphasis);
    e.caller = words.caller;
    e.before = words.before;
    e.after = words.after;
    e.before_site = ways.before_site.text;
    e.after_site = ways.after_site.text;
    e.before_shown_site = words.before_site;
    e.after_shown_site = words.after_site;
    e.apart = emphasis_in_words(ways, emphasis);
    e.calls_apart = emphasis_in_words(ways, of_calls);
    e.innermost_caller = calls.caller;
    e.call_before = calls.before;
    e.call_after = calls.after;
}

}  // namespace critpath::report
