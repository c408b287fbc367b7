// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the functions of one ELF binary by address: from its symbol table, that of its separate debug file, its
// dynamic symbols, or, where none of them covers an address, from the unwind information.
#pragma once

#include "collector/archive/moved_parts.hpp"
#include "collector/archive/unwind_table.hpp"
#include "formats/binary/elf_file.hpp"
#include "formats/binary/function_symbols.hpp"
#include "formats/binary/plt_stubs.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace critpath::archive
{

/// A function as found at an address.
struct FoundFunction {
    std::uint64_t start = 0;
    std::string name;  // as in the symbol table, "<function>@plt" for a stub, or "<module>+0x<start>"
    bool has_symbol = false;
    std::string mark = {};  // behind the name in the source: FunctionSymbols::mark_of()
};

class SymbolTable
{
public:
    /// Reads the file; never throws for a file that is missing or no ELF binary: it then knows no function.
    explicit SymbolTable(const std::string& path) : SymbolTable(path, path) {}
    /// The same, of a binary that is called `name` and can be read at `path`.
    SymbolTable(const std::string& name, const std::string& path);
    /// The same, of a binary as it lies in memory.
    SymbolTable(const std::string& name, std::vector<std::byte> image);
    SymbolTable(const SymbolTable&) = delete;
    SymbolTable& operator=(const SymbolTable&) = delete;

    /// Where byte `offset` of the file is in the binary's own (virtual) addresses.
    [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t offset) const;

    [[nodiscard]] std::optional<FoundFunction> find(std::uint64_t address) const;

    /// As of ElfFile.
    [[nodiscard]] const std::string& build_id() const { return file_.build_id(); }
    [[nodiscard]] const std::string& identity() const { return identity_; }

private:
    void read(const std::string& path);
    void read_segments();
    void read_symbols(const std::string& path);
    [[nodiscard]] FoundFunction found(const binary::FunctionSymbol& symbol) const;
    [[nodiscard]] FoundFunction found_without_symbol(std::uint64_t start) const;

    std::string base_name_;
    binary::ElfFile file_;
    std::string identity_;
    std::unique_ptr<binary::ElfFile> debug_file_;
    std::unique_ptr<binary::ElfFile> embedded_;  // instead
    std::vector<Segment> segments_, code_;
    binary::FunctionSymbols symbols_;
    binary::PltStubs stubs_;
    std::uint64_t unwind_header_ = 0;
    UnwindTable unwind_;
    std::optional<MovedParts> moved_;  // of x86-64
};

}  // namespace critpath::archive
