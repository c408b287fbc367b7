// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/naming/path_tails.hpp"

namespace critpath::naming
{

std::string_view path_tail(std::string_view path, std::size_t directories)
{
    std::size_t slash = path.rfind('/');
    for (; directories > 0 && slash != path.npos && slash > 0; --directories)
        slash = path.rfind('/', slash - 1);
    return directories > 0 || slash == path.npos ? path : path.substr(slash + 1);
}

std::map<std::string, std::string> path_tails(const std::set<std::string>& paths, std::size_t least)
{
    std::map<std::string, std::string> tails;
    std::set<std::string_view> left(paths.begin(), paths.end());
    for (std::size_t directories = least; !left.empty(); ++directories) {
        std::map<std::string_view, std::size_t> counts;
        for (const std::string& path : paths)
            ++counts[path_tail(path, directories)];
        std::erase_if(left, [&](std::string_view path) {
            const std::string_view tail = path_tail(path, directories);
            if (counts.at(tail) > 1 && tail != path)
                return false;
            tails.emplace(path, tail);
            return true;
        });
    }
    return tails;
}

}  // namespace critpath::naming
