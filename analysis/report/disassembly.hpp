// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the instructions of a binary, as objdump tells them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace critpath::report
{

struct Instruction {
    std::uint64_t address = 0;  // virtual address of the ELF file
    std::string text;           // mnemonic and operands
};

/// Those in [begin, end) of the binary at `path`, with the names of symbols at the addresses in them, but of none that
/// ends before its address; nothing if objdump is not there or cannot read it.
std::optional<std::vector<Instruction>> disassemble(const std::string& path, std::uint64_t begin, std::uint64_t end);

}  // namespace critpath::report
