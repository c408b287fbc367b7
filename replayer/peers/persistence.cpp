// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/support/mixed.hpp"
#include "replayer/exchange.hpp"
#include "replayer/peers/chosen.hpp"
#include "replayer/peers/variance.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace critpath::replayer
{

namespace
{

constexpr std::int64_t most_occurrences = 1024;  // that are looked at, of each place
constexpr double nearly = 0.25;  // of the way from the slowest rank to the fastest: who takes nearly as long

void sum(const Replay& replay, std::vector<std::int64_t>& values)
{
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_SUM, replay.comm);
}

/// By ProcessId.
std::vector<std::uint32_t> number_nodes(const Replay& replay, std::size_t& nodes)
{
    std::map<std::string, std::uint32_t> numbers;
    std::vector<std::uint32_t> result;
    for (const model::Process& process : replay.definitions.processes)
        result.push_back(numbers.try_emplace(process.node, static_cast<std::uint32_t>(numbers.size())).first->second);
    nodes = numbers.size();
    return result;
}

/// By place: on how many processes it has at least so many occurrences (`least`, by place).
std::vector<std::int64_t> count_ranks(const Replay& replay, const Chosen& chosen,
                                      const std::vector<std::int64_t>& least)
{
    std::vector<std::int64_t> counts;
    for (std::size_t place = 0; place < chosen.places(); ++place)
        counts.push_back(std::ranges::count_if(chosen.gaps(place), [&](const auto& list) {
            return static_cast<std::int64_t>(list.size()) >= least[place];
        }));
    sum(replay, counts);
    return counts;
}

/// By place: the most occurrences, from `low` to `high`, that so many processes have (`needed`); `low` if none are.
std::vector<std::int64_t> most_occurrences_of(const Replay& replay, const Chosen& chosen, std::vector<std::int64_t> low,
                                              std::vector<std::int64_t> high, const std::vector<std::int64_t>& needed)
{
    std::vector<std::int64_t> middle(low.size());
    while (low != high) {
        for (std::size_t place = 0; place < low.size(); ++place)
            middle[place] = high[place] - (high[place] - low[place]) / 2;
        const auto have = count_ranks(replay, chosen, middle);
        for (std::size_t place = 0; place < low.size(); ++place) {
            if (have[place] >= needed[place])
                low[place] = middle[place];
            else
                high[place] = middle[place] - 1;
        }
    }
    return low;
}

/// By place: as many occurrences as three of four have, of the ranks that come there at all; or an eighth less, if more
/// of them have so many. One that comes there once less must not be left out: in a ring it is the first one.
std::vector<std::int64_t> common_occurrences(const Replay& replay, const Chosen& chosen)
{
    const std::size_t places = chosen.places();
    const std::vector<std::int64_t> one(places, 1);
    std::vector<std::int64_t> high(places, 1);  // no more than that
    for (std::size_t place = 0; place < places; ++place)
        for (const auto& list : chosen.gaps(place))
            high[place] = std::max(high[place], static_cast<std::int64_t>(list.size()));
    MPI_Allreduce(MPI_IN_PLACE, high.data(), static_cast<int>(places), MPI_INT64_T, MPI_MAX, replay.comm);
    std::vector<std::int64_t> needed = count_ranks(replay, chosen, one);
    for (std::int64_t& ranks : needed)
        ranks = (3 * ranks + 3) / 4;
    const std::vector<std::int64_t> common = most_occurrences_of(replay, chosen, one, high, needed);
    std::vector<std::int64_t> fewer = common;
    for (std::int64_t& occurrences : fewer)
        occurrences -= occurrences / 8;
    return most_occurrences_of(replay, chosen, fewer, common, count_ranks(replay, chosen, fewer));
}

/// Lowers those of places where the rank that takes most longer on the path has fewer: a worker that is slow comes
/// there less often for that alone, and is what is asked about. `common`: as common_occurrences().
void let_in_carriers(const Replay& replay, const Chosen& chosen, const std::vector<model::StretchShare>& shares,
                     std::vector<std::int64_t>& common)
{
    constexpr std::int64_t enough = 4;  // that chance can be told from what is always so
    std::vector<std::int64_t> longest(common.size(), 0);
    for (const model::StretchShare& share : shares)
        longest[share.stretch] = std::max(longest[share.stretch], share.longer_ns);
    const auto count = static_cast<int>(common.size());
    MPI_Allreduce(MPI_IN_PLACE, longest.data(), count, MPI_INT64_T, MPI_MAX, replay.comm);
    std::vector<std::int64_t> occurrences(common.size(), 0);
    for (const model::StretchShare& share : shares) {
        const auto& list = chosen.gaps(share.stretch)[replay.index_of(share.process)];
        if (share.longer_ns > 0 && share.longer_ns == longest[share.stretch])
            occurrences[share.stretch] = std::max(occurrences[share.stretch], static_cast<std::int64_t>(list.size()));
    }
    MPI_Allreduce(MPI_IN_PLACE, occurrences.data(), count, MPI_INT64_T, MPI_MAX, replay.comm);
    for (std::size_t place = 0; place < common.size(); ++place)
        if (occurrences[place] >= enough)
            common[place] = std::min(common[place], occurrences[place]);
}

/// What an owned rank takes at a place in the mean, against the mean of all ranks: a logarithm, as fixed_log has it.
struct RankEffect {
    std::int64_t rank;
    std::int64_t effect;
};

/// Which time of gaps is looked at.
enum class Time {
    All,
    NotPreempted,
};

/// The ranks that have so many occurrences of one place.
class Model
{
public:
    Model(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen, std::size_t place, Time time,
          std::int64_t common)
        : replay_(replay), gaps_(gaps), chosen_(chosen), place_(place), time_(time), lists_(chosen.gaps(place)),
          common_(common)
    {
        sums_.occurrences = std::min(common, most_occurrences);
    }

    /// `node_of`: by ProcessId.
    Variances estimate(const std::vector<std::uint32_t>& node_of, std::size_t nodes)
    {
        const std::vector<Occurrence> occurrences = look_at_occurrences();
        const std::vector<std::size_t> most = with_most_time(occurrences);
        sums_.occurrences = static_cast<std::int64_t>(most.size());
        std::size_t logs = 0;
        std::vector<std::int64_t> flat(2 + 2 * nodes, 0);
        std::vector<std::int64_t> differences(most.size());
        for_each_rank([&](std::size_t p) {
            for (std::size_t i = 0; i < most.size(); ++i)
                differences[i] = logs_[logs + most[i]] - occurrences[most[i]].mean_log;
            logs += occurrences.size();
            const Effect effect = effect_of(differences);
            const std::uint32_t rank = replay_.processes[p].process.value;
            effects_.push_back({rank, effect.mean});
            const std::size_t node = node_of[rank];
            flat[0] += effect.squared;
            flat[1] += effect.rest;
            flat[2 + 2 * node] += 1;
            flat[3 + 2 * node] += effect.mean;
        });
        sum(replay_, flat);
        sums_.squared = flat[0];
        sums_.rest = flat[1];
        for (std::size_t node = 0; node < nodes; ++node)
            sums_.nodes.push_back({flat[2 + 2 * node], flat[3 + 2 * node]});
        return variances(sums_);
    }

    [[nodiscard]] const EffectSums& sums() const { return sums_; }
    [[nodiscard]] std::vector<RankEffect> take_effects() { return std::move(effects_); }

private:
    template <class Visit>
    void for_each_rank(Visit visit) const
    {
        for (std::size_t p = 0; p < lists_.size(); ++p)
            if (static_cast<std::int64_t>(lists_[p].size()) >= common_)
                visit(p);
    }

    /// The i-th occurrence that is looked at: one of each of so many equal parts of the run, by no pattern that the
    /// work could have as well.
    [[nodiscard]] std::size_t drawn(std::size_t i) const
    {
        const auto part = static_cast<std::int64_t>(i);
        const std::int64_t begin = part * common_ / sums_.occurrences;
        const std::int64_t length = (part + 1) * common_ / sums_.occurrences - begin;
        return static_cast<std::size_t>(begin) + random_bits(i) % static_cast<std::uint64_t>(length);
    }

    [[nodiscard]] std::int64_t time_of(std::size_t p, std::size_t occurrence)
    {
        if (chosen_.spans == nullptr && time_ == Time::All) {
            const std::uint32_t gap = lists_[p][occurrence];
            return gaps_[p].recorded(gaps_[p].begin_of(gap), gaps_[p].end_of(gap));
        }
        const Gap gap = chosen_.measure(gaps_[p], chosen_.range(place_, p, occurrence));
        return time_ == Time::All ? gap.ns : gap.time() - gap.runnable() + gap.on_processor();
    }

    /// Of all ranks. One in which no rank does what is compared has no time: it may be something else altogether.
    struct Occurrence {
        std::int64_t mean_log;
        std::int64_t ns;
    };

    std::vector<Occurrence> look_at_occurrences()
    {
        const auto count = static_cast<std::size_t>(sums_.occurrences);
        std::vector<std::int64_t> flat(3 * count + 1, 0);
        std::vector<std::size_t> looked_at;
        for (std::size_t i = 0; i < count; ++i)
            looked_at.push_back(drawn(i));
        for_each_rank([&](std::size_t p) {
            for (std::size_t i = 0; i < count; ++i) {
                const std::int64_t ns = time_of(p, looked_at[i]);
                logs_.push_back(fixed_log(ns));
                flat[3 * i] += logs_.back();
                flat[3 * i + 1] += ns;
                flat[3 * i + 2] += chosen_.is_there(place_, p, looked_at[i]) ? 1 : 0;
            }
            flat.back() += 1;
        });
        sum(replay_, flat);
        sums_.ranks = flat.back();
        std::vector<Occurrence> result;
        for (std::size_t i = 0; i < count; ++i)
            result.push_back(
                {flat[3 * i] / std::max<std::int64_t>(sums_.ranks, 1), flat[3 * i + 2] > 0 ? flat[3 * i + 1] : 0});
        return result;
    }

    /// Without those of next to nothing, ascending: a call in a loop has as many of them as it likes between those
    /// where the work is, and how they differ is chance.
    static std::vector<std::size_t> with_most_time(const std::vector<Occurrence>& occurrences)
    {
        constexpr double nearly_all_time = 0.95, much_less = 10;
        std::vector<std::size_t> result(occurrences.size());
        std::iota(result.begin(), result.end(), std::size_t{0});
        std::ranges::stable_sort(result, std::ranges::greater(), [&](std::size_t i) { return occurrences[i].ns; });
        const auto add = [](double sum, const Occurrence& o) { return sum + static_cast<double>(o.ns); };
        const double of_all = nearly_all_time * std::accumulate(occurrences.begin(), occurrences.end(), 0.0, add);
        if (of_all == 0)  // what is compared is in none that is looked at
            return result;
        std::size_t most = 0;
        double sum = 0;
        const auto next = [&] { return static_cast<double>(occurrences[result[most]].ns); };
        for (; most < result.size() && sum < of_all; ++most)
            sum += next();
        for (const double little = sum / static_cast<double>(most) / much_less; most < result.size(); ++most)
            if (next() < little)
                break;
        result.resize(most);
        std::ranges::sort(result);
        return result;
    }

    const Replay& replay_;
    std::vector<Gaps>& gaps_;
    const Chosen& chosen_;
    std::size_t place_;
    Time time_;
    const std::vector<std::vector<std::uint32_t>>& lists_;
    std::int64_t common_;
    EffectSums sums_;
    std::vector<std::int64_t> logs_;  // of the ranks that are visited, and of each, by occurrence
    std::vector<RankEffect> effects_;
};

/// Fills in how many ranks are slow, which one most and which one least. `effects`: by place, of the owned ranks.
void compare_ranks(const Replay& replay, const std::vector<std::vector<RankEffect>>& effects,
                   std::vector<model::Stretch>& stretches)
{
    struct Extremes {
        std::int64_t slowest = INT64_MIN;
        std::int64_t fastest = INT64_MIN;  // less than 0, so that one maximum finds both
    };
    const std::size_t places = effects.size();
    std::vector<Extremes> extremes(places);
    for (std::size_t place = 0; place < places; ++place)
        for (const RankEffect& rank : effects[place]) {
            extremes[place].slowest = std::max(extremes[place].slowest, rank.effect);
            extremes[place].fastest = std::max(extremes[place].fastest, -rank.effect);
        }
    MPI_Allreduce(MPI_IN_PLACE, extremes.data(), static_cast<int>(2 * places), MPI_INT64_T, MPI_MAX, replay.comm);

    std::vector<std::int64_t> slow_ranks(places, 0);
    struct Ranks {
        std::int64_t slowest = INT64_MAX;
        std::int64_t fastest = INT64_MAX;
    };
    std::vector<Ranks> ranks(places);
    for (std::size_t place = 0; place < places; ++place) {
        const std::int64_t slowest = extremes[place].slowest, fastest = extremes[place].fastest;
        const auto time_of = [&](std::int64_t effect) {  // of that of the slowest
            return std::exp(static_cast<double>(effect - slowest) / fixed_one);
        };
        for (const RankEffect& rank : effects[place]) {
            slow_ranks[place] += time_of(rank.effect) >= 1 - nearly * (1 - time_of(-fastest)) ? 1 : 0;
            if (rank.effect == slowest)
                ranks[place].slowest = std::min(ranks[place].slowest, rank.rank);
            if (rank.effect == -fastest)
                ranks[place].fastest = std::min(ranks[place].fastest, rank.rank);
        }
        if (slowest != INT64_MIN)
            stretches[place].fastest_time = std::llround(time_of(-fastest) * 1e9);
    }
    sum(replay, slow_ranks);
    MPI_Allreduce(MPI_IN_PLACE, ranks.data(), static_cast<int>(2 * places), MPI_INT64_T, MPI_MIN, replay.comm);
    for (std::size_t place = 0; place < places; ++place) {
        stretches[place].slow_ranks = slow_ranks[place];
        stretches[place].slowest_rank = slow_ranks[place] > 0 ? ranks[place].slowest : -1;
        stretches[place].fastest_rank = slow_ranks[place] > 0 ? ranks[place].fastest : -1;
    }
}

/// Fills in how those that take longer on the path differ from all others, each weighed by what it takes longer there:
/// one slow rank of many is next to nothing of the variance between ranks. As if each and the mean of the others were
/// two ranks; less what the largest of so many differ by chance. `effects`: by place, of the owned ranks.
void compare_carriers(const Replay& replay, const std::vector<std::vector<RankEffect>>& effects,
                      const std::vector<model::StretchShare>& shares, std::vector<model::Stretch>& stretches)
{
    constexpr double one = 1 << 16;
    std::vector<std::int64_t> longer(stretches.size(), 0);
    for (const model::StretchShare& share : shares)
        longer[share.stretch] += std::max<std::int64_t>(share.longer_ns, 0);
    sum(replay, longer);
    std::vector<std::int64_t> squares(stretches.size(), 0);
    for (const model::StretchShare& share : shares) {
        const auto& ranks = effects[share.stretch];  // ascending, as the owned processes
        const std::int64_t rank = share.process.value;
        const auto found = std::ranges::lower_bound(ranks, rank, {}, &RankEffect::rank);
        if (share.longer_ns <= 0 || found == ranks.end() || found->rank != rank || found->effect <= 0)
            continue;
        const double weight = static_cast<double>(share.longer_ns) / static_cast<double>(longer[share.stretch]);
        const double effect = static_cast<double>(found->effect) / fixed_one;
        squares[share.stretch] += std::llround(weight * one) * std::llround(effect * effect * one);
    }
    sum(replay, squares);
    for (std::size_t place = 0; place < stretches.size(); ++place) {
        model::Stretch& s = stretches[place];
        if (!s.has_model())
            continue;
        const auto ranks = static_cast<double>(s.ranks);
        const double from_others = ranks / (ranks - 1);
        const double chance = static_cast<double>(s.noise_variance) / static_cast<double>(s.occurrences);
        const double variance = 1e9 * static_cast<double>(squares[place]) / (one * one) * from_others * from_others / 2;
        s.carrier_variance = std::llround(std::max(0.0, variance - std::max(1.0, std::log(ranks)) * chance));
    }
}

/// Fills in all that is told of the places. `common`: of them, as common_occurrences().
void tell(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen,
          const std::vector<model::StretchShare>& shares, Time time, const std::vector<std::int64_t>& common,
          std::vector<model::Stretch>& stretches)
{
    std::size_t nodes = 0;
    const std::vector<std::uint32_t> node_of = number_nodes(replay, nodes);
    const auto stored = [](double variance) { return std::llround(variance * 1e9); };
    std::vector<std::vector<RankEffect>> effects;
    for (std::size_t place = 0; place < stretches.size(); ++place) {
        Model here(replay, gaps, chosen, place, time, common[place]);
        const Variances found = here.estimate(node_of, nodes);
        model::Stretch& stretch = stretches[place];
        stretch.ranks = here.sums().ranks;
        stretch.nodes = found.nodes;
        stretch.occurrences = here.sums().occurrences;
        stretch.rank_variance = stored(found.rank);
        stretch.noise_variance = stored(found.noise);
        stretch.node_variance = stored(found.node);
        stretch.node_rest_variance = stored(found.node_rest);
        effects.push_back(here.take_effects());
    }
    compare_ranks(replay, effects, stretches);
    compare_carriers(replay, effects, shares, stretches);
}

/// Whether what takes longer is not for want of a processor alone: with one it would, too, by half as much or more, so
/// that both are told. Else what persists of the rest would be said of a difference that is something else.
bool is_longer_with_processor(const Longer& longer)
{
    return longer.path_ns > 0 && 2 * (longer.path_ns - longer.preempted_ns) >= longer.preempted_ns;
}

/// A part that persists, and is no more than a twentieth of what peers take, is not worth to be told.
bool is_notable_with_processor(const Longer& longer)
{
    return 20 * (longer.path_ns - longer.preempted_ns) >= longer.peers_ns && longer.path_ns > 0;
}

/// Else all time is time that was not preempted. Collective.
bool lacks_any_processors(const Replay& replay)
{
    return on_any(replay.comm, std::ranges::any_of(replay.processes, [](const model::ProcessTrace& trace) {
                      return !trace.locations.empty() && !trace.locations.front().off.empty();
                  }));
}

/// Of the variance, what persists.
double persistent_part(const model::Stretch& s)
{
    const auto persistent = static_cast<double>(std::max(s.rank_variance, s.carrier_variance));
    const double all = persistent + static_cast<double>(s.noise_variance);
    return all > 0 ? persistent / all : 0;
}

/// Whether those that take longer take half as long again as the mean of the others, always.
bool is_much_longer_always(const model::Stretch& s)
{
    const double much = std::log(1.5);
    return persistent_part(s) >= 0.5 && static_cast<double>(s.carrier_variance) >= 1e9 * much * much / 2;
}

}  // namespace

void find_persistence(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen,
                      const std::vector<model::StretchShare>& shares, const std::vector<Longer>& longer,
                      std::vector<model::Stretch>& stretches)
{
    std::vector<std::int64_t> common = common_occurrences(replay, chosen);
    let_in_carriers(replay, chosen, shares, common);
    tell(replay, gaps, chosen, shares, Time::All, common, stretches);
    const auto may_count = [](const Longer& l) { return is_longer_with_processor(l) || is_notable_with_processor(l); };
    if (std::ranges::none_of(longer, may_count) || !lacks_any_processors(replay))
        return;
    std::vector<model::Stretch> not_preempted = stretches;
    tell(replay, gaps, chosen, shares, Time::NotPreempted, common, not_preempted);
    for (std::size_t place = 0; place < stretches.size(); ++place) {
        const double of_all = persistent_part(stretches[place]), of_rest = persistent_part(not_preempted[place]);
        const bool is_other_rank = not_preempted[place].slowest_rank != stretches[place].slowest_rank;
        // What the machine does by chance may be any times as much as what the program does each time.
        const bool is_hidden = is_notable_with_processor(longer[place]) && is_much_longer_always(not_preempted[place]);
        if ((is_longer_with_processor(longer[place]) || is_hidden) && of_rest > of_all &&
            (of_all < 0.5 || !is_other_rank)) {
            stretches[place] = not_preempted[place];
            stretches[place].not_preempted = 1;
        }
    }
}

}  // namespace critpath::replayer
