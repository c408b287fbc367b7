// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/binary/folded_names.hpp"

#include <cstddef>
#include <utility>

namespace critpath::binary
{

namespace
{

constexpr std::string_view twins_begin = " [= ";
constexpr std::string_view between_twins = " = ";
constexpr std::string_view more_twins = "...";

}  // namespace

std::string with_twins(std::string name, std::span<const std::string> twins)
{
    constexpr std::size_t most = 4;
    if (twins.empty()) {
        return name;
    }
    for (std::size_t i = 0; i < twins.size() && i <= most; ++i) {
        name.append(i == 0 ? twins_begin : between_twins).append(i < most ? std::string_view(twins[i]) : more_twins);
    }
    return name.append("]");
}

std::string_view without_twins(std::string_view name)
{
    return name.ends_with(']') ? name.substr(0, name.find(twins_begin)) : name;
}

std::vector<std::string_view> folded_functions(std::string_view name)
{
    const std::string_view first = without_twins(name);
    std::vector<std::string_view> functions = {first};
    if (first.size() == name.size()) {
        return functions;
    }
    std::string_view rest = name.substr(first.size() + twins_begin.size());
    rest.remove_suffix(1);
    for (bool is_last = false; !is_last;) {
        const std::size_t end = rest.find(between_twins);
        is_last = end == std::string_view::npos;
        if (const std::string_view twin = rest.substr(0, end); twin != more_twins) {
            functions.push_back(twin);
        }
        rest.remove_prefix(is_last ? rest.size() : end + between_twins.size());
    }
    return functions;
}

}  // namespace critpath::binary
