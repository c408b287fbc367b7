// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain/subtrees.hpp"

#include "analysis/report/explain/around.hpp"

#include <algorithm>
#include <vector>

namespace critpath::report
{

namespace
{

/// The functions of a call path, innermost first.
std::vector<const model::Row*> functions_of(const model::Profile& profile, model::CallPathId call_path)
{
    std::vector<const model::Row*> functions;
    for (; call_path.valid(); call_path = profile.call_paths[call_path.value].parent)
        functions.push_back(&profile.row(call_path));
    return functions;
}

}  // namespace

Subtrees::Subtrees(const model::Profile& profile, std::size_t stretch, const Callers& callers)
    : profile_(profile), callers_(callers), around_(all_around(profile, stretch))
{
}

void Subtrees::add(model::CallPathId call_path, const model::StretchCode& amount)
{
    const std::vector<const model::Row*> functions = functions_of(profile_, call_path);
    std::set<const model::Row*> counted;
    const auto count = [&](ByFunction& subtrees, const model::Row* function, std::size_t depth) {
        if (!counted.insert(function).second)
            return;
        Subtree& subtree = subtrees[function];
        subtree.function = function;
        subtree.depth = std::max(subtree.depth, depth);
        subtree.time.add(amount);
    };
    bool is_called_by_application = false;
    for (std::size_t depth = 0; depth < functions.size(); ++depth) {  // of recursive ones, the outermost
        const model::Row* const function = functions[functions.size() - 1 - depth];
        const bool is_of_application = callers_.is_of_application(*function);
        if (!around_.contains(function) && (is_of_application || is_called_by_application))
            count(is_of_application ? of_application_ : called_by_it_, function, depth);
        is_called_by_application = is_of_application;
    }
}

const Subtree* Subtrees::innermost(const ByFunction& subtrees, const std::function<bool(const Subtree&)>& is_meant)
{
    const Subtree* found = nullptr;
    for (const auto& [function, subtree] : subtrees)
        if (is_meant(subtree) && (found == nullptr || subtree.depth > found->depth ||
                                  (subtree.depth == found->depth && subtree.time.ns > found->time.ns)))
            found = &subtree;
    return found;
}

std::size_t Subtrees::count(const std::function<bool(const Subtree&)>& is_meant) const
{
    std::size_t result = 0;
    for (const ByFunction* subtrees : {&of_application_, &called_by_it_})
        for (const auto& [function, subtree] : *subtrees)
            result += is_meant(subtree) ? 1 : 0;
    return result;
}

bool Subtrees::is_inside(model::CallPathId call_path, const model::Row& function) const
{
    const std::vector<const model::Row*> functions = functions_of(profile_, call_path);
    return std::ranges::find(functions, &function) != functions.end();
}

}  // namespace critpath::report
