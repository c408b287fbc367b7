// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is known of a binary that was recorded, and whether a file is still that binary.
#pragma once

#include "formats/binary/elf_file.hpp"

#include <compare>
#include <filesystem>
#include <string>
#include <string_view>

namespace critpath::binary
{

/// The library of the collector that is in each process.
inline constexpr std::string_view collector_library = "libcritpath-preload.so";

/// A file that is of what was recorded, and may be built anew: not of the system (below /usr, but /usr/local, /lib or
/// /lib64), nor the collector's.
bool is_of_program(std::string_view path);

/// A binary as it was recorded.
struct Module {
    std::filesystem::path path;
    std::string build_id;  // in hex; "-...": ElfFile::identity() without one; "-": it had none; empty: not known

    friend auto operator<=>(const Module&, const Module&) = default;

    [[nodiscard]] bool has_build_id() const { return !build_id.empty() && !build_id.starts_with('-'); }
    /// Where it stood, without the kernel's remark on a file that was replaced while it ran.
    [[nodiscard]] std::filesystem::path file() const;
    /// True also if nothing is known that says otherwise. Reads all of a file without a build-id.
    [[nodiscard]] bool is(const ElfFile& file) const;
};

}  // namespace critpath::binary
