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

class AddressMap
{
public:
    /// Lines that cannot be read are left out.
    explicit AddressMap(std::string_view maps);

    /// The executable range that contains `address`, or nullptr.
    [[nodiscard]] const MappedRange* find(std::uint64_t address) const;

    /// Paths, or "[vdso]", or "[anon]" for all executable memory without a file (just-in-time compiled code).
    [[nodiscard]] const std::vector<std::string>& modules() const { return modules_; }

private:
    std::uint32_t module(std::string_view name);

    std::vector<MappedRange> ranges_;  // by start
    std::vector<std::string> modules_;
};

}  // namespace critpath::archive
