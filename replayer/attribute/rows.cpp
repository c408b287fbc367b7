// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/rows.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace critpath::replayer
{

namespace
{

using model::Row;
using model::RowKind;

Row make_row(const model::Definitions& definitions, RowKey key)
{
    if (key.kind == RowKind::Pseudo)
        return {key.kind, std::string(pseudo_names[key.index]), "", "", 0};
    const model::Region& region = definitions.regions[key.index];
    if (key.kind == RowKind::Mpi)
        return {key.kind, region.name, "MPI", "", 0};
    return {key.kind, region.name, region.module, region.file, region.line};
}

auto order(const Row& row)
{
    return std::tie(row.kind, row.module, row.name);
}

}  // namespace

Rows::Rows(const Replay& replay, const std::vector<RowKey>& used_here) : regions_(replay.definitions.regions.size())
{
    std::vector<std::uint8_t> used(3 * regions_ + pseudo_names.size(), 0);
    for (const RowKey key : used_here)
        used[slot(key)] = 1;
    MPI_Allreduce(MPI_IN_PLACE, used.data(), static_cast<int>(used.size()), MPI_UINT8_T, MPI_MAX, replay.comm);

    std::vector<std::pair<Row, std::size_t>> candidates;  // with their slots
    const auto consider = [&](RowKey key) {
        if (used[slot(key)] != 0)
            candidates.emplace_back(make_row(replay.definitions, key), slot(key));
    };
    for (const RowKind kind : {RowKind::Sampled, RowKind::Region, RowKind::Mpi})
        for (std::uint32_t region = 0; region < regions_; ++region)
            consider({kind, region});
    for (std::uint32_t pseudo = 0; pseudo < pseudo_names.size(); ++pseudo)
        consider({RowKind::Pseudo, pseudo});
    std::ranges::stable_sort(candidates, [](const auto& a, const auto& b) { return order(a.first) < order(b.first); });

    id_of_slot_.assign(used.size(), model::RowId::none().value);
    for (auto& [row, at] : candidates) {
        if (rows_.empty() || order(rows_.back()) != order(row))
            rows_.push_back(std::move(row));
        id_of_slot_[at] = static_cast<std::uint32_t>(rows_.size() - 1);
    }
}

std::size_t Rows::slot(RowKey key) const
{
    return static_cast<std::size_t>(key.kind) * regions_ + key.index;
}

model::RowId Rows::id(RowKey key) const
{
    return {id_of_slot_[slot(key)]};
}

}  // namespace critpath::replayer
