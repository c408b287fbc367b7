// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/support/mixed.hpp"
#include "replayer/pair/lack.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/peers/chosen.hpp"
#include "replayer/peers/rounds.hpp"

#include <mpi.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace critpath::replayer
{

namespace
{

/// A gap on the path, as the others need to know it.
struct Moment {
    std::int64_t begin, end;  // since it could have begun
    std::int64_t process;
    std::uint32_t place, padding;  // index into Chosen
};

/// What it is worth to its own process.
struct OwnMoment {
    Moment moment;
    std::int64_t ns;   // on the path, of all that it stands for
    std::int64_t ran;  // of all of it, not without a processor: it may be long for that alone
};

/// Of what was asked about, ns.
struct Sum {
    std::int64_t ns = 0;       // on the path
    std::int64_t at_work = 0;  // of that, the mean of the others
    std::int64_t there = 0;    // of that, the same
    std::int64_t busy = 0;     // as at_work, and in calls that wait for nobody; of those that come to the place, if any
};

/// What processes work, ns.
struct Work {
    std::int64_t ns = 0;
    std::int64_t there = 0;     // of that, what the one on the path does, if that is asked
    std::int64_t busy = 0;      // that, and what they do in calls that wait for nobody
    std::int64_t of_peers = 0;  // of that, by who comes to the place
};
constexpr int work_numbers = static_cast<int>(sizeof(Work) / sizeof(std::int64_t));

/// What the first thread works of a gap of `ns`. Between two polls it waits, most likely, if it does little, or is
/// blocked there.
std::int64_t work_in(Gaps& gaps, std::size_t gap, std::int64_t ns, bool is_between_polls)
{
    constexpr std::int64_t little = 20'000;
    if (!is_between_polls)
        return ns;
    const Gap all = gaps.measure(gap);
    return all.ns - all.blocked < little ? 0 : std::max<std::int64_t>(ns - all.blocked, 0);
}

/// What the first thread of a process does in calls while these wait for nobody, as far as that is known: who packs
/// data, writes a file or sends what nobody has to take is not idle.
class BusyInCalls
{
public:
    BusyInCalls(const Predecessors& predecessors, std::size_t process, Gaps& gaps, const BetweenPolls& polls)
        : gaps_(gaps), polls_(polls)
    {
        if (predecessors.processes[process].empty())
            return;
        known_ = &predecessors.processes[process].front();
        jumps_ = JumpList(known_->jumps, gaps.location());
    }

    /// In [begin, end), in the call before this gap, ns.
    std::int64_t before(std::size_t gap, model::Ns begin, model::Ns end)
    {
        const model::Ns leave = gaps_.begin_of(gap);
        begin = std::max(begin, gaps_.enter_before(gap));
        end = std::min(end, leave);
        if (begin >= end || known_ == nullptr)
            return 0;
        const std::uint32_t call = gaps_.call_before(gap);
        begin = std::max(begin, waits_until(call, leave));
        return begin < end && !polls_.is_poll(gaps_.location().calls.context(call)) ? gaps_.recorded(begin, end) : 0;
    }

private:
    /// Until nobody is waited for any more; if that is in doubt, all of the call may be a wait.
    model::Ns waits_until(std::uint32_t call, model::Ns leave)
    {
        near_ = jumps_.before({call}, near_);
        if (near_ == jumps_.size() || jumps_.call(near_) != call) {
            const Through through = known_->through[call];
            const bool is_work = through.kind != model::SegmentKind::Delay && !is_doubtful(through.confidence);
            return is_work ? gaps_.location().calls.enter(call) : leave;
        }
        // Whatever a message takes is waited for, too; in a collective all have something to do when the last has come.
        const KnownJump jump = known_->jumps.known(near_, gaps_.location());
        return jump.kind == model::SegmentKind::Collective && !is_doubtful(jump.confidence) ? jump.to_enter : leave;
    }

    Gaps& gaps_;
    const BetweenPolls& polls_;
    const LocationPredecessors* known_ = nullptr;
    JumpList jumps_;
    std::size_t near_ = 0;  // where the last jump was: questions come in the order of time
};

/// What the first thread works meanwhile.
Work at_work(std::size_t p, Gaps& gaps, BusyInCalls& busy_in_calls, const BetweenPolls& is_between_polls,
             const Moment& moment, const SameWork* same)
{
    const model::Ns begin{moment.begin}, end{moment.end};
    Work work;
    std::int64_t in_calls = 0;
    for (std::size_t i = gaps.first_behind(begin);; ++i) {
        // Who asks for the same work asks for nothing else.
        if (i > 0 && same == nullptr)
            in_calls += busy_in_calls.before(i, begin, end);
        if (i >= gaps.end() || gaps.begin_of(i) >= end)
            break;
        const std::int64_t recorded = gaps.recorded(std::max(begin, gaps.begin_of(i)), std::min(end, gaps.end_of(i)));
        const std::int64_t ns = work_in(gaps, i, recorded, is_between_polls(gaps.place(i)));
        work.ns += ns;
        work.there += ns > 0 && same != nullptr && same->is_there(moment.place, p, gaps, i) ? ns : 0;
    }
    work.busy = work.ns + in_calls;
    return work;
}

/// By place: the time on the path from which on a gap is asked about for itself. Of shorter ones it is so many that
/// they have that in the mean, and each stands for it. Collective.
std::vector<std::int64_t> asked_from(const Replay& replay, const Chosen& chosen)
{
    // So that a part is good to 3 % where processes are many, since all of them are asked.
    const auto processes = static_cast<std::int64_t>(replay.definitions.processes.size());
    const std::int64_t questions = std::clamp<std::int64_t>((std::int64_t{1} << 17) / processes, 256, 4096);
    std::vector<std::int64_t> ns(chosen.places(), 0);
    for (const auto& of_process : chosen.on_path)
        for (const Chosen::OnPath& on_path : of_process)
            ns[on_path.place] += on_path.ns * on_path.stands_for;
    MPI_Allreduce(MPI_IN_PLACE, ns.data(), static_cast<int>(ns.size()), MPI_INT64_T, MPI_SUM, replay.comm);
    for (std::int64_t& of_place : ns)
        of_place = std::max<std::int64_t>(of_place / questions, 1);
    return ns;
}

/// When gaps of one process could have begun, had it had a processor. Who is preempted in a call that has nobody to
/// wait for any more is late for that alone; on processors that are shared, the others do their part of the same work
/// then.
class PossibleBegins
{
public:
    PossibleBegins(const Replay& replay, const Predecessors& predecessors, std::size_t process, const Gaps& gaps)
        : replay_(replay), predecessors_(predecessors), gaps_(gaps), process_(process)
    {
    }

    model::Ns of(std::size_t gap)
    {
        const model::LocationTrace& trace = gaps_.location();
        const model::Ns begin = gaps_.begin_of(gap);
        if (gap == 0 || trace.off.empty())
            return begin;
        const std::uint32_t call = gaps_.call_before(gap);
        const LocationPredecessors& predecessors = predecessors_.processes[process_].front();
        const JumpList jumps(predecessors.jumps, trace);
        model::Ns since = trace.calls.enter(call);
        model::Ns transfer{0};
        near_ = jumps.before({call}, near_);
        if (near_ < jumps.size() && jumps.call(near_) == call) {
            const KnownJump jump = predecessors.jumps.known(near_, trace);
            since = std::max(since, jump.to_enter);
            transfer = transfer_of(jump);
        }
        return lacks_processor_since(trace, since, begin, transfer);
    }

private:
    [[nodiscard]] model::Ns transfer_of(const KnownJump& jump) const
    {
        if (jump.kind != model::SegmentKind::Transfer)
            return model::Ns{0};
        const model::ProcessId other = replay_.definitions.locations[jump.to.location.value].process;
        return predecessors_.transfer_time(
            link_between(replay_.definitions, other, replay_.processes[process_].process), jump.bytes);
    }

    const Replay& replay_;
    const Predecessors& predecessors_;
    const Gaps& gaps_;
    std::size_t process_;
    std::size_t near_ = 0;  // where the last jump was: questions come in the order of time
};

std::vector<OwnMoment> own_moments(const Replay& replay, const Predecessors& predecessors, std::vector<Gaps>& gaps,
                                   const Chosen& chosen, const SameWork* same)
{
    const std::vector<std::int64_t> from = asked_from(replay, chosen);
    std::vector<OwnMoment> result;
    for (std::size_t p = 0; p < gaps.size(); ++p) {
        PossibleBegins possible_begins(replay, predecessors, p, gaps[p]);
        for (const Chosen::OnPath& on_path : chosen.on_path[p]) {
            if (same != nullptr && !same->is_asked(on_path.place))
                continue;
            const std::int64_t begin = gaps[p].begin_of(on_path.gap).count(), end = gaps[p].end_of(on_path.gap).count();
            const std::int64_t process = replay.processes[p].process.value;
            const std::int64_t ns = on_path.ns * on_path.stands_for;
            // By bits that nothing else is drawn by.
            const std::uint64_t bits =
                random_bits(~(static_cast<std::uint64_t>(process) << 32 | std::uint64_t{on_path.gap}));
            const auto drawn = static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(from[on_path.place]));
            if (end > begin && drawn < ns)
                result.push_back({{possible_begins.of(on_path.gap).count(), end, process, on_path.place, 0},
                                  std::max(ns, from[on_path.place]),
                                  std::max<std::int64_t>(end - begin - gaps[p].measure(on_path.gap).preempted, 1)});
        }
    }
    return result;
}

/// By place: how many processes have gaps there. Collective.
std::vector<std::int64_t> processes_there(const Replay& replay, const Chosen& chosen)
{
    std::vector<std::int64_t> result;
    for (std::size_t place = 0; place < chosen.places(); ++place)
        result.push_back(std::ranges::count_if(chosen.gaps(place), [](const auto& list) { return !list.empty(); }));
    MPI_Allreduce(MPI_IN_PLACE, result.data(), static_cast<int>(result.size()), MPI_INT64_T, MPI_SUM, replay.comm);
    return result;
}

/// What all other processes work meanwhile: a Work for each moment.
std::vector<std::int64_t> work_meanwhile(const Replay& replay, const Predecessors& predecessors,
                                         const std::vector<Moment>& moments, std::vector<Gaps>& gaps,
                                         const Chosen& chosen, const SameWork* same,
                                         const BetweenPolls& is_between_polls)
{
    std::vector<std::int64_t> sums(moments.size() * work_numbers, 0);
    for (std::size_t p = 0; p < gaps.size(); ++p) {
        BusyInCalls busy_in_calls(predecessors, p, gaps[p], is_between_polls);
        for (std::size_t i = 0; i < moments.size(); ++i) {
            const Moment& moment = moments[i];
            if (moment.process == replay.processes[p].process.value)
                continue;
            const Work work = at_work(p, gaps[p], busy_in_calls, is_between_polls, moment, same);
            sums[work_numbers * i] += work.ns;
            sums[work_numbers * i + 1] += work.there;
            sums[work_numbers * i + 2] += work.busy;
            sums[work_numbers * i + 3] += chosen.gaps(moment.place)[p].empty() ? 0 : work.busy;
        }
    }
    return sums;
}

}  // namespace

void SameWork::add(std::size_t place, GapPlace calls, const model::Definitions& definitions)
{
    const GapPlace met{spans_.meeting(calls.before), spans_.meeting(calls.after)};
    const bool is_from = is_collective(definitions, calls.before), is_to = is_collective(definitions, calls.after);
    if (is_from && is_to)
        same_[place] = {What::Region, met};
    else if (is_to)
        same_[place] = {What::SpanTo, met};
    else if (is_from)
        same_[place] = {What::SpanFrom, met};
    else
        same_[place] = {What::Gap, calls};
}

bool SameWork::is_there(std::size_t place, std::size_t p, const Gaps& gaps, std::size_t gap) const
{
    const Same& same = same_[place];
    switch (same.what) {
    case What::Nothing:
        break;
    case What::Gap:
        return gaps.place(gap) == same.calls;
    case What::SpanTo:
        return spans_.around(p, gaps, gap).bounds.after == same.calls.after;
    case What::SpanFrom:
        return spans_.around(p, gaps, gap).bounds.before == same.calls.before;
    case What::Region:
        return meetings_.around(p, gaps, gap).bounds == same.calls;
    }
    return false;
}

std::vector<Meanwhile> others_at_work(const Replay& replay, const Predecessors& predecessors, std::vector<Gaps>& gaps,
                                      const Chosen& chosen, const SameWork* same)
{
    if (replay.definitions.processes.size() < 2)
        return std::vector<Meanwhile>(chosen.places());
    const BetweenPolls is_between_polls(replay.definitions);
    const std::vector<OwnMoment> own = own_moments(replay, predecessors, gaps, chosen, same);
    const std::vector<std::int64_t> all_there = processes_there(replay, chosen);
    const auto others = static_cast<double>(replay.definitions.processes.size() - 1);
    std::vector<Sum> sums(chosen.places());
    for (std::size_t next = 0;;) {
        std::vector<Moment> ready;
        for (std::size_t i = next; i < own.size() && ready.size() < questions_a_round; ++i)
            ready.push_back(own[i].moment);
        const Round round = agree_on_round(replay, ready.size());
        if (round.all == 0)
            break;
        const std::vector<Moment> all = ask(replay, ready, round);
        const std::vector<std::int64_t> answers =
            sum_answers(replay, work_meanwhile(replay, predecessors, all, gaps, chosen, same, is_between_polls), round,
                        work_numbers);
        for (std::size_t i = 0; i < answers.size(); i += work_numbers) {
            const OwnMoment& own_moment = own[next++];
            const std::uint32_t place = own_moment.moment.place;
            // As far as it had a processor and the others had none, they may have worked for longer.
            const auto part_of = [&](std::int64_t work, double processes) {
                return static_cast<double>(work) / (processes * static_cast<double>(own_moment.ran));
            };
            const double part = part_of(answers[i], others), most = std::max(part, 1.0);
            const auto peers = static_cast<double>(all_there[place] - 1);
            const double busy = peers > 0 ? part_of(answers[i + 3], peers) : part_of(answers[i + 2], others);
            const auto ns = static_cast<double>(own_moment.ns);
            Sum& sum = sums[place];
            sum.ns += own_moment.ns;
            sum.at_work += rounded(ns * part / most);
            sum.there += rounded(ns * part_of(answers[i + 1], others) / most);
            sum.busy += rounded(ns * std::min(busy, 1.0));
        }
    }
    constexpr std::size_t numbers = sizeof(Sum) / sizeof(std::int64_t);
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(numbers * sums.size()), MPI_INT64_T, MPI_SUM,
                  replay.comm);
    std::vector<Meanwhile> result;
    for (const Sum& sum : sums) {
        const auto part_of = [&](std::int64_t work) {
            return static_cast<double>(work) / static_cast<double>(std::max<std::int64_t>(sum.ns, 1));
        };
        result.push_back({part_of(sum.at_work), part_of(sum.there), part_of(sum.busy)});
    }
    return result;
}

}  // namespace critpath::replayer
