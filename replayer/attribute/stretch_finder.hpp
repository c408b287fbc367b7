// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns in which of the stretches that are explained a moment lies.
#pragma once

#include "replayer/attribute/tally.hpp"
#include "replayer/peers/gaps.hpp"
#include "replayer/peers/peers.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace critpath::replayer
{

/// The stretches that moments of the owned processes lie in.
class StretchFinder
{
public:
    StretchFinder(const Replay& replay, const Stretches& stretches)
        : replay_(replay), stretches_(stretches.stretches.size()), places_(replay.definitions.contexts.size())
    {
        for (const Stretches::At& at : stretches.stretches)
            places_.add(at.place);
        for (const model::ProcessTrace& trace : replay.processes)
            gaps_.emplace_back(trace.locations.empty() ? nothing_ : trace.locations.front(), stretches.same);
    }

    [[nodiscard]] std::uint32_t stretch_of(GapPlace place) const { return places_.find(place); }
    [[nodiscard]] std::uint32_t stretch_of(std::size_t process, std::size_t gap) const
    {
        return stretch_of(gaps_[process].place(gap));
    }

    /// Of the first thread of a process, by index into Replay::processes.
    [[nodiscard]] std::uint32_t at(std::size_t process, model::Ns time)
    {
        const auto gap = gap_at(process, time);
        return gap ? stretch_of(process, *gap) : GapPlaces::none;
    }
    [[nodiscard]] std::optional<std::size_t> gap_at(std::size_t process, model::Ns time)
    {
        Gaps& gaps = gaps_[process];
        const std::size_t gap = gaps.first_behind(time);
        return gap < gaps.end() && gaps.begin_of(gap) <= time ? std::optional(gap) : std::nullopt;
    }

    /// Only the first thread of a process has gaps.
    [[nodiscard]] std::uint32_t of(const PlacedAttribution& placed, model::Ns origin)
    {
        const model::Attribution& a = placed.attribution;
        const bool is_computation =
            a.kind == model::AttributionKind::Sample || a.kind == model::AttributionKind::Computation;
        const model::ProcessId process = process_of(placed);
        if (!is_computation || replay_.definitions.processes[process.value].locations.front() != placed.path_location)
            return GapPlaces::none;
        return at(replay_.index_of(process), origin + model::Ns{a.begin});
    }

    [[nodiscard]] model::ProcessId process_of(const PlacedAttribution& placed) const
    {
        return replay_.definitions.locations[placed.path_location.value].process;
    }
    [[nodiscard]] std::size_t stretches() const { return stretches_; }
    [[nodiscard]] std::size_t processes() const { return gaps_.size(); }
    [[nodiscard]] const Gaps& gaps(std::size_t process) const { return gaps_[process]; }
    [[nodiscard]] std::vector<Gaps>& all_gaps() { return gaps_; }

private:
    const Replay& replay_;
    const model::LocationTrace nothing_;
    std::size_t stretches_;
    GapPlaces places_;
    std::vector<Gaps> gaps_;
};

}  // namespace critpath::replayer
