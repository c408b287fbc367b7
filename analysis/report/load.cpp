// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/load.hpp"

#include "analysis/naming/naming.hpp"
#include "formats/result/result.hpp"

namespace critpath::report
{

model::Profile load(const std::filesystem::path& trace)
{
    model::Profile profile = result::read(trace);
    binary::SourceLines lines;
    naming::name_functions(profile, lines, [](const std::string&) { return true; });
    return profile;
}

}  // namespace critpath::report
