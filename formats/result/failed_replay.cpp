// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/result/failed_replay.hpp"

#include "formats/result/segments.hpp"

#include <exception>
#include <fstream>
#include <system_error>

namespace critpath::result
{

namespace fs = std::filesystem;

namespace
{

fs::path mark_path(const fs::path& trace)
{
    return trace / directory_name / "failed_replay.txt";
}

}  // namespace

bool mark_failed_replay(const fs::path& trace, std::string_view why) noexcept
try {
    std::error_code error;
    if (!fs::exists(database_path(trace), error))
        return false;
    std::ofstream(mark_path(trace)) << why << '\n';
    return true;
} catch (const std::exception&) {
    return false;
}

void unmark_failed_replay(const fs::path& trace) noexcept
try {
    std::error_code ignored;
    fs::remove(mark_path(trace), ignored);
} catch (const std::exception&) {
    return;  // as a mark that cannot be removed
}

std::optional<std::string> failed_replay(const fs::path& trace)
{
    std::ifstream file(mark_path(trace));
    std::string why;
    if (!std::getline(file, why) || why.empty())
        return std::nullopt;
    return why;
}

}  // namespace critpath::result
