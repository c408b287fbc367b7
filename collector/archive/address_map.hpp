// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which binary stood at which address: the executable lines of a copy of /proc/<pid>/maps (proc(5)).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::archive
{

struct MappedRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;     // first address behind it
    std::uint64_t offset = 0;  // in the file
    std::uint32_t module = 0;  // index into AddressMap::modules()
};

/// How code without a file is called as a module.
inline constexpr std::string_view vdso_module = "[vdso]";
inline constexpr std::string_view anonymous_module = "[anon]";  // made at run time
inline constexpr std::string_view compiled_module = "[jit]";    // of that, what its maker gave a name
inline constexpr std::string_view kernel_module = "[kernel]";

class AddressMap
{
public:
    /// Lines that cannot be read are left out.
    explicit AddressMap(std::string_view maps);

    /// The executable range that contains `address`, or nullptr.
    [[nodiscard]] const MappedRange* find(std::uint64_t address) const;

    /// Paths, or vdso_module, or anonymous_module for all executable memory without a file.
    [[nodiscard]] const std::vector<std::string>& modules() const { return modules_; }

private:
    std::uint32_t module(std::string_view name);

    std::vector<MappedRange> ranges_;  // by start
    std::vector<std::string> modules_;
};

}  // namespace critpath::archive
