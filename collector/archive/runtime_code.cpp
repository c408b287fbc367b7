// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/runtime_code.hpp"

#include "collector/archive/address_map.hpp"

#include <bit>
#include <cstddef>
#include <vector>

#include <sys/auxv.h>

namespace critpath::archive
{

namespace
{

bool is_own_vdso(std::uint64_t start, std::uint64_t end)
{
    return start < end && ::getauxval(AT_SYSINFO_EHDR) == start;
}

}  // namespace

std::vector<std::byte> own_vdso(std::uint64_t start, std::uint64_t end)
{
    if (!is_own_vdso(start, end)) {
        return {};
    }
    const auto* image = std::bit_cast<const std::byte*>(start);
    return {image, image + (end - start)};
}

RuntimeCode RuntimeCode::of_this_process(std::uint64_t start, std::string map_directory)
{
    RuntimeCode code;
    code.process_ = {start, std::move(map_directory)};
    return code;
}

const SymbolTable* RuntimeCode::vdso(std::uint64_t start, std::uint64_t end)
{
    if (!process_ || !is_own_vdso(start, end)) {
        return nullptr;
    }
    if (vdso_ == nullptr) {
        vdso_ = std::make_unique<SymbolTable>(std::string(vdso_module), own_vdso(start, end));
    }
    return vdso_.get();
}

const std::string* RuntimeCode::compiled(std::uint64_t address)
{
    if (!process_) {
        return nullptr;
    }
    if (!compiled_) {
        compiled_ = PerfMap::of_this_process(process_->map_directory, process_->start);
    }
    return compiled_->find(address);
}

std::string_view RuntimeCode::in_kernel(std::uint64_t address)
{
    if (!process_) {
        return {};
    }
    if (!kernel_) {
        kernel_ = KernelSymbols::of_this_machine();
    }
    return kernel_->find(address);
}

}  // namespace critpath::archive
