// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/binary/source_lines.hpp"

#include <utility>

namespace critpath::binary
{

namespace
{

namespace fs = std::filesystem;

// nullptr if there is none.
std::unique_ptr<DebugInfo> read(std::unique_ptr<ElfFile> file, std::span<const fs::path> directories)
{
    if (file == nullptr) {
        return nullptr;
    }
    auto info = std::make_unique<DebugInfo>(std::move(file), directories);
    return *info ? std::move(info) : nullptr;
}

}  // namespace

SourceLines::SourceLines(std::vector<fs::path> directories) : directories_(std::move(directories)) {}

SourceLines::~SourceLines() = default;

ModuleState SourceLines::state(const Module& module)
{
    return open(module).state;
}

bool SourceLines::lacks_split_units(const Module& module)
{
    const OpenModule& opened = open(module);
    return opened.info != nullptr && opened.info->lacks_split_units();
}

const std::vector<SourceFrame>& SourceLines::find(const Module& module, std::uint64_t address)
{
    OpenModule& opened = open(module);
    const auto [known, is_new] = opened.frames.try_emplace(address);
    if (is_new && opened.info != nullptr) {
        known->second = opened.info->frames(address);
    }
    return known->second;
}

std::vector<SourcePlace> SourceLines::declarations(const Module& module, std::uint64_t address)
{
    OpenModule& opened = open(module);
    return opened.info == nullptr ? std::vector<SourcePlace>() : opened.info->declarations(address);
}

std::vector<AddressRange> SourceLines::function_ranges(const Module& module, std::uint64_t address)
{
    OpenModule& opened = open(module);
    return opened.info == nullptr ? std::vector<AddressRange>() : opened.info->function_ranges(address);
}

std::string SourceLines::fortran_name(const Module& module, std::string_view symbol)
{
    OpenModule& opened = open(module);
    return opened.info == nullptr ? "" : opened.info->fortran_name(symbol);
}

SourceLines::OpenModule& SourceLines::open(const Module& module)
{
    const auto [known, is_new] = modules_.try_emplace(module);
    if (is_new) {
        known->second = find_info(module);
    }
    return known->second;
}

SourceLines::OpenModule SourceLines::find_info(const Module& module) const
{
    const fs::path path = module.file();
    auto file = std::make_unique<ElfFile>(path);
    const bool is_there = file->is_open();
    if (is_there && module.is(*file)) {
        auto info = read(std::move(file), directories_);
        if (info == nullptr) {
            const ElfFile stripped(path);
            info = read(find_debug_file(path, stripped.build_id(), stripped, directories_), directories_);
        }
        if (info != nullptr) {
            return {ModuleState::Found, std::move(info), {}};
        }
        return {ModuleState::NoLines, nullptr, {}};
    }
    // Gone, or another one: only a debug file of the one that ran will do.
    if (module.has_build_id()) {
        if (auto info = read(find_debug_file(path, module.build_id, ElfFile(), directories_), directories_)) {
            return {ModuleState::Found, std::move(info), {}};
        }
    }
    return {is_there ? ModuleState::Changed : ModuleState::Missing, nullptr, {}};
}

}  // namespace critpath::binary
