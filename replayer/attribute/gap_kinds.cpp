// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/gap_kinds.hpp"

#include "replayer/exchange.hpp"

#include <mpi.h>

#include <bit>
#include <optional>
#include <utility>

namespace critpath::replayer
{

namespace
{

using model::Ns;

// Lengths are counted in quarters of their binary orders.
constexpr std::int64_t quarters = 4;

std::int64_t bin_of(std::int64_t ns)
{
    const auto length = static_cast<std::uint64_t>(std::max(ns, quarters));
    const auto order = static_cast<std::int64_t>(std::bit_width(length)) - 1;
    return order * quarters + static_cast<std::int64_t>((length >> (order - 2)) % quarters);
}

std::int64_t begin_of_bin(std::int64_t bin)
{
    return (quarters + bin % quarters) << (bin / quarters - 2);
}

/// Time on the path of gaps of like length.
struct BinTime {
    std::int64_t bin, ns;
};

/// By bin, ascending; most places have few.
class Lengths
{
public:
    void add(const BinTime& time)
    {
        ns_ += time.ns;
        if (last_ >= times_.size() || times_[last_].bin != time.bin) {
            const auto at = std::ranges::lower_bound(times_, time.bin, {}, &BinTime::bin);
            last_ = static_cast<std::size_t>(at - times_.begin());
            if (at == times_.end() || at->bin != time.bin)
                times_.insert(at, {time.bin, 0});
        }
        times_[last_].ns += time.ns;
    }
    [[nodiscard]] const std::vector<BinTime>& times() const { return times_; }
    [[nodiscard]] std::int64_t ns() const { return ns_; }

    /// Kinds are further apart than one varies: with nearly nothing of lengths between them.
    [[nodiscard]] std::vector<std::int64_t> borders() const
    {
        constexpr std::int64_t nothing = 100, little = 20;  // of all
        constexpr std::int64_t wide = 3;                    // bins: the longer one is 1.5 times as long, at least
        std::vector<std::int64_t> borders;
        std::optional<std::int64_t> last;  // bin that has something
        std::int64_t kind = 0, rest = ns_;
        for (const auto& [bin, ns] : times_) {
            if (nothing * ns >= ns_) {
                if (last && bin - *last > wide && little * kind >= ns_ && little * rest >= ns_) {
                    borders.push_back(begin_of_bin((*last + bin + 1) / 2));
                    kind = 0;
                }
                last = bin;
            }
            kind += ns;
            rest -= ns;
        }
        return borders;
    }

private:
    std::vector<BinTime> times_;
    std::size_t last_ = 0;  // of these, that was added to last: most gaps at a place are of like length
    std::int64_t ns_ = 0;
};

/// Those of places.
class PlaceLengths
{
public:
    explicit PlaceLengths(const Replay& replay) : places_(replay.definitions.contexts.size()) {}

    void add(GapPlace place, const BinTime& time)
    {
        const std::uint32_t i = places_.add(place);
        if (i == lengths_.size())
            lengths_.emplace_back();
        lengths_[i].add(time);
    }
    template <class Visit>
    void for_each(Visit visit) const
    {
        for (std::size_t i = 0; i < lengths_.size(); ++i)
            visit(places_.places()[i], lengths_[i]);
    }

private:
    GapPlaces places_;
    std::vector<Lengths> lengths_;
};

/// Of one place, as one process tells another of it.
struct LengthRecord {
    GapPlace place;
    BinTime time;
};

struct Border {
    GapPlace place;
    std::int64_t length;
};

/// What all processes have, on all of them. Collective.
std::vector<Border> known_to_all(const Replay& replay, std::vector<Border> own)
{
    constexpr int collector = 0;
    auto out = lists_for<Border>(replay.size);
    out[collector] = std::move(own);
    std::vector<Border> all = replayer::exchange(replay.comm, out).items;
    auto count = static_cast<int>(all.size());
    MPI_Bcast(&count, 1, MPI_INT, collector, replay.comm);
    all.resize(static_cast<std::size_t>(count));
    MPI_Bcast(all.data(), count * static_cast<int>(sizeof(Border)), MPI_BYTE, collector, replay.comm);
    return all;
}

}  // namespace

LengthBorders find_borders(const Replay& replay, const Path& path, std::vector<Gaps>& gaps)
{
    if (replay.definitions.processes.size() < 2)
        return {};
    PlaceLengths own(replay), of_all(replay);
    GapLengths lengths_of_gaps(gaps);
    for_each_part_on_path(replay, path, gaps, [&](std::size_t p, std::size_t gap, Ns begin, Ns end) {
        own.add(gaps[p].place(gap), {bin_of(lengths_of_gaps.of(p, gap)), worked_in(gaps[p], begin, end)});
    });
    auto out = lists_for<LengthRecord>(replay.size);
    own.for_each([&](GapPlace place, const Lengths& lengths) {
        for (const BinTime& time : lengths.times())
            out[place.owner(replay.size)].push_back({place, time});
    });
    for (const LengthRecord& record : replayer::exchange(replay.comm, out).items)
        of_all.add(record.place, record.time);

    // Of places that have little of the path nobody needs to know, so that all may know of the others.
    const std::int64_t least = path.makespan.count() / 1000;
    std::vector<Border> borders;
    of_all.for_each([&](GapPlace place, const Lengths& lengths) {
        if (lengths.ns() > least)
            for (const std::int64_t length : lengths.borders())
                borders.push_back({place, length});
    });
    LengthBorders result;
    for (const Border& border : known_to_all(replay, std::move(borders)))
        result[border.place].push_back(border.length);
    return result;
}

}  // namespace critpath::replayer
