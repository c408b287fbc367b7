// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages that are sent again, one by one, find the partners that the exchange in bulk gives them; and what may not
// stand still does not.
#include "replayer/literal/messages.hpp"
#include "replayer/literal/outbox.hpp"
#include "replayer/pair/call_costs.hpp"
#include "tests/builder/replayed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace critpath::tests
{
namespace
{

using replayer::ProcessPairs;
using replayer::Replay;
using replayer::Rules;
using replayer::literal::Limits;
using replayer::literal::Messages;

std::string text(const replayer::rules::Enter& enter)
{
    return fmt::format("{}.{}@{}", enter.call.location.value, enter.call.call.value, enter.time.count());
}

std::string text(const ProcessPairs& pairs)
{
    std::string words;
    for (std::size_t i = 0; i < pairs.of_receive.size(); ++i) {
        const replayer::MatchedSend send = pairs.of_receive[i];
        if (pairs.of_receive.has(i))
            words += fmt::format("{} <- {} {} {} {}{}{}\n", i, text(send.post), static_cast<int>(send.mode),
                                 static_cast<int>(send.link), send.over_before, send.surely_over, send.within_clocks);
    }
    for (const auto& receive : pairs.of_send)
        words += fmt::format("{}: {} {}\n", receive.send, text(receive.post), static_cast<int>(receive.link));
    return words;
}

std::uint64_t sum(std::uint64_t value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return value;
}

/// Pairs in both ways, which must give the same.
Messages pair_both_ways(const Replay& loaded, const Limits& limits = {})
{
    replayer::rules::Calibration calibration;
    calibration.clocks = replayer::rules::ClockUncertainty(loaded.definitions);
    calibration.calls = replayer::calibrate_calls(loaded);
    const replayer::Pairs bulk = replayer::pair(loaded, calibration);
    Messages messages = replayer::literal::replay_messages(loaded, calibration, limits);
    for (std::size_t p = 0; p < loaded.processes.size(); ++p)
        EXPECT_EQ(text(messages.pairs[p]), text(bulk.processes[p])) << "process " << p << " of rank " << loaded.rank;
    EXPECT_EQ(sum(messages.unmatched_sends), bulk.unmatched_sends);
    return messages;
}

Messages pair_both_ways(const Program& program, const Limits& limits = {}, Rules rules = Rules::Enter)
{
    return pair_both_ways(load(program, MPI_COMM_WORLD, rules), limits);
}

constexpr double hasty = 0.005;  // s: for programs that are known to stand still

// ------------------------------------------------------------------------------------------------------ waiting

// Both have a receive open while they complete another one, and post the send that it waits for behind that.
TEST(Waits, AreForWhatHadBeenCompletedAndNothingElse)
{
    Program p(2);
    for (int r = 0; r < 2; ++r) {
        const int other = 1 - r;
        const Request first = p[r].isend({0, 1}, other, 8, 1);
        const Request open = p[r].irecv({2, 3}, other, 8, 2);
        p[r].recv({4, 10}, other, 8, 1);  // where a flush of all that is pending would stand still
        const Request second = p[r].isend({11, 12}, other, 8, 2);
        p[r].waitall({13, 20}, {first, open, second});
    }
    p.finish(30);
    const Messages messages = pair_both_ways(p, {.receives = 0});
    EXPECT_EQ(messages.standstills, 0U);
    EXPECT_EQ(messages.unmatched_sends, 0U);
}

TEST(Waits, BoundWhatIsPosted)
{
    constexpr int messages = 500;
    Program p(2);
    for (int i = 0; i < messages; ++i) {
        p[0].send({10 * i, 10 * i + 1}, 1);
        p[1].recv({10 * i, 10 * i + 2}, 0);
    }
    p.finish(10 * messages);
    for (const std::size_t open : {0U, 10U})
        EXPECT_LE(pair_both_ways(p, {.receives = open}).most_receives_posted, open + 1);
}

// No run can have been so: each sends what the other one waits for behind its own receive.
TEST(Waits, ArePassedByWhereTheTraceContradictsItself)
{
    constexpr int rounds = 200;
    Program p(3);
    for (int r = 0; r < 3; ++r)
        for (int i = 0; i < rounds; ++i) {
            p[r].recv({10 * i, 10 * i + 1}, (r + 2) % 3);
            p[r].send({10 * i + 2, 10 * i + 3}, (r + 1) % 3);
        }
    p.finish(10 * rounds);
    const Messages messages = pair_both_ways(p, {.receives = 0, .patience = hasty});
    EXPECT_GT(messages.standstills, 0U);
    EXPECT_LE(messages.standstills, 8U);  // each passes by twice as many: 2^8 > rounds
    EXPECT_EQ(messages.unmatched_sends, 0U);
}

// --------------------------------------------------------------------------------------------------------- room

TEST(Room, IsForTwoWindowsAtMost)
{
    constexpr std::uint32_t window = 10;
    replayer::literal::Outbox<int> outbox(1, window);
    int sent = 0;
    for (; outbox.has_room(0); ++sent)
        outbox.send(sent, 0, 0, MPI_COMM_SELF);
    EXPECT_EQ(sent, 2 * window);
    for (int i = 0; i < sent; ++i) {
        int received = -1;
        MPI_Recv(&received, sizeof received, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        EXPECT_EQ(received, i);
    }
    EXPECT_TRUE(outbox.has_room(0));
    outbox.finish();
}

TEST(Room, IsMadeByWhoReceives)
{
    constexpr int messages = 1000;
    Program p(3);
    for (int i = 0; i < messages; ++i) {
        p[0].send({i, i + 1}, 1 + i % 2);
        p[1 + i % 2].recv({5 * i, 5 * i + 4}, 0);
    }
    p.finish(5 * messages);
    EXPECT_EQ(pair_both_ways(p, {.receives = 0, .window = 4}).standstills, 0U);
}

// The application buffered a thousand messages before their receiver looked at the first.
TEST(Room, IsGivenWhereTheApplicationHadIt)
{
    constexpr int messages = 1000;
    Program p(2);
    for (int i = 0; i < messages; ++i)
        p[0].send({2 * i, 2 * i + 1}, 1);
    p[0].send({2 * messages, 2 * messages + 1}, 1, 8, 1);
    p[1].recv({0, 2 * messages + 5}, 0, 8, 1);
    for (int i = 0; i < messages; ++i)
        p[1].recv({2 * messages + 10 + i, 2 * messages + 11 + i}, 0);
    p.finish(4 * messages);
    EXPECT_GT(pair_both_ways(p, {.receives = 0, .window = 10, .patience = hasty}).standstills, 0U);
}

// -------------------------------------------------------------------------------------------------------- lanes

/// Each with each, on two communicators, with tags of which each pair has its own set, in different orders.
void fill_channels(Program& p, model::CommId other)
{
    const int n = p.ranks();
    std::vector<std::vector<Request>> requests(static_cast<std::size_t>(n));
    for (int r = 0; r < n; ++r)
        for (int peer = 0; peer < n; ++peer)
            for (int tag = 0; tag < 5; ++tag) {
                const int time = 10 * (peer * 5 + tag);
                p[r].on(tag % 2 == 0 ? Program::world() : other);
                requests[static_cast<std::size_t>(r)].push_back(p[r].irecv({time, time + 1}, peer, 8, 1'000'000 - tag));
                requests[static_cast<std::size_t>(r)].push_back(
                    p[r].isend({time + 2, time + 3}, peer, 8, 1'000'000 - tag));
            }
    for (int r = 0; r < n; ++r)
        p[r].waitall({10'000, 10'010}, requests[static_cast<std::size_t>(r)]);
}

TEST(Lanes, HoldMoreChannelsThanThereAreTags)
{
    Program p(4);
    fill_channels(p, p.comm({0, 1, 2, 3}));
    p.finish(20'000);
    for (const int tags : {1, 3, 32768})
        EXPECT_EQ(pair_both_ways(p, {.tags = tags}).standstills, 0U);
}

// ------------------------------------------------------------------------------------------------ no partner

TEST(Partners, ThatAreMissingAreNotWaitedFor)
{
    Program p(3);
    p[0].send({1, 2}, 1);
    p[0].send({3, 4}, 1);  // nobody receives it
    p[1].recv({1, 5}, 0);
    p[1].recv({6, 7}, 2);         // nobody sends it
    p[2].ssend({1, 9}, 0, 8, 3);  // on a channel without receives
    p[0].recv({5, 6}, 2, 8, 4);   // on a channel without sends
    p[0].send({7, 8}, 7);         // there is no such rank
    p.finish(20);
    EXPECT_EQ(pair_both_ways(p).standstills, 0U);
}

TEST(Partners, ThatWereNotRecordedKeepTheirNumbers)
{
    Program p(2);
    for (int i = 0; i < 4; ++i) {
        p[0].ssend({10 * i, 10 * i + 5}, 1);
        p[1].recv({10 * i, 10 * i + 5}, 0);
    }
    p.finish(100);
    Replay loaded = load(p, MPI_COMM_WORLD, Rules::Enter);
    using What = model::Skipped::What;
    for (auto& process : loaded.processes) {  // the receiver was switched off longer than the sender
        const bool sends = process.process.value == 0;
        process.skipped.push_back(
            {model::Ns{12'000}, sends ? What::Send : What::Receive, Program::world(), sends ? 1 : 0, 0, sends ? 1 : 2});
    }
    EXPECT_EQ(pair_both_ways(loaded).standstills, 0U);
}

/// Whatever the trace says: no order, no times, no numbers that fit.
class AnyTrace : public testing::TestWithParam<std::uint32_t>
{
};

TEST_P(AnyTrace, IsPairedAsInBulk)
{
    std::mt19937 random(GetParam());
    const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<std::uint32_t>(below)); };
    const int ranks = 1 + draw(6);
    Program p(ranks);
    for (int r = 0; r < ranks; ++r) {
        std::vector<Request> open;
        for (int i = 0, time = draw(20); i < 60; ++i, time += draw(20)) {
            const int peer = draw(ranks), tag = draw(2);
            switch (draw(5)) {
            case 0:
                p[r].send({time, time + 3}, peer, 8, tag);
                break;
            case 1:
                p[r].recv({time, time + 5}, peer, 8, tag);
                break;
            case 2:
                open.push_back(p[r].irecv({time, time + 1}, peer, 8, tag));
                break;
            case 3:
                open.push_back(p[r].issend({time, time + 1}, peer, 8, tag));
                break;
            default:
                p[r].waitall({time, time + 6}, open);
                open.clear();
            }
            time += 6;
        }
    }
    p.finish(3000);
    Replay loaded = load(p, MPI_COMM_WORLD, Rules::Enter);
    for (int r = 0; r < ranks; ++r) {
        std::vector<model::Skipped> skipped;
        for (int i = 0; i < draw(4); ++i)
            skipped.push_back({model::Ns{1000 * draw(1000)}, static_cast<model::Skipped::What>(draw(2)),
                               Program::world(), draw(ranks), draw(2), draw(4) - 1});
        std::ranges::sort(skipped, {}, &model::Skipped::time);
        for (auto& process : loaded.processes)
            if (process.process.value == static_cast<std::uint32_t>(r))
                process.skipped = skipped;
    }
    pair_both_ways(loaded, {.tags = 1 + draw(4),
                            .receives = static_cast<std::size_t>(draw(10)),
                            .window = static_cast<std::uint32_t>(1 + draw(20)),
                            .patience = hasty});
}

INSTANTIATE_TEST_SUITE_P(Seeds, AnyTrace, testing::Range(1U, 16U));

}  // namespace
}  // namespace critpath::tests
