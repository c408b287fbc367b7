// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which gaps at a place of the program are the same kind of work, as far as their lengths tell: a solver's steps
// and what it rebuilds each tenth time may meet at one call. (docs/ALGORITHM, "Samples")
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/peers/gaps.hpp"
#include "replayer/restore/restore.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace critpath::replayer
{

/// By place: from which lengths on, ns of a processor, gaps are of the next kind; ascending. Most places have none.
using LengthBorders = std::map<GapPlace, std::vector<std::int64_t>>;

/// By the time on the path of gaps of like length; `gaps`: by index into Replay::processes. Collective over
/// `replay.comm`; the same on all processes.
LengthBorders find_borders(const Replay& replay, const Path& path, std::vector<Gaps>& gaps);

/// Of a gap, or of a part of it: with a processor, without what is the collector's own, ns.
inline std::int64_t worked_in(Gaps& gaps, model::Ns begin, model::Ns end)
{
    if (begin <= end && gaps.is_quiet(begin, end))
        return (end - begin).count();
    const std::int64_t off = (end - begin).count() - gaps.on_processor(begin, end);
    return std::max<std::int64_t>(gaps.recorded(begin, end) - off, 0);
}

/// Likewise, of whole gaps. That of the last one of each process is kept: a long one may be on the path in thousands of
/// parts, and have as many samples.
class GapLengths
{
public:
    /// `gaps`: by index into Replay::processes.
    explicit GapLengths(std::vector<Gaps>& gaps) : gaps_(gaps), last_(gaps.size()) {}

    [[nodiscard]] std::int64_t of(std::size_t process, std::size_t gap)
    {
        Last& last = last_[process];
        if (std::exchange(last.gap, gap) != gap)
            last.length = worked_in(gaps_[process], gaps_[process].begin_of(gap), gaps_[process].end_of(gap));
        return last.length;
    }

private:
    struct Last {
        std::size_t gap = SIZE_MAX;
        std::int64_t length = 0;
    };
    std::vector<Gaps>& gaps_;
    std::vector<Last> last_;
};

/// Gaps at a place that are one kind of work.
struct GapKind {
    GapPlace place;
    std::uint32_t kind;  // the shortest ones are 0
};

/// Numbers for the kinds of gaps that are there.
class GapKinds
{
public:
    /// `borders` must outlive this.
    GapKinds(std::size_t contexts, const LengthBorders& borders) : places_(contexts), borders_(&borders) {}

    /// `length`: of the whole gap, as worked_in().
    template <class Length>
    std::uint32_t add(GapPlace place, Length length)
    {
        const Kinds& kinds = kinds_of(place);
        return kinds.borders == nullptr
                   ? kinds.first
                   : kinds.first + static_cast<std::uint32_t>(std::ranges::upper_bound(*kinds.borders, length()) -
                                                              kinds.borders->begin());
    }
    std::uint32_t add(const GapKind& kind) { return kinds_of(kind.place).first + kind.kind; }

    [[nodiscard]] const std::vector<GapKind>& all() const { return all_; }

private:
    struct Kinds {
        std::uint32_t first;
        const std::vector<std::int64_t>* borders;
    };

    const Kinds& kinds_of(GapPlace place)
    {
        const std::uint32_t i = places_.add(place);
        if (i == kinds_.size()) {
            const auto borders = borders_->find(place);
            const bool has_one = borders == borders_->end();
            kinds_.push_back({static_cast<std::uint32_t>(all_.size()), has_one ? nullptr : &borders->second});
            for (std::uint32_t kind = 0; kind <= (has_one ? 0 : borders->second.size()); ++kind)
                all_.push_back({place, kind});
        }
        return kinds_[i];
    }

    GapPlaces places_;
    const LengthBorders* borders_;
    std::vector<Kinds> kinds_;  // by place
    std::vector<GapKind> all_;
};

}  // namespace critpath::replayer
