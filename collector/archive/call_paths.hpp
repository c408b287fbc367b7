// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the calling contexts of one thread's MPI calls: which context a function has when it was called by a path.
#pragma once

#include "collector/archive/contexts.hpp"
#include "formats/functions/functions.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace critpath::archive
{

/// Contexts are those of the process' ContextTree.
class CallPaths
{
public:
    /// Path `id` leads to `caller`, where the call is made. Ids are nearly dense, from 1.
    void define(std::uint32_t id, const Leaf& caller);

    /// The context of a call of `function` by path `id` (0: not known). When it is asked for first,
    /// `make(where it is called)` must return it.
    template <class Make>
    void learn(std::uint32_t id, functions::FunctionId function, Make make);

    /// As learn() left it.
    [[nodiscard]] std::uint32_t find(std::uint32_t id, functions::FunctionId function) const;

private:
    static constexpr std::uint32_t none = 0xffffffff;
    static constexpr Leaf nobody = {Context::no_parent, 0};

    struct Path {
        Leaf caller = nobody;
        std::uint32_t context = none;  // of the function that was called by it first, mostly the only one
        functions::FunctionId function = functions::FunctionId::none;
    };
    static std::uint64_t key(std::uint32_t id, functions::FunctionId function)
    {
        return (std::uint64_t{id} << 16) | static_cast<std::uint16_t>(function);
    }

    std::vector<Path> paths_;  // by id
    std::vector<std::uint32_t> without_path_ =
        std::vector<std::uint32_t>(static_cast<std::size_t>(functions::FunctionId::count), none);
    std::unordered_map<std::uint64_t, std::uint32_t> more_;
};

template <class Make>
void CallPaths::learn(std::uint32_t id, functions::FunctionId function, Make make)
{
    if (id == 0 || id >= paths_.size()) {
        auto& context = without_path_[static_cast<std::size_t>(function)];
        context = context == none ? make(nobody) : context;
        return;
    }
    Path& path = paths_[id];
    if (path.function == functions::FunctionId::none) {
        path.function = function;
        path.context = make(path.caller);
    } else if (path.function != function) {
        const auto [known, is_new] = more_.try_emplace(key(id, function), none);
        if (is_new) {
            known->second = make(path.caller);
        }
    }
}

}  // namespace critpath::archive
