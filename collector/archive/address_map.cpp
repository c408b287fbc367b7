// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/address_map.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace critpath::archive
{

namespace
{

// Takes the text up to `separator` off the front of `line`.
std::string_view take(std::string_view& line, char separator)
{
    const std::size_t at = std::min(line.find(separator), line.size());
    const std::string_view field = line.substr(0, at);
    line.remove_prefix(std::min(at + 1, line.size()));
    return field;
}

std::optional<std::uint64_t> hex(std::string_view text)
{
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

AddressMap::AddressMap(std::string_view maps)
{
    while (!maps.empty()) {
        std::string_view line = take(maps, '\n');
        const auto start = hex(take(line, '-'));
        const auto end = hex(take(line, ' '));
        const std::string_view permissions = take(line, ' ');
        const auto offset = hex(take(line, ' '));
        take(line, ' ');  // device
        take(line, ' ');  // inode
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        const bool is_executable = permissions.size() >= 3 && permissions[2] == 'x';
        if (start && end && offset && is_executable && *start < *end) {
            ranges_.push_back({*start, *end, *offset, module(line)});
        }
    }
    std::sort(ranges_.begin(), ranges_.end(), [](auto& a, auto& b) { return a.start < b.start; });
}

const MappedRange* AddressMap::find(std::uint64_t address) const
{
    const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                         [](std::uint64_t a, const MappedRange& r) { return a < r.start; });
    if (behind == ranges_.begin() || address >= (behind - 1)->end) {
        return nullptr;
    }
    return &*(behind - 1);
}

std::uint32_t AddressMap::module(std::string_view name)
{
    const bool has_file = !name.empty() && name.front() == '/' && !name.starts_with("/memfd:");
    if (!has_file && name != vdso_module && name != "[vsyscall]") {
        name = anonymous_module;
    }
    const auto found = std::find(modules_.begin(), modules_.end(), name);
    if (found != modules_.end()) {
        return static_cast<std::uint32_t>(found - modules_.begin());
    }
    modules_.emplace_back(name);
    return static_cast<std::uint32_t>(modules_.size() - 1);
}

}  // namespace critpath::archive
