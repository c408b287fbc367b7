// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the rows of the profile: which functions there are to report, in an order that is the same on every process
// because definitions are.
#pragma once

#include "analysis/model/profile.hpp"
#include "replayer/analysis.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

namespace critpath::replayer
{

/// Time that belongs to no function.
enum class Pseudo : std::uint8_t { Compute, Measurement, NotRecorded, NotSampled, StartDelay, Threads, Transfer };
inline constexpr std::array<std::string_view, 7> pseudo_names = {
    "[compute]", "[measurement]", "[not recorded]", "[not sampled]", "[start delay]", "[threads]", "[transfer]"};

/// A row before rows are numbered: a region in one of its roles, or a Pseudo.
struct RowKey {
    model::RowKind kind;
    std::uint32_t index;  // RegionId, or Pseudo
    auto operator<=>(const RowKey&) const = default;
};

constexpr RowKey row_key(Pseudo pseudo)
{
    return {model::RowKind::Pseudo, static_cast<std::uint32_t>(pseudo)};
}

constexpr RowKey row_key(model::RowKind kind, model::RegionId region)
{
    return {kind, region.value};
}

/// The rows that at least one process uses. Regions that look alike (same kind, module and name) share a row.
class Rows
{
public:
    /// Collective over `replay.comm`.
    Rows(const Replay& replay, const std::vector<RowKey>& used_here);

    [[nodiscard]] model::RowId id(RowKey key) const;
    [[nodiscard]] const std::vector<model::Row>& all() const { return rows_; }
    [[nodiscard]] std::size_t size() const { return rows_.size(); }

private:
    [[nodiscard]] std::size_t slot(RowKey key) const;

    std::size_t regions_;
    std::vector<model::Row> rows_;
    std::vector<std::uint32_t> id_of_slot_;
};

}  // namespace critpath::replayer
