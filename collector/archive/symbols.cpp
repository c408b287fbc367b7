// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/symbols.hpp"

#include "formats/binary/debug_file.hpp"
#include "formats/binary/embedded_symbols.hpp"

#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace critpath::archive
{

namespace
{

bool is_function(const Elf64_Sym& symbol, const char* name)
{
    const unsigned char type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 || *name == '\0') {
        return false;
    }
    // Hand-written assembly often leaves out the type, but local labels are no functions.
    const bool untyped = type == STT_NOTYPE && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL;
    return type == STT_FUNC || type == STT_GNU_IFUNC || untyped;
}

// Of aliases the name that is most likely the one in the source: typed, sized, not reserved to a library's inside,
// global, short.
std::uint32_t preference(const Elf64_Sym& symbol, const char* name)
{
    const unsigned char bind = ELF64_ST_BIND(symbol.st_info);
    const std::uint32_t binding = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
    const std::uint32_t untyped = ELF64_ST_TYPE(symbol.st_info) == STT_NOTYPE ? 1 : 0;
    const std::uint32_t unsized = symbol.st_size == 0 ? 1 : 0;
    const std::uint32_t reserved = name[0] == '_' && name[1] != 'Z' ? 1 : 0;
    const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(std::strlen(name), 0xffff));
    return untyped << 20 | unsized << 19 | reserved << 18 | binding << 16 | length;
}

// By section index: the first address behind it.
std::vector<std::uint64_t> section_ends(Elf* elf)
{
    std::vector<std::uint64_t> ends = {0};
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
        const Elf64_Shdr* header = elf64_getshdr(section);
        ends.push_back(header == nullptr ? 0 : header->sh_addr + header->sh_size);
    }
    return ends;
}

// The compiler moves the unlikely part of `f` out of line as `f.cold`: still the same function to its reader. A
// version ("@@GLIBC_2.17") says nothing to him.
std::string_view source_name(std::string_view name)
{
    name = name.substr(0, name.find('@'));
    const std::size_t at = name.rfind(".cold");
    const bool at_end = at != std::string_view::npos && at > 0 &&
                        name.find_first_not_of(".0123456789", at + std::strlen(".cold")) == std::string_view::npos;
    return at_end ? name.substr(0, at) : name;
}

}  // namespace

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
    }
    if (read_symbols(file_, SHT_SYMTAB)) {
        finish_symbols();
        return;
    }
    debug_file_ = binary::find_debug_file(path, build_id(), file_, binary::debug_directories());
    if (debug_file_ == nullptr || !read_symbols(*debug_file_, SHT_SYMTAB)) {
        embedded_ = binary::embedded_symbols(file_);
        if (embedded_ != nullptr) {
            read_symbols(*embedded_, SHT_SYMTAB);
        }
        read_symbols(file_, SHT_DYNSYM);
    }
    finish_symbols();
}

void SymbolTable::read_segments()
{
    std::size_t count = 0;
    elf_getphdrnum(file_.elf(), &count);
    const Elf64_Phdr* headers = elf64_getphdr(file_.elf());
    for (std::size_t i = 0; headers != nullptr && i < count; ++i) {
        if (headers[i].p_type == PT_LOAD) {
            segments_.push_back({headers[i].p_vaddr, headers[i].p_offset, headers[i].p_filesz});
        } else if (headers[i].p_type == PT_GNU_EH_FRAME) {
            unwind_header_ = headers[i].p_vaddr;
        }
    }
}

bool SymbolTable::read_symbols(const binary::ElfFile& file, std::uint32_t section_type)
{
    Elf* elf = file.elf();
    for (Elf_Scn* section = elf == nullptr ? nullptr : elf_nextscn(elf, nullptr); section != nullptr;
         section = elf_nextscn(elf, section)) {
        const Elf64_Shdr* header = elf64_getshdr(section);
        if (header == nullptr || header->sh_type != section_type) {
            continue;
        }
        const Elf_Data* data = elf_getdata(section, nullptr);
        Elf_Scn* names = elf_getscn(elf, header->sh_link);
        const Elf_Data* text = names == nullptr ? nullptr : elf_getdata(names, nullptr);
        if (data == nullptr || text == nullptr || text->d_size == 0 ||
            static_cast<const char*>(text->d_buf)[text->d_size - 1] != '\0') {
            continue;
        }
        const std::span table(static_cast<const Elf64_Sym*>(data->d_buf), data->d_size / sizeof(Elf64_Sym));
        const std::vector<std::uint64_t> ends = section_ends(elf);
        const char* source = "";
        for (const Elf64_Sym& symbol : table) {
            const char* name =
                symbol.st_name < text->d_size ? static_cast<const char*>(text->d_buf) + symbol.st_name : "";
            const bool is_local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
            if (is_local && ELF64_ST_TYPE(symbol.st_info) == STT_FILE) {
                source = *name == '<' ? "" : name;  // "<artificial>" is none
            }
            if (is_function(symbol, name)) {
                const std::uint64_t limit = symbol.st_shndx < ends.size() ? ends[symbol.st_shndx] : symbol.st_value;
                symbols_.push_back({symbol.st_value, symbol.st_value + symbol.st_size, limit, name,
                                    preference(symbol, name), is_local ? source : ""});
            }
        }
    }
    return !symbols_.empty();
}

void SymbolTable::finish_symbols()
{
    std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
        if (a.start != b.start || a.rank != b.rank) {
            return std::pair(a.start, a.rank) < std::pair(b.start, b.rank);
        }
        return std::strcmp(a.name, b.name) < 0;
    });
    const auto same_start = [](const Symbol& a, const Symbol& b) { return a.start == b.start; };
    symbols_.erase(std::unique(symbols_.begin(), symbols_.end(), same_start), symbols_.end());
    reach_.reserve(symbols_.size());
    std::uint64_t reach = 0;
    for (const Symbol& symbol : symbols_) {
        reach_.push_back(reach = std::max(reach, symbol.end));
    }
    find_namesakes();
}

// Functions that only their files know may share a name. Parts of a function (source_name) are none of their own.
void SymbolTable::find_namesakes()
{
    std::unordered_map<std::string_view, std::uint32_t> functions(symbols_.size());
    for (const Symbol& symbol : symbols_) {
        ++functions[symbol.name];
    }
    for (const Symbol& symbol : symbols_) {
        if (*symbol.file != '\0' && functions[symbol.name] > 1) {
            namesakes_[symbol.name].insert(symbol.file);
        }
    }
}

FoundFunction SymbolTable::found(const Symbol& symbol) const
{
    const std::string_view name = source_name(symbol.name);
    FoundFunction function{symbol.start, std::string(name), true};
    const auto namesakes = namesakes_.find(name);
    if (namesakes == namesakes_.end() || !namesakes->second.contains(symbol.file)) {
        return function;
    }
    const auto base = [](std::string_view file) { return file.substr(file.rfind('/') + 1); };
    const auto with_base = std::ranges::count(namesakes->second, base(symbol.file), base);
    function.file = with_base == 1 ? base(symbol.file) : symbol.file;
    return function;
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

const SymbolTable::Symbol* SymbolTable::symbol_at(std::uint64_t address) const
{
    const auto behind = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                         [](std::uint64_t a, const Symbol& s) { return a < s.start; });
    for (auto index = behind - symbols_.begin() - 1; index >= 0 && reach_[index] > address; --index) {
        if (symbols_[index].end > address) {
            return &symbols_[index];
        }
    }
    if (behind == symbols_.begin()) {
        return nullptr;
    }
    const Symbol& before = *(behind - 1);
    return before.end == before.start && address < before.limit ? &before : nullptr;
}

std::optional<FoundFunction> SymbolTable::find(std::uint64_t address) const
{
    const Symbol* symbol = symbol_at(address);
    const bool sized = symbol != nullptr && symbol->end > symbol->start;
    if (sized) {
        return found(*symbol);
    }
    const std::optional<AddressRange> frame = unwind_.find(address);
    // A symbol without a size ends at the latest where the next function begins.
    if (symbol != nullptr && (!frame || frame->start <= symbol->start)) {
        return found(*symbol);
    }
    if (frame) {
        return FoundFunction{frame->start, fmt::format("{}+{:#x}", base_name_, frame->start), false};
    }
    return std::nullopt;
}

}  // namespace critpath::archive
