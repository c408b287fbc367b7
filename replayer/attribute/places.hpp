// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the places of the profile, which time is attributed to: the rows (functions) and the call tree that leads to
// them, in an order that is the same on every process because definitions are.
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/model/pseudo_rows.hpp"
#include "replayer/analysis.hpp"
#include "replayer/peers/same_calls.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

namespace critpath::replayer
{

/// Time that belongs to no function.
enum class Pseudo : std::uint8_t {
    None,  // it does
    Blocked,
    Compute,
    Measurement,
    NotRecorded,
    NotSampled,
    Preempted,
    StartDelay,
    TeamWait,
    Threads,
    Transfer
};
inline constexpr std::array<std::string_view, 11> pseudo_names = {"",
                                                                  model::pseudo::blocked,
                                                                  model::pseudo::compute,
                                                                  model::pseudo::measurement,
                                                                  model::pseudo::not_recorded,
                                                                  model::pseudo::not_sampled,
                                                                  model::pseudo::preempted,
                                                                  model::pseudo::start_delay,
                                                                  model::pseudo::team_wait,
                                                                  model::pseudo::threads,
                                                                  model::pseudo::transfer};

/// A place before places are numbered: a function as a call path reaches it, or below that, time that belongs to none.
struct Place {
    model::ContextId context = model::ContextId::none();  // none(): where it was is not known
    Pseudo pseudo = Pseudo::None;
    auto operator<=>(const Place&) const = default;
};

/// The instruction of a sample, if that place is a function; 0 otherwise.
inline std::uint64_t address_in(Place place, const model::Sample& sample)
{
    return place.pseudo == Pseudo::None ? sample.offset : 0;
}

/// What at least one process uses. Regions that look alike (same kind, module and name) share a row, and contexts of
/// these below the same parent share a call path, but for calls of MPI at several sites.
class Places
{
public:
    /// `ways`: have call paths, too; their functions are used. Collective over `replay.comm`.
    Places(const Replay& replay, const std::vector<Place>& used_here, const std::vector<std::vector<PathStep>>& ways);

    /// none() if nobody has used it.
    [[nodiscard]] model::CallPathId id(Place place) const;
    /// none() if it has no functions.
    [[nodiscard]] model::CallPathId id_of(const std::vector<PathStep>& way) const;
    /// The function; none() if nobody has used it.
    [[nodiscard]] model::RowId row(model::ContextId context) const { return row(region_of_context_[context.value]); }
    [[nodiscard]] model::RowId row(model::RegionId region) const { return row_of_region_[region.value]; }
    [[nodiscard]] const std::vector<model::Row>& rows() const { return rows_; }
    [[nodiscard]] const std::vector<model::CallPath>& call_paths() const { return call_paths_; }

private:
    using Child = std::tuple<model::CallPathId, model::RowId, std::uint64_t>;  // its parent, row and site

    using Uses = std::uint16_t;  // bits: 1 << Pseudo, and
    static constexpr Uses as_ancestor = 1U << 14;
    static constexpr Uses as_place = as_ancestor - 1;  // one of them
    static_assert(pseudo_names.size() <= 14);

    [[nodiscard]] std::vector<Uses> uses(const Replay& replay, const std::vector<Place>& used_here) const;
    void make_rows(const model::Definitions& definitions, const std::vector<Uses>& uses);
    void make_call_paths(const model::Definitions& definitions, const std::vector<Uses>& uses);
    model::CallPathId add(const model::CallPath& path);
    void number_call_paths();

    std::vector<model::Row> rows_;
    std::vector<model::RowId> row_of_region_;
    std::array<model::RowId, pseudo_names.size()> row_of_pseudo_;
    std::vector<model::RegionId> region_of_context_;
    std::vector<model::CallPath> call_paths_;
    std::map<Child, model::CallPathId> children_;
    std::vector<model::CallPathId> path_of_context_;
};

}  // namespace critpath::replayer
