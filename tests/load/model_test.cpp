// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The compact tables of the model keep what they are given, also what does not fit into the usual few bytes.
#include "analysis/model/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

namespace critpath::model
{
namespace
{

using testing::ElementsAre;

constexpr std::uint64_t huge = std::uint64_t{5} << 40;

CallRef call(std::uint32_t location, std::uint32_t number)
{
    return {{location}, {number}};
}

TEST(CallNumbers, CountOverAllLocations)
{
    const CallNumbers numbers({7}, {0, 10, 10, 25});  // the second one of four has no calls
    EXPECT_EQ(numbers.of(call(7, 3)), 3U);
    EXPECT_EQ(numbers.of(call(9, 0)), 10U);
    EXPECT_EQ(numbers.of(call(10, 5)), 30U);
    for (const CallRef ref : {call(7, 0), call(7, 9), call(9, 0), call(9, 14), call(10, 0), call(10, 1000)})
        EXPECT_EQ(numbers.ref(numbers.of(ref)), ref);
    EXPECT_EQ(numbers.of({}), CallNumbers::none);
    EXPECT_FALSE(numbers.ref(CallNumbers::none).valid());
    EXPECT_EQ(CallNumbers({4}).ref(17), call(4, 17));
}

TEST(Calls, KeepDurationsOfAnyLength)
{
    constexpr std::int64_t longest = std::numeric_limits<std::uint32_t>::max();
    Calls calls;
    const std::vector<std::int64_t> durations{0, 5, longest - 1, longest, longest + 1, -3, 1LL << 60, 8};
    for (std::size_t i = 0; i < durations.size(); ++i)
        calls.add(Ns{100 * static_cast<std::int64_t>(i)}, Ns{100 * static_cast<std::int64_t>(i)}, {9});
    for (const std::size_t i : {3U, 0U, 6U, 1U, 5U, 2U, 7U, 4U})
        calls.set_leave(i, calls.enter(i) + Ns{durations[i]});
    for (std::size_t i = 0; i < durations.size(); ++i) {
        EXPECT_EQ(calls.duration(i).count(), durations[i]);
        EXPECT_EQ((calls.leave(i) - calls.enter(i)).count(), durations[i]);
    }
    calls.set_leave(4, calls.enter(4) + Ns{longest + 20});
    EXPECT_EQ(calls.duration(4).count(), longest + 20);
    EXPECT_EQ(calls.duration(6).count(), 1LL << 60);
}

TEST(Messages, AreWhatTheyWereGiven)
{
    Sends sends(CallNumbers({2}));
    for (std::uint32_t i = 0; i < 100; ++i)
        sends.push_back({call(2, i),
                         i % 3 == 0 ? CallRef{} : call(2, i + 1),
                         {i % 4},
                         static_cast<std::int32_t>(i % 5),
                         static_cast<std::int32_t>(i % 7),
                         i % 2 == 0 ? SendMode::Ready : SendMode::Synchronous,
                         i == 50 ? huge : i});
    EXPECT_EQ(sends.envelopes().size(), 100U);  // of 140 that there may be
    EXPECT_EQ(sends[50].bytes, huge);
    EXPECT_EQ(sends[49].mode, SendMode::Synchronous);
    EXPECT_EQ(sends[33].dest, 3);
    EXPECT_EQ(sends[33].tag, 5);
    EXPECT_EQ(sends[33].comm, CommId{1});
    EXPECT_FALSE(sends[33].completion.valid());
    EXPECT_EQ(sends[34].completion, call(2, 35));
    sends.cancel(34, call(2, 90));
    EXPECT_FALSE(sends[34].comm.valid());
    EXPECT_EQ(sends[34].completion, call(2, 90));

    sends.renumber(CallNumbers({1}, {0, 1000}));
    sends.complete(33, call(1, 5));  // by another thread
    EXPECT_EQ(sends[33].completion, call(1, 5));
    EXPECT_EQ(sends[50].post, call(2, 50));
    EXPECT_EQ(sends.post(50), 1050U);

    sends.select(std::vector<std::uint32_t>{50, 7});
    ASSERT_EQ(sends.size(), 2U);
    EXPECT_EQ(sends[0].bytes, huge);
    EXPECT_EQ(sends[1].bytes, 7U);
}

TEST(Messages, ReceivesKnowTheirProbe)
{
    Receives receives(CallNumbers({0}));
    for (std::uint32_t i = 0; i < 4; ++i)
        receives.push_back({call(0, i), {}, {}, CommId::none(), -1, -1, 0});
    receives.set_matched(2, call(0, 1));
    receives.complete(2, call(0, 9), {{3}, 5, 6}, huge);
    EXPECT_FALSE(receives.has_envelope(1));
    EXPECT_FALSE(receives[1].comm.valid());
    receives.select(std::vector<std::uint32_t>{3, 2});
    EXPECT_FALSE(receives[0].matched.valid());
    EXPECT_EQ(receives[1].matched, call(0, 1));
    EXPECT_EQ(receives[1].source, 5);
    EXPECT_EQ(receives[1].bytes, huge);
    std::vector<std::uint64_t> bytes;
    for (const Receive& receive : receives)
        bytes.push_back(receive.bytes);
    EXPECT_THAT(bytes, ElementsAre(0U, huge));
}

TEST(Collectives, KeepSizesOfAnySize)
{
    constexpr std::uint64_t limit = std::numeric_limits<std::uint32_t>::max();
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes{
        {0, 0}, {7, limit - 1}, {limit - 1, 7}, {limit, 7}, {7, limit}, {huge, huge + 1}, {limit, 0}, {huge, huge + 1}};
    CollectiveCalls collectives(CallNumbers({2}));
    for (std::uint32_t i = 0; i < sizes.size(); ++i)
        collectives.push_back({call(2, i), {4}, 3, sizes[i].first, sizes[i].second});
    collectives.push_back({{}, {4}, -1, 0, 0, call(2, 90), functions::FunctionId::MPI_Ibcast});
    collectives.settle();
    collectives.complete(sizes.size(), call(2, 91), {5}, 6, huge, 8, functions::FunctionId::MPI_Ibarrier);
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        const CollectiveCall c = collectives[i];
        EXPECT_EQ(c.call, call(2, i));
        EXPECT_EQ(c.comm, CommId{4});
        EXPECT_EQ(c.root, 3);
        EXPECT_EQ(std::pair(c.sent, c.received), sizes[i]);
        EXPECT_EQ(c.operation, functions::FunctionId::none);
    }
    const CollectiveCall completed = collectives[sizes.size()];
    EXPECT_EQ(completed.call, call(2, 91));
    EXPECT_EQ(completed.post, call(2, 90));
    EXPECT_EQ(std::pair(completed.sent, completed.received), std::pair(huge, std::uint64_t{8}));
    EXPECT_EQ(completed.operation, functions::FunctionId::MPI_Ibcast);
}

TEST(Dictionary, GoesOnWhenItHasSettled)
{
    struct Hash {
        std::size_t operator()(int i) const noexcept { return static_cast<std::size_t>(i); }
    };
    Dictionary<int, Hash> dictionary;
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(dictionary.add(7 * i), static_cast<std::uint32_t>(i));
        if (i % 9 == 0)
            dictionary.settle();
    }
    dictionary.settle();
    for (int i = 99; i >= 0; --i)
        EXPECT_EQ(dictionary.add(7 * i), static_cast<std::uint32_t>(i));
    EXPECT_EQ(dictionary.size(), 100U);
}

TEST(CallsAlone, AreThoseWithoutThePoints)
{
    model::Calls calls;
    calls.add(model::Ns{10}, model::Ns{12}, {5});
    EXPECT_FALSE(calls.has_points());
    EXPECT_EQ(model::CallsAlone(calls).size(), 1U);
    calls.add_point(model::Ns{20});
    calls.add_point(model::Ns{30});
    calls.add(model::Ns{40}, model::Ns{45}, {6});
    calls.add_point(model::Ns{50});
    ASSERT_EQ(calls.size(), 5U);
    EXPECT_TRUE(calls.is_point(2) && !calls.is_point(3));
    EXPECT_EQ(calls.leave(2), model::Ns{30});
    EXPECT_EQ(calls.context(2), calls.context(0));  // of the call before
    const model::CallsAlone alone(calls);
    ASSERT_EQ(alone.size(), 2U);
    EXPECT_EQ(alone.number(1), 3U);
    EXPECT_EQ(alone.enter(1), model::Ns{40});
    EXPECT_EQ(alone.leave(1), model::Ns{45});
    EXPECT_EQ(calls.next_call(0), 0U);
    EXPECT_EQ(calls.next_call(1), 3U);
    EXPECT_EQ(calls.next_call(2), 3U);
    EXPECT_EQ(calls.next_call(4), 5U) << "there is none";
    EXPECT_EQ(calls.behind_last_call(1), 1U);
    EXPECT_EQ(calls.behind_last_call(3), 1U);
    EXPECT_EQ(calls.behind_last_call(5), 4U);
}

}  // namespace
}  // namespace critpath::model
