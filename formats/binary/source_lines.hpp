// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the source lines of a run: of each binary that was recorded, whether it is still the one that ran, and what its
// debug information says of the addresses that somebody asks for.
#pragma once

#include "formats/binary/debug_file.hpp"
#include "formats/binary/debug_info.hpp"
#include "formats/binary/module.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace critpath::binary
{

enum class ModuleState : std::uint8_t {
    Found,    // with debug information, in itself or in a debug file of its build-id
    NoLines,  // the binary is there, debug information is not
    Changed,  // there is another binary at its path by now, and no debug file of the old one
    Missing   // neither the binary nor a debug file of its build-id is there, or it may not be read
};

/// What was known of an instruction when somebody looked it up before: as find() and declarations() have it.
struct KnownAddress {
    std::uint64_t address = 0;
    std::vector<SourceFrame> frames;
    std::vector<SourcePlace> declarations;
};

/// Opens each binary once, when it is first asked for, and looks each address up once. Not for several threads at once.
class SourceLines
{
public:
    explicit SourceLines(std::vector<std::filesystem::path> directories = debug_directories());
    ~SourceLines();
    SourceLines(const SourceLines&) = delete;
    SourceLines& operator=(const SourceLines&) = delete;
    SourceLines(SourceLines&&) noexcept;
    SourceLines& operator=(SourceLines&&) noexcept;

    /// The module counts as Found from now on, and its file is opened for other addresses than these only.
    void know(const Module& module, bool lacks_split_units, std::vector<KnownAddress> addresses);

    /// Binaries that one of both has opened are open for the other, too, from now on.
    void open_with(const SourceLines& other);

    [[nodiscard]] ModuleState state(const Module& module);

    /// As DebugInfo::lacks_split_units; false if the module is not Found.
    [[nodiscard]] bool lacks_split_units(const Module& module);

    /// What the instruction at `address` (virtual address of the ELF file) belongs to: inlined functions, innermost
    /// first, then the one that they are inlined into. Of a return address, ask for the byte before it. Empty if
    /// nothing is known. The reference stays valid.
    const std::vector<SourceFrame>& find(const Module& module, std::uint64_t address);

    /// Where the functions of find(module, address) are declared, in the same order; empty if that is not known.
    [[nodiscard]] std::vector<SourcePlace> declarations(const Module& module, std::uint64_t address);

    /// As of DebugInfo; empty if the module is not Found.
    [[nodiscard]] std::string fortran_name(const Module& module, std::string_view symbol);

    [[nodiscard]] std::string unit_file(const Module& module, std::uint64_t address);
    [[nodiscard]] std::vector<std::string> namesake_files(const Module& module, std::uint64_t address);

    /// Where the function (not inlined) that contains `address` has its code, ascending; more than one range if the
    /// compiler has moved parts away. Empty if it is not known.
    [[nodiscard]] std::vector<AddressRange> function_ranges(const Module& module, std::uint64_t address);

private:
    struct OpenModule {
        ModuleState state = ModuleState::Missing;
        std::unique_ptr<DebugInfo> info;  // if Found
        std::unordered_map<std::uint64_t, std::vector<SourceFrame>> frames;
    };
    struct KnownModule {
        bool lacks_split_units = false;
        std::unordered_map<std::uint64_t, KnownAddress> addresses;
    };

    OpenModule& open(const Module& module);
    [[nodiscard]] OpenModule find_info(const Module& module) const;
    [[nodiscard]] const KnownModule* known(const Module& module) const;
    [[nodiscard]] const KnownAddress* known(const Module& module, std::uint64_t address) const;

    std::vector<std::filesystem::path> directories_;
    std::map<Module, KnownModule> known_;
    std::shared_ptr<std::map<Module, OpenModule>> modules_;
};

}  // namespace critpath::binary
