// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the stubs of the procedure linkage table, by which a binary calls functions of other ones and that have no
// symbols of their own (System V ABI, AMD64 supplement, 5.2).
#pragma once

#include "formats/binary/elf_file.hpp"

#include <cstdint>
#include <vector>

namespace critpath::binary
{

/// Of x86-64; of other machines none is known.
class PltStubs
{
public:
    struct Stub {
        std::uint64_t start;
        std::uint64_t end;
        const char* function;  // that it jumps to, as in the dynamic symbol table
    };

    PltStubs() = default;
    /// Names stay in `file`, which must live as long.
    explicit PltStubs(const ElfFile& file);

    [[nodiscard]] const std::vector<Stub>& all() const { return stubs_; }  // by start

    /// nullptr if there is none at the address.
    [[nodiscard]] const Stub* find(std::uint64_t address) const;

private:
    std::vector<Stub> stubs_;  // by start
};

}  // namespace critpath::binary
