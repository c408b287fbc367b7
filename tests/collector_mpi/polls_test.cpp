// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/polls.hpp"

#include <gtest/gtest.h>

namespace critpath::preload
{

namespace
{

constexpr char here = 0;
constexpr char elsewhere = 0;
constexpr std::uint16_t polled_function = 7;

TEST(Polls, TellQuestionsApart)
{
    Polls polls;
    EXPECT_EQ(polls.last(), 0U);
    EXPECT_EQ(polls.find({1, &here, polled_function}), 0U);
    polls.add({1, &here, polled_function}, 10);
    EXPECT_EQ(polls.find({1, &here, polled_function}), 10U);
    EXPECT_EQ(polls.find({2, &here, polled_function}), 0U);
    EXPECT_EQ(polls.find({1, &elsewhere, polled_function}), 0U);
    EXPECT_EQ(polls.find({1, &here, polled_function + 1}), 0U);
    EXPECT_EQ(polls.last(), 10U);
    EXPECT_TRUE(polls.ask_by(polled_function));
    EXPECT_FALSE(polls.ask_by(polled_function + 1));
    polls.clear();
    EXPECT_EQ(polls.find({1, &here, polled_function}), 0U);
}

// However many requests a loop asks for, it makes no more records.
TEST(Polls, ALoopOverManyQuestionsIsToldByItsPlace)
{
    Polls polls;
    std::uint64_t records = 0;
    for (int turn = 0; turn < 3; ++turn) {
        for (std::uint64_t what = 0; what < 10 * Polls::most; ++what) {
            if (polls.find({what, &here, polled_function}) == 0) {
                polls.add({what, &here, polled_function}, ++records);
            }
        }
    }
    EXPECT_EQ(records, Polls::most);
    EXPECT_EQ(polls.find({0, &elsewhere, polled_function}), 0U);
}

}  // namespace

}  // namespace critpath::preload
