// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which ranks' parts of a stretch are kept apart: those with a notable part of what takes longer there. A sum over
// ranks that are slow for different reasons is true of none of them.
#pragma once

#include "analysis/model/stretch.hpp"
#include "replayer/analysis.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// However many ranks are on the path, few of them are notable: no more than model::notable_parts at each place.
class NotableRanks
{
public:
    explicit NotableRanks(std::size_t places) : places_(places) {}

    /// All that an owned process has on the path at a place; each only once.
    void add(std::uint32_t place, model::ProcessId process, const model::Difference& difference);
    /// Of those that may still be notable; else none.
    [[nodiscard]] model::Difference* find(std::uint32_t place, model::ProcessId process);
    /// Those of the owned processes that are notable among all processes, with the place for the stretch. Collective.
    [[nodiscard]] std::vector<model::StretchRank> take(const Replay& replay);

private:
    struct Place {
        std::int64_t longer_ns = 0;  // of all that take longer
        std::vector<model::StretchRank> ranks;
    };
    std::vector<Place> places_;
};

}  // namespace critpath::replayer
