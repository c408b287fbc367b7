// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/code_of_peers.hpp"

#include "replayer/attribute/divide.hpp"
#include "replayer/attribute/sampled_code.hpp"
#include "replayer/common_bits.hpp"
#include "replayer/exchange.hpp"

#include <algorithm>
#include <cstddef>

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
    for (std::size_t gap = 0; gap < finder.gaps(process).end(); ++gap)
        if (const std::uint32_t stretch = finder.stretch_of(process, gap); stretch != GapPlaces::none)
            if (const std::uint32_t occurrence = seen[stretch]++; occurrence < most_occurrences)
                visit(gap, stretch, occurrence);
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

/// By index into Replay::processes, ascending.
using GapsByProcess = std::vector<std::vector<std::size_t>>;

Occurrences occurrences_on_path(const Replay& replay, const StretchFinder& finder, const GapsByProcess& on_path)
{
    std::vector<std::uint32_t> most(finder.stretches(), 0);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    for (std::size_t p = 0; p < finder.processes(); ++p) {
        auto next = on_path[p].begin();
        for_each_occurrence(finder, p, [&](std::size_t gap, std::uint32_t stretch, std::uint32_t occurrence) {
            most[stretch] = std::max(most[stretch], occurrence + 1);
            while (next != on_path[p].end() && *next < gap)
                ++next;
            if (next != on_path[p].end() && *next == gap)
                found.emplace_back(stretch, occurrence);
        });
    }
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
    GapCode(const Replay& replay, const SampledCode& code, Gaps& gaps)
        : code_(code), gaps_(gaps), has_samples_(replay.definitions.has_samples)
    {
    }

    /// Or nobody knows.
    [[nodiscard]] bool is_known() const { return !has_samples_ || !gaps_.location().samples.empty(); }

    /// Calls `add(context, address, ns)`; an address of 0 is not known.
    template <class Add>
    void for_each(std::size_t gap, Add add)
    {
        const auto add_function = [&](const Place& place, std::uint64_t address, std::int64_t ns) {
            if (place.pseudo == Pseudo::None && place.context.valid() && ns > 0)
                add(place.context, address, ns);
        };
        const Ns begin = gaps_.begin_of(gap), end = gaps_.end_of(gap);
        if (!has_samples_) {
            Ns time = begin;
            for_each_user_region(gaps_.location(), begin, end, [&](Place place, std::int64_t ns) {
                add_function(place, 0, gaps_.recorded(time, time + Ns{ns}));
                time += Ns{ns};
            });
            return;
        }
        const std::vector<model::Sample>& samples = gaps_.location().samples;
        while (next_ < samples.size() && samples[next_].time < begin)
            ++next_;
        for (; next_ < samples.size() && samples[next_].time < end; ++next_)
            if (samples[next_].context.valid() && !code_.waits_for_team(samples[next_].context))
                add_function(code_.place_of(samples[next_]), samples[next_].offset, samples[next_].weight);
    }

private:
    const SampledCode& code_;
    Gaps& gaps_;
    bool has_samples_;
    std::size_t next_ = 0;  // sample
};

}  // namespace

CodeOfPeers code_of_peers(const Replay& replay, const Path& path, StretchFinder& finder, const Tally& tally)
{
    const std::size_t number = finder.stretches();
    CodeOfPeers result{{}, {}, std::vector<std::int64_t>(number, 0)};
    if (number == 0)
        return result;
    const bool any_function = std::ranges::any_of(tally.stretch_code, [](const auto& code) {
        return code.first.second.pseudo == Pseudo::None && code.first.second.context.valid();
    });
    if (!on_any(replay.comm, any_function))
        return result;
    GapsByProcess on_path(finder.processes());
    for_each_gap_on_path(replay, path, finder.all_gaps(),
                         [&](const GapOnPath& gap) { on_path[gap.process].push_back(gap.gap); });
    const Occurrences occurrences = occurrences_on_path(replay, finder, on_path);
    const SampledCode code(replay.definitions);
    for (std::size_t p = 0; p < finder.processes(); ++p) {
        GapCode of_gaps(replay, code, finder.all_gaps()[p]);
        if (!of_gaps.is_known())
            continue;
        for_each_occurrence(finder, p, [&](std::size_t gap, std::uint32_t stretch, std::uint32_t occurrence) {
            if (!occurrences.has(stretch, occurrence) || std::ranges::binary_search(on_path[p], gap))
                return;
            ++result.gaps[stretch];
            of_gaps.for_each(gap, [&](model::ContextId context, std::uint64_t address, std::int64_t ns) {
                result.own[{stretch, context.value}] += ns;
                if (address != 0)
                    result.addresses[{stretch, replay.definitions.contexts[context.value].region.value, address}] += ns;
            });
        });
    }
    MPI_Allreduce(MPI_IN_PLACE, result.gaps.data(), static_cast<int>(number), MPI_INT64_T, MPI_SUM, replay.comm);
    return result;
}

}  // namespace critpath::replayer
