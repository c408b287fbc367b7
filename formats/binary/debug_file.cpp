// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/binary/debug_file.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>

namespace critpath::binary
{

namespace
{

namespace fs = std::filesystem;

constexpr const char* system_directory = "/usr/lib/debug";

// The places where the debug file may be, the most telling first.
std::vector<fs::path> candidates(const fs::path& path, const std::string& build_id,
                                 const std::optional<DebugLink>& link, std::span<const fs::path> directories)
{
    std::vector<fs::path> files;
    if (build_id.size() > 2) {
        const fs::path by_id = fs::path(build_id.substr(0, 2)) / (build_id.substr(2) + ".debug");
        for (const fs::path& directory : directories) {
            files.push_back(directory / ".build-id" / by_id);
            files.push_back(directory / by_id);
        }
        files.push_back(fs::path(system_directory) / ".build-id" / by_id);
    }
    for (const fs::path& directory : directories) {
        files.push_back(directory / (path.filename().native() + ".debug"));
        files.push_back(directory / path.filename());
    }
    if (link) {
        const fs::path parent = path.parent_path();
        files.push_back(parent / link->name);
        files.push_back(parent / ".debug" / link->name);
        files.push_back(fs::path(system_directory) / parent.relative_path() / link->name);
        for (const fs::path& directory : directories) {
            files.push_back(directory / link->name);
            files.push_back(directory / parent.relative_path() / link->name);
        }
    }
    return files;
}

// Empty if it does.
std::string_view why_not(const ElfFile& file, const std::string& build_id, const std::optional<DebugLink>& link)
{
    if (!file) {
        return "it is no file of code that can be read";
    }
    if (!build_id.empty() && !file.build_id().empty()) {
        return file.build_id() == build_id ? "" : "its build-id is another one";
    }
    if (!link) {
        return "nothing tells that it is of this build, since there is no build-id in both, and no debug link";
    }
    return crc32(file.bytes()) == link->crc ? "" : "its checksum is not the one that the debug link says";
}

}  // namespace

std::vector<fs::path> debug_directories()
{
    const char* text = std::getenv("CRITPATH_DEBUG_PATH");
    std::vector<fs::path> directories;
    for (std::string_view rest = text == nullptr ? "" : text; !rest.empty();) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        if (end > 0) {
            directories.emplace_back(rest.substr(0, end));
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return directories;
}

std::unique_ptr<ElfFile> find_debug_file(const fs::path& path, const std::string& build_id, const ElfFile& binary,
                                         std::span<const fs::path> directories)
{
    const std::optional<DebugLink> link = binary.debug_link();
    for (const fs::path& candidate : candidates(path, build_id, link, directories)) {
        std::error_code missing;
        if (fs::equivalent(candidate, path, missing)) {
            continue;
        }
        auto file = std::make_unique<ElfFile>(candidate);
        if (why_not(*file, build_id, link).empty()) {
            return file;
        }
    }
    return nullptr;
}

std::vector<RefusedDebugFile> refused_debug_files(const fs::path& path, const std::string& build_id,
                                                  const ElfFile& binary, std::span<const fs::path> directories)
{
    const std::optional<DebugLink> link = binary.debug_link();
    std::vector<RefusedDebugFile> refused;
    for (const fs::path& candidate : candidates(path, build_id, link, directories)) {
        std::error_code missing;
        if (!fs::is_regular_file(candidate, missing) || fs::equivalent(candidate, path, missing)) {
            continue;
        }
        const std::string_view why = why_not(ElfFile(candidate), build_id, link);
        const bool is_known = std::ranges::find(refused, candidate, &RefusedDebugFile::path) != refused.end();
        if (!why.empty() && !is_known) {
            refused.push_back({candidate, std::string(why)});
        }
    }
    return refused;
}

std::uint32_t crc32(std::span<const std::byte> bytes)
{
    static constexpr auto table = [] {
        std::array<std::uint32_t, 256> remainders = {};
        for (std::uint32_t i = 0; i < remainders.size(); ++i) {
            remainders[i] = i;
            for (int bit = 0; bit < 8; ++bit) {
                remainders[i] = remainders[i] >> 1 ^ ((remainders[i] & 1) != 0 ? 0xedb88320U : 0);
            }
        }
        return remainders;
    }();
    std::uint32_t crc = ~0U;
    for (const std::byte byte : bytes) {
        crc = table[(crc ^ static_cast<std::uint32_t>(byte)) & 0xff] ^ crc >> 8;
    }
    return ~crc;
}

}  // namespace critpath::binary
