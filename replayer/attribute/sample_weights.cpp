// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/sample_weights.hpp"

#include "replayer/attribute/gap_kinds.hpp"
#include "replayer/exchange.hpp"
#include "replayer/growing_list.hpp"
#include "replayer/peers/gaps.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

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

/// An owned place, and a kind of work there, as one process tells another of it.
struct PlaceRecord {
    GapKind kind;
    Both sums;
};

struct Part {
    Ns begin, end;
};

/// The parts of the run that are told apart, where there are enough samples in them.
constexpr std::size_t slots = 32;

/// What is on the path in one part of the run.
struct SlotSum {
    std::size_t slot;
    PlaceSum sum;
    double factor = 1;  // of what its samples stand for
};

/// Of one owned process, at one place, of one kind of work. That is what a place is from here on.
struct OfProcess {
    std::vector<SlotSum> on_path;  // by slot, ascending; few, where many ranks share the path
    PlaceSum off_path;
    double off_factor = 1;
    double missing = 0;  // of what the path loses, so much belongs off it

    SlotSum& at(std::size_t slot)
    {
        if (!on_path.empty() && on_path.back().slot == slot)  // as mostly, for time goes on
            return on_path.back();
        const auto found = std::ranges::lower_bound(on_path, slot, {}, &SlotSum::slot);
        return found != on_path.end() && found->slot == slot ? *found : *on_path.insert(found, {slot, {}});
    }
};

/// The gaps of the owned processes and the samples in them, by place.
class OwnPlaces
{
public:
    OwnPlaces(const Replay& replay, const Path& path, const SameCalls& same)
        : begin_(path.begin.count()), length_(std::max<std::int64_t>(path.makespan.count(), 1)),
          gaps_(gaps_of(replay, same)), lengths_(gaps_), borders_(find_borders(replay, path, gaps_)),
          kinds_(replay.definitions.contexts.size(), borders_), parts_on_path_(replay.processes.size()),
          sums_(replay.processes.size())
    {
        std::vector<std::vector<bool>> is_on_path;  // by process and gap: all of it
        for (const Gaps& gaps : gaps_)
            is_on_path.emplace_back(gaps.end(), false);
        for_each_part_on_path(replay, path, gaps_, [&](std::size_t p, std::size_t gap, Ns begin, Ns end) {
            parts_on_path_[p].push_back({begin, end});
            const std::int64_t ns = worked_in(gaps_[p], begin, end);
            OfProcess& sums = sums_at(p, gap);
            sums.at(slot(begin)).sum.ns += ns;
            if (begin < end && begin == gaps_[p].begin_of(gap) && end == gaps_[p].end_of(gap))
                is_on_path[p][gap] = true;
            else
                sums.off_path.ns -= ns;
        });
        for (std::size_t p = 0; p < gaps_.size(); ++p) {
            for (std::size_t gap = 0; gap < gaps_[p].end(); ++gap)
                if (!is_on_path[p][gap])
                    sums_at(p, gap).off_path.ns += lengths_.of(p, gap);
            for_each_sample(p, [&](const Sample& sample, OfProcess& sums, SlotSum* on_path) {
                PlaceSum& sum = on_path != nullptr ? on_path->sum : sums.off_path;
                if (sample.context.valid())
                    sum.add({0, sample.weight, 1, 0});
                else
                    ++sum.unknown;
            });
        }
    }

    /// Calls `visit(sample, sums, on_path)` for the samples in the gaps of a process that are no time of the collector;
    /// `on_path`: the part of the sums, null off the path.
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
            OfProcess& sums = sums_at(process, gap);
            const bool is_on_path = parts.peek() != nullptr && parts.peek()->begin <= sample.time;
            visit(sample, sums, is_on_path ? &sums.at(slot(parts.peek()->begin)) : nullptr);
        }
    }

    [[nodiscard]] const std::vector<GapKind>& places() const { return kinds_.all(); }
    [[nodiscard]] const LengthBorders& borders() const { return borders_; }
    /// By index into Replay::processes, and by place: not of all that others have.
    [[nodiscard]] std::vector<std::vector<OfProcess>>& sums() { return sums_; }

private:
    [[nodiscard]] std::size_t slot(Ns time) const
    {
        const std::int64_t since = std::clamp<std::int64_t>(time.count() - begin_, 0, length_ - 1);
        return static_cast<std::size_t>(static_cast<double>(since) / static_cast<double>(length_) * slots);
    }
    [[nodiscard]] std::vector<Gaps> gaps_of(const Replay& replay, const SameCalls& same) const
    {
        std::vector<Gaps> gaps;
        for (const model::ProcessTrace& trace : replay.processes)
            gaps.emplace_back(trace.locations.empty() ? nothing_ : trace.locations.front(), same);
        return gaps;
    }
    OfProcess& sums_at(std::size_t process, std::size_t gap)
    {
        const std::uint32_t i = kinds_.add(gaps_[process].place(gap), [&] { return lengths_.of(process, gap); });
        if (i >= sums_[process].size())
            sums_[process].resize(i + 1);
        return sums_[process][i];
    }

    const model::LocationTrace nothing_;
    std::int64_t begin_, length_;  // of the run
    std::vector<Gaps> gaps_;       // by index into Replay::processes
    GapLengths lengths_;
    LengthBorders borders_;
    GapKinds kinds_;
    std::vector<GrowingList<Part>> parts_on_path_;  // by index into Replay::processes, in the order of time
    std::vector<std::vector<OfProcess>> sums_;
};

/// Of all processes together: by place of this one, in their order. `own_sums`: of this one, likewise. Collective.
std::vector<Both> sums_of_places(const Replay& replay, const OwnPlaces& own, const std::vector<Both>& own_sums)
{
    auto out = lists_for<PlaceRecord>(replay.size);
    for (std::size_t i = 0; i < own.places().size(); ++i)
        out[own.places()[i].place.owner(replay.size)].push_back({own.places()[i], own_sums[i]});
    const Received<PlaceRecord> parts = replayer::exchange(replay.comm, out);
    GapKinds kinds(replay.definitions.contexts.size(), own.borders());
    std::vector<Both> sums;
    for (const PlaceRecord& part : parts.items) {
        const std::uint32_t i = kinds.add(part.kind);
        sums.resize(std::max<std::size_t>(sums.size(), i + 1));
        add(part.sums, sums[i]);
    }
    auto back = lists_for<Both>(replay.size);
    for (int source = 0; source < replay.size; ++source)
        for (const PlaceRecord& part : parts.from(source))
            back[static_cast<std::size_t>(source)].push_back(sums[kinds.add(part.kind)]);
    const Received<Both> answers = replayer::exchange(replay.comm, back);
    std::vector<std::size_t> next(answers.begin.begin(), answers.begin.end());
    std::vector<Both> result;
    for (const GapKind& kind : own.places())
        result.push_back(answers.items[next[kind.place.owner(replay.size)]++]);
    return result;
}

/// What is the same for all places.
struct Scale {
    double mean;     // of what samples stand for, ns
    bool knows_off;  // the time without a processor is known, so that the place's time is

    /// By what samples are to be multiplied to stand for the time that they divide.
    [[nodiscard]] double factor_of(const PlaceSum& sum) const
    {
        const double sampled = static_cast<double>(sum.sampled) + mean * static_cast<double>(sum.unknown);
        return sum.sampled == 0 ? 1 : static_cast<double>(std::max<std::int64_t>(sum.ns, 0)) / sampled;
    }
    /// By no more than chance leaves out of so few.
    [[nodiscard]] double on_path(const PlaceSum& sum) const
    {
        constexpr double z = 1.96;  // the upper end of the score interval of a Poisson variable, 95 %
        const auto n = static_cast<double>(std::max<std::int64_t>(sum.samples, 1));
        const double most = knows_off ? 1 + (z * z / 2 + z * std::sqrt(n + z * z / 4)) / n : 1;
        return std::min(factor_of(sum), most);
    }
    /// Who is drawn to the path by samples is missing off it: by no more than that.
    [[nodiscard]] double off_path(const Both& sums) const
    {
        const std::int64_t drawn = std::max<std::int64_t>(sums[OnPath].sampled - sums[OnPath].ns, 0);
        const double most =
            1 + static_cast<double>(drawn) / static_cast<double>(std::max<std::int64_t>(sums[OffPath].sampled, 1));
        return std::clamp(factor_of(sums[OffPath]), 1.0, most);
    }
    /// Of what the path has too much, the part that is missing off it.
    [[nodiscard]] static double missing_part(const Both& sums)
    {
        const std::int64_t drawn = sums[OnPath].sampled - sums[OnPath].ns;
        const std::int64_t missing = sums[OffPath].ns - sums[OffPath].sampled;
        return drawn > 0 && missing > 0 ? std::min(1.0, static_cast<double>(missing) / static_cast<double>(drawn)) : 0;
    }
    /// Fewer samples say too little of their own number.
    [[nodiscard]] bool is_small(const PlaceSum& sum) const
    {
        constexpr double enough_samples = 10;
        return static_cast<double>(sum.ns) < enough_samples * mean;
    }
};

/// The parts of the run in which there are enough samples of one process at one place; gives each its factor.
class Divided
{
public:
    Divided(const Scale& scale, std::vector<SlotSum>& sums) : scale_(scale), sums_(sums) {}

    /// False if all of them are too few.
    bool divide() { return divide(0, slots); }

private:
    /// Those of [begin, end).
    [[nodiscard]] std::span<SlotSum> in(std::size_t begin, std::size_t end) const
    {
        const auto first = std::ranges::lower_bound(sums_, begin, {}, &SlotSum::slot);
        return {first, std::ranges::lower_bound(sums_, end, {}, &SlotSum::slot)};
    }
    [[nodiscard]] PlaceSum sum(std::size_t begin, std::size_t end) const
    {
        PlaceSum result;
        for (const SlotSum& slot : in(begin, end))
            result.add(slot.sum);
        return result;
    }
    /// In halves, as long as both have enough.
    bool divide(std::size_t begin, std::size_t end)
    {
        const PlaceSum all = sum(begin, end);
        if (scale_.is_small(all))
            return false;
        const std::size_t middle = (begin + end) / 2;
        if (end - begin > 1 && !scale_.is_small(sum(begin, middle)) && !scale_.is_small(sum(middle, end)))
            return divide(begin, middle) && divide(middle, end);
        for (SlotSum& slot : in(begin, end))
            slot.factor = scale_.on_path(all);
        return true;
    }

    const Scale& scale_;
    std::vector<SlotSum>& sums_;
};

/// What all samples leave of the path's time they leave as before: so parts get more only of what others lose.
class Changes
{
public:
    void add(double factor, const PlaceSum& sum)
    {
        (factor > 1 ? more_ : less_) += std::llround((factor - 1) * static_cast<double>(sum.sampled));
    }
    /// Of what factors add, the part that is to be kept. `change_ns`: of the sum of all. Collective.
    [[nodiscard]] double kept(MPI_Comm comm, std::int64_t change_ns) const
    {
        std::array<std::int64_t, 2> both = {less_, more_};
        MPI_Allreduce(MPI_IN_PLACE, both.data(), static_cast<int>(both.size()), MPI_INT64_T, MPI_SUM, comm);
        const auto [less, more] = both;
        return more > 0 ? std::clamp(static_cast<double>(change_ns - less) / static_cast<double>(more), 0.0, 1.0) : 0;
    }

private:
    std::int64_t less_ = 0, more_ = 0;
};

/// Fills in the factors. Where a process has too few samples at a place, it has one factor with others there; where
/// that is too few, with its other places of that kind; and where that is too few, all of these have one. Collective.
void find_factors(const Replay& replay, OwnPlaces& own)
{
    std::vector<Both> of_place(own.places().size());
    Both all{};
    for (const auto& of_process : own.sums())
        for (std::size_t place = 0; place < of_process.size(); ++place) {
            Both sums{};
            for (const SlotSum& slot : of_process[place].on_path)
                sums[OnPath].add(slot.sum);
            sums[OffPath] = of_process[place].off_path;
            add(sums, of_place[place]);
            add(sums, all);
        }
    all = sum_of_all(replay, all);
    const std::int64_t samples = all[OnPath].samples + all[OffPath].samples;
    const std::int64_t sampled = all[OnPath].sampled + all[OffPath].sampled;
    const Scale scale{static_cast<double>(sampled) / static_cast<double>(std::max<std::int64_t>(samples, 1)),
                      replay.definitions.event != "cpu-timer"};

    std::vector<Both> rest(own.places().size());  // on the path, of processes that have too few; off it, of all
    struct Undivided {
        std::size_t process, place;
    };
    std::vector<Undivided> undivided;
    for (std::size_t p = 0; p < own.sums().size(); ++p)
        for (std::size_t place = 0; place < own.sums()[p].size(); ++place) {
            OfProcess& sums = own.sums()[p][place];
            rest[place][OffPath].add(sums.off_path);
            if (Divided(scale, sums.on_path).divide())
                continue;
            undivided.push_back({p, place});
            for (const SlotSum& slot : sums.on_path)
                rest[place][OnPath].add(slot.sum);
        }
    const std::vector<Both> of_place_all = sums_of_places(replay, own, of_place);
    const std::vector<Both> rest_all = sums_of_places(replay, own, rest);
    std::vector<Both> small_of(own.sums().size());
    for (const auto& [p, place] : undivided)
        if (scale.is_small(rest_all[place][OnPath]))
            for (const SlotSum& slot : own.sums()[p][place].on_path)
                small_of[p][OnPath].add(slot.sum);
    Both small{};
    for (std::size_t p = 0; p < small_of.size(); ++p) {
        for (std::size_t place = 0; place < own.sums()[p].size(); ++place)
            if (scale.is_small(rest_all[place][OffPath]))
                small_of[p][OffPath].add(own.sums()[p][place].off_path);
        add(small_of[p], small);
    }
    small = sum_of_all(replay, small);
    const auto small_at = [&](std::size_t p, Where where) -> const Both& {
        return scale.is_small(small_of[p][where]) ? small : small_of[p];
    };

    for (const auto& [p, place] : undivided)
        for (SlotSum& slot : own.sums()[p][place].on_path)
            slot.factor = scale.on_path(
                (scale.is_small(rest_all[place][OnPath]) ? small_at(p, OnPath) : rest_all[place])[OnPath]);
    Changes changes;
    for (std::size_t p = 0; p < own.sums().size(); ++p)
        for (std::size_t place = 0; place < own.sums()[p].size(); ++place) {
            OfProcess& sums = own.sums()[p][place];
            const Both& both = scale.is_small(rest_all[place][OffPath]) ? small_at(p, OffPath) : of_place_all[place];
            sums.off_factor = scale.off_path(both);
            sums.missing = Scale::missing_part(both);
            for (const SlotSum& slot : sums.on_path)
                changes.add(slot.factor, slot.sum);
        }
    const double kept = changes.kept(replay.comm, std::min(all[OnPath].ns, all[OnPath].sampled) - all[OnPath].sampled);
    for (auto& of_process : own.sums())
        for (OfProcess& sums : of_process)
            for (SlotSum& slot : sums.on_path)
                slot.factor = slot.factor > 1 ? 1 + kept * (slot.factor - 1) : slot.factor;
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
    find_factors(replay, own);
    Weights weights;
    for (std::size_t p = 0; p < threads_.size(); ++p) {
        if (replay.processes[p].locations.empty())
            continue;
        const std::vector<Sample>& samples = replay.processes[p].locations.front().samples;
        OfFirstThread& thread = threads_[p];
        for (const Sample& sample : samples) {
            thread.ns.push_back(sample.weight);
            thread.all_ns.push_back(sample.weight);
        }
        own.for_each_sample(p, [&](const Sample& sample, const OfProcess& sums, const SlotSum* on_path) {
            const double factor = on_path != nullptr ? on_path->factor : sums.off_factor;
            const auto i = static_cast<std::size_t>(&sample - samples.data());
            thread.ns[i] = std::llround(factor * static_cast<double>(sample.weight));
            if (on_path == nullptr)
                return;
            const std::int64_t less = std::max<std::int64_t>(sample.weight - thread.ns[i], 0);
            thread.all_ns[i] = thread.ns[i] + std::llround(sums.missing * static_cast<double>(less));
            if (sample.context.valid())
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
    return thread != nullptr ? thread->all_ns[static_cast<std::size_t>(&sample - location.samples.data())]
                             : sample.weight;
}

}  // namespace critpath::replayer
