// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how far the symbols of one ELF binary reach, those of data among them.
#pragma once

#include "formats/binary/elf_file.hpp"

#include <cstdint>
#include <unordered_map>

namespace critpath::binary
{

/// By the address of each symbol that has a size, the first one behind it; of several at one address, the last.
std::unordered_map<std::uint64_t, std::uint64_t> symbol_ends(const ElfFile& file);

}  // namespace critpath::binary
