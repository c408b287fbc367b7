// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/function_name.hpp"

#include "formats/binary/demangle.hpp"
#include "formats/binary/folded_names.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace critpath::report
{

namespace
{

constexpr std::string_view scope_mark = "::";

/// Behind the bracket that closes the one at `open`; 0 if none does.
std::size_t behind_pair(std::string_view name, std::size_t open, char opens, char closes)
{
    int depth = 0, parentheses = 0;  // in these, '<' and '>' may compare
    for (std::size_t i = open; i < name.size(); ++i) {
        if (opens == '<' && i > open) {
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

/// Behind " const" and the like at `at`.
std::size_t behind_qualifiers(std::string_view name, std::size_t at)
{
    for (const std::string_view qualifier : {" const", " volatile", "&&", " &&", "&", " &"})
        if (name.substr(at).starts_with(qualifier))
            at += qualifier.size();
    return at;
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

/// "operator<< <char>" has arguments, a conversion to "std::map<int>*" has none.
NameComponent component_of_operator(std::string_view text)
{
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '<' || is_operator_sign(text, i))
            continue;
        if (behind_pair(text, i, '<', '>') != text.size())
            break;
        i -= i > 0 && text[i - 1] == ' ' ? 1 : 0;
        return {std::string(text.substr(0, i)), std::string(text.substr(i))};
    }
    return {std::string(text)};
}

/// Where " [clone .isra.0]", " [solve.c]", " [= twin]" or "@plt" begins; or else the end.
std::size_t begin_of_suffix(std::string_view name)
{
    name = binary::without_twins(name);
    if (name.ends_with(binary::stub_ending))
        return name.size() - binary::stub_ending.size();
    if (const std::size_t clone = name.find(" [clone ."); clone != name.npos)
        return clone;
    const std::size_t bracket = name.ends_with(']') ? name.rfind(" [") : name.npos;
    return bracket == name.npos ? name.size() : bracket;
}

/// Of a function that returns a pointer to one, "(*get<int>(int))(double)": the name in the parentheses `inner`, which
/// do not hold it if this is empty.
std::string_view returns_pointer(std::string_view inner)
{
    const std::size_t sign = inner.find_first_of("*&");
    if (sign == inner.npos || inner.find_first_of("<(") < sign)
        return {};
    const std::size_t name = inner.find_first_not_of("*& ", sign);
    return name == inner.npos ? std::string_view() : inner.substr(name);
}

/// Reads a name without a suffix.
class Parser
{
public:
    explicit Parser(std::string_view text) : text_(text) {}

    std::optional<FunctionName> parse()
    {
        while (at_ < text_.size() && !is_done_)
            if (!step())
                return std::nullopt;
        if (last_.identifier.empty() || (has_space_ && name_.parameters.empty()))
            return std::nullopt;
        name_.components.push_back(std::move(last_));
        return std::move(name_);
    }

private:
    /// False if it is no name.
    bool step()
    {
        if (const std::size_t length = operator_at(text_, at_); length > 0) {
            last_ = component_of_operator(text_.substr(at_, length));
            at_ += length;
            return true;
        }
        if (const std::size_t behind = behind_decltype(text_, at_); behind > 0) {
            at_ = behind;
            return true;
        }
        if (text_.substr(at_).starts_with(scope_mark)) {
            name_.components.push_back(std::exchange(last_, {}));
            at_ += scope_mark.size();
            return true;
        }
        switch (text_[at_]) {
        case '<':
            return bracket('>');
        case '(':
            return parenthesis();
        case '{':
            return bracket('}');
        case '[':
            return bracket(']');
        case ' ':  // what came before is a type
            has_space_ = true;
            name_.components.clear();
            last_ = {};
            ++at_;
            return true;
        case ';':
            return false;
        default:
            last_.identifier += text_[at_++];
            return true;
        }
    }

    bool bracket(char closes)
    {
        const std::size_t end = behind_pair(text_, at_, text_[at_], closes);
        if (end == 0)
            return false;
        const std::string_view all = text_.substr(at_, end - at_);
        if (closes == '}' || last_.identifier.empty())
            last_.identifier += all;
        else
            last_.arguments += closes == '>' ? all : std::string_view();  // but "[abi:cxx11]"
        at_ = end;
        return true;
    }

    bool parenthesis()
    {
        const std::size_t end = behind_pair(text_, at_, '(', ')');
        if (end == 0)
            return false;
        const std::string_view all = text_.substr(at_, end - at_);
        const std::size_t behind = behind_qualifiers(text_, end);
        if (last_.identifier.empty()) {
            if (const std::string_view inner = returns_pointer(all.substr(1, all.size() - 2)); !inner.empty())
                return replace_by(inner);
            last_.identifier = all;  // "(anonymous namespace)"
            at_ = end;
        } else if (text_.substr(behind).starts_with(scope_mark)) {
            last_.call = text_.substr(at_, behind - at_);
            at_ = behind;
        } else {
            name_.parameters = all;
            name_.qualifiers = text_.substr(end, behind - end);
            is_done_ = true;
            return behind == text_.size();
        }
        return true;
    }

    bool replace_by(std::string_view inner)
    {
        std::optional<FunctionName> name = Parser(inner).parse();
        if (!name)
            return false;
        last_ = std::move(name->components.back());
        name->components.pop_back();
        name_ = std::move(*name);
        is_done_ = true;
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    FunctionName name_;
    NameComponent last_;
    bool has_space_ = false;
    bool is_done_ = false;
};

}  // namespace

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

std::optional<FunctionName> parse_function_name(std::string_view name)
{
    if (name.starts_with('[') || name.starts_with("py::"))
        return std::nullopt;
    const std::size_t end = begin_of_suffix(name);
    std::optional<FunctionName> parsed = Parser(name.substr(0, end)).parse();
    if (parsed)
        parsed->suffix = name.substr(end);
    return parsed;
}

std::size_t own_components(const FunctionName& name)
{
    const std::vector<NameComponent>& all = name.components;
    std::size_t own = 1;
    const auto belongs_to_one_more = [&](std::size_t i) {
        const std::string& identifier = all[i].identifier;
        return operator_at(identifier, 0) > 0 || identifier.starts_with('{') || identifier.starts_with('~') ||
               identifier == all[i - 1].identifier;
    };
    while (own < all.size() && belongs_to_one_more(all.size() - own))
        ++own;
    return own;
}

std::string text_of(const FunctionName& name, std::size_t dropped)
{
    std::string text;
    for (std::size_t i = dropped; i < name.components.size(); ++i) {
        const NameComponent& component = name.components[i];
        text.append(i > dropped ? scope_mark : "")
            .append(component.identifier)
            .append(component.arguments)
            .append(component.call);
    }
    return text + name.parameters + name.qualifiers + name.suffix;
}

std::string qualified_name(std::string_view function)
{
    std::optional<FunctionName> name = parse_function_name(function);
    if (!name)
        return std::string(function);
    for (NameComponent& component : name->components) {
        component.arguments.clear();
        component.call.erase(std::min(component.call.rfind(')') + 1, component.call.size()));
    }
    name->parameters.clear();
    name->qualifiers.clear();
    name->suffix.clear();
    return text_of(*name);
}

bool is_of_cpp_library(std::string_view function)
{
    const std::string name = qualified_name(function);
    return name.starts_with("std::") || name.starts_with("__gnu_cxx::") || name.starts_with("__gnu_parallel::");
}

}  // namespace critpath::report
