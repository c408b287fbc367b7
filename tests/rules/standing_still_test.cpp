// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is learned of transfers between windows that stood still until their target was back in MPI. Times are us.
#include "tests/builder/replayed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace critpath::tests
{
namespace
{

using testing::HasSubstr;

/// Where all transfers stood still, what they took since their targets came back is what is learned, whichever call
/// waited for that.
TEST(OneSided, StandingStillIsNotLearnedAsTheTimeOfTransfers)
{
    using Waits = std::function<void(Rank&, model::WindowId, int begin)>;
    const Waits transfer = [](Rank& rank, model::WindowId window, int begin) {
        rank.put({begin, begin + 1020}, window, 1);
    };
    const Waits flush = [](Rank& rank, model::WindowId window, int begin) {
        rank.put({begin, begin + 1}, window, 1);
        rank.flush({begin + 2, begin + 1020}, window, 1);
    };
    const Waits request = [](Rank& rank, model::WindowId window, int begin) {
        rank.rput({begin, begin + 1}, window, 1, 8, {begin + 2, begin + 1020});
    };
    for (const Waits& waits : {transfer, flush, request}) {
        Program p(2);
        const auto window = p.window({0, 1});
        for (const int begin : {0, 2000}) {
            p[0].lock({begin + 100, begin + 101}, window, 1);
            waits(p[0], window, begin + 110);
            p[0].unlock({begin + 1131, begin + 1132}, window, 1);
            p[1].call(FunctionId::MPI_Wait, {begin + 1100, begin + 1101});
        }
        p[0].finish(3300);
        p[1].finish(3200);
        EXPECT_THAT(path(p), HasSubstr("compute 1: 1101-3100 | transfer? 1>0: 3100-3130 | "));
    }
}

/// Of one, the target came back long before its end: where the others waited for that, this tells nothing either.
TEST(OneSided, ATransferThatStoodStillForNoReasonIsNotLearnedWhereOthersStoodStill)
{
    for (const bool others_stood_still : {true, false}) {
        Program p(2);
        const auto window = p.window({0, 1});
        for (int step = 0; step < 8; ++step) {
            const int begin = 2000 * step;
            p[0].lock({begin + 100, begin + 101}, window, 1);
            p[0].put({begin + 110, begin + 111}, window, 1);
            p[0].flush({begin + 112, begin + 1130}, window, 1);
            p[0].unlock({begin + 1131, begin + 1132}, window, 1);
            const int back = step > 0 && others_stood_still ? begin + 1100 : begin + 600;
            p[1].call(FunctionId::MPI_Wait, {back, back + 1});
        }
        p[0].finish(15'300);
        p[1].finish(15'200);
        // Else, it is what a transfer takes.
        EXPECT_THAT(path(p), HasSubstr(others_stood_still ? "compute 1: 13101-15100 | transfer? 1>0: 15100-15130 | "
                                                          : "transfer 0: 14110-15130 | "));
    }
}

/// Whenever its sender comes back to MPI, a megabyte is there 200 us after it was posted: it does not wait for that.
TEST(StandingStill, ATransferThatTakesTheSameWheneverItsSenderIsBackMovesOnByItself)
{
    Program p(2);
    constexpr int rounds = 6;
    for (int k = 0; k < rounds; ++k) {
        const std::int64_t begin = 300 * k;
        const Request sent = p[0].isend({begin + 20, begin + 21}, 1, 1'000'000);
        p[1].wait({begin + 12, begin + 220}, p[1].irecv({begin + 10, begin + 11}, 0, 1'000'000));
        p[0].wait({begin + 80 + 20 * k, begin + 220}, sent);
    }
    p[1].finish(2000);
    p.finish(1900);
    EXPECT_THAT(path(p), testing::EndsWith("transfer 0>1: 1520-1720 | compute 1: 1720-2000"));
}

}  // namespace
}  // namespace critpath::tests
