// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the sums that one process of the replay makes over its own events: path time by row, by kind of segment and by
// process, and the time of all functions on and off the path. (formats/FORMAT.md, "How path time becomes rows")
#pragma once

#include "analysis/model/attribution.hpp"
#include "analysis/model/counts.hpp"
#include "analysis/model/profile.hpp"
#include "replayer/attribute/clock_shares.hpp"
#include "replayer/attribute/led_by_doubt.hpp"
#include "replayer/attribute/places.hpp"
#include "replayer/attribute/recent_map.hpp"
#include "replayer/attribute/totals.hpp"
#include "replayer/growing_list.hpp"
#include "replayer/restore/blocks.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace critpath::replayer
{

struct Amount {
    std::int64_t ns = 0;
    std::uint64_t count = 0;    // samples, or segments
    std::int64_t found_ns = 0;  // of `ns`: as CallPathTime

    void add(std::int64_t more_ns, std::uint64_t more = 0)
    {
        ns += more_ns;
        count += more;
    }
    void add(const Amount& more)
    {
        add(more.ns, more.count);
        found_ns += more.found_ns;
    }
};

/// Path time that samples are to divide, and what they stand for, on one process.
struct Coverage {
    std::int64_t time = 0;
    std::int64_t sampled = 0;
};

/// What the thread on the path did in some of the path's time: it worked itself, or waited for its team, also while it
/// lacked a processor to do so.
enum class PathThread : std::uint8_t { Works, Spins, Blocked, Preempted };

/// An attribution whose call path has no number yet.
struct PlacedAttribution {
    Place place;
    model::Attribution attribution;
    model::LocationId path_location;  // the path is there
    PathThread thread = PathThread::Works;
};

/// Of the path's time in a stretch, what belongs to one place; and of the time of all peers there.
struct CodeAmount {
    std::int64_t ns = 0;
    std::uint64_t samples = 0;  // independent ones
    std::int64_t spinning_ns = 0;
    std::int64_t blocked_ns = 0;
    std::int64_t peers_ns = 0;

    void add(const CodeAmount& more)
    {
        ns += more.ns;
        samples += more.samples;
        spinning_ns += more.spinning_ns;
        blocked_ns += more.blocked_ns;
        peers_ns += more.peers_ns;
    }
};

/// An instruction, by the context that it was reached in.
struct CodeAddress {
    std::uint32_t context;
    std::uint64_t address;
    bool operator==(const CodeAddress&) const = default;

    struct Hash {
        std::size_t operator()(const CodeAddress& a) const
        {
            constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio: spreads what is alike
            return static_cast<std::size_t>((a.address ^ std::uint64_t{a.context} << 40U) * odd >> 17U);
        }
    };
};

/// A place on the path, of one process.
struct PlaceOfProcess {
    Place place;
    std::uint32_t process = 0;
    auto operator<=>(const PlaceOfProcess&) const = default;

    struct Hash {
        std::size_t operator()(const PlaceOfProcess& p) const
        {
            return std::size_t{p.place.context.value} + static_cast<std::size_t>(p.place.pseudo) + p.process;
        }
    };
};

/// Segments of one kind, in one function, on one process.
struct KindOfProcess {
    model::SegmentKind kind{};
    model::RegionId function = model::RegionId::none();  // not in a call
    std::uint32_t process = 0;
    auto operator<=>(const KindOfProcess&) const = default;

    struct Hash {
        std::size_t operator()(const KindOfProcess& k) const
        {
            return static_cast<std::size_t>(k.kind) + model::segment_kinds * std::size_t{k.function.value} + k.process;
        }
    };
};

struct Tally {
    using Addresses = std::unordered_map<CodeAddress, Amount, CodeAddress::Hash>;

    RecentMap<PlaceOfProcess, Amount, PlaceOfProcess::Hash> path;
    Totals totals;              // on and off the path
    Addresses addresses;        // on the path
    Addresses total_addresses;  // on and off the path
    /// On the path: by Definitions::counted.
    RecentMap<PlaceOfProcess, std::vector<model::EventAmount>, PlaceOfProcess::Hash> events;
    RecentMap<KindOfProcess, Amount, KindOfProcess::Hash> kinds;
    std::map<std::uint32_t, model::ProcessTotals> processes;  // by ProcessId
    std::map<std::uint32_t, std::int64_t> computed_ns;        // by LocationId: between calls, on and off the path
    std::map<std::uint32_t, Coverage> coverage;               // by ProcessId; only if the trace has samples
    std::int64_t low_confidence_ns = 0;
    std::uint64_t low_confidence_segments = 0;
    std::int64_t led_by_doubt_ns = 0;  // path time (led_by_doubt.hpp)
    std::uint64_t path_samples = 0;
    std::uint64_t independent_samples = 0;        // of these: of several threads at one time, one
    std::optional<CutPieces> cut;                 // of the path
    std::vector<Choices> choices;                 // by piece of the path
    std::vector<bool> on_path;                    // by ContextId: there is a segment with this call
    GrowingList<PlacedAttribution> attributions;  // of the path, those of a process in the order of its segments
    std::map<std::pair<std::uint32_t, Place>, CodeAmount> stretch_code;  // by the stretch's index
    /// Of what the path's thread does itself there: by the stretch's index, RegionId and address.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, CodeAmount> stretch_addresses;
    std::vector<model::CountTable> counts;  // one behind the other in the order of counts.bin; call paths are
                                            // CountPlaceNumbers

    void add_path(Place place, std::uint32_t process, const Amount& amount)
    {
        if (amount.ns != 0 || amount.count != 0)
            path[{place, process}].add(amount);
    }
    void add_path(Place place, std::uint32_t process, std::int64_t ns, std::uint64_t count = 0)
    {
        add_path(place, process, Amount{ns, count});
    }

    /// Every place that occurs here.
    [[nodiscard]] std::vector<Place> places() const;
};

class SpinFunctions;
class SampleWeights;

/// Sums over the owned processes, but for the attributions of transfers (inside.hpp). Talks to nobody.
Tally tally(const Replay& replay, const Predecessors& predecessors, const Path& path, const SpinFunctions& spin,
            const SampleWeights& weights, const std::vector<DoubtfulEnd>& doubtful_ends);

}  // namespace critpath::replayer
