// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/symbols.hpp"

#include "formats/binary/debug_file.hpp"
#include "formats/binary/demangle.hpp"
#include "formats/binary/embedded_symbols.hpp"
#include "formats/binary/module.hpp"

#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <utility>

namespace critpath::archive
{

SymbolTable::SymbolTable(const std::string& name, const std::string& path)
    : base_name_(name.substr(name.rfind('/') + 1)), file_(path)
{
    read(name);
}

SymbolTable::SymbolTable(const std::string& name, std::vector<std::byte> image)
    : base_name_(name.substr(name.rfind('/') + 1)), file_(std::move(image))
{
    read(name);
}

void SymbolTable::read(const std::string& path)
{
    if (!file_) {
        return;
    }
    identity_ = file_.identity();
    read_segments();
    if (unwind_header_ != 0) {
        unwind_ = UnwindTable(file_.bytes(), segments_, unwind_header_);
        const Elf64_Ehdr* header = elf64_getehdr(file_.elf());
        if (header != nullptr && header->e_machine == EM_X86_64) {
            moved_.emplace(unwind_, file_.bytes(), code_);
        }
    }
    read_symbols(path);
    symbols_.finish(binary::is_of_program(path));
    symbols_.find_namesakes();
    stubs_ = binary::PltStubs(file_);
}

void SymbolTable::read_symbols(const std::string& path)
{
    if (symbols_.add(file_, SHT_SYMTAB)) {
        return;
    }
    debug_file_ = binary::find_debug_file(path, build_id(), file_, binary::debug_directories());
    if (debug_file_ != nullptr && symbols_.add(*debug_file_, SHT_SYMTAB)) {
        return;
    }
    embedded_ = binary::embedded_symbols(file_);
    if (embedded_ != nullptr) {
        symbols_.add(*embedded_, SHT_SYMTAB);
    }
    symbols_.add(file_, SHT_DYNSYM);
}

void SymbolTable::read_segments()
{
    std::size_t count = 0;
    elf_getphdrnum(file_.elf(), &count);
    const Elf64_Phdr* headers = elf64_getphdr(file_.elf());
    for (std::size_t i = 0; headers != nullptr && i < count; ++i) {
        if (headers[i].p_type == PT_LOAD) {
            segments_.push_back({headers[i].p_vaddr, headers[i].p_offset, headers[i].p_filesz});
            if ((headers[i].p_flags & PF_X) != 0) {
                code_.push_back(segments_.back());
            }
        } else if (headers[i].p_type == PT_GNU_EH_FRAME) {
            unwind_header_ = headers[i].p_vaddr;
        }
    }
}

FoundFunction SymbolTable::found(const binary::FunctionSymbol& symbol) const
{
    return {symbol.start, std::string(binary::FunctionSymbols::name_of(symbol)), true, symbols_.mark_of(symbol)};
}

/// Of a part that was moved away from a function, with the name of that: as with symbols.
FoundFunction SymbolTable::found_without_symbol(std::uint64_t start) const
{
    const std::uint64_t function = (moved_ ? moved_->function_of(start) : std::nullopt).value_or(start);
    const binary::FunctionSymbol* symbol = function != start ? symbols_.find(function) : nullptr;
    if (symbol != nullptr && symbol->start == function) {
        FoundFunction result = found(*symbol);
        result.start = start;
        return result;
    }
    return {start, fmt::format("{}+{:#x}", base_name_, function), false};
}

std::optional<std::uint64_t> SymbolTable::address_of(std::uint64_t offset) const
{
    for (const Segment& segment : segments_) {
        if (offset >= segment.offset && offset - segment.offset < segment.size) {
            return segment.address + (offset - segment.offset);
        }
    }
    return std::nullopt;
}

std::optional<FoundFunction> SymbolTable::find(std::uint64_t address) const
{
    const binary::FunctionSymbol* symbol = symbols_.find(address);
    if (symbol != nullptr && symbol->is_sized()) {
        return found(*symbol);
    }
    if (const auto* stub = stubs_.find(address)) {
        return FoundFunction{stub->start, fmt::format("{}{}", stub->function, binary::stub_ending), true};
    }
    const std::optional<AddressRange> frame = unwind_.find(address);
    // A symbol without a size ends at the latest where the next function begins.
    if (symbol != nullptr && (!frame || frame->start <= symbol->start)) {
        return found(*symbol);
    }
    if (frame) {
        return found_without_symbol(frame->start);
    }
    return std::nullopt;
}

}  // namespace critpath::archive
