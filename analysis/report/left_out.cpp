// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/left_out.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>
#include <vector>

namespace critpath::report
{

namespace
{

constexpr std::string_view harmless = "local";  // involves no other process

}  // namespace

std::string left_out_note(const model::Profile& profile)
{
    std::vector<std::string> groups;
    const auto found = profile.properties.find("left_out");
    std::string_view rest = found == profile.properties.end() ? std::string_view() : found->second;
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        if (const std::string_view group = rest.substr(0, comma); group != harmless)
            groups.emplace_back(group);
        rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    }
    if (groups.empty())
        return "";
    return fmt::format("MPI calls of {} were not recorded (--include, --exclude): waiting in them looks like "
                       "computation, so that the path may be on other ranks than it seems, whatever its uncertainty.",
                       fmt::join(groups, ", "));
}

void add_left_out(Document& document, const model::Profile& profile)
{
    if (std::string note = left_out_note(profile); !note.empty())
        document.notes.push_back(std::move(note));
}

}  // namespace critpath::report
