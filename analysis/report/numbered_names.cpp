// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/numbered_names.hpp"

#include "formats/binary/folded_names.hpp"
#include "formats/binary/function_symbols.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <vector>

namespace critpath::report
{

namespace
{

bool is_digit(char c)
{
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Behind the digits at `at`.
std::size_t end_of_number(std::string_view text, std::size_t at)
{
    while (at < text.size() && is_digit(text[at]))
        ++at;
    return at;
}

/// Whether the digits in [at, end) are a compiler's: behind "#" in braces, "$_", or a dot that is not within a number.
bool is_number_of_compiler(std::string_view text, std::size_t at, std::size_t end)
{
    const std::string_view before = text.substr(0, at);
    const char next = end < text.size() ? text[end] : '\0';
    if (before.ends_with('#'))
        return next == '}';
    const bool ends_word = std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '_';
    return ends_word &&
           (before.ends_with("$_") || (before.ends_with('.') && at > 1 && !is_digit(before[before.size() - 2])));
}

/// " [a.c]", " [:0x1240]": what tells functions of one name apart (formats/binary/function_symbols.hpp).
std::string_view mark_of(std::string_view name)
{
    name = binary::without_twins(name);
    const std::size_t mark = name.ends_with(']') ? name.rfind(" [") : name.npos;
    const bool is_mark = mark != name.npos && !name.substr(mark).starts_with(" [clone ");
    return is_mark ? name.substr(mark) : std::string_view();
}

std::string_view without_mark(std::string_view name)
{
    name = binary::without_twins(name);
    return name.substr(0, name.size() - mark_of(name).size());
}

}  // namespace

std::string without_numbers(std::string_view name)
{
    std::string result;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t end = end_of_number(name, at);
        if (end > at && is_number_of_compiler(name, at, end))
            result += '*';
        else
            result += name.substr(at, std::max<std::size_t>(end - at, 1));
        at = std::max(end, at + 1);
    }
    return result;
}

bool is_numbered(std::string_view name)
{
    return mark_of(name).find(binary::file_mark) != name.npos || without_numbers(name) != name;
}

void NumberedNames::add(Run run, const std::string& binary, const std::string& name)
{
    groups_[{binary, without_numbers(without_mark(name))}][run].insert(name);
    const std::vector<std::string_view> functions = binary::folded_functions(name);
    if (functions.size() == 1)
        return;
    for (const std::string_view function : functions) {
        std::string& twins = twins_[{binary, std::string(function)}];
        if (binary::folded_functions(twins).size() < functions.size())
            twins = name;
    }
}

std::string NumberedNames::shared(const std::string& binary, const std::string& own_name) const
{
    const auto twins = twins_.find({binary, std::string(binary::folded_functions(own_name).front())});
    const std::string& name = twins == twins_.end() ? own_name : twins->second;
    std::string common = without_numbers(without_mark(name));
    const auto found = groups_.find({binary, common});
    if (found == groups_.end())
        return name;
    const auto& [before, after] = found->second;
    std::vector<std::string> of_one_run;
    std::ranges::set_symmetric_difference(before, after, std::back_inserter(of_one_run));
    if (before.empty() || after.empty() || std::ranges::none_of(of_one_run, is_numbered))
        return name;
    if (!is_numbered(name) && before.contains(name) && after.contains(name))
        return name;
    const auto has_mark = [](const std::string& one) { return !mark_of(one).empty(); };
    const bool is_marked = std::ranges::any_of(before, has_mark) || std::ranges::any_of(after, has_mark);
    return is_marked ? common + " [*]" : common;
}

}  // namespace critpath::report
