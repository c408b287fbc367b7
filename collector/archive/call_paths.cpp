// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/call_paths.hpp"

namespace critpath::archive
{

// Anything beyond is damage.
constexpr std::uint32_t largest_path = 1U << 24;

void CallPaths::define(std::uint32_t id, const Leaf& caller)
{
    if (id == 0 || id > largest_path) {
        return;
    }
    if (id >= paths_.size()) {
        paths_.resize(id + 1);
    }
    paths_[id].caller = caller;
}

std::uint32_t CallPaths::find(std::uint32_t id, functions::FunctionId function) const
{
    if (id == 0 || id >= paths_.size()) {
        return without_path_[static_cast<std::size_t>(function)];
    }
    const Path& path = paths_[id];
    return path.function == function ? path.context : more_.at(key(id, function));
}

}  // namespace critpath::archive
