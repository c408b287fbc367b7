// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/kernel_symbols.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

namespace critpath::archive
{

namespace
{

// Behind the kernel's last function, and behind each of a module, lies what has no name.
constexpr std::uint64_t longest_function = std::uint64_t{1} << 20;

bool is_code(char type)
{
    const int lower = std::tolower(static_cast<unsigned char>(type));
    return lower == 't' || lower == 'w';
}

}  // namespace

KernelSymbols::KernelSymbols(std::string text) : text_(std::move(text))
{
    for (std::size_t at = 0; at < text_.size();) {
        const std::size_t end = std::min(text_.find('\n', at), text_.size());
        const char* const line_end = text_.data() + end;
        std::uint64_t start = 0;
        const auto [type, error] = std::from_chars(text_.data() + at, line_end, start, 16);
        if (error == std::errc{} && start != 0 && line_end - type > 3 && type[0] == ' ' && type[2] == ' ' &&
            is_code(type[1])) {
            const char* const name = type + 3;
            const auto length = std::find(name, line_end, '\t') - name;
            symbols_.push_back(
                {start, static_cast<std::uint32_t>(name - text_.data()), static_cast<std::uint32_t>(length)});
        }
        at = end + 1;
    }
    std::ranges::stable_sort(symbols_, {}, &Symbol::start);
    const auto aliases = std::unique(symbols_.begin(), symbols_.end(),
                                     [](const Symbol& a, const Symbol& b) { return a.start == b.start; });
    symbols_.erase(aliases, symbols_.end());
}

KernelSymbols KernelSymbols::of_this_machine()
{
    std::ifstream file("/proc/kallsyms", std::ios::binary);
    return KernelSymbols({std::istreambuf_iterator<char>(file), {}});
}

std::string_view KernelSymbols::find(std::uint64_t address) const
{
    const auto behind = std::ranges::upper_bound(symbols_, address, {}, &Symbol::start);
    if (behind == symbols_.begin() || address - std::prev(behind)->start >= longest_function) {
        return {};
    }
    return std::string_view(text_).substr(std::prev(behind)->name, std::prev(behind)->length);
}

}  // namespace critpath::archive
