// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the unwind information of one binary: by which rules the registers of a caller follow from those of the function
// that it called (DWARF 5, section 6.4), as .eh_frame has it, or, where that has nothing (code that is compiled with
// -fno-asynchronous-unwind-tables), .debug_frame.
#pragma once

#include "formats/binary/elf_file.hpp"

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace critpath::archive
{

/// The numbers of DWARF for the registers of this processor.
#if defined(__aarch64__)
inline constexpr unsigned frame_pointer = 29;
inline constexpr unsigned stack_pointer = 31;
inline constexpr unsigned register_count = 32;
#else
inline constexpr unsigned frame_pointer = 6;
inline constexpr unsigned stack_pointer = 7;
inline constexpr unsigned register_count = 17;
#endif

/// How a value is found: as a result of an expression, or in memory where the expression says.
struct FrameRule {
    enum class Kind : std::uint8_t { Unknown, Same, InMemory, Value };
    Kind kind = Kind::Unknown;
    std::vector<Dwarf_Op> expression = {};
};

/// Holds for the addresses from `start` to `end`, of the binary.
struct FrameRules {
    std::uint64_t start = 0;          // may be later than it could be
    std::uint64_t end = 0;            // first address behind it
    bool is_signal = false;           // the kernel has interrupted the caller to come here
    bool has_frame_pointer = false;   // the frame is found by it
    bool keeps_frame_pointer = true;  // it is the caller's
    unsigned return_register = 0;
    FrameRule frame = {};                                        // canonical frame address
    std::vector<std::pair<unsigned, FrameRule>> registers = {};  // that have a rule; of the caller
};

class FrameTable
{
public:
    /// Never throws for a file that is missing or no ELF binary: it then has no rules.
    explicit FrameTable(const std::string& path);
    /// The same, of a binary as it lies in memory.
    explicit FrameTable(std::vector<std::byte> image);
    ~FrameTable();
    FrameTable(const FrameTable&) = delete;
    FrameTable& operator=(const FrameTable&) = delete;

    /// The rules for the instruction at byte `offset` of the file; nullptr if there are none. They live as long as
    /// this.
    const FrameRules* find(std::uint64_t offset);

    /// The `size` bytes of the file before byte `offset`; fewer, or none, where it begins later.
    [[nodiscard]] std::span<const std::byte> before(std::uint64_t offset, std::size_t size) const;

private:
    void open();
    [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t offset) const;
    [[nodiscard]] std::optional<FrameRules> read(std::uint64_t address);
    Dwarf_CFI* debug_information();

    struct EndDwarf {
        void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
    };

    binary::ElfFile file_;
    Dwarf_CFI* information_ = nullptr;        // of .eh_frame
    std::unique_ptr<Dwarf, EndDwarf> debug_;  // which has .debug_frame
    bool has_tried_debug_ = false;
    std::map<std::uint64_t, FrameRules> rules_;  // by end
};

}  // namespace critpath::archive
