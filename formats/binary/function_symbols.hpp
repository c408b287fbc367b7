// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the functions that symbol tables of one ELF binary have, by address.
#pragma once

#include "formats/binary/elf_file.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace critpath::binary
{

/// One symbol, with the name that is most likely the one in the source.
struct FunctionSymbol {
    std::uint64_t start;
    std::uint64_t end;    // == start: size unknown, reaches to the next symbol or to `limit`
    std::uint64_t limit;  // end of its section
    const char* name;
    std::uint32_t rank;  // of several names for one address the smallest is used
    const char* file;    // of a local one, if it is known; else empty
    std::uint32_t unit;  // likewise, which of the files that were compiled: several may be called alike
    bool is_plain;       // a function by its type, and nothing that chooses one at run time

    [[nodiscard]] bool is_sized() const { return end > start; }
};

/// Only look up when all tables are added, and finished.
class FunctionSymbols
{
public:
    /// Adds those of all sections of this type (SHT_SYMTAB, SHT_DYNSYM); names stay in `file`, which must live as long.
    /// False if there are none so far.
    bool add(const ElfFile& file, std::uint32_t section_type);
    /// `keeps_twins`: for what the user may have written. Of a system's libraries one of several names says enough.
    void finish(bool keeps_twins = false);
    /// Before mark_of(). Of a large binary this takes as long as all else.
    void find_namesakes();

    /// The one that covers the address, or else one without a size before it, as far as that may reach. nullptr if
    /// there is none.
    [[nodiscard]] const FunctionSymbol* find(std::uint64_t address) const;

    /// The one that name_of() calls so; nullptr if there is none, or several. Looks at all.
    [[nodiscard]] const FunctionSymbol* find_named(std::string_view name) const;

    /// As in the symbol table, but without what the compiler and the linker add for parts and versions.
    [[nodiscard]] static std::string_view name_of(const FunctionSymbol& symbol);
    /// What tells it from others of its name, and which have the same code, both in brackets: " [s1.c] [= solve]"
    /// (folded_names.hpp). Empty if neither is to be said.
    [[nodiscard]] std::string mark_of(const FunctionSymbol& symbol) const;
    /// Where all that name_of() calls so begin, but for parts; before find_namesakes(). Looks at all.
    [[nodiscard]] std::vector<std::uint64_t> namesakes_of(std::string_view name) const;

private:
    struct Namesake {
        std::string_view file;
        std::uint64_t start = 0;
    };

    /// Its source file, without directories if it can do without, where the binary has several functions of this name;
    /// else empty. Most symbol tables have no directories: where several of these functions are of files that are
    /// called alike, the function's address tells them apart (file_mark), "util.c:0x1240"; and where optimisation at
    /// link time has forgotten the file, the address alone, ":0x1240".
    [[nodiscard]] std::string file_of(const FunctionSymbol& symbol) const;
    /// Other functions of the source of which the compiler or the linker saw that they do the same, and left one; also
    /// of the part of one that was moved away.
    [[nodiscard]] std::vector<std::string> twins_of(const FunctionSymbol& symbol) const;
    void find_twins();

    std::vector<FunctionSymbol> symbols_;  // by start, one an address
    std::vector<std::uint64_t> reach_;     // greatest end of the symbols up to this one
    std::uint32_t units_ = 0;
    std::map<std::string_view, std::map<std::uint32_t, Namesake>>
        namesakes_;  // by unit, of local ones, by names that others have
    // Where those begin that optimisation at link time gave numbers; also where another symbol is used for the address.
    std::map<std::string_view, std::uint64_t> numbered_;
    std::deque<std::string> names_;  // of parts of functions that are called by a twin's name
    // By the name that is used for them, and its unit if it is a local one, else 0.
    std::map<std::pair<std::string_view, std::uint32_t>, std::vector<const char*>> twins_;
};

/// Between a file and the address of a function that is in it.
inline constexpr std::string_view file_mark = ":0x";

}  // namespace critpath::binary
