// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/sample_weights.hpp"

#include "replayer/exchange.hpp"
#include "replayer/growing_list.hpp"
#include "replayer/peers/gaps.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace critpath::replayer
{

namespace
{

using model::Ns;
using model::Sample;

constexpr std::int64_t million = 1'000'000;

/// What is known of samples at one place of the program, or at several.
struct PlaceSum {
    std::int64_t ns = 0;       // on a processor, what they divide
    std::int64_t sampled = 0;  // what they stand for by their periods, ns
    std::int64_t samples = 0;
    std::int64_t unknown = 0;  // samples of nobody knows what; their periods are not in `sampled`

    void add(const PlaceSum& more)
    {
        ns += more.ns;
        sampled += more.sampled;
        samples += more.samples;
        unknown += more.unknown;
    }
};

enum Where : std::size_t { OnPath, OffPath, Anywhere };

/// On the path, and off it.
using Both = std::array<PlaceSum, Anywhere>;

void add(const Both& more, Both& to)
{
    for (const Where where : {OnPath, OffPath})
        to[where].add(more[where]);
}

Both sum_of_all(const Replay& replay, Both sums)
{
    constexpr int numbers = static_cast<int>(sizeof(Both) / sizeof(std::int64_t));
    MPI_Allreduce(MPI_IN_PLACE, &sums, numbers, MPI_INT64_T, MPI_SUM, replay.comm);
    return sums;
}

/// An owned place, as one process tells another of it.
struct PlaceRecord {
    GapPlace place;
    Both sums;
};

struct Part {
    Ns begin, end;
};

/// The gaps of the owned processes and the samples in them, by place.
class OwnPlaces
{
public:
    OwnPlaces(const Replay& replay, const Path& path, const SameCalls& same)
        : replay_(replay), places_(replay.definitions.contexts.size()), parts_on_path_(replay.processes.size())
    {
        for (const model::ProcessTrace& trace : replay.processes)
            gaps_.emplace_back(trace.locations.empty() ? nothing_ : trace.locations.front(), same);
        for_each_part_on_path(replay, path, gaps_, [&](std::size_t p, std::size_t gap, Ns begin, Ns end) {
            parts_on_path_[p].push_back({begin, end});
            const std::int64_t ns = time_of(gaps_[p], begin, end);
            Both& sums = sums_at(gaps_[p].place(gap));
            sums[OnPath].ns += ns;
            sums[OffPath].ns -= ns;
        });
        for (std::size_t p = 0; p < gaps_.size(); ++p) {
            for (std::size_t gap = 0; gap < gaps_[p].end(); ++gap)
                sums_at(gaps_[p].place(gap))[OffPath].ns +=
                    time_of(gaps_[p], gaps_[p].begin_of(gap), gaps_[p].end_of(gap));
            for_each_sample(p, [&](const Sample& sample, std::uint32_t place, Where where) {
                PlaceSum& sum = sums_[place][where];
                if (sample.context.valid())
                    sum.add({0, sample.weight, 1, 0});
                else
                    ++sum.unknown;
            });
        }
    }

    /// Calls `visit(sample, place, where)` for the samples in the gaps of a process that are no time of the collector.
    template <class Visit>
    void for_each_sample(std::size_t process, Visit visit)
    {
        Gaps& gaps = gaps_[process];
        GrowingList<Part>::Reader parts(parts_on_path_[process]);
        for (const Sample& sample : gaps.location().samples) {
            const std::size_t gap = gaps.first_behind(sample.time);
            if (gap >= gaps.end() || gaps.begin_of(gap) > sample.time ||
                gaps.recorded(sample.time, sample.time + Ns{1}) == 0)
                continue;
            while (parts.peek() != nullptr && parts.peek()->end <= sample.time)
                parts.next();
            const bool is_on_path = parts.peek() != nullptr && parts.peek()->begin <= sample.time;
            visit(sample, places_.find(gaps.place(gap)), is_on_path ? OnPath : OffPath);
        }
    }

    [[nodiscard]] const std::vector<GapPlace>& places() const { return places_.places(); }
    [[nodiscard]] const std::vector<Both>& sums() const { return sums_; }

private:
    /// With a processor.
    static std::int64_t time_of(Gaps& gaps, Ns begin, Ns end)
    {
        const std::int64_t off = (end - begin).count() - gaps.on_processor(begin, end);
        return std::max<std::int64_t>(gaps.recorded(begin, end) - off, 0);
    }
    Both& sums_at(GapPlace place)
    {
        const std::uint32_t i = places_.add(place);
        if (i == sums_.size())
            sums_.emplace_back();
        return sums_[i];
    }

    const Replay& replay_;
    const model::LocationTrace nothing_;
    std::vector<Gaps> gaps_;  // by index into Replay::processes
    GapPlaces places_;
    std::vector<Both> sums_;                        // by place
    std::vector<GrowingList<Part>> parts_on_path_;  // by index into Replay::processes, in the order of time
};

/// The sums of all processes for the places of this one, in their order. Collective.
std::vector<Both> sums_of_places(const Replay& replay, const OwnPlaces& own)
{
    const auto processes = static_cast<std::uint64_t>(replay.size);
    const auto owner = [&](GapPlace place) {
        return static_cast<std::size_t>((std::uint64_t{place.before.value} * 31 + place.after.value) % processes);
    };
    auto out = lists_for<PlaceRecord>(replay.size);
    for (std::size_t i = 0; i < own.places().size(); ++i)
        out[owner(own.places()[i])].push_back({own.places()[i], own.sums()[i]});
    const Received<PlaceRecord> parts = replayer::exchange(replay.comm, out);
    GapPlaces places(replay.definitions.contexts.size());
    std::vector<Both> sums;
    for (const PlaceRecord& part : parts.items) {
        const std::uint32_t i = places.add(part.place);
        sums.resize(std::max<std::size_t>(sums.size(), i + 1));
        add(part.sums, sums[i]);
    }
    auto back = lists_for<Both>(replay.size);
    for (int source = 0; source < replay.size; ++source)
        for (const PlaceRecord& part : parts.from(source))
            back[static_cast<std::size_t>(source)].push_back(sums[places.find(part.place)]);
    const Received<Both> answers = replayer::exchange(replay.comm, back);
    std::vector<std::size_t> next(answers.begin.begin(), answers.begin.end());
    std::vector<Both> result;
    for (const GapPlace& place : own.places())
        result.push_back(answers.items[next[owner(place)]++]);
    return result;
}

/// By what samples are to be multiplied, on the path and off it.
using Factors = std::array<double, Anywhere>;

/// What is the same for all places.
struct Scale {
    double mean;     // of what samples stand for, ns
    bool knows_off;  // the time without a processor is known, so that the place's time is

    /// By what the samples of the place are to be multiplied to stand for its time.
    [[nodiscard]] double factor_of(const PlaceSum& place) const
    {
        const double sampled = static_cast<double>(place.sampled) + mean * static_cast<double>(place.unknown);
        return place.sampled == 0 ? 1 : static_cast<double>(std::max<std::int64_t>(place.ns, 0)) / sampled;
    }
    /// On the path by no more than chance leaves out of so few. Who is drawn to the path by samples is missing off it:
    /// by no more than that there.
    [[nodiscard]] Factors factors_of(const Both& place) const
    {
        constexpr double z = 1.96;  // the upper end of the score interval of a Poisson variable, 95 %
        const auto n = static_cast<double>(std::max<std::int64_t>(place[OnPath].samples, 1));
        const double most = knows_off ? 1 + (z * z / 2 + z * std::sqrt(n + z * z / 4)) / n : 1;
        const std::int64_t drawn = std::max<std::int64_t>(place[OnPath].sampled - place[OnPath].ns, 0);
        const double most_off =
            1 + static_cast<double>(drawn) / static_cast<double>(std::max<std::int64_t>(place[OffPath].sampled, 1));
        return {std::min(factor_of(place[OnPath]), most), std::clamp(factor_of(place[OffPath]), 1.0, most_off)};
    }
    /// Fewer samples say too little of their own number.
    [[nodiscard]] bool is_small(const PlaceSum& place) const
    {
        constexpr double enough_samples = 10;
        return static_cast<double>(place.ns) < enough_samples * mean;
    }
};

/// What all samples leave of the path's time they leave as before: so places get more only of what others lose. Of what
/// `factors` add, the part that is to be kept. `change_ns`: of the sum of all. Collective.
double part_of_more(const Replay& replay, const OwnPlaces& own, const std::vector<Factors>& factors,
                    std::int64_t change_ns)
{
    std::array<std::int64_t, 2> changes = {0, 0};  // less, more
    for (std::size_t i = 0; i < factors.size(); ++i) {
        const double factor = factors[i][OnPath];
        changes[factor > 1 ? 1 : 0] += std::llround((factor - 1) * static_cast<double>(own.sums()[i][OnPath].sampled));
    }
    MPI_Allreduce(MPI_IN_PLACE, changes.data(), static_cast<int>(changes.size()), MPI_INT64_T, MPI_SUM, replay.comm);
    const auto [less, more] = changes;
    return more > 0 ? std::clamp(static_cast<double>(change_ns - less) / static_cast<double>(more), 0.0, 1.0) : 0;
}

/// By place of this process. Places with few samples have one factor together. Collective.
std::vector<Factors> factors_of(const Replay& replay, const OwnPlaces& own)
{
    Both all{};
    for (const Both& sums : own.sums())
        add(sums, all);
    all = sum_of_all(replay, all);
    const std::int64_t samples = all[OnPath].samples + all[OffPath].samples;
    const std::int64_t sampled = all[OnPath].sampled + all[OffPath].sampled;
    const Scale scale{static_cast<double>(sampled) / static_cast<double>(std::max<std::int64_t>(samples, 1)),
                      replay.definitions.event != "cpu-timer"};
    const std::vector<Both> places = sums_of_places(replay, own);
    Both small{};
    for (std::size_t i = 0; i < places.size(); ++i)
        for (const Where where : {OnPath, OffPath})
            if (scale.is_small(places[i][where]))
                small[where].add(own.sums()[i][where]);
    const Factors of_small = scale.factors_of(sum_of_all(replay, small));

    std::vector<Factors> factors;
    for (const Both& place : places) {
        factors.push_back(scale.factors_of(place));
        for (const Where where : {OnPath, OffPath})
            if (scale.is_small(place[where]))
                factors.back()[where] = of_small[where];
    }
    const std::int64_t change = std::min(all[OnPath].ns, all[OnPath].sampled) - all[OnPath].sampled;
    const double kept = part_of_more(replay, own, factors, change);
    for (Factors& both : factors)
        if (double& factor = both[OnPath]; factor > 1)
            factor = 1 + kept * (factor - 1);
    return factors;
}

/// Weights in us, so that their squares can be added up.
struct Weights {
    std::int64_t samples = 0, sum = 0, squares = 0;

    void add(std::int64_t ns)
    {
        constexpr std::int64_t ns_in_us = 1000;
        const std::int64_t us = ns / ns_in_us;
        ++samples;
        sum += us;
        squares += us * us;
    }

    /// Kish's effective number of samples, of a million. Collective.
    [[nodiscard]] std::int64_t equal_ones(MPI_Comm comm) const
    {
        std::array<std::int64_t, 3> all = {samples, sum, squares};
        MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_INT64_T, MPI_SUM, comm);
        const auto [n, w, w2] = all;
        if (w2 == 0)
            return million;
        const double equal = static_cast<double>(w) / static_cast<double>(w2) * static_cast<double>(w);
        return std::clamp<std::int64_t>(std::llround(equal / static_cast<double>(n) * million), 1, million);
    }
};

}  // namespace

SampleWeights::SampleWeights(const Replay& replay, const Path& path, const SameCalls& same)
    : replay_(replay), threads_(replay.processes.size()), equal_ones_(million)
{
    if (!replay.definitions.has_samples)
        return;
    OwnPlaces own(replay, path, same);
    const std::vector<Factors> factors = factors_of(replay, own);
    Weights weights;
    for (std::size_t p = 0; p < threads_.size(); ++p) {
        if (replay.processes[p].locations.empty())
            continue;
        const std::vector<Sample>& samples = replay.processes[p].locations.front().samples;
        OfFirstThread& thread = threads_[p];
        thread.on_path.resize(samples.size());
        for (const Sample& sample : samples)
            thread.ns.push_back(sample.weight);
        own.for_each_sample(p, [&](const Sample& sample, std::uint32_t place, Where where) {
            const auto i = static_cast<std::size_t>(&sample - samples.data());
            thread.ns[i] = std::llround(factors[place][where] * static_cast<double>(sample.weight));
            thread.on_path[i] = where == OnPath;
            if (where == OnPath && sample.context.valid())
                weights.add(thread.ns[i]);
        });
    }
    equal_ones_ = weights.equal_ones(replay.comm);
}

const SampleWeights::OfFirstThread* SampleWeights::find(const model::LocationTrace& location) const
{
    const std::size_t process = replay_.index_of(replay_.definitions.locations[location.location.value].process);
    const bool is_first = &location == &replay_.processes[process].locations.front();
    return is_first && !threads_[process].ns.empty() ? &threads_[process] : nullptr;
}

std::int64_t SampleWeights::of(const model::LocationTrace& location, const Sample& sample) const
{
    const OfFirstThread* const thread = find(location);
    return thread != nullptr ? thread->ns[static_cast<std::size_t>(&sample - location.samples.data())] : sample.weight;
}

std::int64_t SampleWeights::of_all(const model::LocationTrace& location, const Sample& sample) const
{
    const OfFirstThread* const thread = find(location);
    const auto i = static_cast<std::size_t>(&sample - location.samples.data());
    return thread != nullptr && thread->on_path[i] ? std::max(thread->ns[i], sample.weight) : sample.weight;
}

}  // namespace critpath::replayer
