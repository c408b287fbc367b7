// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/count.hpp"

#include "analysis/division/counts.hpp"

#include <algorithm>
#include <tuple>

namespace critpath::replayer
{

namespace
{

using model::CountInterval;
using model::CountOwner;
using model::EventAmount;
using model::LocationId;
using model::Ns;
using model::Sample;
using model::Segment;

__extension__ using Wide = __int128;

}  // namespace

void CountDivider::add(const Segment& segment)
{
    if (is_idle())
        return;
    ThreadCounts& counts = thread({segment.location});
    counts.for_each(run_.begin + Ns{segment.begin}, run_.begin + Ns{segment.end},
                    [&](const CountInterval& interval, std::span<const std::int64_t> numbers) {
                        const auto share = division::share_of(interval, segment);
                        if (!share)
                            return;
                        std::vector<EventAmount>& sums = amounts(numbers_.place(share->call_path), counts.process());
                        for (std::size_t event = 0; event < sums.size(); ++event)
                            sums[event].add(division::amount_of(interval, numbers[event], share->begin, share->end,
                                                                share->is_known));
                    });
}

void CountDivider::add_work(LocationId location, Ns time, std::int64_t ns, const Work& work)
{
    if (is_idle())
        return;
    const Sample& sample = work.sample();
    std::vector<std::int64_t> counts = counts_of(*work.location, work.index, replay_.definitions.counted.size());
    for (std::int64_t& count : counts)
        if (count > 0)
            count = static_cast<std::int64_t>(Wide{count} * ns / sample.weight);
    const Place place = code_.place_of(sample);
    const std::int64_t begin = (time - run_.begin).count();
    const CountInterval moment{begin,
                               ns,
                               begin,
                               begin,
                               {address_in(place, sample), numbers_.number(place), CountOwner::Function},
                               {0, model::CallPathId::none().value, CountOwner::None},
                               location.value,
                               CountInterval::moment | scaled_flag(*work.location, work.index),
                               std::max<std::int64_t>(sample.weight, ns)};
    ThreadCounts& waiter = thread(location);
    waiter.add_moment(moment, counts);
    std::vector<EventAmount>& sums = amounts(place, waiter.process());
    for (std::size_t event = 0; event < sums.size(); ++event)
        sums[event].add(division::amount_of(moment, counts[event]));
}

void CountDivider::finish()
{
    std::vector<ThreadCounts*> threads;
    for (auto& [location, counts] : threads_)
        threads.push_back(&counts);
    std::ranges::stable_sort(threads, {}, [](const ThreadCounts* counts) { return counts->process(); });
    for (ThreadCounts* counts : threads)
        counts->move_to(tally_.counts);
    threads_.clear();
    last_thread_ = nullptr;
}

ThreadCounts& CountDivider::find_thread(LocationId location)
{
    auto at = threads_.find(location);
    if (at == threads_.end())
        at = threads_
                 .emplace(std::piecewise_construct, std::tuple(location),
                          std::forward_as_tuple(replay_, code_, run_, location))
                 .first;
    last_thread_ = &at->second;
    last_location_ = location;
    return *last_thread_;
}

std::vector<EventAmount>& CountDivider::amounts(Place place, std::uint32_t process)
{
    std::vector<EventAmount>& result = tally_.events[{place, process}];
    if (result.empty())
        result.resize(replay_.definitions.counted.size());
    return result;
}

}  // namespace critpath::replayer
