// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the names of the kernel's functions, as far as the kernel tells us (/proc/kallsyms; kptr_restrict in
// proc_sys_kernel(5)).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::archive
{

class KernelSymbols
{
public:
    KernelSymbols() = default;

    /// `text`: lines "<address> <type> <name>", of loadable modules with "\t[<module>]" behind. What is not code, and
    /// lines that cannot be read, are left out; where the kernel hides its addresses they are all 0.
    explicit KernelSymbols(std::string text);

    /// Of the kernel that runs.
    static KernelSymbols of_this_machine();

    /// Name of the function at `address`, empty if not known; valid as long as this.
    [[nodiscard]] std::string_view find(std::uint64_t address) const;

private:
    struct Symbol {
        std::uint64_t start;
        std::uint32_t name, length;  // in text_
    };

    std::string text_;
    std::vector<Symbol> symbols_;  // by start, one each
};

}  // namespace critpath::archive
