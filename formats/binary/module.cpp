// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/binary/module.hpp"

#include <string_view>

namespace critpath::binary
{

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
