// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/rules/calibration.hpp"
#include "replayer/rules/message_rule.hpp"
#include "replayer/rules/operation.hpp"

#include <gtest/gtest.h>

namespace critpath::replayer::rules
{
namespace
{

using std::chrono::microseconds;

TEST(Durations, FastIsTheMinimumOfFewCallsAndThePercentileOfMany)
{
    Durations few;
    few.add(Ns{777});
    few.add(Ns{5000});
    EXPECT_EQ(few.fast(), Ns{777});
    Durations many;
    many.add(Ns{1});  // one in a thousand is not what calls cost
    for (int i = 0; i < 999; ++i)
        many.add(Ns{1024});
    EXPECT_EQ(many.fast(), Ns{1024});
}

TEST(Durations, ScatterDoesNotSeeThoseThatWaited)
{
    Durations durations;
    for (int i = 0; i < 10; ++i)
        durations.add(Ns{1600});
    for (int i = 0; i < 90; ++i)
        durations.add(microseconds{1000 + i});
    EXPECT_EQ(durations.scatter(), Ns{0});
    for (const int extra : {200, 400, 600, 800})
        for (int i = 0; i < 5; ++i)
            durations.add(Ns{1600 + extra});
    EXPECT_GT(durations.scatter(), Ns{0});
    EXPECT_LE(durations.scatter(), Ns{1600});
}

TEST(Durations, MergingIsAddingInAnyOrder)
{
    Durations a;
    Durations b;
    Durations all;
    for (int i = 1; i < 200; ++i) {
        (i % 3 == 0 ? a : b).add(Ns{i * 37});
        all.add(Ns{i * 37});
    }
    Durations ba = b;
    ba.merge(a);
    EXPECT_EQ(ba.counts, all.counts);
    EXPECT_EQ(ba.fast(), all.fast());
    EXPECT_EQ(ba.scatter(), all.scatter());
}

TEST(CallCosts, ACallThatAlwaysWaitedCostsNoMoreThanACopy)
{
    Durations waits;
    waits.add(microseconds{500});
    CallCosts costs;
    costs.set({FunctionId::MPI_Recv, size_bucket(1000)}, waits);
    EXPECT_EQ(costs.of(FunctionId::MPI_Recv, 1000).least, microseconds{5} + Ns{1023});  // of all up to 1023 bytes
    EXPECT_EQ(costs.of(FunctionId::MPI_Recv, 1000).threshold, microseconds{1});
    EXPECT_EQ(costs.of(FunctionId::MPI_Send, 0).least, microseconds{5});  // without any example
}

/// Nor more than what its message takes, once that is known. Of other calls that says nothing.
TEST(CallCosts, ACallThatAlwaysWaitedForAMessageCostsNoMoreThanThat)
{
    Durations waits;
    waits.add(microseconds{500});
    CallCosts costs;
    for (const FunctionId function : {FunctionId::MPI_Send, FunctionId::MPI_Waitall, FunctionId::MPI_Bcast})
        costs.set({function, size_bucket(1'000'000)}, waits);
    costs.bound_messages(size_bucket(1'000'000), microseconds{200});
    EXPECT_EQ(costs.of(FunctionId::MPI_Send, 1'000'000).least, microseconds{200});
    EXPECT_EQ(costs.of(FunctionId::MPI_Waitall, 1'000'000).least, microseconds{500});  // perhaps of many messages
    EXPECT_EQ(costs.of(FunctionId::MPI_Bcast, 1'000'000).least, microseconds{500});
}

/// Nor more than what it took after its message was sent. Scatter does not contradict that.
TEST(CallCosts, ACallThatAlwaysWaitedCostsNoMoreThanItTookAfterTheSend)
{
    Durations waits;
    waits.add(microseconds{4});
    CallCosts costs;
    costs.set({FunctionId::MPI_Recv, 4}, waits);
    EXPECT_EQ(costs.of_bucket(FunctionId::MPI_Recv, 4).least, microseconds{4});
    costs.bound({FunctionId::MPI_Recv, 4}, microseconds{3});
    EXPECT_EQ(costs.of_bucket(FunctionId::MPI_Recv, 4).least, microseconds{4});
    costs.bound({FunctionId::MPI_Recv, 4}, Ns{700});
    EXPECT_EQ(costs.of_bucket(FunctionId::MPI_Recv, 4).least, Ns{700});
    EXPECT_EQ(costs.of_bucket(FunctionId::MPI_Recv, 4).threshold, microseconds{1});
    EXPECT_EQ(costs.of_bucket(FunctionId::MPI_Recv, 5).least, microseconds{5} + Ns{31});  // another size
    Durations long_waits;
    long_waits.add(microseconds{500});
    costs.set({FunctionId::MPI_Recv, 5}, long_waits);
    costs.bound({FunctionId::MPI_Recv, 5}, microseconds{60});
    EXPECT_EQ(costs.of_bucket(FunctionId::MPI_Recv, 5).least, microseconds{5} + Ns{31});  // it has a smaller bound
}

TEST(CallCosts, SizesHaveCostsOfTheirOwn)
{
    Durations small;
    small.add(Ns{300});
    Durations large;
    large.add(Ns{2000});
    CallCosts costs;
    costs.set({FunctionId::MPI_Recv, size_bucket(8)}, small);
    costs.set({FunctionId::MPI_Recv, size_bucket(4096)}, large);
    EXPECT_EQ(costs.of(FunctionId::MPI_Recv, 8).least, Ns{300});
    EXPECT_EQ(costs.of(FunctionId::MPI_Recv, 15).least, Ns{300});
    EXPECT_EQ(costs.of(FunctionId::MPI_Recv, 5000).least, Ns{2000});
}

FastestMessages fastest(std::initializer_list<std::pair<std::uint64_t, std::int64_t>> messages)
{
    FastestMessages result;
    for (const auto& [bytes, ns] : messages)
        result[static_cast<std::size_t>(size_bucket(bytes))].add(ns, bytes);
    return result;
}

TEST(TransferTime, IsTheLowerHull)
{
    EXPECT_EQ(TransferTime().of(100), Ns{0});
    const TransferTime one(fastest({{8, 500}}));
    EXPECT_EQ(one.of(0), Ns{500});
    EXPECT_EQ(one.of(1 << 20), Ns{500});
    const TransferTime line(fastest({{0, 1000}, {1000, 9000}, {4000, 5000}}));  // the one in the middle lay waiting
    EXPECT_EQ(line.of(0), Ns{1000});
    EXPECT_EQ(line.of(1000), Ns{2000});
    EXPECT_EQ(line.of(4000), Ns{5000});
    EXPECT_EQ(line.of(8000), Ns{9000});
}

TEST(TransferTime, LargerMessagesAreNotFaster)
{
    const TransferTime t(fastest({{8, 7000}, {4000, 3000}}));
    EXPECT_EQ(t.of(8), Ns{3000});
    EXPECT_EQ(t.of(4000), Ns{3000});
}

TEST(TransferTime, OfMessagesThatLayThereIsAtMostTheUsualOne)
{
    const std::int64_t long_ago = 10'000'000;
    const TransferTime usual({}, fastest({{8, long_ago}, {1'000'000, long_ago}}));
    EXPECT_EQ(usual.of(8), Ns{20'008});
    EXPECT_EQ(usual.of(1'000'000), Ns{1'020'000});
    const TransferTime soon({}, fastest({{8, 900}}));
    EXPECT_EQ(soon.of(8), Ns{900});
    // A slow network is known from what was waited for, and a fast one from what lay there for a short time.
    const TransferTime slow(fastest({{8, 60'000}, {16, 60'000}}), fastest({{8, 50'000}, {16, 60'000}, {64, long_ago}}));
    EXPECT_EQ(slow.of(8), Ns{50'000});
    EXPECT_EQ(slow.of(64), Ns{60'000});
    // What a byte more of a small message takes says little of large ones: 6 ns/B, but these may take as many times the
    // usual time, 1.02 ms, as that of 1000 bytes, 21 us.
    const TransferTime small(fastest({{0, 36'000}, {1'000, 42'000}}),
                             fastest({{0, 36'000}, {1'000, 42'000}, {1'000'000, long_ago}}));
    EXPECT_EQ(small.of(1'000'000), Ns{2'040'000});
    const TransferTime single(fastest({{1'000, 42'000}}), fastest({{1'000, 42'000}, {1'000'000, long_ago}}));
    EXPECT_EQ(single.of(1'000'000), Ns{2'040'000});
    // What a large message takes says little of small ones: that these may be slower than usual as much as it is.
    const TransferTime large(fastest({{1'000'000, 8'160'000}}), fastest({{2'000, long_ago}, {1'000'000, 8'160'000}}));
    EXPECT_EQ(large.of(2'000), Ns{8 * 22'000});
    EXPECT_EQ(large.of(1'000'000), Ns{8'160'000});
}

TEST(Protocol, IsLearnedAndNotGuessed)
{
    using functions::SendMode;
    const auto of = [](SendMode mode, std::uint64_t bytes, bool over_before) {
        return protocol(mode, bytes, over_before, 1000);
    };
    EXPECT_EQ(of(SendMode::Standard, 1000, false), Protocol::Eager);
    EXPECT_EQ(of(SendMode::Standard, 1001, false), Protocol::Rendezvous);
    EXPECT_EQ(of(SendMode::Standard, 1001, true), Protocol::Eager);
    EXPECT_EQ(of(SendMode::Synchronous, 0, true), Protocol::Rendezvous);
    EXPECT_EQ(of(SendMode::Buffered, 1 << 20, false), Protocol::Eager);
    EXPECT_EQ(of(SendMode::Ready, 1 << 20, false), Protocol::Rendezvous);  // as a standard send
}

TEST(Operation, NothingThatOnlyPostsEverWaits)
{
    for (const FunctionId f :
         {FunctionId::MPI_Isend, FunctionId::MPI_Irecv, FunctionId::MPI_Start, FunctionId::MPI_Cancel}) {
        EXPECT_EQ(operation(f).dependence, Dependence::Nothing) << functions::info(f).name;
        EXPECT_FALSE(operation(f).blocking) << functions::info(f).name;
    }
    EXPECT_EQ(operation(FunctionId::none).dependence, Dependence::Nothing);
}

TEST(Operation, PollsWaitOnlyInRuns)
{
    for (const FunctionId f : {FunctionId::MPI_Test, FunctionId::MPI_Testall, FunctionId::MPI_Testany,
                               FunctionId::MPI_Testsome, FunctionId::MPI_Iprobe, FunctionId::MPI_Improbe,
                               FunctionId::MPI_Request_get_status, FunctionId::MPI_Parrived}) {
        EXPECT_TRUE(operation(f).polls) << functions::info(f).name;
        EXPECT_FALSE(operation(f).blocking) << functions::info(f).name;
    }
    EXPECT_FALSE(operation(FunctionId::MPI_Wait).polls);
}

TEST(Operation, EveryBlockingCollectiveHasAShape)
{
    for (std::uint16_t i = 0; i < static_cast<std::uint16_t>(FunctionId::count); ++i) {
        const auto id = static_cast<FunctionId>(i);
        const auto semantic_class = functions::info(id).semantic_class;
        if (semantic_class != functions::SemanticClass::Collective &&
            semantic_class != functions::SemanticClass::CommCreate)
            continue;
        EXPECT_EQ(operation(id).dependence, Dependence::Members) << functions::info(id).name;
        EXPECT_NE(operation(id).shape, CollectiveShape::None) << functions::info(id).name;
    }
}

TEST(CollectiveTimes, AreFoundInWhateverOrderTheyWereSet)
{
    using enum functions::FunctionId;
    CollectiveTimes times;
    times.set({MPI_Bcast, 3, 2}, Ns{7});
    times.set({MPI_Reduce, 1, 1}, Ns{9});
    times.set({MPI_Bcast, 3, 1}, Ns{5});
    times.set({MPI_Bcast, 3, 2}, Ns{6});
    EXPECT_EQ(times.find({MPI_Bcast, 3, 1}), Ns{5});
    EXPECT_EQ(times.find({MPI_Bcast, 3, 2}), Ns{6});
    EXPECT_EQ(times.find({MPI_Reduce, 1, 1}), Ns{9});
    EXPECT_EQ(times.find({MPI_Bcast, 2, 1}), std::nullopt);
    EXPECT_EQ(times.find({MPI_Barrier, 3, 1}), std::nullopt);
    EXPECT_EQ(times.of(MPI_Bcast).size(), 2U);
    EXPECT_EQ(times.of(MPI_Reduce).size(), 1U);
    EXPECT_TRUE(times.of(MPI_Barrier).empty());
}

}  // namespace
}  // namespace critpath::replayer::rules
