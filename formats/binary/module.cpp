// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/binary/module.hpp"

#include <algorithm>
#include <array>

namespace critpath::binary
{

bool is_of_program(std::string_view path)
{
    constexpr std::array<std::string_view, 3> of_system = {"/usr/", "/lib/", "/lib64/"};
    if (!path.starts_with('/') || path.substr(path.rfind('/') + 1) == collector_library) {
        return false;
    }
    return path.starts_with("/usr/local/") ||
           std::ranges::none_of(of_system, [&](std::string_view directory) { return path.starts_with(directory); });
}

std::filesystem::path Module::file() const
{
    constexpr std::string_view remark = " (deleted)";
    const std::string& text = path.native();
    return text.ends_with(remark) ? std::filesystem::path(text.substr(0, text.size() - remark.size())) : path;
}

bool Module::is(const ElfFile& file) const
{
    if (build_id == "-") {
        return file.build_id().empty();
    }
    return build_id.empty() || (has_build_id() ? file.build_id() : file.identity()) == build_id;
}

}  // namespace critpath::binary
