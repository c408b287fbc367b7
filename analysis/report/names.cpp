// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/names.hpp"

#include "analysis/report/text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

namespace critpath::report
{

namespace
{

/// True if the '<' or '>' at `at` belongs to the name of an operator or to "->".
bool is_operator_sign(std::string_view name, std::size_t at)
{
    if (name[at] == '>' && at > 0 && name[at - 1] == '-')
        return true;
    constexpr std::string_view word = "operator";
    std::size_t begin = at;
    while (begin > 0 &&
           (name[begin - 1] == '<' || name[begin - 1] == '>' || name[begin - 1] == '=' || name[begin - 1] == '-'))
        --begin;
    return begin >= word.size() && name.substr(begin - word.size(), word.size()) == word;
}

/// `name` with what stands between outermost `open` and `close` replaced by an ellipsis.
std::string fold(std::string_view name, char open, char close)
{
    std::string folded;
    int depth = 0;
    std::size_t inner = 0;  // bytes within the outermost pair
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool counts = !is_operator_sign(name, i);
        if (name[i] == close && counts && depth > 0 && --depth == 0) {
            if (inner > 0)
                folded += ellipsis;
            folded += close;
            continue;
        }
        if (depth == 0)
            folded += name[i];
        else
            ++inner;
        if (name[i] == open && counts && depth++ == 0)
            inner = 0;
    }
    // An unbalanced name is left as it is.
    return depth == 0 ? folded : std::string(name);
}

/// As fold() for parentheses, but of the last pair only: "(anonymous namespace)" and "operator()" stay.
std::string fold_parameters(std::string_view name)
{
    int depth = 0;
    const std::size_t close = name.rfind(')');
    if (close == std::string_view::npos)
        return std::string(name);
    for (std::size_t i = close + 1; i-- > 0;) {
        depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
        if (depth != 0)
            continue;
        const std::string_view inner = name.substr(i + 1, close - i - 1);
        if (inner.empty() || inner == "anonymous namespace")
            return std::string(name);
        return std::string(name.substr(0, i + 1)).append(ellipsis).append(name.substr(close));
    }
    return std::string(name);
}

/// A function may have several clones: "f(int) [clone .isra.0]".
std::string_view without_clone(std::string_view name)
{
    const std::size_t clone = name.find(" [clone .");
    return clone == std::string_view::npos || clone == 0 ? name : name.substr(0, clone);
}

/// The lines of a tree before a name.
std::size_t drawing(std::string_view text)
{
    const auto name = std::ranges::find_if(text, [](unsigned char c) { return c < 0x80 && c != ' '; });
    return name == text.end() ? 0 : static_cast<std::size_t>(name - text.begin());
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

/// `end` with an ellipsis for what belongs to arguments of a template that begin before it.
std::string fold_arguments(std::string_view end)
{
    int depth = 0;
    for (std::size_t i = 0; i < end.size(); ++i) {
        if ((end[i] != '<' && end[i] != '>') || is_operator_sign(end, i))
            continue;
        depth += end[i] == '<' ? 1 : -1;
        if (depth < 0)
            return i > 0 ? std::string(ellipsis).append(end.substr(i)) : std::string(end);
    }
    return std::string(end);
}

/// Of `name`, mostly what is between what is `common`.
std::string show_difference(std::string_view name, const Common& common, std::size_t width)
{
    constexpr std::size_t least = 8;
    const std::string_view before = name.substr(0, common.prefix);
    const std::string_view after = name.substr(name.size() - common.suffix);
    const std::string_view inner = name.substr(common.prefix, name.size() - common.prefix - common.suffix);
    const std::string different = shorten_end(inner, std::max(least, width / 3));
    std::size_t left = width - std::min(width, display_width(different));
    // The name itself may follow what differs: template arguments do.
    const bool is_name_behind = before.find('(') == std::string_view::npos;
    std::string end(after);
    if (display_width(end) + display_width(before) > left)
        end = is_name_behind ? fold_parameters(without_clone(fold_arguments(after))) : std::string(ellipsis);
    if (display_width(end) >= left)
        end = shorten_middle(end, left > 0 ? left - 1 : 0);
    if (different.ends_with(ellipsis) && end.starts_with(ellipsis))
        end.erase(0, ellipsis.size());
    left -= std::min(left, display_width(end));
    const std::string begin = is_name_behind ? shorten_middle(before, left) : shorten_end(before, left);
    return begin + different + end;
}

/// Behind the bracket that closes the one at `open`; 0 if none does.
std::size_t behind_pair(std::string_view name, std::size_t open, char opens, char closes)
{
    int depth = 0, parentheses = 0;  // in these, '<' and '>' may compare
    for (std::size_t i = open; i < name.size(); ++i) {
        if (opens == '<') {
            parentheses += name[i] == '(' ? 1 : name[i] == ')' ? -1 : 0;
            if (parentheses > 0 || is_operator_sign(name, i))
                continue;
        }
        depth += name[i] == opens ? 1 : name[i] == closes ? -1 : 0;
        if (depth == 0)
            return i + 1;
    }
    return 0;
}

/// Behind "decltype (...)" at `at`; 0 if there is none.
std::size_t behind_decltype(std::string_view name, std::size_t at)
{
    constexpr std::string_view word = "decltype";
    if (!name.substr(at).starts_with(word))
        return 0;
    const std::size_t open = name.find_first_not_of(' ', at + word.size());
    return open != name.npos && name[open] == '(' ? behind_pair(name, open, '(', ')') : 0;
}

/// True if what begins at `at` is of an enclosing scope, as in "f(int) const::{lambda()#1}::operator()() const".
bool is_in_scope(std::string_view name, std::size_t at)
{
    for (const std::string_view qualifier : {" const", " volatile", "&&", "&"})
        if (name.substr(at).starts_with(qualifier))
            at += qualifier.size();
    return name.substr(at).starts_with("::");
}

/// How long the name of an operator is that begins at `at`; 0 if none does.
std::size_t operator_at(std::string_view name, std::size_t at)
{
    constexpr std::string_view word = "operator";
    const auto is_in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    if (!name.substr(at).starts_with(word) || (at > 0 && is_in_word(name[at - 1])))
        return 0;
    const std::string_view rest = name.substr(at + word.size());
    if (rest.empty() || is_in_word(rest.front()))
        return 0;
    const std::size_t begin = rest.starts_with("()") ? 2 : 0;
    return word.size() + std::min(rest.find('(', begin), rest.size());
}

}  // namespace

std::string qualified_name(std::string_view function)
{
    std::string result;
    for (std::size_t i = 0; i < function.size();) {
        const char c = function[i];
        if (const std::size_t length = operator_at(function, i); length > 0) {
            result += function.substr(i, length);
            i += length;
            continue;
        }
        if (const std::size_t behind = behind_decltype(function, i); behind > 0) {
            i = behind;
            continue;
        }
        const std::string_view closes = c == '<' ? ">" : c == '(' ? ")" : c == '{' ? "}" : c == '[' && i > 0 ? "]" : "";
        const std::size_t end = closes.empty() ? i + 1 : behind_pair(function, i, c, closes.front());
        if (end == 0)
            return std::string(function);
        if (c == '(' && !is_in_scope(function, end) && !result.empty())
            break;
        if (c == ' ')
            result.clear();  // what came before is a type
        else if (c != '<' && (c != '[' || i == 0))
            result += function.substr(i, end - i);
        i = end;
        // " const" of an enclosing function is no end of a type.
        if (c == '(')
            while (i < function.size() && !function.substr(i).starts_with("::"))
                ++i;
    }
    return result;
}

bool is_of_cpp_library(std::string_view function)
{
    const std::string name = qualified_name(function);
    return name.starts_with("std::") || name.starts_with("__gnu_cxx::") || name.starts_with("__gnu_parallel::");
}

std::string shorten_name(std::string_view name, std::size_t width)
{
    if (display_width(name) > width)
        name = without_clone(name);
    std::string result(name);
    if (display_width(result) > width)
        result = fold_parameters(result);
    const bool has_arguments = !result.starts_with("py::");  // but "<module>" and "<lambda>"
    if (display_width(result) > width && has_arguments)
        result = fold(result, '<', '>');
    return shorten_middle(result, width);
}

std::map<std::string, std::string> shorten_names(const std::set<std::string>& names, std::size_t width)
{
    std::map<std::string, std::string> result;
    std::map<std::string, std::set<std::string_view>> alike;  // by what they would read, without what is drawn
    for (const std::string& name : names) {
        const std::string& shortened = result[name] = shorten_name(name, width);
        alike[shortened.substr(drawing(shortened))].insert(std::string_view(name).substr(drawing(name)));
    }
    std::map<std::string, Common> common;  // likewise
    for (const auto& [read, same] : alike)
        if (same.size() > 1)
            common[read] = common_of({same.begin(), same.end()});
    for (auto& [name, shortened] : result) {
        const auto found = common.find(shortened.substr(drawing(shortened)));
        if (found == common.end())
            continue;
        const std::string drawn = name.substr(0, drawing(name));
        const std::size_t used = std::min(width, display_width(drawn));
        shortened = drawn + show_difference(std::string_view(name).substr(drawn.size()), found->second, width - used);
    }
    return result;
}

}  // namespace critpath::report
