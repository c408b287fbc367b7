// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/module_file.hpp"

#include "formats/binary/elf_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

namespace critpath::archive
{

namespace
{

namespace fs = std::filesystem;

bool can_be_read(const std::string& path)
{
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ::close(fd);
    }
    return fd >= 0;
}

// `identity`: of the file that ran, as AddressMap has it.
bool is_what_ran(const std::string& path, std::string_view identity)
{
    constexpr std::string_view by_build_id = "build-id ";
    if (identity.starts_with(by_build_id)) {
        return binary::ElfFile(path).build_id() == identity.substr(by_build_id.size());
    }
    if (!identity.starts_with("file ")) {
        return can_be_read(path);
    }
    constexpr std::uint64_t second = 1'000'000'000;
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0 &&
           identity == fmt::format("file {} {}", status.st_size,
                                   static_cast<std::uint64_t>(status.st_mtim.tv_sec) * second +
                                       static_cast<std::uint64_t>(status.st_mtim.tv_nsec));
}

bool is_loaded(const AddressMap& map, const MappedRange& range)
{
    const MappedRange* last = map.find(range.start);
    return last != nullptr && last->module == range.module && last->offset == range.offset;
}

struct Search {
    std::uint64_t address;
    std::vector<std::byte> image;
};

// What may be written is left out: it is no longer what the file has, and holds neither code nor unwind information.
int copy_image(dl_phdr_info* info, std::size_t, void* data)
{
    auto& search = *static_cast<Search*>(data);
    const std::span headers(info->dlpi_phdr, info->dlpi_phnum);
    const auto is_load = [](const ElfW(Phdr) & part) { return part.p_type == PT_LOAD; };
    const auto contains = [&](const ElfW(Phdr) & part) {
        const std::uint64_t start = info->dlpi_addr + part.p_vaddr;
        return is_load(part) && search.address + 4096 > start && search.address < start + part.p_memsz;
    };
    if (std::ranges::none_of(headers, contains)) {
        return 0;
    }
    for (const ElfW(Phdr) & part : headers) {
        if (is_load(part) && (part.p_flags & PF_R) != 0 && (part.p_flags & PF_W) == 0) {
            const auto* bytes = std::bit_cast<const std::byte*>(info->dlpi_addr + part.p_vaddr);
            search.image.resize(std::max<std::size_t>(search.image.size(), part.p_offset + part.p_filesz));
            std::copy_n(bytes, part.p_filesz, search.image.begin() + static_cast<std::ptrdiff_t>(part.p_offset));
        }
    }
    return 1;
}

}  // namespace

ModuleFile find_module(const AddressMap& map, const MappedRange& range, bool is_own)
{
    const std::string& path = map.modules()[range.module];
    const std::string remarked = path + std::string(deleted_remark);
    std::error_code error;
    if (!map.was_replaced(range.module)) {
        // Also of this process: another file may have come to the path since the map was made.
        if (is_what_ran(path, map.identity(range.module))) {
            return {path, {}};
        }
    } else if (fs::exists(remarked, error)) {
        return {remarked, {}};  // that is how it is called
    }
    if (!is_own || !is_loaded(map, range)) {
        return {{}, {}, true};
    }
    const std::string program = fs::read_symlink("/proc/self/exe", error).native();
    if ((program == path || program == remarked) && can_be_read("/proc/self/exe")) {
        return {"/proc/self/exe", {}};
    }
    const std::string mapped = fmt::format("/proc/self/map_files/{:x}-{:x}", range.start, range.end);
    if (can_be_read(mapped)) {
        return {mapped, {}};
    }
    std::vector<std::byte> image = loaded_image(range.start);
    const bool is_library = !image.empty();  // or the memory of a compiler, for example
    return {{}, std::move(image), is_library};
}

std::vector<std::byte> loaded_image(std::uint64_t address)
{
    Search search = {address, {}};
    ::dl_iterate_phdr(copy_image, &search);
    return std::move(search.image);
}

}  // namespace critpath::archive
