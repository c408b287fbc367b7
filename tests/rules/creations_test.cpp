// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Who waits for whom where communicators are made (docs/ALGORITHM, "Collectives"). Times are in us.
#include "tests/builder/replayed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace critpath::tests
{
namespace
{

// Only the members of the new communicator call it, and the next barrier of the parent is still the first for
// everybody.
TEST(Creations, CommCreateGroupWaitsForTheMembersOfTheNewCommunicator)
{
    Program p(3);
    const model::CommId pair = p.comm({0, 1});
    p[0].collective(FunctionId::MPI_Comm_create_group, {10, 43}, pair);
    p[1].collective(FunctionId::MPI_Comm_create_group, {40, 42}, pair);
    p[0].collective(FunctionId::MPI_Barrier, {90, 93});
    p[1].collective(FunctionId::MPI_Barrier, {50, 93});
    p[2].collective(FunctionId::MPI_Barrier, {5, 93});
    p.finish(120);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 1: 0-40 | collective 1>0: 40-43 | compute 0: 43-90 | collective 0>2: 90-93 | "
                        "compute 2: 93-120");
    EXPECT_EQ(r.fact("collectives"), 2);
    EXPECT_EQ(r.fact("incomplete_collectives"), 0);
    EXPECT_EQ(r.fact("mismatched_collectives"), 0);
}

TEST(Creations, IntercommCreateWaitsForBothSides)
{
    const auto waiting = [](int late, int waits) {
        Program p(4);
        const model::CommId inter = p.intercomm({3, 0}, {1, 2});
        for (int r = 0; r < 4; ++r)
            p[r].collective(FunctionId::MPI_Intercomm_create, {r == late ? 50 : 10 + r, 53 + r}, inter);
        for (int r = 0; r < 4; ++r)  // an operation of each side, which the creation is none of
            p[r].collective(FunctionId::MPI_Barrier, {r == waits ? 90 : 80, 93}, inter);
        p[waits].finish(120);
        p.finish(100);
        const Replayed r = replay(p);
        EXPECT_EQ(r.fact("collectives"), 3);
        EXPECT_EQ(r.fact("incomplete_collectives"), 0);
        return r.path();
    };
    EXPECT_EQ(waiting(3, 0), "compute 3: 0-50 | collective 3>0: 50-53 | compute 0: 53-90 | collective 0: 90-93 | "
                             "compute 0: 93-120");
    EXPECT_EQ(waiting(3, 2), "compute 3: 0-50 | collective 3>2: 50-55 | compute 2: 55-90 | collective 2: 90-93 | "
                             "compute 2: 93-120");
    EXPECT_EQ(waiting(1, 2), "compute 1: 0-50 | collective 1>2: 50-55 | compute 2: 55-90 | collective 2: 90-93 | "
                             "compute 2: 93-120");
}

// To make one of an inter-communicator is no operation between its sides: the own group has to agree on it as well.
TEST(Creations, CreationOnAnInterCommunicatorWaitsForBothSides)
{
    for (const FunctionId creation : {FunctionId::MPI_Comm_dup, FunctionId::MPI_Intercomm_merge}) {
        const auto waiting = [creation](int late, int waits) {
            Program p(4);
            const model::CommId inter = p.intercomm({3, 0}, {1, 2});
            for (int r = 0; r < 4; ++r)  // operations of each side, which the creation has its turn among
                p[r].collective(FunctionId::MPI_Barrier, {5, 7}, inter);
            for (int r = 0; r < 4; ++r)
                p[r].collective(creation, {r == late ? 50 : 10 + r, 53 + r}, inter);
            for (int r = 0; r < 4; ++r)
                p[r].collective(FunctionId::MPI_Barrier, {r == waits ? 90 : 80, 93}, inter);
            p[waits].finish(120);
            p.finish(100);
            const Replayed r = replay(p);
            EXPECT_EQ(r.fact("collectives"), 5);
            EXPECT_EQ(r.fact("incomplete_collectives"), 0);
            EXPECT_EQ(r.fact("mismatched_collectives"), 0);
            const std::string path = r.path();
            return path.substr(path.find(fmt::format("compute {}: 7-50", late)));
        };
        EXPECT_EQ(waiting(3, 0), "compute 3: 7-50 | collective 3>0: 50-53 | compute 0: 53-90 | collective 0: 90-93 | "
                                 "compute 0: 93-120");
        EXPECT_EQ(waiting(3, 2), "compute 3: 7-50 | collective 3>2: 50-55 | compute 2: 55-90 | collective 2: 90-93 | "
                                 "compute 2: 93-120");
        EXPECT_EQ(waiting(1, 2), "compute 1: 7-50 | collective 1>2: 50-55 | compute 2: 55-90 | collective 2: 90-93 | "
                                 "compute 2: 93-120");
    }
}

TEST(Creations, NonBlockingCreationOnAnInterCommunicatorWaitsForBothSides)
{
    const auto waiting = [](int late, int waits) {
        Program p(4);
        const model::CommId inter = p.intercomm({3, 0}, {1, 2});
        for (int r = 0; r < 4; ++r)
            p[r].collective(FunctionId::MPI_Barrier, {5, 7}, inter);
        for (int r = 0; r < 4; ++r) {
            const int post = r == late ? 50 : 10;
            const Request made = p[r].icollective(FunctionId::MPI_Comm_idup, {post, post + 1});
            p[r].wait_collective({post + 1, 53 + r}, made, -1, 0, inter);
        }
        for (int r = 0; r < 4; ++r)
            p[r].collective(FunctionId::MPI_Barrier, {r == waits ? 90 : 80, 93}, inter);
        p[waits].finish(120);
        p.finish(100);
        const Replayed r = replay(p);
        EXPECT_EQ(r.fact("collectives"), 5);
        EXPECT_EQ(r.fact("incomplete_collectives"), 0);
        const std::string path = r.path();
        return path.substr(path.find(fmt::format("compute {}: 7-50", late)));
    };
    EXPECT_EQ(waiting(3, 0), "compute 3: 7-50 | collective 3>0: 50-53 | compute 0: 53-90 | collective 0: 90-93 | "
                             "compute 0: 93-120");
    EXPECT_EQ(waiting(1, 2), "compute 1: 7-50 | collective 1>2: 50-55 | compute 2: 55-90 | collective 2: 90-93 | "
                             "compute 2: 93-120");
}

// One side waits for the other, whichever came first, and not as an operation of the communicator that it came with.
TEST(Creations, WhoAcceptsWaitsForWhoConnects)
{
    const auto path = [](int late, Span connects) {
        Program p(4);
        const model::CommId acceptors = p.comm({0, 1});
        const model::CommId inter = p.intercomm({0, 1}, {2, 3});
        for (int r = 0; r < 4; ++r) {
            const FunctionId function = r < 2 ? FunctionId::MPI_Comm_accept : FunctionId::MPI_Comm_connect;
            p[r].collective(function, {r == late ? connects.enter : 10 + r, connects.leave + r}, inter);
        }
        p[0].collective(FunctionId::MPI_Barrier, {80, 83}, acceptors);
        p[1].collective(FunctionId::MPI_Barrier, {75, 83}, acceptors);
        p[0].finish(120);
        p.finish(100);
        const Replayed r = replay(p);
        EXPECT_EQ(r.fact("collectives"), 2);
        EXPECT_EQ(r.fact("incomplete_collectives"), 0);
        EXPECT_EQ(r.fact("mismatched_collectives"), 0);
        return r.path();
    };
    const std::string end = "collective 0: 80-83 | compute 0: 83-120";
    EXPECT_EQ(path(3, {50, 53}), "compute 3: 0-50 | collective 3>0: 50-53 | compute 0: 53-80 | " + end);
    EXPECT_EQ(path(1, {50, 53}), "compute 1: 0-50 | collective 1>0: 50-53 | compute 0: 53-80 | " + end);
}

// Whoever is not seen in the creation has its operations on the communicator in their places all the same.
TEST(Creations, AreNumberedByThemselves)
{
    Program p(3);
    const model::CommId pair = p.comm({0, 1});
    p[0].collective(FunctionId::MPI_Comm_create_group, {10, 12}, pair);
    p[0].collective(FunctionId::MPI_Barrier, {20, 53}, pair);
    p[1].collective(FunctionId::MPI_Barrier, {50, 52}, pair);
    p[0].finish(90);
    p.finish(80);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 1: 0-50 | collective 1>0: 50-53 | compute 0: 53-90");
    EXPECT_EQ(r.fact("collectives"), 2);
    EXPECT_EQ(r.fact("incomplete_collectives"), 1);
}

}  // namespace
}  // namespace critpath::tests
