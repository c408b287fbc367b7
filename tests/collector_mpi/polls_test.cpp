// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/polls.hpp"

#include <gtest/gtest.h>

namespace critpath::preload
{

namespace
{

constexpr char here = 0;
constexpr char there = 0;
constexpr std::uint16_t function = 7;

TEST(Polls, TellQuestionsApart)
{
    Polls polls;
    EXPECT_EQ(polls.last(), 0U);
    EXPECT_EQ(polls.find({1, &here, function}), 0U);
    polls.add({1, &here, function}, 10);
    EXPECT_EQ(polls.find({1, &here, function}), 10U);
    EXPECT_EQ(polls.find({2, &here, function}), 0U);
    EXPECT_EQ(polls.find({1, &there, function}), 0U);
    EXPECT_EQ(polls.find({1, &here, function + 1}), 0U);
    EXPECT_EQ(polls.last(), 10U);
    EXPECT_TRUE(polls.ask_by(function));
    EXPECT_FALSE(polls.ask_by(function + 1));
    polls.clear();
    EXPECT_EQ(polls.find({1, &here, function}), 0U);
}

// However many requests a loop asks for, it makes no more records.
TEST(Polls, ALoopOverManyQuestionsIsToldByItsPlace)
{
    Polls polls;
    std::uint64_t records = 0;
    for (int turn = 0; turn < 3; ++turn) {
        for (std::uint64_t what = 0; what < 10 * Polls::most; ++what) {
            if (polls.find({what, &here, function}) == 0) {
                polls.add({what, &here, function}, ++records);
            }
        }
    }
    EXPECT_EQ(records, Polls::most);
    EXPECT_EQ(polls.find({0, &there, function}), 0U);
}

}  // namespace

}  // namespace critpath::preload
