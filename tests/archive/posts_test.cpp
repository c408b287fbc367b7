// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/call_paths.hpp"
#include "collector/archive/posts.hpp"

#include <gtest/gtest.h>

namespace critpath::archive
{
namespace
{

using functions::FunctionId;

spool::Record post(std::uint64_t request)
{
    spool::Record record{};
    record.request = request;
    record.bytes = 100 * request;
    return record;
}

TEST(Posts, OnlyWhatCrossesThreadsIsKept)
{
    PostsOfProcess posts;
    posts.post(0, post(1));
    posts.complete(0, 1);
    posts.post(0, post(2));
    posts.complete(1, 3);  // its post is on a thread that comes later
    posts.complete(1, 2);
    posts.post(2, post(3));
    posts.post(2, post(4));  // never completed
    posts.complete(2, 5);    // never posted
    posts.finish();
    EXPECT_FALSE(posts.crossing(1));
    ASSERT_TRUE(posts.crossing(2));
    EXPECT_EQ(posts.crossing(2)->bytes, 200);
    ASSERT_TRUE(posts.crossing(3));
    EXPECT_EQ(posts.crossing(3)->bytes, 300);
    EXPECT_FALSE(posts.crossing(4));
    EXPECT_FALSE(posts.crossing(5));
}

TEST(Posts, AThreadForgetsWhatIsCompleted)
{
    PostsOfProcess process;
    process.post(0, post(1));
    process.complete(1, 1);
    process.finish();
    PostsOfThread thread(process);
    thread.post(post(7));
    EXPECT_EQ(thread.complete(1)->bytes, 100);
    EXPECT_EQ(thread.complete(7)->bytes, 700);
    EXPECT_FALSE(thread.complete(7));
}

TEST(CallPaths, EachFunctionThatAPathCallsHasItsContext)
{
    CallPaths paths;
    paths.define(2, {50, 8});
    int made = 0;
    const auto make = [&](const Leaf& caller) {
        EXPECT_EQ(caller.offset, 8U);
        return caller.context + 1000U * static_cast<unsigned>(++made);
    };
    paths.learn(2, FunctionId::MPI_Send, make);
    paths.learn(2, FunctionId::MPI_Recv, make);
    paths.learn(2, FunctionId::MPI_Send, make);
    paths.learn(2, FunctionId::MPI_Recv, make);
    EXPECT_EQ(made, 2);
    EXPECT_EQ(paths.find(2, FunctionId::MPI_Send), 1050);
    EXPECT_EQ(paths.find(2, FunctionId::MPI_Recv), 2050);
}

TEST(CallPaths, UnknownPathsLeadToAContextOfTheFunctionAlone)
{
    CallPaths paths;
    int made = 0;
    const auto make = [&](const Leaf& caller) {
        EXPECT_EQ(caller.context, Context::no_parent);
        return static_cast<std::uint32_t>(++made);
    };
    paths.learn(0, FunctionId::MPI_Send, make);
    paths.learn(9, FunctionId::MPI_Send, make);  // never defined
    paths.define(0xffffff00, {3, 0});            // damaged
    EXPECT_EQ(paths.find(0, FunctionId::MPI_Send), 1);
    EXPECT_EQ(paths.find(9, FunctionId::MPI_Send), 1);
}

}  // namespace
}  // namespace critpath::archive
