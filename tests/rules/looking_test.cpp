// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Loops that look into a window until somebody has put something there: waits that are spelled as polling. Times are
// us.
#include "tests/builder/replayed.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace critpath::tests
{
namespace
{

using replayer::Rules;
using testing::EndsWith;
using testing::StartsWith;

/// Rank 0 looks each 3 us from 100 on, the last time at 400; rank 1 writes at 397, and rank 2 is there.
struct LookingCase {
    Program p{3};
    model::WindowId window = p.window({0, 1, 2});

    /// A look at 100, 103, 106, ..., before `until`.
    void look(std::int64_t until, const std::function<void(std::int64_t)>& at, std::int64_t from = 100)
    {
        for (std::int64_t t = from; t < until; t += 3)
            at(t);
    }
    void get_and_flush(std::int64_t until, int target, std::int64_t from = 100)
    {
        look(
            until,
            [&](std::int64_t t) {
                p[0].get({t, t + 1}, window, target);
                p[0].flush({t + 1, t + 2}, window, target);
            },
            from);
    }
    /// At its own memory, which others share, or at that of rank 1.
    void look_at_store(bool is_shared)
    {
        if (is_shared)
            look(403, [&](std::int64_t t) { p[0].sync({t, t + 2}, window); });
        else
            get_and_flush(403, 1);
    }
    std::string end(Rules rules = Rules::Arrival)
    {
        p[0].finish(1000);
        p[1].finish(900);
        p[2].finish(800);
        return path(p, rules);
    }
};

constexpr const char* found_path = "compute 1: 0-397 | transfer? 1>0: 397-402 | compute 0: 402-1000";

constexpr const char* still_works = "-400 | mpi 0: 400-402 | compute 0: 402-1000";

TEST(Looking, WaitsForWhoPutsSomethingThere)
{
    for (const int target : {0, 1, 2}) {
        LookingCase c;
        c.get_and_flush(403, target);
        c.p[1].put({397, 398}, c.window, target);
        c.p[1].flush({398, 399}, c.window, target);
        EXPECT_EQ(c.end(), found_path) << target;
    }
}

TEST(Looking, WithARequest)
{
    LookingCase c;
    c.look(403, [&](std::int64_t t) { c.p[0].rget({t, t + 1}, c.window, 2, 8, {t + 1, t + 2}); });
    c.p[1].put({397, 398}, c.window, 2);
    EXPECT_EQ(c.end(), found_path);
}

TEST(Looking, InEpochsOfItsOwn)
{
    LookingCase c;
    c.look(403, [&](std::int64_t t) {
        c.p[0].lock({t, t}, c.window, 2, false);
        c.p[0].get({t, t + 1}, c.window, 2);
        c.p[0].unlock({t + 1, t + 2}, c.window, 2);
    });
    c.p[1].put({397, 398}, c.window, 2);
    EXPECT_EQ(c.end(), found_path);
}

/// Of those who try to get a lock, only the one that gets it changes anything: rank 2 tries as long as rank 0.
TEST(Looking, ForALock)
{
    LookingCase c;
    c.look(403, [&](std::int64_t t) {
        c.p[0].compare_and_swap({t, t + 1}, c.window, 1);
        c.p[0].flush({t + 1, t + 2}, c.window, 1);
        c.p[2].compare_and_swap({t + 1, t + 2}, c.window, 1);
        c.p[2].flush({t + 2, t + 3}, c.window, 1);
    });
    c.look(
        700,
        [&](std::int64_t t) {
            c.p[2].compare_and_swap({t + 1, t + 2}, c.window, 1);
            c.p[2].flush({t + 2, t + 3}, c.window, 1);
        },
        403);
    c.p[1].put({397, 398}, c.window, 1);
    c.p[1].flush({398, 399}, c.window, 1);
    EXPECT_EQ(c.end(), found_path);
}

/// MPI_Win_sync, and a load; what is stored there comes by a put, or from who shares the memory.
TEST(Looking, AtItsOwnMemory)
{
    for (const bool is_shared : {false, true}) {
        LookingCase c;
        c.look(403, [&](std::int64_t t) { c.p[0].sync({t, t + 2}, c.window); });
        if (is_shared)
            c.p[1].sync({397, 398}, c.window);
        else
            c.p[1].put({397, 398}, c.window, 0);
        EXPECT_EQ(c.end(), found_path) << is_shared;
    }
}

/// Which it locks to read it. Who takes something meanwhile, by MPI, looks at that.
TEST(Looking, AtItsOwnMemoryUnderALock)
{
    LookingCase c;
    c.look(403, [&](std::int64_t t) {
        c.p[0].lock({t, t + 1}, c.window, 0);
        c.p[0].unlock({t + 1, t + 2}, c.window, 0);
    });
    c.p[1].put({397, 398}, c.window, 0);
    EXPECT_EQ(c.end(), found_path);
    LookingCase of_another;
    of_another.look(403, [&](std::int64_t t) {
        of_another.p[0].lock({t, t + 1}, of_another.window, 1);
        of_another.p[0].unlock({t + 1, t + 2}, of_another.window, 1);
    });
    of_another.p[1].put({397, 398}, of_another.window, 0);
    EXPECT_THAT(of_another.end(), EndsWith(still_works));
}

/// Others see a store as soon as it is made: before MPI_Win_sync, or when that is over, if it was to come first.
TEST(Looking, SeesAStoreBesideTheCall)
{
    for (const bool is_shared : {true, false}) {
        LookingCase before;
        before.look_at_store(is_shared);
        before.p[1].sync({430, 431}, before.window);
        EXPECT_EQ(before.end(), "compute 1: 0-402 | compute 0: 402-1000") << is_shared;

        LookingCase behind;
        behind.look_at_store(is_shared);
        behind.p[1].sync({370, 371}, behind.window);
        behind.p[1].flush({500, 501}, behind.window, 1);
        EXPECT_EQ(behind.end(), "compute 1: 0-370 | mpi 1: 370-371 | compute 1: 371-402 | compute 0: 402-1000")
            << is_shared;
    }
}

/// Work for more than 50 us: then nothing says that it belongs to the call.
TEST(Looking, SeesNoStoreFarFromTheCall)
{
    for (const std::int64_t sync : {300, 460}) {
        LookingCase c;
        c.look(403, [&](std::int64_t t) { c.p[0].sync({t, t + 2}, c.window); });
        c.p[1].sync({sync, sync + 1}, c.window);
        EXPECT_THAT(c.end(), EndsWith(still_works)) << sync;
    }
}

/// Where the loop is much longer, it may be a page fault, or an interrupt.
TEST(Looking, SeesAStoreThatWasDisturbed)
{
    for (const std::int64_t sync : {2300, 2600}) {
        LookingCase c;
        c.look(2403, [&](std::int64_t t) { c.p[0].sync({t, t + 2}, c.window); });
        c.p[1].sync({sync, sync + 1}, c.window);
        c.p[0].finish(3000);
        c.p[1].finish(2900);
        c.p[2].finish(2800);
        EXPECT_THAT(path(c.p),
                    EndsWith("compute 1: " + std::string(sync == 2300 ? "2301" : "0") + "-2403 | compute 0: 2403-3000"))
            << sync;
    }
}

/// But having no processor is no work.
TEST(Looking, SeesAStoreOfWhoIsPreemptedThen)
{
    LookingCase c;
    c.look(403, [&](std::int64_t t) { c.p[0].sync({t, t + 2}, c.window); });
    c.p[1].sync({390, 391}, c.window);
    c.p[1].off({405, 600}, true);
    c.p[1].sync({610, 611}, c.window);
    EXPECT_THAT(c.end(), EndsWith("compute 1: 391-402 | compute 0: 402-1000"));
}

/// Of several calls, the nearest one. MPI_Win_sync of others that look stores nothing.
TEST(Looking, SeesTheStoreOfTheNearestCall)
{
    LookingCase c;
    c.look(403, [&](std::int64_t t) {
        c.p[0].sync({t, t + 2}, c.window);
        c.p[2].sync({t + 1, t + 3}, c.window);
    });
    c.p[1].sync({405, 406}, c.window);
    c.p[2].sync({440, 441}, c.window);
    EXPECT_EQ(c.end(), "compute 1: 0-402 | compute 0: 402-1000");
}

/// Rank 1 looks itself before and after it stores what rank 0 looks for; so does rank 2, but its loop goes on.
TEST(Looking, SeesTheStoreBetweenTwoLoops)
{
    LookingCase c;
    c.look(403, [&](std::int64_t t) { c.p[0].sync({t, t + 2}, c.window); });
    c.look(
        391,
        [&](std::int64_t t) {
            c.p[1].sync({t, t + 2}, c.window);
        },
        380);
    c.look(
        440,
        [&](std::int64_t t) {
            c.p[1].sync({t, t + 2}, c.window);
        },
        405);
    c.look(440, [&](std::int64_t t) { c.p[2].sync({t, t + 2}, c.window); });
    EXPECT_THAT(c.end(), EndsWith("compute 1: 391-402 | compute 0: 402-1000"));
}

/// The target has stored it itself: that ends with MPI_Win_sync, or with an epoch of its own.
TEST(Looking, AtWhatTheTargetStores)
{
    for (const bool locks : {false, true}) {
        LookingCase c;
        c.get_and_flush(403, 1);
        if (locks) {
            c.p[1].lock({390, 391}, c.window, 1);
            c.p[1].unlock({397, 398}, c.window, 1);
        } else {
            c.p[1].sync({397, 398}, c.window);
        }
        EXPECT_THAT(c.end(), EndsWith("-397 | transfer? 1>0: 397-402 | compute 0: 402-1000")) << locks;
    }
}

/// What was there before the last but one look has been found then, or was something else.
TEST(Looking, DoesNotFindWhatWasThereBefore)
{
    LookingCase c;
    c.get_and_flush(403, 2);
    c.p[1].put({390, 391}, c.window, 2);
    c.p[1].flush({391, 393}, c.window, 2);
    EXPECT_THAT(c.end(), EndsWith(still_works));
}

/// A transfer may be on its way for long: its origin knows that it is there at the end of MPI_Win_flush.
TEST(Looking, FindsWhatWasOnItsWayForLong)
{
    LookingCase c;
    c.get_and_flush(403, 2);
    c.p[1].put({350, 351}, c.window, 2, 1'000'000);
    c.p[1].flush({351, 402}, c.window, 2);
    EXPECT_EQ(c.end(), "compute 1: 0-350 | transfer? 1>0: 350-402 | compute 0: 402-1000");
}

TEST(Looking, TwiceIsNoLoop)
{
    LookingCase c;
    c.get_and_flush(400, 2, 396);
    c.p[1].put({397, 398}, c.window, 2);
    EXPECT_THAT(
        c.end(),
        EndsWith("compute 0: 0-396 | mpi 0: 396-398 | compute 0: 398-399 | mpi 0: 399-401 | compute 0: 401-1000"));
}

TEST(Looking, WithWorkInBetweenIsWork)
{
    LookingCase c;
    for (std::int64_t t = 100; t <= 400; t += 20) {
        c.p[0].get({t, t + 1}, c.window, 2);
        c.p[0].flush({t + 1, t + 2}, c.window, 2);
    }
    c.p[1].put({397, 398}, c.window, 2);
    EXPECT_THAT(c.end(), EndsWith(still_works));
}

/// But a look may have found something: then there is work behind it.
TEST(Looking, GoesOnWhereItHadNoProcessorOrSlept)
{
    for (const bool is_recorded : {true, false}) {
        LookingCase c;
        c.get_and_flush(250, 2);
        c.get_and_flush(403, 2, 397);
        if (is_recorded) {
            c.p[0].off({250, 300}, true);
            c.p[0].off({301, 395}, false);
        }
        c.p[1].put({397, 398}, c.window, 2);
        if (is_recorded)
            EXPECT_EQ(c.end(), found_path);
        else
            EXPECT_THAT(c.end(), EndsWith(still_works));
    }
}

/// Who counts tasks changes the counter each time, and works in between, though that may be a sleep.
TEST(Looking, ACounterOfTasksIsNotLookedAt)
{
    LookingCase c;
    for (std::int64_t t = 100; t <= 400; t += 20) {
        c.p[0].fetch_and_add({t, t + 1}, c.window, 2);
        c.p[0].flush({t + 1, t + 2}, c.window, 2);
        c.p[0].off({t + 3, t + 20}, false);
    }
    c.p[1].fetch_and_add({397, 398}, c.window, 2);
    c.p[1].flush({398, 399}, c.window, 2);
    EXPECT_THAT(c.end(), EndsWith(still_works));
}

/// A page fault between two looks is no work; what fills an eighth of the loop is.
TEST(Looking, GoesOnAfterADisturbance)
{
    for (const std::int64_t at : {103, 370}) {
        LookingCase c;
        c.get_and_flush(at, 2);
        c.get_and_flush(403, 2, at + 25);
        c.p[1].put({397, 398}, c.window, 2);
        c.p[1].flush({398, 399}, c.window, 2);
        EXPECT_EQ(c.end(), "compute 1: 0-397 | transfer? 1>0: 397-403 | compute 0: 403-1000") << at;
    }
}

/// One disturbance after the other is work, however long nothing was done before.
TEST(Looking, EndsWhereWorkBegins)
{
    LookingCase c;
    c.get_and_flush(200, 2);
    for (std::int64_t t = 210; t <= 400; t += 10) {
        c.p[0].get({t, t + 1}, c.window, 2);
        c.p[0].flush({t + 1, t + 2}, c.window, 2);
    }
    c.p[1].put({397, 398}, c.window, 2);
    c.p[1].flush({398, 399}, c.window, 2);
    EXPECT_THAT(c.end(), EndsWith(still_works));
}

/// Who has stored something makes it known by the same call that it looks with. In between, it sleeps for its work.
TEST(Looking, DoesNotGoOnOverLongSleeps)
{
    LookingCase c;
    const auto look = [&](int rank, std::int64_t from, std::int64_t until) {
        for (std::int64_t t = from; t < until; t += 20) {
            c.p[rank].sync({t, t + 1}, c.window);
            c.p[rank].off({t + 2, t + 19}, false);
        }
    };
    look(0, 100, 402);
    c.p[0].off({422, 5000}, false);
    look(0, 5001, 5302);  // the first time, it has stored something
    look(1, 20, 61);
    c.p[1].sync({397, 398}, c.window);
    look(1, 403, 5005);
    c.p[1].sync({5297, 5298}, c.window);
    c.p[0].finish(9000);
    c.p[1].finish(8000);
    c.p[2].finish(7000);
    EXPECT_THAT(path(c.p),
                EndsWith("compute 1: 61-397 | transfer? 1>0: 397-401 | compute 0: 401-5001 | transfer? 0>1: "
                         "5001-5004 | compute 1: 5004-5297 | transfer? 1>0: 5297-5302 | compute 0: 5302-9000"));
}

/// Each look may be several calls, and at several places.
TEST(Looking, PausesAreThoseBetweenLooks)
{
    LookingCase c;
    for (std::int64_t t = 100; t <= 20'100; t += 2000) {
        for (const int target : {1, 2}) {
            c.p[0].lock({t, t + 1}, c.window, target, false);
            c.p[0].get({t + 1, t + 2}, c.window, target);
            c.p[0].flush({t + 2, t + 3}, c.window, target);
            c.p[0].unlock({t + 3, t + 4}, c.window, target);
            t += 4;
        }
        c.p[0].off({t + 1, t + 1985}, false);
    }
    c.p[1].put({17'000, 17'001}, c.window, 2);
    c.p[0].finish(30'000);
    c.p[1].finish(29'000);
    c.p[2].finish(28'000);
    EXPECT_THAT(path(c.p), StartsWith("compute 1: 0-17000 | "));
}

/// What was stored is loaded when the pause is over.
TEST(Looking, MayFindItBehindItsLastPause)
{
    LookingCase c;
    for (std::int64_t t = 100; t <= 400; t += 100) {
        c.p[0].sync({t, t + 1}, c.window);
        c.p[0].off({t + 2, t + 99}, false);
    }
    c.p[1].sync({470, 471}, c.window);
    EXPECT_EQ(c.end(), "compute 1: 0-401 | compute 0: 401-1000");
}

/// Nor has it been loaded when the looker loses its processor, or is in the collector, behind its last call.
TEST(Looking, MayFindItWhenItGoesOn)
{
    for (const bool preempted : {true, false}) {
        LookingCase c;
        c.look(403, [&](std::int64_t t) { c.p[0].sync({t, t + 2}, c.window); });
        if (preempted)
            c.p[0].off({404, 900}, true);
        else
            c.p[0].tool({402, 900});
        c.p[1].sync({700, 701}, c.window);
        EXPECT_EQ(c.end(), fmt::format("compute 1: 0-700 | {}: 700-900 | compute 0: 900-1000",
                                       preempted ? "delay 0" : "transfer? 1>0"));
    }
}

/// The first time that it goes on with what was stored, and for nothing that it has done before.
TEST(Looking, MayFindItBetweenTwoStops)
{
    for (const std::int64_t stored : {600, 860}) {
        LookingCase c;
        c.look(403, [&](std::int64_t t) { c.p[0].sync({t, t + 2}, c.window); });
        c.p[0].tool({402, 450});
        c.p[0].off({455, 800}, true);
        c.p[0].off({830, 900}, true);
        c.p[0].off({950, 980}, true);
        c.p[1].sync({stored, stored + 1}, c.window);
        EXPECT_THAT(c.end(), EndsWith(stored == 600 ? "1: 0-600 | delay 0: 600-800 | compute 0: 800-1000"
                                                    : "1: 0-860 | delay 0: 860-900 | compute 0: 900-1000"));
    }
}

/// What was there before is found at once; so who is stopped then is stopped at its work.
TEST(Looking, IsOverBeforeItsWorkIsStopped)
{
    LookingCase c;
    c.look(403, [&](std::int64_t t) { c.p[0].sync({t, t + 2}, c.window); });
    c.p[0].off({420, 900}, true);
    c.p[1].sync({397, 398}, c.window);
    c.p[1].sync({700, 701}, c.window);
    EXPECT_EQ(c.end(), found_path);
    LookingCase at_once;
    at_once.look_at_store(true);
    at_once.p[0].off({420, 900}, true);
    at_once.p[1].sync({415, 416}, at_once.window);
    EXPECT_EQ(at_once.end(), "compute 1: 0-402 | compute 0: 402-1000");
    LookingCase working;
    working.look_at_store(true);
    working.p[0].off({500, 900}, true);
    working.p[1].sync({700, 701}, working.window);
    EXPECT_THAT(working.end(), EndsWith(still_works));
}

/// A store by who is preempted before its call, or in the collector, is one near that.
TEST(Looking, SeesAStoreOfWhoIsStoppedBeforeItsCall)
{
    for (const bool preempted : {true, false}) {
        LookingCase c;
        c.look_at_store(true);
        if (preempted)
            c.p[1].off({410, 690}, true);
        else
            c.p[1].tool({410, 690});
        c.p[1].sync({700, 701}, c.window);
        EXPECT_EQ(c.end(), "compute 1: 0-402 | compute 0: 402-1000") << preempted;
    }
}

/// Who puts the same there each time, and fetches what was there, looks (for a message in a mailbox, for a lock).
TEST(Looking, ForWhatASwapBringsBack)
{
    LookingCase c;
    for (std::int64_t t = 100; t <= 400; t += 20) {
        c.p[0].swap({t, t + 1}, c.window, 2);
        c.p[0].flush({t + 1, t + 2}, c.window, 2);
        c.p[0].off({t + 3, t + 20}, false);
    }
    c.p[1].put({397, 398}, c.window, 2);
    c.p[1].flush({398, 399}, c.window, 2);
    EXPECT_EQ(c.end(), found_path);
}

/// A rank that looks at a counter by MPI_NO_OP, works, and then adds to it, no longer looks while it works, even where
/// to work is to sleep.
TEST(Looking, EndsWhereWhatWasLookedAtIsChanged)
{
    LookingCase c;
    c.look(403, [&](std::int64_t t) {
        c.p[0].fetch({t, t + 1}, c.window, 2);
        c.p[0].flush({t + 1, t + 2}, c.window, 2);
    });
    c.p[0].off({410, 590}, false);
    c.p[0].fetch_and_add({600, 601}, c.window, 2);
    c.p[0].flush({601, 602}, c.window, 2);
    c.p[1].fetch_and_add({397, 398}, c.window, 2);
    c.p[1].flush({398, 399}, c.window, 2);
    EXPECT_THAT(c.end(), StartsWith("compute 1: 0-397 | transfer? 1>0: 397-402 | compute 0: 402-"));
}

/// Rank 1 gets the lock when a look of rank 0 is over, which looks only because it waits itself.
TEST(Looking, HoldsUpNobodyByItsLocks)
{
    for (const bool has_transfer : {false, true}) {
        LookingCase c;
        c.look(394, [&](std::int64_t t) {
            c.p[0].lock({t, t + 1}, c.window, 0, true);
            if (has_transfer)
                c.p[0].get({t + 1, t + 1}, c.window, 0);
            c.p[0].unlock({t + 1, t + 2}, c.window, 0);
        });
        c.p[1].lock({380, 396}, c.window, 0, true);
        c.p[1].put({397, 398}, c.window, 0);
        c.p[1].unlock({398, 399}, c.window, 0);
        c.p[0].lock({394, 400}, c.window, 0, true);
        if (has_transfer)
            c.p[0].get({400, 400}, c.window, 0);
        c.p[0].unlock({400, 402}, c.window, 0);
        EXPECT_EQ(
            c.end(),
            "compute 1: 0-380 | delay? 1: 380-396 | compute 1: 396-397 | transfer? 1>0: 397-402 | compute 0: 402-1000")
            << has_transfer;
    }
}

TEST(Looking, AtSeveralPlacesInTurn)
{
    for (const int target : {1, 2}) {
        LookingCase c;
        for (std::int64_t t = 100; t <= 400; t += 6) {
            c.p[0].get({t, t + 1}, c.window, target);
            c.p[0].get({t + 1, t + 2}, c.window, 3 - target);
            c.p[0].flush_all({t + 2, t + 3}, c.window);
        }
        c.p[1].put({397, 398}, c.window, 2);
        EXPECT_EQ(c.end(), "compute 1: 0-397 | transfer? 1>0: 397-403 | compute 0: 403-1000") << target;
    }
}

/// Whoever fetches something from each of many does not look for anything.
TEST(Looking, AtEachPlaceOnceIsWork)
{
    LookingCase c;
    for (int target = 0; target < 3; ++target)
        c.p[0].get({394 + 2 * target, 396 + 2 * target}, c.window, target);
    c.p[0].flush({400, 402}, c.window, 2);
    c.p[1].put({397, 398}, c.window, 2);
    EXPECT_THAT(c.end(), EndsWith("mpi 0: 394-402 | compute 0: 402-1000"));
}

TEST(Looking, IsWorkByTheOtherRuleSets)
{
    for (const Rules rules : {Rules::Enter, Rules::Paper}) {
        LookingCase c;
        c.get_and_flush(403, 2);
        c.p[1].put({397, 398}, c.window, 2);
        EXPECT_THAT(c.end(rules), EndsWith(still_works));
    }
}

}  // namespace
}  // namespace critpath::tests
