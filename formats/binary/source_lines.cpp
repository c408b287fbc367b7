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

SourceLines::SourceLines(std::vector<fs::path> directories)
    : directories_(std::move(directories)), modules_(std::make_shared<std::map<Module, OpenModule>>())
{
}

SourceLines::~SourceLines() = default;
SourceLines::SourceLines(SourceLines&&) noexcept = default;
SourceLines& SourceLines::operator=(SourceLines&&) noexcept = default;

void SourceLines::know(const Module& module, bool lacks_split_units, std::vector<KnownAddress> addresses)
{
    KnownModule& known = known_[module];
    known.lacks_split_units = lacks_split_units;
    for (KnownAddress& at : addresses) {
        known.addresses.insert_or_assign(at.address, std::move(at));
    }
}

void SourceLines::open_with(const SourceLines& other)
{
    directories_ = other.directories_;
    modules_ = other.modules_;
}

ModuleState SourceLines::state(const Module& module)
{
    return known(module) != nullptr ? ModuleState::Found : open(module).state;
}

bool SourceLines::lacks_split_units(const Module& module)
{
    if (const KnownModule* const before = known(module)) {
        return before->lacks_split_units;
    }
    const OpenModule& opened = open(module);
    return opened.info != nullptr && opened.info->lacks_split_units();
}

const std::vector<SourceFrame>& SourceLines::find(const Module& module, std::uint64_t address)
{
    if (const KnownAddress* const before = known(module, address)) {
        return before->frames;
    }
    OpenModule& opened = open(module);
    const auto [known, is_new] = opened.frames.try_emplace(address);
    if (is_new && opened.info != nullptr) {
        known->second = opened.info->frames(address);
    }
    return known->second;
}

std::vector<SourcePlace> SourceLines::declarations(const Module& module, std::uint64_t address)
{
    if (const KnownAddress* const before = known(module, address)) {
        return before->declarations;
    }
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

std::string SourceLines::unit_file(const Module& module, std::uint64_t address)
{
    OpenModule& opened = open(module);
    return opened.info == nullptr ? "" : opened.info->unit_file(address);
}

std::vector<std::string> SourceLines::namesake_files(const Module& module, std::uint64_t address)
{
    OpenModule& opened = open(module);
    return opened.info == nullptr ? std::vector<std::string>() : opened.info->namesake_files(address);
}

const SourceLines::KnownModule* SourceLines::known(const Module& module) const
{
    const auto found = known_.find(module);
    return found == known_.end() ? nullptr : &found->second;
}

const KnownAddress* SourceLines::known(const Module& module, std::uint64_t address) const
{
    const KnownModule* const known_module = known(module);
    if (known_module == nullptr) {
        return nullptr;
    }
    const auto found = known_module->addresses.find(address);
    return found == known_module->addresses.end() ? nullptr : &found->second;
}

SourceLines::OpenModule& SourceLines::open(const Module& module)
{
    const auto [known, is_new] = modules_->try_emplace(module);
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
