// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the debug information of one file (DWARF 2 to 5, also split and with a supplementary file) and what it says of
// an address: functions, inlined ones among them, files and lines.
#pragma once

#include "formats/binary/elf_file.hpp"
#include "formats/binary/range_index.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::binary
{

/// A function and the place in it that is executed, or from which it called what stands before it.
struct SourceFrame {
    std::string function;  // empty if unknown (assembly)
    std::string file;      // absolute if the compiler has said where it ran; empty if unknown
    int line = 0;          // 0: unknown, or code that belongs to no line

    friend bool operator==(const SourceFrame&, const SourceFrame&) = default;
};

/// Where the source has a function.
struct SourcePlace {
    std::string file;  // as SourceFrame
    int line = 0;      // 0: unknown

    friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

/// As debug information of Fortran has no name for it, or one that what starts it has, too: "main".
inline constexpr std::string_view unnamed_fortran_program = "main program";

/// Not for several threads at once. What damaged files say is wrong or missing, but reading it ends.
class DebugInfo
{
public:
    /// Supplementary files (of dwz) are also looked for in `directories`.
    DebugInfo(std::unique_ptr<ElfFile> file, std::span<const std::filesystem::path> directories);
    ~DebugInfo();
    DebugInfo(const DebugInfo&) = delete;
    DebugInfo& operator=(const DebugInfo&) = delete;

    /// There is any.
    explicit operator bool() const;

    /// True if parts of it are in files (.dwo) that libdw does not find where they were made: lines are known there,
    /// but neither functions nor what is inlined. That they were packed into a .dwp, elfutils knows since 0.191.
    [[nodiscard]] bool lacks_split_units() const;

    /// What the instruction at `address` belongs to: inlined functions, innermost first, then the one that they are
    /// inlined into. Empty if nothing is known.
    [[nodiscard]] std::vector<SourceFrame> frames(std::uint64_t address);

    /// Where the functions of frames(address) are declared, in the same order, as far as they have names.
    [[nodiscard]] std::vector<SourcePlace> declarations(std::uint64_t address);

    /// Where the function (not inlined) that contains `address` has its code, ascending; more than one range if the
    /// compiler has moved parts away. Empty if it is not known.
    [[nodiscard]] std::vector<AddressRange> function_ranges(std::uint64_t address);

    /// The name in the source of the procedure with this symbol, if it was written in Fortran, whose compilers add to
    /// the names of procedures outside of modules and call each main program alike (GNU: `step_`, `inner.0`,
    /// `MAIN__`), or unnamed_fortran_program. Empty if it was not, or if that is not known.
    [[nodiscard]] std::string fortran_name(std::string_view symbol);

    /// The source file of which the compiler made what is at `address`, as SourceFrame has files; empty if it is not
    /// known. Of what it has made of several at link time, that in which the function was declared.
    [[nodiscard]] std::string unit_file(std::uint64_t address);

    /// The same of all functions that share the name of the one at `address` (FunctionSymbols::namesakes_of).
    [[nodiscard]] std::vector<std::string> namesake_files(std::uint64_t address);

private:
    class Reader;
    std::unique_ptr<Reader> reader_;
};

}  // namespace critpath::binary
