// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where a process of the replay holds more ranks than its caches do, messages are taken receiver by receiver.
#include "tests/builder/replayed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace critpath::tests
{
namespace
{

// A row of ranks that jumps about between them. The second message of each channel is what the next one waits for.
TEST(ManyRanks, MessagesOfAChannelKeepTheirOrder)
{
    constexpr int ranks = 400;
    const auto rank = [](int place) { return place * 171 % ranks; };
    const auto sent = [](int place) { return 20 + std::int64_t{10} * place; };
    Program p(ranks);
    std::string expected = "compute 0: 0-1 | mpi 0: 1-2 | compute 0: 2-20";
    for (int place = 0; place < ranks; ++place) {
        const bool is_last = place + 1 == ranks;
        if (!is_last)
            p[rank(place)].send({1, 2}, rank(place + 1));
        if (place > 0) {
            p[rank(place)].recv({3, 4}, rank(place - 1));
            p[rank(place)].recv({5, sent(place - 1) + 2}, rank(place - 1));
            expected +=
                fmt::format(" | transfer {}>{}: {}-{} | compute {}: {}-{}", rank(place - 1), rank(place),
                            sent(place - 1), sent(place - 1) + 2, rank(place), sent(place - 1) + 2, sent(place));
        }
        if (!is_last)
            p[rank(place)].send({sent(place), sent(place) + 1}, rank(place + 1));
    }
    p[rank(ranks - 1)].finish(sent(ranks - 1));
    p.finish(sent(ranks - 1) - 5);
    const Replayed r = replay(p);
    EXPECT_TRUE(r.path() == expected) << "from its end: " << r.path().substr(r.path().size() - 200);
    EXPECT_EQ(r.fact("messages"), 2 * (ranks - 1));
    EXPECT_EQ(r.fact("unmatched_sends") + r.fact("unmatched_receives"), 0);
}

}  // namespace
}  // namespace critpath::tests
