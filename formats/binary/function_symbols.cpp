// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/binary/function_symbols.hpp"

#include "formats/binary/demangle.hpp"
#include "formats/binary/folded_names.hpp"

#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

namespace critpath::binary
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

constexpr std::uint32_t binding_shift = 16;

enum Binding : std::uint32_t { Global, Weak, Local };

// Of aliases the name that is most likely the one in the source: typed, sized, not reserved to a library's inside,
// global, short.
std::uint32_t preference(const Elf64_Sym& symbol, const char* name)
{
    const unsigned char bind = ELF64_ST_BIND(symbol.st_info);
    const std::uint32_t binding = bind == STB_GLOBAL ? Global : bind == STB_WEAK ? Weak : Local;
    const std::uint32_t untyped = ELF64_ST_TYPE(symbol.st_info) == STT_NOTYPE ? 1 : 0;
    const std::uint32_t unsized = symbol.st_size == 0 ? 1 : 0;
    const std::uint32_t reserved = name[0] == '_' && name[1] != 'Z' ? 1 : 0;
    const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(std::strlen(name), 0xffff));
    return untyped << 20 | unsized << 19 | reserved << 18 | binding << binding_shift | length;
}

Binding binding_of(const FunctionSymbol& symbol)
{
    return static_cast<Binding>(symbol.rank >> binding_shift & 3);
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
std::string_view without_part(std::string_view name)
{
    name = name.substr(0, name.find('@'));
    const std::size_t at = name.rfind(".cold");
    const bool at_end = at != std::string_view::npos && at > 0 &&
                        name.find_first_not_of(".0123456789", at + std::strlen(".cold")) == std::string_view::npos;
    return at_end ? name.substr(0, at) : name;
}

// Optimisation at link time numbers the functions that only their files know, and forgets the files.
std::string_view without_number(std::string_view name)
{
    constexpr std::string_view mark = ".lto_priv.";
    const std::size_t at = name.rfind(mark);
    const bool at_end = at != std::string_view::npos && at > 0 && at + mark.size() < name.size() &&
                        name.find_first_not_of("0123456789", at + mark.size()) == std::string_view::npos;
    return at_end ? name.substr(0, at) : name;
}

// Fortran knows no case, and compilers and libraries make other names of one by underscores.
std::string stem_of(std::string_view name)
{
    name = without_clones(name);
    const std::size_t first = std::min(name.find_first_not_of('_'), name.size());
    std::string stem(name.substr(first, name.find_last_not_of('_') + 1 - first));
    std::transform(stem.begin(), stem.end(), stem.begin(), [](unsigned char c) { return std::tolower(c); });
    return stem;
}

// Weak names are for others to take their place (`MPI_Send` of `PMPI_Send`), but in C++, where each that several
// files have is. What begins with an underscore is a library's own name, but in modules of Fortran.
bool may_be_folded(const FunctionSymbol& symbol)
{
    const std::string_view name = symbol.name;
    const bool is_cpp = name.starts_with("_Z");
    const bool is_reserved = name.starts_with('_') && !is_cpp && name.find("_MOD_") == std::string_view::npos;
    return symbol.is_plain && symbol.is_sized() && !is_reserved && name == without_part(name) &&
           (is_cpp || binding_of(symbol) != Weak);
}

bool is_numbered(std::string_view name)
{
    return without_number(name) != name;
}

std::string_view source_name(std::string_view name)
{
    return without_number(without_part(name));
}

}  // namespace

bool FunctionSymbols::add(const ElfFile& file, std::uint32_t section_type)
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
                ++units_;
            }
            if (is_function(symbol, name)) {
                const std::uint64_t limit = symbol.st_shndx < ends.size() ? ends[symbol.st_shndx] : symbol.st_value;
                symbols_.push_back({symbol.st_value, symbol.st_value + symbol.st_size, limit, name,
                                    preference(symbol, name), is_local ? source : "", units_,
                                    ELF64_ST_TYPE(symbol.st_info) == STT_FUNC});
                if (is_numbered(name)) {
                    numbered_.try_emplace(name, symbol.st_value);
                }
            }
        }
    }
    return !symbols_.empty();
}

void FunctionSymbols::finish(bool keeps_twins)
{
    std::sort(symbols_.begin(), symbols_.end(), [](const FunctionSymbol& a, const FunctionSymbol& b) {
        if (a.start != b.start || a.rank != b.rank) {
            return std::pair(a.start, a.rank) < std::pair(b.start, b.rank);
        }
        return std::strcmp(a.name, b.name) < 0;
    });
    if (keeps_twins) {
        find_twins();
    }
    const auto same_start = [](const FunctionSymbol& a, const FunctionSymbol& b) { return a.start == b.start; };
    symbols_.erase(std::unique(symbols_.begin(), symbols_.end(), same_start), symbols_.end());
    reach_.reserve(symbols_.size());
    std::uint64_t reach = 0;
    for (const FunctionSymbol& symbol : symbols_) {
        reach_.push_back(reach = std::max(reach, symbol.end));
    }
}

void FunctionSymbols::find_twins()
{
    using Known = std::pair<std::string_view, std::uint32_t>;  // by whom: 0 all, or else a unit
    const auto known = [](const FunctionSymbol& symbol) {
        return Known(symbol.name, binding_of(symbol) == Local ? symbol.unit : 0);
    };
    std::map<Known, const FunctionSymbol*> used;  // by any of several names
    const FunctionSymbol* first = nullptr;
    std::set<std::string> stems;  // of those that start there
    for (const FunctionSymbol& symbol : symbols_) {
        if (first == nullptr || symbol.start != first->start) {
            first = &symbol;
            stems.clear();
        } else if (symbol.end == first->end && may_be_folded(*first) && may_be_folded(symbol) &&
                   (!stems.empty() || stems.insert(stem_of(first->name)).second) &&
                   stems.insert(stem_of(symbol.name)).second) {
            twins_[known(*first)].push_back(symbol.name);
            used[known(symbol)] = first;
        }
    }
    for (FunctionSymbol& symbol : symbols_) {
        const std::string_view name = without_part(symbol.name);
        auto whole = used.find({name, symbol.unit});
        whole = whole == used.end() ? used.find({name, 0}) : whole;
        const std::string_view part = std::string_view(symbol.name).substr(name.size());
        if (whole != used.end() && part.starts_with('.')) {
            symbol.name = names_.emplace_back(whole->second->name).append(part).c_str();
            symbol.unit = whole->second->unit;
        }
    }
}

// Functions that only their files know may share a name. Parts of a function (source_name) are none of their own.
void FunctionSymbols::find_namesakes()
{
    std::unordered_map<std::string_view, std::uint32_t> functions(symbols_.size());
    for (const FunctionSymbol& symbol : symbols_) {
        functions[symbol.name] += is_numbered(symbol.name) ? 0 : 1;
    }
    for (const auto& [name, start] : numbered_) {
        ++functions[without_number(name)];
    }
    std::erase_if(numbered_, [&](const auto& symbol) { return functions[without_number(symbol.first)] == 1; });
    for (const FunctionSymbol& symbol : symbols_) {
        if (*symbol.file != '\0' && functions[symbol.name] > 1) {
            namesakes_[symbol.name].try_emplace(symbol.unit, Namesake{symbol.file, symbol.start});
        }
    }
}

const FunctionSymbol* FunctionSymbols::find(std::uint64_t address) const
{
    const auto behind = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                         [](std::uint64_t a, const FunctionSymbol& s) { return a < s.start; });
    for (auto index = behind - symbols_.begin() - 1; index >= 0 && reach_[index] > address; --index) {
        if (symbols_[index].end > address) {
            return &symbols_[index];
        }
    }
    if (behind == symbols_.begin()) {
        return nullptr;
    }
    const FunctionSymbol& before = *(behind - 1);
    return before.end == before.start && address < before.limit ? &before : nullptr;
}

const FunctionSymbol* FunctionSymbols::find_named(std::string_view name) const
{
    const FunctionSymbol* found = nullptr;
    for (const FunctionSymbol& symbol : symbols_) {
        const std::string_view whole = symbol.name;
        if (!whole.starts_with(name) || name_of(symbol) != name) {
            continue;
        }
        const bool is_whole = whole == name || is_numbered(whole);
        if (is_whole && found != nullptr && (found->name == name || is_numbered(found->name))) {
            return nullptr;
        }
        found = is_whole || found == nullptr ? &symbol : found;  // rather it than the part that was moved away
    }
    return found;
}

std::string_view FunctionSymbols::name_of(const FunctionSymbol& symbol)
{
    return source_name(symbol.name);
}

std::string FunctionSymbols::mark_of(const FunctionSymbol& symbol) const
{
    const std::string file = file_of(symbol);
    return with_twins(file.empty() ? file : fmt::format(" [{}]", file), twins_of(symbol));
}

std::vector<std::string> FunctionSymbols::twins_of(const FunctionSymbol& symbol) const
{
    const std::string_view name = without_part(symbol.name);
    auto found = binding_of(symbol) == Local ? twins_.find({name, symbol.unit}) : twins_.end();
    found = found == twins_.end() ? twins_.find({name, 0}) : found;  // its part is a local one in each case
    std::vector<std::string> result;
    if (found == twins_.end()) {
        return result;
    }
    const auto shown = [](const char* twin) {
        return std::string(without_clones(demangle(std::string(source_name(twin)))));
    };
    // To a function of C++ that has a name of C, clang gives the other one, too.
    const auto is_one = [](std::string_view c, std::string_view cpp) {
        return cpp.starts_with(c) && (cpp.size() == c.size() || cpp[c.size()] == '(');
    };
    const std::string own = shown(symbol.name);
    for (const char* twin : found->second) {
        if (std::string text = shown(twin); !is_one(text, own) && !is_one(own, text)) {
            result.push_back(std::move(text));
        }
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

std::string FunctionSymbols::file_of(const FunctionSymbol& symbol) const
{
    if (const auto numbered = numbered_.find(without_part(symbol.name)); numbered != numbered_.end()) {
        return fmt::format("{}{:x}", file_mark, numbered->second);
    }
    const auto namesakes = namesakes_.find(name_of(symbol));
    if (*symbol.file == '\0' || namesakes == namesakes_.end()) {
        return {};
    }
    const auto own = namesakes->second.find(symbol.unit);
    if (own == namesakes->second.end()) {
        return {};
    }
    const auto base = [](std::string_view file) { return file.substr(file.rfind('/') + 1); };
    const std::string_view file = own->second.file;
    bool has_namesake = false;
    bool needs_directories = false;
    for (const auto& [unit, other] : namesakes->second) {
        has_namesake = has_namesake || (unit != own->first && other.file == file);
        needs_directories = needs_directories || (other.file != file && base(other.file) == base(file));
    }
    const std::string_view shown = needs_directories ? file : base(file);
    return has_namesake ? fmt::format("{}{}{:x}", shown, file_mark, own->second.start) : std::string(shown);
}

std::vector<std::uint64_t> FunctionSymbols::namesakes_of(std::string_view name) const
{
    std::vector<std::uint64_t> starts;
    for (const FunctionSymbol& symbol : symbols_) {
        if (symbol.name == name) {
            starts.push_back(symbol.start);
        }
    }
    for (const auto& [symbol, start] : numbered_) {
        if (without_number(symbol) == name) {
            starts.push_back(start);
        }
    }
    return starts;
}

}  // namespace critpath::binary
