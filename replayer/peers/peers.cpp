// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/peers.hpp"

#include "formats/support/mixed.hpp"
#include "replayer/exchange.hpp"
#include "replayer/growing_list.hpp"
#include "replayer/peers/chosen.hpp"
#include "replayer/peers/elsewhere.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

namespace critpath::replayer
{

namespace
{

constexpr int collector = 0;

struct PlaceTime {
    GapPlace place;
    std::int64_t ns;
};

/// Adds up what is equal.
std::vector<PlaceTime> sum_by_place(std::vector<PlaceTime> times)
{
    std::ranges::sort(times, {}, &PlaceTime::place);
    std::vector<PlaceTime> sums;
    for (const PlaceTime& time : times) {
        if (!sums.empty() && sums.back().place == time.place)
            sums.back().ns += time.ns;
        else
            sums.push_back(time);
    }
    return sums;
}

/// The functions of a call path, innermost first, and where each is called.
std::pair<std::vector<std::string_view>, std::vector<std::uint64_t>> names_of(const model::Definitions& definitions,
                                                                              model::ContextId context)
{
    std::vector<std::string_view> names;
    std::vector<std::uint64_t> sites;
    for (; context.valid(); context = definitions.contexts[context.value].parent) {
        names.emplace_back(definitions.region(context).name);
        sites.push_back(definitions.contexts[context.value].site);
    }
    return {names, sites};
}

/// Those with the most time, that first. Of equal ones, their names decide: the order of definitions means nothing.
void keep_largest(const model::Definitions& definitions, std::vector<PlaceTime>& times)
{
    const auto names = [&](const PlaceTime& time) {
        return std::pair(names_of(definitions, time.place.before), names_of(definitions, time.place.after));
    };
    std::ranges::sort(times, [&](const PlaceTime& a, const PlaceTime& b) {
        if (a.ns != b.ns)
            return a.ns > b.ns;
        const auto of_a = names(a), of_b = names(b);
        return of_a != of_b ? of_a < of_b : a.place < b.place;
    });
    times.resize(std::min(times.size(), model::most_stretches));
}

/// A gap on the path: as many as a rank has calls, by and large.
struct SeenGap {
    std::int64_t ns;
    std::uint32_t gap, place;
};

/// What the owned processes have on the path.
struct Seen {
    GapPlaces places;
    std::vector<std::int64_t> ns;  // by place
    // By index into Replay::processes, in order of time. They are many, and to copy them while they grow costs more
    // than to find them.
    std::vector<GrowingList<SeenGap>> gaps;
    std::vector<std::vector<bool>> is_on_path;  // as Stretches::is_on_path
};

Seen see(const Replay& replay, const Path& path, std::vector<Gaps>& gaps)
{
    Seen seen{GapPlaces(replay.definitions.contexts.size()), {}, std::vector<GrowingList<SeenGap>>(gaps.size()), {}};
    for (const Gaps& of_process : gaps)
        seen.is_on_path.emplace_back(of_process.end(), false);
    for_each_gap_on_path(replay, path, gaps, [&](const GapOnPath& gap) {
        const std::uint32_t place = seen.places.add(gaps[gap.process].place(gap.gap));
        if (place == seen.ns.size())
            seen.ns.push_back(0);
        seen.ns[place] += gap.ns;
        seen.is_on_path[gap.process][gap.gap] = true;
        seen.gaps[gap.process].push_back({gap.ns, static_cast<std::uint32_t>(gap.gap), place});
    });
    return seen;
}

/// Each place is added up by one process, and the largest sums of each are known to all.
std::vector<PlaceTime> choose(const Replay& replay, const Path& path, const Seen& seen)
{
    auto out = lists_for<PlaceTime>(replay.size);
    for (std::size_t i = 0; i < seen.ns.size(); ++i) {
        const GapPlace place = seen.places.places()[i];
        out[place.owner(replay.size)].push_back({place, seen.ns[i]});
    }
    std::vector<PlaceTime> largest = sum_by_place(replayer::exchange(replay.comm, out).items);
    std::erase_if(largest,
                  [&](const PlaceTime& t) { return t.ns < path.makespan.count() / model::least_stretch_parts; });
    keep_largest(replay.definitions, largest);

    out = lists_for<PlaceTime>(replay.size);
    out[collector] = std::move(largest);
    largest = replayer::exchange(replay.comm, out).items;
    keep_largest(replay.definitions, largest);
    auto count = static_cast<int>(largest.size());
    MPI_Bcast(&count, 1, MPI_INT, collector, replay.comm);
    largest.resize(static_cast<std::size_t>(count));
    MPI_Bcast(largest.data(), count * static_cast<int>(sizeof(PlaceTime)), MPI_BYTE, collector, replay.comm);
    return largest;
}

/// Which of the gaps on the path are compared. What a long one takes nobody else can tell, but many short ones are as
/// well told by some thousand of them, whose numbers are drawn.
class Draw
{
public:
    /// Collective.
    Draw(const Replay& replay, const std::vector<PlaceTime>& times, const GapPlaces& chosen, const Seen& seen)
    {
        // All others answer for each: where these are many, fewer say as much.
        const auto processes = static_cast<std::int64_t>(replay.definitions.processes.size());
        const std::int64_t enough = std::clamp<std::int64_t>((std::int64_t{1} << 20) / processes, 256, 2048);
        for (const PlaceTime& time : times)
            long_ns_.push_back(time.ns / enough);
        std::vector<std::uint32_t> places;  // by place in `seen`
        for (const GapPlace& place : seen.places.places())
            places.push_back(chosen.find(place));
        std::vector<std::int64_t> shorts(times.size() * lengths);
        for (const auto& gaps : seen.gaps)
            gaps.for_each([&](const SeenGap& gap) {
                if (const std::uint32_t place = places[gap.place]; place != GapPlaces::none)
                    shorts[kind(place, gap.ns)] += gap.ns < long_ns_[place] ? 1 : 0;
            });
        MPI_Allreduce(MPI_IN_PLACE, shorts.data(), static_cast<int>(shorts.size()), MPI_INT64_T, MPI_SUM, replay.comm);
        for (const std::int64_t all : shorts)
            one_of_.push_back(std::bit_floor(static_cast<std::uint64_t>(std::max(all / enough, std::int64_t{1}))));
    }

    /// For how many gaps this one stands; 0: it is not compared.
    [[nodiscard]] std::int64_t stands_for(std::uint32_t place, std::int64_t ns, model::ProcessId process,
                                          std::uint32_t occurrence) const
    {
        if (ns >= long_ns_[place])
            return 1;
        const std::uint64_t one_of = one_of_[kind(place, ns)];
        if (one_of == 1)
            return 1;
        // By bits that follow no pattern: what happens each second time is met as often as it happens.
        const std::uint64_t bits = random_bits(std::uint64_t{process.value} << 32 | occurrence);
        return bits % one_of == 0 ? static_cast<std::int64_t>(one_of) : 0;
    }

private:
    static constexpr std::size_t lengths = 65;  // are told apart by their binary logarithm

    static std::size_t kind(std::uint32_t place, std::int64_t ns)
    {
        return place * lengths + static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(ns)));
    }

    std::vector<std::int64_t> long_ns_;  // by place: from this on, gaps are long
    std::vector<std::uint64_t> one_of_;  // by kind: of so many short ones; a power of two
};

Chosen find_gaps(const Replay& replay, const std::vector<PlaceTime>& times, const std::vector<Gaps>& gaps,
                 const Seen& seen)
{
    GapPlaces places(replay.definitions.contexts.size());
    for (const PlaceTime& time : times)
        places.add(time.place);
    const Draw draw(replay, times, places, seen);
    Chosen chosen;
    chosen.lists.resize(times.size(), std::vector<std::vector<std::uint32_t>>(gaps.size()));
    chosen.list_of.resize(times.size());
    std::iota(chosen.list_of.begin(), chosen.list_of.end(), std::size_t{0});
    chosen.on_path.resize(gaps.size());
    chosen.totals.resize(times.size(), std::vector<Chosen::Total>(gaps.size()));
    std::vector<GrowingList<std::uint32_t>> lists(times.size());  // of one process
    for (std::size_t p = 0; p < gaps.size(); ++p) {
        GrowingList<SeenGap>::Reader seen_gaps(seen.gaps[p]);
        const SeenGap* next = seen_gaps.peek();
        gaps[p].for_each_place([&](std::size_t i, GapPlace at) {
            const std::uint32_t place = places.find(at);
            const bool is_on_path = next != nullptr && next->gap == i;
            if (place != GapPlaces::none) {
                const auto occurrence = static_cast<std::uint32_t>(lists[place].size());
                lists[place].push_back(static_cast<std::uint32_t>(i));
                if (is_on_path) {
                    chosen.totals[place][p].ns += next->ns;
                    chosen.totals[place][p].gaps += 1;
                    const auto stands_for = draw.stands_for(place, next->ns, replay.processes[p].process, occurrence);
                    if (stands_for > 0)
                        chosen.on_path[p].push_back(
                            {next->ns, place, occurrence, stands_for, static_cast<std::uint32_t>(i)});
                }
            }
            if (is_on_path) {
                seen_gaps.next();
                next = seen_gaps.peek();
            }
        });
        chosen.take(lists, p);
    }
    return chosen;
}

/// Of how often processes come to the places, by place: who does so most often, of several the first, but for `but`.
struct MostTimes {
    std::vector<std::int64_t> times, rank;  // rank INT64_MAX: there is none
};

/// `times(place, p)`: of owned processes. Collective.
template <class Times>
MostTimes most_times(const Replay& replay, std::size_t places, const std::vector<std::int64_t>& but, Times times)
{
    MostTimes most{std::vector<std::int64_t>(places, 0), std::vector<std::int64_t>(places, INT64_MAX)};
    const auto for_each = [&](auto visit) {
        for (std::size_t place = 0; place < places; ++place)
            for (std::size_t p = replay.processes.size(); p-- > 0;)
                if (const std::int64_t rank = replay.processes[p].process.value; rank != but[place])
                    visit(place, rank, times(place, p));
    };
    for_each([&](std::size_t place, std::int64_t, std::int64_t here) {
        most.times[place] = std::max(most.times[place], here);
    });
    const auto count = static_cast<int>(places);
    MPI_Allreduce(MPI_IN_PLACE, most.times.data(), count, MPI_INT64_T, MPI_MAX, replay.comm);
    for_each([&](std::size_t place, std::int64_t rank, std::int64_t here) {
        if (here == most.times[place])
            most.rank[place] = std::min(most.rank[place], rank);
    });
    MPI_Allreduce(MPI_IN_PLACE, most.rank.data(), count, MPI_INT64_T, MPI_MIN, replay.comm);
    return most;
}

/// How often processes come to the places, on the path or not. Collective.
void add_times(const Replay& replay, const Chosen& chosen, std::vector<model::Stretch>& stretches)
{
    const std::size_t places = stretches.size();
    std::vector<std::int64_t> sums(2 * places, 0);
    const auto times = [&](std::size_t place, std::size_t p) {
        return static_cast<std::int64_t>(chosen.gaps(place)[p].size());
    };
    for (std::size_t place = 0; place < places; ++place)
        for (std::size_t p = 0; p < replay.processes.size(); ++p) {
            sums[2 * place] += times(place, p);
            sums[2 * place + 1] += times(place, p) > 0 ? 1 : 0;
        }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_INT64_T, MPI_SUM, replay.comm);
    const MostTimes most = most_times(replay, places, std::vector<std::int64_t>(places, -1), times);
    const MostTimes second = most_times(replay, places, most.rank, times);
    for (std::size_t place = 0; place < places; ++place) {
        model::Stretch& stretch = stretches[place];
        stretch.all_times = sums[2 * place];
        stretch.ranks_there = sums[2 * place + 1];
        stretch.most_times = most.times[place];
        stretch.most_times_rank = most.rank[place];
        stretch.second_times = second.times[place];
        stretch.second_times_rank = second.times[place] > 0 ? second.rank[place] : -1;
    }
}

/// Those of all processes, sorted, on the one that writes the result; what is of a stretch and a process. Collective.
template <class Part>
std::vector<Part> collect(const Replay& replay, std::vector<Part> own)
{
    auto out = lists_for<Part>(replay.size);
    out[collector] = std::move(own);
    std::vector<Part> all = replayer::exchange(replay.comm, out).items;
    std::ranges::sort(all, {}, [](const Part& part) { return std::tuple(part.stretch, part.process); });
    return all;
}

/// As model::Stretch::before_site.
std::int64_t site_of(const std::vector<PathStep>& way)
{
    return way.empty() ? 0 : static_cast<std::int64_t>(way.back().site);
}

}  // namespace

Stretches compare_with_peers(const Replay& replay, const Predecessors& predecessors, const Path& path)
{
    const model::LocationTrace nothing;
    const SameCalls same(replay, predecessors);
    std::vector<Gaps> gaps;
    for (const model::ProcessTrace& trace : replay.processes)
        gaps.emplace_back(trace.locations.empty() ? nothing : trace.locations.front(), same);
    Seen seen = see(replay, path, gaps);
    const std::vector<PlaceTime> times = choose(replay, path, seen);
    if (times.empty())
        return {};
    const Chosen chosen = find_gaps(replay, times, gaps, seen);
    Stretches result;
    result.is_on_path = std::move(seen.is_on_path);
    seen = Seen{GapPlaces(0), {}, {}, {}};
    Sums found = sum_up(replay, gaps, chosen);
    std::vector<GapPlace> places;
    std::ranges::transform(times, std::back_inserter(places), &PlaceTime::place);
    const std::vector<Meanwhile> meanwhile = others_at_work(replay, predecessors, gaps, chosen, nullptr);
    for (std::size_t i = 0; i < places.size(); ++i)
        found.stretches[i].others_at_work_ns =
            rounded(meanwhile[i].busy * static_cast<double>(found.stretches[i].looked_at_ns));
    compare_elsewhere(replay, predecessors, same, gaps, chosen, places, found);
    add_times(replay, chosen, found.stretches);
    for (std::size_t i = 0; i < times.size(); ++i) {
        Stretches::At at{times[i].place, same.way(replay.definitions, times[i].place.before),
                         same.way(replay.definitions, times[i].place.after), found.stretches[i]};
        at.sums.before_site = site_of(at.before);
        at.sums.after_site = site_of(at.after);
        result.stretches.push_back(std::move(at));
    }
    result.same = same;
    result.shares = collect(replay, std::move(found.shares));
    result.ranks = collect(replay, std::move(found.ranks));
    return result;
}

}  // namespace critpath::replayer
