// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/load.hpp"

#include "analysis/naming/naming.hpp"
#include "formats/result/failed_replay.hpp"
#include "formats/result/result.hpp"
#include "formats/support/terminal.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <optional>
#include <string>

namespace critpath::report
{

model::Profile load(const std::filesystem::path& trace)
{
    model::Profile profile = result::read(trace);
    if (const std::optional<std::string> why = result::failed_replay(trace))
        fmt::print(stderr, "cpreport: {}: this is the result of an earlier replay; the last one failed: {}\n",
                   printable(trace.string()), printable(*why));
    binary::SourceLines lines;
    naming::name_functions(profile, lines, [](const std::string&) { return true; });
    return profile;
}

}  // namespace critpath::report
