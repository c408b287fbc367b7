// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/binary/debug_info.hpp"

#include "formats/binary/debug_file.hpp"
#include "formats/binary/demangle.hpp"
#include "formats/binary/function_symbols.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <libelf.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

namespace critpath::binary
{

namespace
{

namespace fs = std::filesystem;

// Nobody nests deeper; damaged files do.
constexpr int deepest = 200;

struct EndDwarf {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
using UniqueDwarf = std::unique_ptr<Dwarf, EndDwarf>;

/// libdw unpacks what was compressed when it begins, also what is not asked for here. It passes over sections without
/// content.
void hide_what_is_not_asked_for(Elf* elf)
{
    constexpr std::array<std::string_view, 7> sections = {".debug_aranges",  ".debug_frame",   ".debug_loc",
                                                          ".debug_loclists", ".debug_macinfo", ".debug_macro",
                                                          ".debug_names"};
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0) {
        return;
    }
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
        Elf64_Shdr* const header = elf64_getshdr(section);
        if (header == nullptr || (header->sh_flags & SHF_COMPRESSED) == 0) {
            continue;
        }
        const char* const name = elf_strptr(elf, names, header->sh_name);
        if (name != nullptr && std::ranges::find(sections, name) != sections.end()) {
            header->sh_type = SHT_NOBITS;  // in memory: the file stays as it is
        }
    }
}

UniqueDwarf begin_dwarf(const ElfFile& file)
{
    if (!file) {
        return nullptr;
    }
    hide_what_is_not_asked_for(file.elf());
    return UniqueDwarf(dwarf_begin_elf(file.elf(), DWARF_C_READ, nullptr));
}

/// Calls `take` with each child, in order, until it returns false.
template <class Take>
void for_each_child(Dwarf_Die& parent, const Take& take)
{
    Dwarf_Die child;
    if (dwarf_child(&parent, &child) != 0) {
        return;
    }
    for (;;) {
        const void* const at = child.addr;
        if (!take(child)) {
            return;
        }
        // A sibling that stands before is damage, and would have no end.
        if (dwarf_siblingof(&child, &child) != 0 || child.addr <= at) {
            return;
        }
    }
}

std::vector<AddressRange> ranges_of(Dwarf_Die& die)
{
    std::vector<AddressRange> ranges;
    Dwarf_Addr base = 0;
    Dwarf_Addr start = 0;
    Dwarf_Addr end = 0;
    for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0;) {
        if (start < end) {
            ranges.push_back({start, end});
        }
    }
    return ranges;
}

const char* text(Dwarf_Attribute* attribute)
{
    const char* found = attribute == nullptr ? nullptr : dwarf_formstring(attribute);
    return found == nullptr ? "" : found;
}

// Of a function or what it is an instance of.
const char* text(Dwarf_Die& die, unsigned int name)
{
    Dwarf_Attribute attribute;
    return text(dwarf_attr_integrate(&die, name, &attribute));
}

int number(Dwarf_Die& die, unsigned int name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    const bool found = dwarf_formudata(dwarf_attr(&die, name, &attribute), &value) == 0;
    return found && value <= 0x7fffffff ? static_cast<int>(value) : 0;
}

/// Behind what has no name: "{lambda:12}".
std::string at_line(int line)
{
    return line == 0 ? "" : fmt::format(":{}", line);
}

/// What an entry is an instance of, or completes.
std::optional<Dwarf_Die> origin_of(Dwarf_Die die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if ((dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == nullptr &&
         dwarf_attr(&die, DW_AT_specification, &attribute) == nullptr) ||
        dwarf_formref_die(&attribute, &origin) == nullptr) {
        return std::nullopt;
    }
    return origin;
}

constexpr int most_origins = 16;  // of one entry

/// Where the function of a (possibly inlined) instance is declared.
Dwarf_Die declaration_of(Dwarf_Die die)
{
    for (int i = 0; i < most_origins; ++i) {
        const std::optional<Dwarf_Die> origin = origin_of(die);
        if (!origin) {
            break;
        }
        die = *origin;
    }
    return die;
}

std::uint64_t bytes_of(Dwarf_Die& unit)
{
    const Dwarf_Off begin = dwarf_dieoffset(&unit) - dwarf_cuoffset(&unit);
    Dwarf_Off end = 0;
    const int status = dwarf_next_unit(dwarf_cu_getdwarf(unit.cu), begin, &end, nullptr, nullptr, nullptr, nullptr,
                                       nullptr, nullptr, nullptr);
    return status == 0 && end > begin ? end - begin : std::uint64_t{1} << 20;
}

/// A compilation unit. What is in it is read when first asked for.
class Unit
{
public:
    /// `die` has the functions, `line_die` the lines: of a split unit, two.
    Unit(const Dwarf_Die& die, const Dwarf_Die& line_die) : die_(die), line_die_(line_die) {}

    [[nodiscard]] Dwarf_Die& die() { return die_; }
    [[nodiscard]] Dwarf_Die& line_die() { return line_die_; }

    /// The function, not inlined, that contains `address`.
    std::optional<Dwarf_Die> function_at(std::uint64_t address)
    {
        scan();
        const Dwarf_Die* found = functions_.find(address);
        return found == nullptr ? std::nullopt : std::optional(*found);
    }

    /// "space::Class::name" for a function of that name that is declared here.
    std::string qualified(std::string name, const Dwarf_Die& declaration)
    {
        scan();
        const auto found = scopes_of_.find(declaration.addr);
        const bool is_lambda = name == "operator()";
        for (int at = found == scopes_of_.end() ? none : found->second; at != none; at = scopes_[at].parent) {
            const Scope& scope = scopes_[at];
            // A function may have several, which have no other name than where they are.
            const std::string unnamed = is_lambda ? fmt::format("{{lambda{}}}", at_line(scope.line))
                                                  : fmt::format("(anonymous class{})", at_line(scope.line));
            name.insert(0, (scope.name.empty() ? unnamed : scope.name) + "::");
        }
        return name;
    }

    std::string absolute(const char* file)
    {
        if (file == nullptr || *file == '\0') {
            return "";
        }
        fs::path path(file);
        if (path.is_relative()) {
            Dwarf_Attribute attribute;
            path = text(dwarf_attr(&line_die_, DW_AT_comp_dir, &attribute)) / path;
        }
        return path.lexically_normal();
    }

private:
    struct Scope {
        std::string name;
        int parent;
        int line;
        bool is_function;
    };
    static constexpr int none = -1;

    void scan()
    {
        if (!std::exchange(is_scanned_, true)) {
            entries_left_ = bytes_of(die_);  // none has less than one
            scan(die_, none, 0);
            functions_.finish();
        }
    }

    // Functions, and in which scopes they are declared, below `parent`.
    void scan(Dwarf_Die& parent, int scope, int depth)
    {
        for_each_child(parent, [&](Dwarf_Die& die) {
            if (entries_left_ == 0) {
                return false;  // some were met twice: damage
            }
            --entries_left_;
            int inner = scope;
            switch (dwarf_tag(&die)) {
            case DW_TAG_subprogram:
                for (const AddressRange& range : ranges_of(die)) {
                    functions_.add(range, die);
                }
                // A function in a function is known by its own name, or only declared there; but those of a class in a
                // function, as lambdas are, have the name of that.
                if (scope != none && !scopes_[scope].is_function) {
                    scopes_of_.emplace(die.addr, scope);
                }
                inner = add_scope(die, scope);
                break;
            case DW_TAG_namespace:
            case DW_TAG_module:
            case DW_TAG_class_type:
            case DW_TAG_structure_type:
            case DW_TAG_union_type:
            case DW_TAG_interface_type:
                inner = add_scope(die, scope);
                break;
            case DW_TAG_lexical_block:
            case DW_TAG_common_block:
            case DW_TAG_with_stmt:
                break;
            default:
                return true;
            }
            if (depth < deepest && dwarf_haschildren(&die) == 1) {
                scan(die, inner, depth + 1);
            }
            return true;
        });
    }

    int add_scope(Dwarf_Die& die, int parent)
    {
        const int tag = dwarf_tag(&die);
        const char* name = text(die, DW_AT_name);
        if (*name == '\0' && tag == DW_TAG_namespace) {
            name = "(anonymous namespace)";
        }
        scopes_.push_back({name, parent, number(die, DW_AT_decl_line), tag == DW_TAG_subprogram});
        return static_cast<int>(scopes_.size()) - 1;
    }

    Dwarf_Die die_;
    Dwarf_Die line_die_;
    bool is_scanned_ = false;
    std::uint64_t entries_left_ = 0;
    RangeIndex<Dwarf_Die> functions_;
    std::vector<Scope> scopes_;
    std::unordered_map<const void*, int> scopes_of_;  // by the address of the function's entry
};

}  // namespace

class DebugInfo::Reader
{
public:
    Reader(std::unique_ptr<ElfFile> file, std::span<const fs::path> directories)
        : file_(std::move(file)), dwarf_(begin_dwarf(*file_))
    {
        if (dwarf_ != nullptr) {
            find_supplement(directories);
            find_units();
        }
    }

    [[nodiscard]] bool has_units() const { return !units_.empty(); }
    [[nodiscard]] bool lacks_split_units() const { return lacks_split_units_; }

    std::vector<SourceFrame> frames(std::uint64_t address)
    {
        std::optional<Dwarf_Die> function;
        Unit* unit = unit_at(address, function);
        if (unit == nullptr) {
            return {};
        }
        SourceFrame place;
        if (Dwarf_Line* line = dwarf_getsrc_die(&unit->line_die(), address)) {
            dwarf_lineno(line, &place.line);
            place.line = std::max(place.line, 0);  // damaged tables count below
            place.file = unit->absolute(dwarf_linesrc(line, nullptr, nullptr));
        }
        std::vector<Dwarf_Die> inlined;  // outermost first
        if (function) {
            find_inlined(*function, address, inlined);
        }
        std::vector<SourceFrame> result;
        for (auto die = inlined.rbegin(); die != inlined.rend(); ++die) {
            place.function = name_of(*die);
            result.push_back(std::exchange(place, caller_of(*unit, *die)));
        }
        place.function = function ? name_of(*function) : "";
        if (function || place.line != 0) {
            result.push_back(std::move(place));
        }
        return result;
    }

    std::vector<SourcePlace> declarations(std::uint64_t address)
    {
        std::optional<Dwarf_Die> function;
        Unit* unit = unit_at(address, function);
        if (unit == nullptr || !function) {
            return {};
        }
        std::vector<Dwarf_Die> dies = {*function};  // outermost first
        find_inlined(*function, address, dies);
        std::vector<SourcePlace> result;
        for (auto die = dies.rbegin(); die != dies.rend(); ++die) {
            result.push_back(declaration_at(*unit, *die));
        }
        return result;
    }

    std::vector<AddressRange> function_ranges(std::uint64_t address)
    {
        std::optional<Dwarf_Die> function;
        if (unit_at(address, function) == nullptr || !function) {
            return {};
        }
        std::vector<AddressRange> ranges = ranges_of(*function);
        std::ranges::sort(ranges, {}, &AddressRange::start);
        return ranges;
    }

    std::string fortran_name(std::string_view symbol)
    {
        const FunctionSymbol* const found = symbols().find_named(symbol);
        std::optional<Dwarf_Die> function;
        Unit* const unit = found == nullptr ? nullptr : unit_at(found->start, function);
        return unit != nullptr && function && is_fortran(unit->die()) ? name_of(*function) : "";
    }

    std::string unit_file(std::uint64_t address)
    {
        std::optional<Dwarf_Die> function;
        Unit* const unit = unit_at(address, function);
        if (unit == nullptr) {
            return "";
        }
        // As GNU calls what optimisation at link time has made of several files.
        const char* const name = text(unit->die(), DW_AT_name);
        const bool is_of_several = name != nullptr && std::string_view(name) == "<artificial>";
        return is_of_several && function ? declaration_at(*unit, *function).file : unit->absolute(name);
    }

    std::vector<std::string> namesake_files(std::uint64_t address)
    {
        std::vector<std::string> files;
        const FunctionSymbol* const symbol = symbols().find(address);
        for (const std::uint64_t start : symbol == nullptr
                                             ? std::vector<std::uint64_t>()
                                             : symbols().namesakes_of(FunctionSymbols::name_of(*symbol))) {
            files.push_back(unit_file(start));
        }
        return files;
    }

private:
    const FunctionSymbols& symbols()
    {
        if (!std::exchange(has_symbols_, true) && symbols_.add(*file_, SHT_SYMTAB)) {
            symbols_.finish();
        }
        return symbols_;
    }

    static bool is_fortran(Dwarf_Die& unit)
    {
        constexpr std::array languages = {DW_LANG_Fortran77, DW_LANG_Fortran90, DW_LANG_Fortran95, DW_LANG_Fortran03,
                                          DW_LANG_Fortran08};
        constexpr int fortran_18 = 0x2d;  // not known to elfutils 0.188
        const int language = dwarf_srclang(&unit);
        return language == fortran_18 || std::ranges::find(languages, language) != languages.end();
    }

    void find_supplement(std::span<const fs::path> directories)
    {
        const char* name = nullptr;
        const void* id = nullptr;
        const ssize_t size = dwelf_dwarf_gnu_debugaltlink(dwarf_.get(), &name, &id);
        if (size <= 0) {
            return;
        }
        const auto* bytes = static_cast<const std::byte*>(id);
        supplement_file_ = find_debug_file(name, hex({bytes, static_cast<std::size_t>(size)}), ElfFile(), directories);
        supplement_ = supplement_file_ == nullptr ? nullptr : begin_dwarf(*supplement_file_);
        if (supplement_ != nullptr) {
            dwarf_setalt(dwarf_.get(), supplement_.get());
        }  // otherwise libdw looks for it where its name says
    }

    void find_units()
    {
        Dwarf_CU* cu = nullptr;
        Dwarf_Die die;
        Dwarf_Die split;
        while (dwarf_get_units(dwarf_.get(), cu, &cu, nullptr, nullptr, &die, &split) == 0) {
            const int tag = dwarf_tag(&die);
            if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) {
                continue;
            }
            const bool has_split = dwarf_tag(&split) == DW_TAG_compile_unit;
            lacks_split_units_ = lacks_split_units_ || (is_skeleton(die) && !has_split);
            Unit* unit = &add_unit(has_split ? split : die, die);
            const std::vector<AddressRange> ranges = ranges_of(die);
            for (const AddressRange& range : ranges) {
                by_address_.add(range, unit);
            }
            if (ranges.empty()) {
                without_ranges_.push_back(unit);
            }
        }
        by_address_.finish();
    }

    static bool is_skeleton(Dwarf_Die& die)
    {
        return dwarf_tag(&die) == DW_TAG_skeleton_unit || dwarf_hasattr(&die, DW_AT_GNU_dwo_name) == 1;
    }

    Unit& add_unit(const Dwarf_Die& die, const Dwarf_Die& line_die)
    {
        auto& unit = units_[die.addr];
        if (unit == nullptr) {
            unit = std::make_unique<Unit>(die, line_die);
        }
        return *unit;
    }

    // The unit that `address` belongs to, and the function there if it is known.
    Unit* unit_at(std::uint64_t address, std::optional<Dwarf_Die>& function)
    {
        if (Unit* const* found = by_address_.find(address)) {
            function = (*found)->function_at(address);
            return *found;
        }
        for (Unit* unit : without_ranges_) {
            function = unit->function_at(address);
            if (function) {
                return unit;
            }
        }
        return nullptr;
    }

    void find_inlined(Dwarf_Die& function, std::uint64_t address, std::vector<Dwarf_Die>& inlined)
    {
        const void* last = function.addr;
        find_inlined(function, address, inlined, last, 0);
    }

    /// Adds what is inlined at `address`, outermost first. `last`: the entry that was looked at before.
    void find_inlined(Dwarf_Die& parent, std::uint64_t address, std::vector<Dwarf_Die>& inlined, const void*& last,
                      int depth)
    {
        for_each_child(parent, [&](Dwarf_Die& die) {
            if (die.addr <= last) {
                return false;  // met again: damage, which could double the way with each block
            }
            last = die.addr;
            const int tag = dwarf_tag(&die);
            if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block &&
                tag != DW_TAG_catch_block) {
                return true;
            }
            if (dwarf_haspc(&die, address) != 1) {
                return true;
            }
            const std::size_t known = inlined.size();
            if (tag == DW_TAG_inlined_subroutine) {
                inlined.push_back(die);
            }
            if (depth < deepest) {
                find_inlined(die, address, inlined, last, depth + 1);
            }
            // After optimisation at link time, blocks of C++ overlap that should not.
            return inlined.size() == known;
        });
    }

    static SourceFrame caller_of(Unit& unit, Dwarf_Die& inlined)
    {
        SourceFrame place;
        place.line = number(inlined, DW_AT_call_line);
        Dwarf_Files* files = nullptr;
        const int file = number(inlined, DW_AT_call_file);
        if (dwarf_getsrcfiles(&unit.die(), &files, nullptr) == 0) {
            place.file = unit.absolute(dwarf_filesrc(files, static_cast<std::size_t>(file), nullptr, nullptr));
        }
        return place;
    }

    /// By the first of its entries that says so, whose unit has the names of files. (dwarf_decl_file() of elfutils
    /// 0.188 does not know that DWARF 5 counts them from 0.)
    static SourcePlace declaration_at(Unit& unit, const Dwarf_Die& instance)
    {
        Dwarf_Die die = instance;
        for (int i = 0; i < most_origins && dwarf_hasattr(&die, DW_AT_decl_line) == 0; ++i) {
            const std::optional<Dwarf_Die> origin = origin_of(die);
            if (!origin) {
                break;
            }
            die = *origin;
        }
        SourcePlace place{"", number(die, DW_AT_decl_line)};
        Dwarf_Attribute attribute;
        Dwarf_Die of_unit;
        Dwarf_Files* files = nullptr;
        if (dwarf_attr_integrate(&die, DW_AT_decl_file, &attribute) != nullptr &&
            dwarf_cu_die(attribute.cu, &of_unit, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) != nullptr &&
            dwarf_getsrcfiles(&of_unit, &files, nullptr) == 0) {
            Dwarf_Word file = 0;
            if (dwarf_formudata(&attribute, &file) == 0) {
                place.file = unit.absolute(dwarf_filesrc(files, static_cast<std::size_t>(file), nullptr, nullptr));
            }
        }
        return place;
    }

    const std::string& name_of(Dwarf_Die& die)
    {
        Dwarf_Die declaration = declaration_of(die);
        const auto [known, is_new] = names_.try_emplace(declaration.addr);
        if (is_new) {
            known->second = find_name(die, declaration);
        }
        return known->second;
    }

    /// From what has a type to that, but for its qualifiers.
    static bool go_to_type(Dwarf_Die& die)
    {
        Dwarf_Attribute attribute;
        return dwarf_attr(&die, DW_AT_type, &attribute) != nullptr && dwarf_formref_die(&attribute, &die) != nullptr &&
               dwarf_peel_type(&die, &die) == 0;
    }

    /// The line of the type of a template's argument that has no name, or 0.
    static int line_of_unnamed_type(Dwarf_Die die)
    {
        int tag = DW_TAG_reference_type;
        const auto is_reference = [&] { return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type; };
        for (int i = 0; i < 2 && is_reference() && go_to_type(die); ++i) {  // there is no reference to a reference
            tag = dwarf_tag(&die);
        }
        const bool is_class = tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
        return is_class && *text(die, DW_AT_name) == '\0' ? number(die, DW_AT_decl_line) : 0;
    }

    /// "each<f()::<lambda(int)> >" of GCC is each instance for a lambda of f(): says where that is.
    static void tell_lambdas_apart(Dwarf_Die& function, std::string& name)
    {
        constexpr std::string_view lambda = "<lambda(", end = ")>";
        std::size_t at = name.find(lambda);
        for_each_child(function, [&](Dwarf_Die& child) {
            if (at == std::string::npos || dwarf_tag(&child) != DW_TAG_template_type_parameter) {
                return at != std::string::npos;
            }
            const int line = line_of_unnamed_type(child);
            const std::size_t close = line == 0 ? std::string::npos : name.find(end, at);
            if (close != std::string::npos) {
                name.insert(close + 1, at_line(line));
                at = name.find(lambda, close);
            }
            return at != std::string::npos;
        });
    }

    std::string find_name(Dwarf_Die& die, Dwarf_Die& declaration)
    {
        std::string linkage = text(die, DW_AT_linkage_name);
        if (linkage.empty()) {
            linkage = text(die, DW_AT_MIPS_linkage_name);
        }
        std::string name = demangle(linkage);
        if (name != linkage) {
            return name;
        }
        name = text(die, DW_AT_name);
        if (name.empty()) {
            return linkage;
        }
        // GNU Fortran has no other name for a program that is called main, or not at all. "main" is what starts it.
        if ((name == "MAIN__" || name == "main") && dwarf_hasattr(&declaration, DW_AT_main_subprogram) == 1) {
            return std::string(unnamed_fortran_program);
        }
        tell_lambdas_apart(declaration, name);
        // Functions of one file only have no name for the linker.
        Dwarf_Die unit;
        if (dwarf_diecu(&declaration, &unit, nullptr, nullptr) != nullptr) {
            name = add_unit(unit, unit).qualified(name, declaration);
        }
        return name;
    }

    std::unique_ptr<ElfFile> file_;
    std::unique_ptr<ElfFile> supplement_file_;
    UniqueDwarf supplement_;
    UniqueDwarf dwarf_;
    bool has_symbols_ = false;
    FunctionSymbols symbols_;
    std::unordered_map<const void*, std::unique_ptr<Unit>> units_;  // by the address of their entry
    bool lacks_split_units_ = false;
    RangeIndex<Unit*> by_address_;
    std::vector<Unit*> without_ranges_;                   // compilers that leave it to the functions
    std::unordered_map<const void*, std::string> names_;  // by the address of the declaration's entry
};

DebugInfo::DebugInfo(std::unique_ptr<ElfFile> file, std::span<const fs::path> directories)
    : reader_(std::make_unique<Reader>(std::move(file), directories))
{
}

DebugInfo::~DebugInfo() = default;

DebugInfo::operator bool() const
{
    return reader_->has_units();
}

bool DebugInfo::lacks_split_units() const
{
    return reader_->lacks_split_units();
}

std::vector<SourceFrame> DebugInfo::frames(std::uint64_t address)
{
    return reader_->frames(address);
}

std::vector<SourcePlace> DebugInfo::declarations(std::uint64_t address)
{
    return reader_->declarations(address);
}

std::string DebugInfo::unit_file(std::uint64_t address)
{
    return reader_->unit_file(address);
}

std::vector<std::string> DebugInfo::namesake_files(std::uint64_t address)
{
    return reader_->namesake_files(address);
}

std::string DebugInfo::fortran_name(std::string_view symbol)
{
    return reader_->fortran_name(symbol);
}

std::vector<AddressRange> DebugInfo::function_ranges(std::uint64_t address)
{
    return reader_->function_ranges(address);
}

}  // namespace critpath::binary
