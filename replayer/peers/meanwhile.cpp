// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/chosen.hpp"
#include "replayer/peers/rounds.hpp"

#include <mpi.h>

#include <algorithm>
#include <utility>

namespace critpath::replayer
{

namespace
{

/// A gap on the path, as the others need to know it.
struct Moment {
    std::int64_t begin, end;
    std::int64_t process;
};

/// What it is worth to its own process.
struct OwnMoment {
    Moment moment;
    std::size_t index;  // of the place
    std::int64_t ns;    // on the path, of all that it stands for
    std::int64_t ran;   // of all of it, not without a processor: it may be long for that alone
};

/// Of [begin, end), what the first thread works; not what lies between two polls, which may be all that it does while
/// it waits.
std::int64_t at_work(Gaps& gaps, const Spans& spans, model::Ns begin, model::Ns end)
{
    std::int64_t ns = 0;
    for (std::size_t i = gaps.first_behind(begin); i < gaps.end() && gaps.begin_of(i) < end; ++i)
        if (!spans.is_between_polls(gaps.place(i)))
            ns += gaps.recorded(std::max(begin, gaps.begin_of(i)), std::min(end, gaps.end_of(i)));
    return ns;
}

std::vector<OwnMoment> own_moments(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen,
                                   const std::vector<std::size_t>& places)
{
    constexpr std::size_t is_not = SIZE_MAX;
    std::vector<std::size_t> index(chosen.places(), is_not);
    for (std::size_t i = 0; i < places.size(); ++i)
        index[places[i]] = i;
    std::vector<OwnMoment> result;
    for (std::size_t p = 0; p < gaps.size(); ++p)
        for (const Chosen::OnPath& on_path : chosen.on_path[p]) {
            const std::int64_t begin = gaps[p].begin_of(on_path.gap).count(), end = gaps[p].end_of(on_path.gap).count();
            if (index[on_path.place] != is_not && end > begin)
                result.push_back({{begin, end, replay.processes[p].process.value},
                                  index[on_path.place],
                                  on_path.ns * on_path.stands_for,
                                  std::max<std::int64_t>(end - begin - gaps[p].measure(on_path.gap).preempted, 1)});
        }
    return result;
}

/// What all other processes work meanwhile, ns.
std::vector<std::int64_t> work_meanwhile(const Replay& replay, const std::vector<Moment>& moments,
                                         std::vector<Gaps>& gaps, const Spans& spans)
{
    std::vector<std::int64_t> sums(moments.size(), 0);
    for (std::size_t p = 0; p < gaps.size(); ++p)
        for (std::size_t i = 0; i < moments.size(); ++i)
            if (moments[i].process != replay.processes[p].process.value)
                sums[i] += at_work(gaps[p], spans, model::Ns{moments[i].begin}, model::Ns{moments[i].end});
    return sums;
}

}  // namespace

std::vector<double> others_at_work(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen,
                                   const Spans& spans, const std::vector<std::size_t>& places)
{
    const std::vector<OwnMoment> own = own_moments(replay, gaps, chosen, places);
    const auto others = static_cast<double>(replay.definitions.processes.size() - 1);
    struct Sum {
        std::int64_t ns = 0;
        std::int64_t at_work = 0;  // the mean of the others
    };
    std::vector<Sum> sums(places.size());
    for (std::size_t next = 0;;) {
        std::vector<Moment> ready;
        for (std::size_t i = next; i < own.size() && ready.size() < questions_a_round; ++i)
            ready.push_back(own[i].moment);
        const Round round = agree_on_round(replay, ready.size());
        if (round.all == 0)
            break;
        for (const std::int64_t work :
             sum_answers(replay, work_meanwhile(replay, ask(replay, ready, round), gaps, spans), round, 1)) {
            const OwnMoment& own_moment = own[next++];
            const double part = static_cast<double>(work) / (others * static_cast<double>(own_moment.ran));
            sums[own_moment.index].ns += own_moment.ns;
            sums[own_moment.index].at_work += rounded(static_cast<double>(own_moment.ns) * std::min(part, 1.0));
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(2 * sums.size()), MPI_INT64_T, MPI_SUM, replay.comm);
    std::vector<double> result;
    for (const Sum& sum : sums)
        result.push_back(sum.ns > 0 ? static_cast<double>(sum.at_work) / static_cast<double>(sum.ns) : 0);
    return result;
}

}  // namespace critpath::replayer
