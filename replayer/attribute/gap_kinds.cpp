// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/gap_kinds.hpp"

#include "replayer/exchange.hpp"

#include <mpi.h>

#include <array>
#include <bit>
#include <optional>

namespace critpath::replayer
{

namespace
{

using model::Ns;

// Lengths are counted in quarters of their binary orders.
constexpr std::size_t quarters = 4, bins = 64 * quarters;

std::size_t bin_of(std::int64_t ns)
{
    const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, quarters));
    const auto order = static_cast<std::size_t>(std::bit_width(length)) - 1;
    return order * quarters + (length >> (order - 2)) % quarters;
}

std::int64_t begin_of_bin(std::size_t bin)
{
    return static_cast<std::int64_t>((quarters + bin % quarters) << (bin / quarters - 2));
}

/// Time on the path, ns, by the lengths of gaps.
using Histogram = std::array<std::int64_t, bins>;

/// Of one place and length, as one process tells another of it.
struct BinRecord {
    GapPlace place;
    std::int64_t bin, ns;
};

struct Border {
    GapPlace place;
    std::int64_t length;
};

/// Kinds are further apart than one varies: with nearly nothing of lengths between them.
std::vector<std::int64_t> borders_of(const Histogram& histogram, std::int64_t all)
{
    constexpr std::int64_t nothing = 100, little = 20;  // of all
    constexpr std::size_t wide = 3;                     // bins: the longer one is 1.5 times as long, at least
    std::vector<std::int64_t> borders;
    std::optional<std::size_t> last;  // bin that has something
    std::int64_t kind = 0, rest = all;
    for (std::size_t bin = 0; bin < bins; ++bin) {
        if (nothing * histogram[bin] >= all) {
            if (last && bin - *last > wide && little * kind >= all && little * rest >= all) {
                borders.push_back(begin_of_bin((*last + bin + 1) / 2));
                kind = 0;
            }
            last = bin;
        }
        kind += histogram[bin];
        rest -= histogram[bin];
    }
    return borders;
}

}  // namespace

LengthBorders find_borders(const Replay& replay, const Path& path, std::vector<Gaps>& gaps)
{
    if (replay.definitions.processes.size() < 2)
        return {};
    std::map<GapPlace, Histogram> own;
    {
        GapPlaces places(replay.definitions.contexts.size());
        std::vector<Histogram> histograms;
        for_each_part_on_path(replay, path, gaps, [&](std::size_t p, std::size_t gap, Ns begin, Ns end) {
            const std::uint32_t i = places.add(gaps[p].place(gap));
            if (i == histograms.size())
                histograms.push_back({});
            histograms[i][bin_of(worked_in(gaps[p], gaps[p].begin_of(gap), gaps[p].end_of(gap)))] +=
                worked_in(gaps[p], begin, end);
        });
        for (std::size_t i = 0; i < histograms.size(); ++i)
            own[places.places()[i]] = histograms[i];
    }
    auto out = lists_for<BinRecord>(replay.size);
    for (const auto& [place, histogram] : own)
        for (std::size_t bin = 0; bin < bins; ++bin)
            if (histogram[bin] > 0)
                out[place.owner(replay.size)].push_back({place, static_cast<std::int64_t>(bin), histogram[bin]});
    std::map<GapPlace, Histogram> all;
    for (const BinRecord& record : replayer::exchange(replay.comm, out).items)
        all.try_emplace(record.place).first->second[static_cast<std::size_t>(record.bin)] += record.ns;

    // Of places that have little of the path nobody needs to know, so that all may know of the others.
    const std::int64_t least = path.makespan.count() / 1000;
    std::vector<Border> mine;
    for (const auto& [place, histogram] : all) {
        std::int64_t ns = 0;
        for (const std::int64_t of_bin : histogram)
            ns += of_bin;
        if (ns > least)
            for (const std::int64_t length : borders_of(histogram, ns))
                mine.push_back({place, length});
    }
    auto to_all = lists_for<Border>(replay.size);
    for (std::vector<Border>& to : to_all)
        to = mine;
    LengthBorders borders;
    for (const Border& border : replayer::exchange(replay.comm, to_all).items)
        borders[border.place].push_back(border.length);
    return borders;
}

}  // namespace critpath::replayer
