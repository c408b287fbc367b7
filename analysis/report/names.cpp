// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/names.hpp"

#include "analysis/report/function_name.hpp"
#include "analysis/report/text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace critpath::report
{

namespace
{

constexpr std::string_view hidden_scopes = "…::";

/// "<…>" of " <int, double>" and "(…)" of "(int)"; nothing is in "()".
std::string folded(const std::string& text, std::string_view brackets)
{
    const std::size_t open = text.find(brackets.front());
    const std::size_t close = text.rfind(brackets.back());
    if (open == text.npos || close == text.npos || close <= open + 1)
        return text;
    return text.substr(0, open + 1).append(ellipsis).append(text.substr(close));
}

void fold_parameters(FunctionName& name)
{
    name.parameters = folded(name.parameters, "()");
}

void fold_arguments(FunctionName& name)
{
    for (NameComponent& component : name.components) {
        component.arguments = folded(component.arguments, "<>");
        component.call = folded(component.call, "()");
        if (component.identifier.starts_with('{'))
            component.identifier = folded(component.identifier, "()");
    }
}

/// Without all that can be left out before a namespace is.
FunctionName folded(FunctionName name)
{
    fold_parameters(name);
    fold_arguments(name);
    name.qualifiers.clear();
    name.suffix.clear();
    return name;
}

/// "NPairHalf…onlyNewton::build(…)": with a part of the last component that has been `dropped`, if much of it has room.
std::optional<std::string> with_part_of_scope(const FunctionName& name, std::size_t dropped, std::size_t width)
{
    constexpr std::size_t worth_it = 8;
    const NameComponent& scope = name.components[dropped - 1];
    const std::string rest = "::" + text_of(name, dropped);
    if (display_width(rest) + worth_it > width || scope.identifier.starts_with('('))
        return std::nullopt;
    const std::string text = scope.identifier + scope.arguments + scope.call;
    const std::size_t room = width - display_width(rest);
    return display_width(text) > room ? std::optional(shorten_middle(text, room) + rest) : std::nullopt;
}

/// Without as many of the outermost components as it has to, and no more than `most`; a mark says so if it has room.
std::optional<std::string> with_some_scopes(const FunctionName& name, std::size_t most, std::size_t width)
{
    for (std::size_t dropped = 0; dropped <= most; ++dropped) {
        std::string text = text_of(name, dropped);
        if (display_width(text) > width)
            continue;
        if (dropped == 0)
            return text;
        if (std::optional<std::string> more = with_part_of_scope(name, dropped, width))
            return more;
        return display_width(hidden_scopes) + display_width(text) <= width ? std::string(hidden_scopes) + text : text;
    }
    return std::nullopt;
}

/// Of the function itself, at least a part.
std::string own_text(FunctionName name, std::size_t width)
{
    name.components.erase(name.components.begin(),
                          name.components.end() - static_cast<std::ptrdiff_t>(own_components(name)));
    for (NameComponent& component : name.components) {
        component.arguments = component.arguments.empty() && component.call.empty() ? "" : ellipsis;
        component.call.clear();
    }
    if (std::string text = text_of(name); display_width(text) <= width)
        return text;
    name.parameters.clear();
    name.components.back().arguments.clear();
    std::string identifier = text_of(name);
    if (display_width(identifier) < width)
        return identifier.append(ellipsis);
    return shorten_middle(identifier, width);
}

std::string shorten(const std::string& whole, const std::optional<FunctionName>& parsed, std::size_t width)
{
    if (display_width(whole) <= width || !parsed)
        return shorten_middle(whole, width);
    FunctionName name = *parsed;
    const auto fits = [&] { return display_width(text_of(name)) <= width; };
    if (fits())
        return text_of(name);
    name.suffix.clear();
    if (fits())
        return text_of(name);
    fold_parameters(name);
    if (fits())
        return text_of(name);
    fold_arguments(name);
    if (fits())
        return text_of(name);
    name.qualifiers.clear();
    const std::size_t scopes = name.components.size() - own_components(name);
    if (std::optional<std::string> text = with_some_scopes(name, scopes, width))
        return *text;
    return own_text(std::move(name), width);
}

/// Bytes that all names begin with, up to the identifier in which they differ; and those that all end with behind it.
struct Common {
    std::size_t prefix, suffix;
};

Common common_of(const std::vector<std::string_view>& names)
{
    const std::string_view first = names.front();
    Common common{first.size(), first.size()};
    const auto is_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; };
    for (const std::string_view name : names) {
        const auto begin = std::ranges::mismatch(first.substr(0, common.prefix), name).in1 - first.begin();
        common.prefix = static_cast<std::size_t>(begin);
    }
    const auto continues = [&](std::size_t at) {
        const auto before = static_cast<unsigned char>(first[at - 1]);
        return std::isalnum(before) != 0 || before == '_' || (at < first.size() && !is_character(first[at]));
    };
    while (common.prefix > 0 && continues(common.prefix))
        --common.prefix;
    for (const std::string_view name : names) {
        std::size_t same = 0;
        const std::size_t most = std::min({common.suffix, name.size() - common.prefix, first.size() - common.prefix});
        while (same < most && name[name.size() - 1 - same] == first[first.size() - 1 - same])
            ++same;
        common.suffix = same;
    }
    while (common.suffix > 0 && !is_character(first[first.size() - common.suffix]))
        --common.suffix;
    return common;
}

/// Of `name`, mostly what is between what is `common`.
std::string show_difference(std::string_view name, const Common& common, std::size_t width)
{
    constexpr std::size_t least = 8;
    const std::string_view before = name.substr(0, common.prefix);
    const std::string_view after = name.substr(name.size() - common.suffix);
    const std::string_view inner = name.substr(common.prefix, name.size() - common.prefix - common.suffix);
    const std::string different = shorten_end(inner, std::min(width, std::max(least, width / 3)));
    std::size_t left = width - display_width(different);
    std::string end(after);
    if (display_width(end) + display_width(before) > left)
        end = shorten_middle(end, left / 2);
    if (different.ends_with(ellipsis) && end.starts_with(ellipsis))
        end.erase(0, ellipsis.size());
    left -= display_width(end);
    return shorten_middle(before, left) + different + end;
}

/// A bracketed text whose inner part is shortened to where it differs from `others`, in at most `width` columns, but
/// not less than a few.
std::string different_part(const std::string& text, const std::vector<std::string>& others, std::size_t width)
{
    constexpr std::size_t least = 4, marks = 4;
    std::vector<std::string_view> all = {text};
    for (const std::string& other : others)
        if (other != text)
            all.emplace_back(other);
    Common common = common_of(all);
    // The brackets stay.
    const std::size_t open = text.find_first_of("<([") + 1;
    if (open == 0 || all.size() == 1 || common.prefix < open || common.suffix == 0)
        return text;
    const std::string inner = text.substr(common.prefix, text.size() - common.prefix - common.suffix);
    std::string part = shorten_end(inner, std::max(least, width - std::min(width, marks)));
    if (common.suffix > 1 && !part.ends_with(ellipsis))
        part += ellipsis;
    return text.substr(0, open).append(common.prefix > open ? ellipsis : "").append(part) + text.back();
}

/// All of the functions of a table, by what they are called without all that may be left out.
class SeenNames
{
public:
    struct Seen {
        std::string text;
        std::optional<FunctionName> name;
    };

    explicit SeenNames(const std::set<std::string>& names)
    {
        for (const std::string& name : names)
            seen_.push_back({name, parse_function_name(name)});
    }

    /// In at most `width` columns, and so that it reads as no other one, if that can be.
    [[nodiscard]] std::string shorten(const std::string& text, std::size_t width) const
    {
        if (display_width(text) <= width)
            return text;
        const std::optional<FunctionName> name = parse_function_name(text);
        std::string shortened = report::shorten(text, name, width);
        const std::vector<const Seen*> rivals = rivals_of(text, shortened);
        if (rivals.empty())
            return shortened;
        if (name)
            if (std::optional<std::string> told = tell_apart(text, *name, rivals, width))
                return *told;
        return tell_apart_as_text(name ? text_of(*name) : text, rivals, width);
    }

private:
    [[nodiscard]] std::vector<const Seen*> rivals_of(const std::string& text, const std::string& shortened) const
    {
        std::vector<const Seen*> rivals;
        for (const Seen& seen : seen_)
            if (seen.text != text && reads_as(seen.text, shortened))
                rivals.push_back(&seen);
        return rivals;
    }

    /// By one of its parts, which is shown in whole, or else where it differs.
    [[nodiscard]] std::optional<std::string> tell_apart(const std::string& text, const FunctionName& name,
                                                        const std::vector<const Seen*>& rivals, std::size_t width) const
    {
        FunctionName base = folded(name);
        const std::size_t size = name.components.size();
        const std::size_t scopes = size - own_components(name);
        const auto is_good = [&](const std::optional<std::string>& told) {
            return told && rivals_of(text, *told).empty();
        };
        const auto try_part = [&](std::string FunctionName::*part) -> std::optional<std::string> {
            std::vector<std::string> others;
            for (const Seen* rival : rivals)
                if (rival->name)
                    others.push_back((*rival->name).*part);
            return with_part(
                name.*part, others, width,
                [&](const std::string& shown) {
                    FunctionName tried = base;
                    tried.*part = shown;
                    return with_some_scopes(tried, scopes, width);
                },
                is_good);
        };
        // What is inside of it comes first: of several functions of one class, that is the nearest.
        for (std::size_t i = size; i-- > 0;)
            if (auto told = try_arguments(name, base, i, rivals, width, is_good))
                return told;
        for (std::string FunctionName::*part :
             {&FunctionName::parameters, &FunctionName::qualifiers, &FunctionName::suffix})
            if (auto told = try_part(part))
                return told;
        for (std::size_t i = scopes; i-- > 0;)
            if (auto told = with_scope(base, i, scopes, width); is_good(told))
                return told;
        base.parameters.clear();
        return try_arguments(name, base, size - 1, rivals, width, is_good);
    }

    template <class IsGood>
    [[nodiscard]] std::optional<std::string> try_arguments(const FunctionName& name, const FunctionName& base,
                                                           std::size_t at, const std::vector<const Seen*>& rivals,
                                                           std::size_t width, IsGood is_good) const
    {
        const std::size_t from_end = name.components.size() - at;
        std::vector<std::string> others;
        for (const Seen* rival : rivals)
            if (rival->name && rival->name->components.size() >= from_end)
                others.push_back((rival->name->components.end() - static_cast<std::ptrdiff_t>(from_end))->arguments);
        return with_part(
            name.components[at].arguments, others, width,
            [&](const std::string& shown) {
                FunctionName tried = base;
                tried.components[at].arguments = shown;
                return with_some_scopes(tried, std::min(at, tried.components.size() - own_components(tried)), width);
            },
            is_good);
    }

    /// `make(part)`: the name with that; nothing if it has no room.
    template <class Make, class IsGood>
    static std::optional<std::string> with_part(const std::string& part, const std::vector<std::string>& others,
                                                std::size_t width, Make make, IsGood is_good)
    {
        if (part.empty() || std::ranges::all_of(others, [&](const std::string& other) { return other == part; }))
            return std::nullopt;
        std::optional<std::string> told = make(part);
        if (is_good(told))
            return told;
        for (std::size_t room = std::min(width, display_width(part)); room > 0; --room) {
            told = make(different_part(part, others, room));
            if (told)
                break;
        }
        return is_good(told) ? told : std::nullopt;
    }

    /// "grid::…::step": with one component of those before its own.
    static std::optional<std::string> with_scope(const FunctionName& name, std::size_t at, std::size_t scopes,
                                                 std::size_t width)
    {
        std::string text = name.components[at].identifier + name.components[at].arguments;
        text += at + 1 < scopes ? "::…::" : "::";
        text += text_of(name, scopes);
        if (at > 0 && display_width(text) + display_width(hidden_scopes) <= width)
            text.insert(0, hidden_scopes);
        return display_width(text) <= width ? std::optional(text) : std::nullopt;
    }

    static std::string tell_apart_as_text(const std::string& text, const std::vector<const Seen*>& rivals,
                                          std::size_t width)
    {
        std::vector<std::string> others;
        for (const Seen* rival : rivals)
            others.push_back(rival->name ? text_of(*rival->name) : rival->text);
        std::vector<std::string_view> all = {text};
        all.insert(all.end(), others.begin(), others.end());
        return show_difference(text, common_of(all), width);
    }

    std::vector<Seen> seen_;
};

constexpr std::string_view chain_mark = " > ";
constexpr std::string_view place_mark = " at ";

/// A function in a table, with what is before and behind it.
struct ShownFunction {
    std::string before;  // "[I] " if it is inlined, or the side of a message
    std::string name;
    std::string behind;  // " at halo.c:12"
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
    const std::size_t place = std::min(text.rfind(place_mark), text.size());
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
    if (function.behind.empty() && before < width)
        return function.before + seen.shorten(function.name, width - before);
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

/// True if the pieces of `shown` between its ellipses are in `name`, in that order; the first one at its begin.
bool matches(std::string_view name, std::string_view shown)
{
    std::size_t at = 0;
    for (bool is_first = true;; is_first = false) {
        const std::size_t end = shown.find(ellipsis);
        const std::string_view piece = shown.substr(0, end);
        const std::size_t found = name.find(piece, at);
        if (found == name.npos || (is_first && found != 0))
            return false;
        if (end == shown.npos)
            return true;
        at = found + piece.size();
        shown.remove_prefix(end + ellipsis.size());
    }
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

bool reads_as(std::string_view name, std::string_view shown)
{
    const bool has_ellipsis = shown.find(ellipsis) != shown.npos;
    const std::optional<FunctionName> parsed = parse_function_name(name);
    const std::optional<FunctionName> wanted = parse_function_name(shown);
    if (!parsed || (!wanted && !has_ellipsis))
        return has_ellipsis ? matches(name, shown) : name == shown;
    // "…::order(…)" is none that only has an "order(int)" among its arguments.
    const std::string own = wanted ? wanted->components.back().identifier : std::string(ellipsis);
    if (own.find(ellipsis) == own.npos && own != parsed->components.back().identifier)
        return false;
    if (matches(name, shown))
        return true;
    for (std::size_t dropped = 0; dropped < parsed->components.size(); ++dropped)
        if (matches(text_of(*parsed, dropped), shown))
            return true;
    return false;
}

}  // namespace critpath::report
