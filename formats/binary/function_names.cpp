// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/binary/function_names.hpp"

#include "formats/binary/demangle.hpp"

#include <libelf.h>

#include <algorithm>
#include <utility>

namespace critpath::binary
{

namespace
{

namespace fs = std::filesystem;

}  // namespace

FunctionNames::FunctionNames(std::vector<fs::path> directories) : directories_(std::move(directories)) {}

std::optional<std::string> FunctionNames::find(const Module& module, std::uint64_t start,
                                               std::span<const std::uint64_t> addresses)
{
    OpenModule& opened = open(module);
    const FunctionSymbol* symbol = opened.symbols.find(start);
    // What begins before and has no size may well end before, too.
    if (symbol == nullptr || (!symbol->is_sized() && symbol->start != start)) {
        return std::nullopt;
    }
    std::string name = opened.name_of(*symbol);
    const bool is_one = std::all_of(addresses.begin(), addresses.end(), [&](std::uint64_t address) {
        const FunctionSymbol* other = opened.symbols.find(address);
        return other == symbol || (other != nullptr && opened.name_of(*other) == name);
    });
    return is_one ? std::optional(std::move(name)) : std::nullopt;
}

std::string FunctionNames::OpenModule::name_of(const FunctionSymbol& symbol)
{
    // Only functions that their files alone know can have namesakes; where these are forgotten, they have numbers.
    const bool is_local = *symbol.file != '\0' || FunctionSymbols::name_of(symbol) != symbol.name;
    if (is_local && !std::exchange(knows_namesakes, true)) {
        symbols.find_namesakes();
    }
    return demangle(std::string(FunctionSymbols::name_of(symbol))) + symbols.mark_of(symbol);
}

FunctionNames::OpenModule& FunctionNames::open(const Module& module)
{
    const auto [known, is_new] = modules_.try_emplace(module);
    if (is_new) {
        known->second = find_symbols(module);
    }
    return known->second;
}

FunctionNames::OpenModule FunctionNames::find_symbols(const Module& module) const
{
    OpenModule opened;
    const fs::path path = module.file();
    const auto read = [&](std::unique_ptr<ElfFile> file) {
        if (file == nullptr || !opened.symbols.add(*file, SHT_SYMTAB)) {
            return false;
        }
        opened.symbols.finish(is_of_program(path.native()));
        opened.file = std::move(file);
        return true;
    };
    auto binary = std::make_unique<ElfFile>(path);
    if (module.has_build_id()) {
        const bool is_there = *binary && module.is(*binary);
        const ElfFile none;
        if (!read(find_debug_file(path, module.build_id, is_there ? *binary : none, directories_)) && is_there) {
            read(std::move(binary));
        }
        return opened;
    }
    // Only the checksum in a debug link says of a file that it belongs to a binary without a build-id, which is
    // read as a whole to tell whether it is the one that ran.
    const bool is_known = module.build_id.size() > 1;
    if (is_known && binary->debug_link() && module.is(*binary)) {
        read(find_debug_file(path, "", *binary, directories_));
    }
    return opened;
}

}  // namespace critpath::binary
