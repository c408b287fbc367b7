// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/names.hpp"

#include "analysis/report/function_name.hpp"
#include "analysis/report/seen_names.hpp"
#include "analysis/report/text.hpp"
#include "formats/binary/demangle.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace critpath::report
{

namespace
{

constexpr std::string_view chain_mark = " > ";
constexpr std::string_view place_mark = " at ";

/// A function in a table, with what is before and behind it.
struct ShownFunction {
    std::string before;  // "[I] " if it is inlined, or the side of a message
    std::string name;
    std::string behind;  // " at halo.c:12", "@plt"
};

ShownFunction shown_function(std::string_view text)
{
    ShownFunction result;
    for (const std::string_view mark : {"[I] ", "from: ", "to: "}) {
        if (!text.starts_with(mark))
            continue;
        result.before = mark;
        text.remove_prefix(mark.size());
        break;
    }
    const std::size_t end =
        text.ends_with(binary::stub_ending) ? text.size() - binary::stub_ending.size() : text.size();
    const std::size_t place = std::min(text.rfind(place_mark), end);
    result.name = text.substr(0, place);
    result.behind = text.substr(place);
    return result;
}

/// What a table shows of a function: the lines of a tree, and a chain of calls, which has one function at least.
struct ShownChain {
    std::string drawn;
    ShownFunction first;  // without a name if there is only the last
    std::string between;  // " > … > "
    ShownFunction last;
};

/// The lines of a tree before a name; "… " stands for levels that are not drawn.
std::size_t drawing(std::string_view text)
{
    std::size_t at = 0;
    for (;;) {
        const std::string_view rest = text.substr(at);
        if (rest.starts_with(' '))
            ++at;
        else if (rest.starts_with("│") || rest.starts_with("├") || rest.starts_with("└"))
            at += std::string_view("│").size();
        else if (rest.starts_with("… ") && !rest.starts_with("… >"))
            at += std::string_view("… ").size();
        else
            return at;
    }
}

/// Where a chain of calls goes on, and not within the brackets of a name; or else the end.
std::size_t chain_mark_in(std::string_view text, std::size_t from)
{
    int depth = 0;
    for (std::size_t i = from; i < text.size(); ++i) {
        if (depth == 0 && text.substr(i).starts_with(chain_mark))
            return i;
        if (text[i] == '(' || text[i] == '{' || (text[i] == '<' && !is_operator_sign(text, i)))
            ++depth;
        else if (text[i] == ')' || text[i] == '}' || (text[i] == '>' && !is_operator_sign(text, i)))
            --depth;
    }
    return text.size();
}

ShownChain shown_chain(std::string_view text)
{
    ShownChain result;
    result.drawn = text.substr(0, drawing(text));
    text.remove_prefix(result.drawn.size());
    const std::size_t first = chain_mark_in(text, 0);
    if (first == text.size()) {
        result.last = shown_function(text);
        return result;
    }
    std::size_t behind = first + chain_mark.size();
    for (std::size_t next = chain_mark_in(text, behind); next < text.size(); next = chain_mark_in(text, behind))
        behind = next + chain_mark.size();
    result.first = shown_function(text.substr(0, first));
    result.between = text.substr(first, behind - first);
    result.last = shown_function(text.substr(behind));
    return result;
}

/// " at halo_…ange.c:12" in at most `width` columns; nothing if that is too few.
std::optional<std::string> shorten_place(const std::string& behind, std::size_t width)
{
    const std::size_t colon = behind.rfind(':');
    if (colon == behind.npos || colon < place_mark.size())
        return std::nullopt;
    const std::size_t kept = place_mark.size() + display_width(behind.substr(colon));
    if (width <= kept)
        return std::nullopt;
    const std::string file = behind.substr(place_mark.size(), colon - place_mark.size());
    return std::string(place_mark) + shorten_middle(file, width - kept) + behind.substr(colon);
}

std::string shorten_function(const ShownFunction& function, const SeenNames& seen, std::size_t width)
{
    const std::size_t before = display_width(function.before), behind = display_width(function.behind);
    const std::size_t name = display_width(function.name);
    const bool is_whole = function.behind.empty() || function.behind == binary::stub_ending;
    if (is_whole && before + behind < width)
        return function.before + seen.shorten(function.name, width - before - behind) + function.behind;
    if (before + name < width)
        if (const std::optional<std::string> place = shorten_place(function.behind, width - before - name))
            return function.before + function.name + (before + name + behind <= width ? function.behind : *place);
    return shorten_middle(function.before + function.name + function.behind, width);
}

/// With its last function only.
std::string shorten_end_of_chain(const ShownChain& chain, const SeenNames& seen, std::size_t width)
{
    std::string before = shorten_end(chain.drawn, width);
    if (!chain.first.name.empty())
        before += shorten_end(std::string(ellipsis).append(chain_mark), width - display_width(before));
    return before + shorten_function(chain.last, seen, width - display_width(before));
}

/// With its first function only, which tells it from others that are called by the same one.
std::string shorten_begin_of_chain(const ShownChain& chain, const SeenNames& seen, std::size_t width)
{
    const std::string behind = std::string(chain_mark).append(ellipsis);
    const std::size_t used = display_width(chain.drawn) + display_width(behind);
    return used < width ? chain.drawn + shorten_function(chain.first, seen, width - used) + behind
                        : shorten_end_of_chain(chain, seen, width);
}

/// The last function has the time of the row.
std::string shorten_chain(const ShownChain& chain, const SeenNames& seen, std::size_t width)
{
    constexpr std::size_t least = 5, readable = 8;  // of a name
    std::string between = chain.between;
    std::size_t used = display_width(chain.drawn) + display_width(between);
    if (width < used + 2 * readable && display_width(between) > chain_mark.size()) {
        between = std::string(" ").append(ellipsis).append(" ");
        used = display_width(chain.drawn) + display_width(between);
    }
    if (chain.first.name.empty() || width < used + 2 * least)
        return shorten_end_of_chain(chain, seen, width);
    const std::size_t room = width - used;
    const auto whole = [](const ShownFunction& f) { return display_width(f.before + f.name + f.behind); };
    const std::size_t of_first = std::min(whole(chain.first), std::max(std::min(readable, room / 2), room * 2 / 5));
    std::string last = shorten_function(chain.last, seen, room - of_first);
    const std::string first = shorten_function(chain.first, seen, room - display_width(last));
    last = shorten_function(chain.last, seen, room - display_width(first));
    return chain.drawn + first + between + last;
}

}  // namespace

std::string shorten_name(std::string_view name, std::size_t width)
{
    return display_width(name) <= width ? std::string(name) : shorten_chain(shown_chain(name), SeenNames({}), width);
}

std::map<std::string, std::string> shorten_names(const std::set<std::string>& names, std::size_t width,
                                                 const std::set<std::string>& others)
{
    std::map<std::string, ShownChain> chains;
    std::set<std::string> functions;
    const auto add_functions = [&](const ShownChain& chain) {
        for (const ShownFunction* function : {&chain.first, &chain.last})
            if (!function->name.empty())
                functions.insert(function->name);
    };
    for (const std::string& name : names)
        add_functions(chains[name] = shown_chain(name));
    for (const std::string& name : others)
        add_functions(shown_chain(name));
    const SeenNames seen(functions);
    std::map<std::string, std::string> result;
    std::map<std::string, std::set<std::string>> alike;  // by what they read, what they are; without what is drawn
    for (const auto& [name, chain] : chains) {
        std::string& text = result[name] = display_width(name) <= width ? name : shorten_chain(chain, seen, width);
        alike[text.substr(drawing(text))].insert(name.substr(chain.drawn.size()));
    }
    for (const auto& [name, chain] : chains) {
        std::string& text = result[name];
        if (!chain.first.name.empty() && alike[text.substr(drawing(text))].size() > 1)
            text = shorten_begin_of_chain(chain, seen, width);
    }
    return result;
}

}  // namespace critpath::report
