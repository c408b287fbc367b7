// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/code_of_peers.hpp"

#include "replayer/attribute/divide.hpp"
#include "replayer/attribute/sample_weights.hpp"
#include "replayer/attribute/sampled_code.hpp"
#include "replayer/attribute/surroundings.hpp"
#include "replayer/attribute/team.hpp"
#include "replayer/common_bits.hpp"
#include "replayer/exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace critpath::replayer
{

namespace
{

using model::Ns;

constexpr std::uint32_t most_occurrences = std::uint32_t{1} << 20;  // of a stretch: later ones are as the others

/// The gaps of a process in order, with the occurrence of its stretch that each one is.
template <class Visit>
void for_each_occurrence(const StretchFinder& finder, std::size_t process, Visit visit)
{
    std::vector<std::uint32_t> seen(finder.stretches(), 0);
    finder.gaps(process).for_each_place([&](std::size_t gap, GapPlace place) {
        if (const std::uint32_t stretch = finder.stretch_of(place); stretch != GapPlaces::none)
            if (const std::uint32_t occurrence = seen[stretch]++; occurrence < most_occurrences)
                visit(gap, stretch, occurrence);
    });
}

/// Some occurrences of each stretch; the same on all processes.
class Occurrences
{
public:
    /// `most`: how many there are of each. Collective.
    Occurrences(MPI_Comm comm, std::vector<std::uint32_t> most) : begin_(begins(comm, most)), bits_(begin_.back()) {}

    void set(std::uint32_t stretch, std::uint32_t occurrence) { bits_.set(begin_[stretch] + occurrence); }
    [[nodiscard]] bool has(std::uint32_t stretch, std::uint32_t occurrence) const
    {
        return bits_.has(begin_[stretch] + occurrence);
    }

    /// Those of any process. Collective.
    void agree(MPI_Comm comm) { bits_.agree(comm); }

private:
    static std::vector<std::size_t> begins(MPI_Comm comm, std::vector<std::uint32_t>& most)
    {
        MPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_UINT32_T, MPI_MAX, comm);
        std::vector<std::size_t> result = {0};
        for (const std::uint32_t of_one : most)
            result.push_back(result.back() + of_one);
        return result;
    }

    std::vector<std::size_t> begin_;  // by stretch, and the end
    CommonBits bits_;
};

/// `is_on_path`: as Stretches::is_on_path.
Occurrences occurrences_on_path(const Replay& replay, const StretchFinder& finder,
                                const std::vector<std::vector<bool>>& is_on_path)
{
    std::vector<std::uint32_t> most(finder.stretches(), 0);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    for (std::size_t p = 0; p < finder.processes(); ++p)
        for_each_occurrence(finder, p, [&](std::size_t gap, std::uint32_t stretch, std::uint32_t occurrence) {
            most[stretch] = std::max(most[stretch], occurrence + 1);
            if (is_on_path[p][gap])
                found.emplace_back(stretch, occurrence);
        });
    Occurrences result(replay.comm, std::move(most));
    for (const auto& [stretch, occurrence] : found)
        result.set(stretch, occurrence);
    result.agree(replay.comm);
    return result;
}

/// What is done in the gaps of a process; they are asked for in their order.
class GapCode
{
public:
    GapCode(const Replay& replay, const SampledCode& code, const SampleWeights& weights, Gaps& gaps)
        : code_(code), weights_(weights), gaps_(gaps), has_samples_(replay.definitions.has_samples)
    {
    }

    /// Or nobody knows.
    [[nodiscard]] bool is_known() const { return !has_samples_ || !gaps_.location().samples.empty(); }

    /// Calls `add(context, address, ns, sampled_ns)`; an address of 0 is not known; `sampled_ns`: what that would be by
    /// the period of the sample, and 0 without one.
    template <class Add>
    void for_each(std::size_t gap, Add add)
    {
        const auto add_function = [&](const Place& place, std::uint64_t address, std::int64_t ns,
                                      std::int64_t sampled_ns) {
            if (place.pseudo == Pseudo::None && place.context.valid() && ns > 0)
                add(place.context, address, ns, sampled_ns);
        };
        const Ns begin = gaps_.begin_of(gap), end = gaps_.end_of(gap);
        if (!has_samples_) {
            Ns time = begin;
            for_each_user_region(gaps_.location(), begin, end, [&](Place place, std::int64_t ns) {
                add_function(place, 0, gaps_.recorded(time, time + Ns{ns}), 0);
                time += Ns{ns};
            });
            return;
        }
        const std::vector<model::Sample>& samples = gaps_.location().samples;
        while (next_ < samples.size() && samples[next_].time < begin)
            ++next_;
        for (; next_ < samples.size() && samples[next_].time < end; ++next_)
            if (samples[next_].context.valid() && !code_.waits_for_team(samples[next_].context))
                add_function(code_.place_of(samples[next_]), samples[next_].offset,
                             weights_.of(gaps_.location(), samples[next_]), samples[next_].weight);
    }

private:
    const SampledCode& code_;
    const SampleWeights& weights_;
    Gaps& gaps_;
    bool has_samples_;
    std::size_t next_ = 0;  // sample
};

/// What samples of functions in the gaps of a stretch stand for, on the path and off it: by the time there, and by
/// their periods.
struct SampledGaps {
    std::int64_t path_ns = 0, path_sampled_ns = 0;
    std::int64_t peers_ns = 0, peers_sampled_ns = 0;

    /// So many gaps with all of their samples tell as much of functions as `gaps` of the peers with those that the path
    /// has left them.
    [[nodiscard]] std::int64_t telling(std::int64_t gaps) const
    {
        constexpr double least = 0.5;  // of what samples would tell of a difference, if none were drawn
        const auto factor = [](std::int64_t ns, std::int64_t sampled_ns) {
            return sampled_ns > 0 ? static_cast<double>(ns) / static_cast<double>(sampled_ns) : 1;
        };
        if (gaps == 0)
            return 0;
        const double left = factor(path_ns, path_sampled_ns) / factor(peers_ns, peers_sampled_ns);
        return left < least ? 1 : std::clamp<std::int64_t>(rounded(static_cast<double>(gaps) * left), 1, gaps);
    }
};

/// Where the first threads of processes are blocked in gaps, and not for other threads of these; as PathDivider has it
/// on the path.
class BlockedInGaps
{
public:
    explicit BlockedInGaps(const Replay& replay) : replay_(replay), surroundings_(replay.definitions.contexts) {}

    /// Calls `add(place, ns)`.
    template <class Add>
    void for_each(const model::ProcessTrace& trace, const Gaps& gaps, std::size_t gap, Add add)
    {
        const model::LocationTrace& location = gaps.location();
        const Ns begin = gaps.begin_of(gap), end = gaps.end_of(gap);
        for (auto off = std::ranges::upper_bound(location.off, begin, {}, &model::OffProcessor::end);
             off != location.off.end() && off->begin < end; ++off) {
            if (off->preempted)
                continue;
            const Ns from = std::max(begin, off->begin), to = std::min(end, off->end);
            if (const std::int64_t ns = not_for_threads(trace, *off, from, to); ns > 0)
                add(Place{surroundings_.of(location, *off, from, to), Pseudo::Blocked}, ns);
        }
    }

private:
    std::int64_t not_for_threads(const model::ProcessTrace& trace, const model::OffProcessor& off, Ns begin, Ns end)
    {
        if (trace.locations.size() < 2)
            return (end - begin).count();
        if (!code_)
            code_.emplace(replay_.definitions, replay_.processes);
        const Waiter waiter = waiter_of(trace, trace.locations.front().location, off, begin, end, *code_);
        return idle_for(waiter, *code_) - time_of(preemption_of_others(waiter, *code_));
    }

    const Replay& replay_;
    Surroundings surroundings_;
    std::optional<SampledCode> code_;  // once there are threads
};

/// What of a stretch of the path its peers may have, too.
struct OnPath {
    bool functions = false, blocked = false;
};

/// The same on all processes.
OnPath on_path_of_any(const Replay& replay, const Tally& tally)
{
    OnPath here;
    for (const auto& [key, amount] : tally.stretch_code) {
        const Place& place = key.second;
        here.functions = here.functions || (place.pseudo == Pseudo::None && place.context.valid());
        here.blocked = here.blocked || place.pseudo == Pseudo::Blocked;
    }
    return {on_any(replay.comm, here.functions), on_any(replay.comm, here.blocked)};
}

}  // namespace

CodeOfPeers code_of_peers(const Replay& replay, const std::vector<std::vector<bool>>& is_on_path, StretchFinder& finder,
                          const SampleWeights& weights, const Tally& tally)
{
    const std::size_t number = finder.stretches();
    CodeOfPeers result{{}, {}, std::vector<std::int64_t>(number, 0), std::vector<std::int64_t>(number, 0)};
    if (number == 0)
        return result;
    const OnPath any = on_path_of_any(replay, tally);
    if (!any.functions && !any.blocked)
        return result;
    const Occurrences occurrences = occurrences_on_path(replay, finder, is_on_path);
    const SampledCode code(replay.definitions);
    BlockedInGaps blocked(replay);
    std::vector<SampledGaps> sampled(number);
    for (std::size_t p = 0; p < finder.processes(); ++p) {
        GapCode of_gaps(replay, code, weights, finder.all_gaps()[p]);
        if (!of_gaps.is_known())
            continue;
        for_each_occurrence(finder, p, [&](std::size_t gap, std::uint32_t stretch, std::uint32_t occurrence) {
            SampledGaps& sums = sampled[stretch];
            if (is_on_path[p][gap]) {
                of_gaps.for_each(gap, [&](model::ContextId, std::uint64_t, std::int64_t ns, std::int64_t sampled_ns) {
                    sums.path_ns += ns;
                    sums.path_sampled_ns += sampled_ns;
                });
                return;
            }
            if (!occurrences.has(stretch, occurrence))
                return;
            ++result.gaps[stretch];
            const auto add = [&](model::ContextId context, std::uint64_t address, std::int64_t ns,
                                 std::int64_t sampled_ns) {
                sums.peers_ns += ns;
                sums.peers_sampled_ns += sampled_ns;
                result.own[{stretch, Place{context}}] += ns;
                if (address != 0)
                    result.addresses[{stretch, replay.definitions.contexts[context.value].region.value, address}] += ns;
            };
            of_gaps.for_each(gap, add);
            if (any.blocked)
                blocked.for_each(replay.processes[p], finder.gaps(p), gap, [&](const Place& place, std::int64_t ns) {
                    result.own[{stretch, place}] += ns;
                });
        });
    }
    constexpr std::size_t numbers = sizeof(SampledGaps) / sizeof(std::int64_t);
    MPI_Allreduce(MPI_IN_PLACE, result.gaps.data(), static_cast<int>(number), MPI_INT64_T, MPI_SUM, replay.comm);
    MPI_Allreduce(MPI_IN_PLACE, sampled.data(), static_cast<int>(number * numbers), MPI_INT64_T, MPI_SUM, replay.comm);
    for (std::size_t i = 0; i < number; ++i)
        result.telling_gaps[i] = sampled[i].telling(result.gaps[i]);
    return result;
}

}  // namespace critpath::replayer
