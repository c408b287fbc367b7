// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/left_out.hpp"

#include "analysis/report/hotspots.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>
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
    std::istringstream list(property(profile, "left_out"));
    for (std::string group; std::getline(list, group, ',');)
        if (group != harmless)
            groups.push_back(group);
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
