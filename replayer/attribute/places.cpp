// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/places.hpp"

#include "replayer/parents_first.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace critpath::replayer
{

namespace
{

using model::CallPathId;
using model::ContextId;
using model::Row;
using model::RowId;
using model::RowKind;

RowKind kind_of(model::RegionRole role)
{
    switch (role) {
    case model::RegionRole::Mpi:
        return RowKind::Mpi;
    case model::RegionRole::Sampled:
        return RowKind::Sampled;
    default:
        return RowKind::Region;
    }
}

Row make_row(const model::Region& region)
{
    if (region.role == model::RegionRole::Mpi)
        return {RowKind::Mpi, region.name, "MPI", "", 0};
    return {kind_of(region.role), region.name, region.module, region.file, region.line};
}

auto order(const Row& row)
{
    return std::tie(row.kind, row.module, row.name);
}

}  // namespace

Places::Places(const Replay& replay, const std::vector<Place>& used_here,
               const std::vector<std::vector<PathStep>>& ways)
{
    const std::vector<Uses> all = uses(replay, used_here);
    make_rows(replay.definitions, all);
    make_call_paths(replay.definitions, all);
    for (const std::vector<PathStep>& way : ways) {
        CallPathId path = CallPathId::none();
        for (const PathStep& step : way)
            path = add({row(step.function), path, step.site});
    }
    number_call_paths();
}

/// By context, that of an unknown one last. An ancestor of what is used needs a row.
std::vector<Places::Uses> Places::uses(const Replay& replay, const std::vector<Place>& used_here) const
{
    const auto& contexts = replay.definitions.contexts;
    std::vector<Uses> uses(contexts.size() + 1, 0);
    for (const Place& place : used_here)
        uses[place.context.valid() ? place.context.value : contexts.size()] |=
            static_cast<Uses>(1U << static_cast<unsigned>(place.pseudo));
    MPI_Allreduce(MPI_IN_PLACE, uses.data(), static_cast<int>(uses.size()), MPI_UINT16_T, MPI_BOR, replay.comm);
    for (std::size_t i = 0; i < contexts.size(); ++i)
        if ((uses[i] & as_place) != 0)
            for (ContextId c = contexts[i].parent; c.valid() && (uses[c.value] & as_ancestor) == 0;
                 c = contexts[c.value].parent)
                uses[c.value] |= as_ancestor;
    return uses;
}

void Places::make_rows(const model::Definitions& definitions, const std::vector<Uses>& uses)
{
    std::vector<bool> used(definitions.regions.size(), false);
    Uses pseudos = 0;
    for (std::size_t i = 0; i < uses.size(); ++i) {
        pseudos |= uses[i];
        if (i < definitions.contexts.size() && uses[i] != 0)
            used[definitions.contexts[i].region.value] = true;
    }
    std::vector<std::pair<Row, RowId*>> candidates;  // with where to note their ids
    row_of_region_.assign(definitions.regions.size(), RowId::none());
    for (std::size_t region = 0; region < used.size(); ++region)
        if (used[region])
            candidates.emplace_back(make_row(definitions.regions[region]), &row_of_region_[region]);
    row_of_pseudo_.fill(RowId::none());
    for (std::size_t pseudo = 1; pseudo < pseudo_names.size(); ++pseudo)
        if ((pseudos >> pseudo & 1U) != 0)
            candidates.emplace_back(Row{RowKind::Pseudo, std::string(pseudo_names[pseudo]), "", "", 0},
                                    &row_of_pseudo_[pseudo]);
    std::ranges::stable_sort(candidates, [](const auto& a, const auto& b) { return order(a.first) < order(b.first); });
    for (auto& [row, id] : candidates) {
        if (rows_.empty() || order(rows_.back()) != order(row))
            rows_.push_back(std::move(row));
        *id = {static_cast<std::uint32_t>(rows_.size() - 1)};
    }
    for (const model::CallingContext& context : definitions.contexts)
        region_of_context_.push_back(context.region);
}

void Places::make_call_paths(const model::Definitions& definitions, const std::vector<Uses>& uses)
{
    const auto& contexts = definitions.contexts;
    const auto add_pseudos = [&](Uses of, CallPathId parent) {
        for (std::size_t pseudo = 1; pseudo < pseudo_names.size(); ++pseudo)
            if ((of >> pseudo & 1U) != 0)
                add({row_of_pseudo_[pseudo], parent});
    };
    path_of_context_.assign(contexts.size(), CallPathId::none());
    visit_parents_first(contexts, [&](ContextId context) {
        if ((uses[context.value] & (as_place | as_ancestor)) == 0)
            return;
        const auto [region, parent, site] = contexts[context.value];
        CallPathId& path = path_of_context_[context.value];
        path = add({row(region), parent.valid() ? path_of_context_[parent.value] : CallPathId::none(), site});
        add_pseudos(uses[context.value], path);
    });
    add_pseudos(uses.back(), CallPathId::none());
}

CallPathId Places::add(const model::CallPath& path)
{
    const auto [entry, is_new] = children_.try_emplace({path.parent, path.row, path.site}, CallPathId::none());
    if (is_new) {
        call_paths_.push_back(path);
        entry->second = {static_cast<std::uint32_t>(call_paths_.size() - 1)};
    }
    return entry->second;
}

/// From the roots to the leaves, the callees of each in the order of their rows and sites: whatever order the contexts
/// have.
void Places::number_call_paths()
{
    std::vector<CallPathId> number(call_paths_.size());
    std::vector<model::CallPath> numbered;
    std::vector<CallPathId> open;  // to be numbered, the next one last
    const auto open_children = [&](CallPathId parent) {
        const auto first = static_cast<std::ptrdiff_t>(open.size());
        const auto end = children_.lower_bound({parent, RowId::none(), 0});
        for (auto child = children_.lower_bound({parent, {0}, 0}); child != end; ++child)
            open.push_back(child->second);
        std::reverse(open.begin() + first, open.end());
    };
    open_children(CallPathId::none());
    while (!open.empty()) {
        const CallPathId old = open.back();
        open.pop_back();
        const auto [row, parent, site] = call_paths_[old.value];
        number[old.value] = {static_cast<std::uint32_t>(numbered.size())};
        numbered.push_back({row, parent.valid() ? number[parent.value] : parent, site});
        open_children(old);
    }
    std::map<Child, CallPathId> children;
    for (const auto& [key, child] : children_) {
        const auto [parent, row, site] = key;
        children[{parent.valid() ? number[parent.value] : parent, row, site}] = number[child.value];
    }
    for (CallPathId& path : path_of_context_)
        if (path.valid())
            path = number[path.value];
    call_paths_ = std::move(numbered);
    children_ = std::move(children);
}

CallPathId Places::id_of(const std::vector<PathStep>& way) const
{
    CallPathId path = CallPathId::none();
    for (const PathStep& step : way)
        path = children_.at({path, row(step.function), step.site});
    return path;
}

CallPathId Places::id(Place place) const
{
    const CallPathId context = place.context.valid() ? path_of_context_[place.context.value] : CallPathId::none();
    if (place.pseudo == Pseudo::None)
        return context;
    const auto found = children_.find({context, row_of_pseudo_[static_cast<std::size_t>(place.pseudo)], 0});
    return found == children_.end() ? CallPathId::none() : found->second;
}

}  // namespace critpath::replayer
