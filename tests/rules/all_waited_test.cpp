// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What calls cost of which all have waited (docs/ALGORITHM, "What the trace teaches about the machine"). Times are in
// us.
#include "tests/builder/replayed.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace critpath::tests
{
namespace
{

/// Rounds of 220 us of two ranks that post a megabyte for each other, 10 and 20 us after the begin, which takes 200 us,
/// and wait for 50 to 195 of them. Returns the path of it, but for the last round.
std::string exchange_megabytes(Program& p, int rounds)
{
    std::string expected = "compute 0: 0-20";
    for (int k = 0; k < rounds; ++k) {
        const int late = k % 2, other = 1 - late;
        const std::int64_t begin = 220 * k;
        const auto post = [&](int rank, std::int64_t at) {
            return std::vector<Request>{p[rank].irecv({at, at}, 1 - rank, 1'000'000),
                                        p[rank].isend({at, at}, 1 - rank, 1'000'000)};
        };
        const auto of_other = post(other, begin + 10), of_late = post(late, begin + 20);
        p[late].waitall({begin + 25 + 15 * k, begin + 220}, of_late);
        p[other].waitall({begin + 170 - 15 * k, begin + 220}, of_other);
        expected += fmt::format(" | transfer {}>{}: {}-{} | compute {}: {}-{}", late, other, begin + 20, begin + 220,
                                other, begin + 220, begin + 240);
    }
    return expected.substr(0, expected.rfind(" | "));
}

// None of 20 calls tells what it costs, and the shortest wait is no cost.
TEST(AllWaited, AWaitForLargeTransfersIsOneHoweverShort)
{
    Program p(2);
    const std::string expected = exchange_megabytes(p, 10);
    p[0].finish(2300);
    p.finish(2210);
    EXPECT_EQ(path(p), expected + " | compute 0: 2200-2300");
}

// But one does that comes when its messages are there: what it takes is no delay.
TEST(AllWaited, ACallThatFindsLargeMessagesThereTellsWhatItCosts)
{
    Program p(2);
    exchange_megabytes(p, 10);
    const std::vector<Request> there{p[0].irecv({2200, 2200}, 1, 1'000'000), p[0].isend({2200, 2200}, 1, 1'000'000)};
    p[1].wait({2390, 2400}, p[1].irecv({2200, 2200}, 0, 1'000'000));
    p[1].wait({2400, 2401}, p[1].isend({2200, 2200}, 0, 1'000'000));
    p[0].waitall({3100, 3170}, there);
    p[0].finish(3400);
    p.finish(2410);
    EXPECT_THAT(path(p), testing::EndsWith("compute 0: 2200-3100 | mpi 0: 3100-3170 | compute 0: 3170-3400"));
}

// What functions complete that nobody knows (in traces of other tools) is of no kind.
TEST(AllWaited, CallsOfUnknownFunctionsAreLeftOut)
{
    Program p(2);
    const std::string expected = exchange_megabytes(p, 10);
    p[0].wait_in(FunctionId::none, {2210, 2220}, p[0].irecv({2205, 2206}, 1));
    p[1].send({2202, 2204}, 0);
    p[0].finish(2300);
    p.finish(2230);
    EXPECT_THAT(path(p), testing::StartsWith(expected));
}

// Nor may the time of the transfers be taken for less than it is, because it is longer than usual and each call waits
// for several: all calls end 3 ms after the last of what they complete began.
TEST(AllWaited, SlowTransfersAreLearnedWhereAllCallsEndAsLongAfterTheyBegan)
{
    constexpr int ranks = 3, rounds = 12;
    Program p(ranks);
    std::string expected = "compute 0: 0-20";
    for (int k = 0; k < rounds; ++k) {
        const int late = k % ranks, next = (k + 1) % ranks;
        const std::int64_t begin = 3030 * k;
        std::vector<std::vector<Request>> posted(ranks);
        for (int r = 0; r < ranks; ++r) {
            const std::int64_t at = begin + (r == late ? 20 : 10);
            auto& own = posted[static_cast<std::size_t>(r)];
            for (const int other : {(r + 1) % ranks, (r + 2) % ranks}) {
                own.push_back(p[r].irecv({at, at}, other, 1'000'000));
                own.push_back(p[r].isend({at, at}, other, 1'000'000));
            }
        }
        for (int r = 0; r < ranks; ++r)
            p[r].waitall({begin + 100 + 220 * ((k + 4 * r) % rounds), begin + 3020},
                         posted[static_cast<std::size_t>(r)]);
        expected += fmt::format(" | transfer {}>{}: {}-{} | compute {}: {}-{}", late, next, begin + 20, begin + 3020,
                                next, begin + 3020, begin + 3050);
    }
    p[0].finish(3030 * rounds + 100);
    p.finish(3030 * rounds);
    EXPECT_EQ(path(p), expected.substr(0, expected.rfind('-')) + fmt::format("-{}", 3030 * rounds + 100));
}

}  // namespace
}  // namespace critpath::tests
