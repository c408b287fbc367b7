// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the names of functions that had none when the run was recorded, since their binaries were stripped and their
// debug files not at hand.
#pragma once

#include "formats/binary/debug_file.hpp"
#include "formats/binary/function_symbols.hpp"
#include "formats/binary/module.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace critpath::binary
{

/// Opens each binary once, when it is first asked for. Not for several threads at once.
class FunctionNames
{
public:
    explicit FunctionNames(std::vector<std::filesystem::path> directories = debug_directories());

    /// The function whose code begins at `start` (virtual address of the ELF file), by the symbols of the debug file,
    /// or of the binary if it has them by now; named as a trace names functions (formats/FORMAT.md). Nothing if no
    /// symbol covers `start`, if one of the `addresses` in that code is another function's by its symbol, or if nothing
    /// says that the files are those of the binary that ran.
    [[nodiscard]] std::optional<std::string> find(const Module& module, std::uint64_t start,
                                                  std::span<const std::uint64_t> addresses = {});

private:
    struct OpenModule {
        std::unique_ptr<ElfFile> file;  // that has the names
        FunctionSymbols symbols;
        bool knows_namesakes = false;

        [[nodiscard]] std::string name_of(const FunctionSymbol& symbol);
    };

    OpenModule& open(const Module& module);
    [[nodiscard]] OpenModule find_symbols(const Module& module) const;

    std::vector<std::filesystem::path> directories_;
    std::map<Module, OpenModule> modules_;
};

}  // namespace critpath::binary
