// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is said of samples in the collector.
#include "replayer/attribute/totals.hpp"
#include "tests/rules/two_threads.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace critpath::tests
{
namespace
{

using Words = std::map<std::string, std::string>;

TEST_F(TwoThreads, WhatTheCollectorDoesBetweenCallsIsMeasurement)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId wrapper = functions_.add("MPI_Test", "/opt/critpath/lib/libcritpath-preload.so", main);
    const ContextId clock = functions_.add("clock_gettime", libc, wrapper);
    const ContextId test = functions_.add("PMPI_Test", "/usr/lib/libmpi.so.40", wrapper);
    const ContextId copy = functions_.add("memcpy", libc, test);
    const ContextId create = functions_.add("pthread_create", "/opt/critpath/lib/libcritpath-preload.so", main);
    const ContextId of_libc = functions_.add("__pthread_create", libc, create);
    const ContextId map = functions_.add("mmap", libc, of_libc);
    const std::array<ContextId, 5> all = {main, wrapper, clock, test, copy};
    for (std::size_t i = 0; i < 2 * all.size(); ++i)
        sample(i % 2, 100 * static_cast<std::int64_t>(i + 1) - 1, all[i / 2], 100);
    sample(1, 1000, map, 10);
    thread(0).tool = {{from_us(200), from_us(210)}, {from_us(205), from_us(215)}};
    thread(1).tool = {{from_us(390), from_us(400)}};  // a sample of the wrapper is at 399
    counts(0, 70);
    counts(1, 70);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("[measurement]"), 15 + 200);
    EXPECT_EQ(r.total_us("[measurement]"), 15 + 10 + 300);
    EXPECT_EQ(r.total_us("mmap"), 10);
    EXPECT_EQ(r.path_us("MPI_Test"), 0);
    EXPECT_EQ(r.path_us("PMPI_Test"), 100);
    EXPECT_EQ(r.path_us("memcpy"), 100);
    // A count of 70 is of the 200 us before its sample; of those around the recorded time of the collector, 101 and 84.
    EXPECT_EQ(counted(r), (Words{{"main2", "105 of 200, 200"},
                                 {"[measurement]", "100 of 284, 284"},
                                 {"PMPI_Test", "70 of 200, 200"},
                                 {"memcpy", "70 of 301, 200"}}));
}

/// Counts name it, so that it has to be known.
TEST(Totals, WhatIsMentionedIsAPlaceWithoutTime)
{
    replayer::Totals totals(2, model::Ns{0}, model::Ns{1000});
    totals.mention({{1}});
    totals.mention({ContextId::none(), replayer::Pseudo::Measurement});
    totals.finish();
    EXPECT_EQ(totals.places().size(), 2U);
    totals.for_each([](const replayer::Place&, std::uint32_t, const replayer::Total&) { ADD_FAILURE() << "time"; });
}

TEST_F(TwoThreads, ToWalkTheStackForACallPathIsMeasurement)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId thrown = functions_.add("_Unwind_RaiseException", "/lib/libgcc_s.so.1", main);
    const ContextId wrapper = functions_.add("MPI_Test", "/opt/critpath/lib/libcritpath-preload.so", main);
    const ContextId walk = functions_.add("_Unwind_Backtrace", "/lib/libgcc_s.so.1", wrapper);
    const ContextId iterate = functions_.add("dl_iterate_phdr", libc, walk);
    const ContextId find = functions_.add("_dl_find_object", "/lib/ld-linux-x86-64.so.2", iterate);
    const ContextId lazy = functions_.add("_dl_fixup", "/lib/ld-linux-x86-64.so.2", wrapper);
    const std::array<ContextId, 5> all = {thrown, walk, iterate, find, lazy};
    for (std::size_t i = 0; i < 2 * all.size(); ++i)
        sample(i % 2, 100 * static_cast<std::int64_t>(i + 1) - 1, all[i / 2], 100);
    const Replayed r = run();
    EXPECT_EQ(r.total_us("[measurement]"), 600);
    for (const char* function : {"_Unwind_Backtrace", "dl_iterate_phdr", "_dl_find_object"})
        EXPECT_EQ(r.total_us(function), 0) << function;
    EXPECT_EQ(r.total_us("_Unwind_RaiseException"), 200);
    EXPECT_EQ(r.total_us("_dl_fixup"), 200);  // of a library that the application loads, perhaps
}

/// Where samples have no callers, it is below nothing, like what the collector recorded itself, which samples do not
/// divide.
TEST_F(TwoThreads, WhatTheCollectorDoesIsCountedOnceWithoutCallers)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId wrapper = functions_.add("MPI_Test", "/opt/critpath/lib/libcritpath-preload.so");
    for (int i = 1; i <= 10; ++i)
        sample(0, 100 * i - 1, i == 5 ? wrapper : main, 100);
    thread(0).tool = {{from_us(200), from_us(260)}};
    const Replayed r = run();
    std::int64_t sum = 0;
    for (const model::CallPathTime& time : r.profile.path)
        sum += time.ns;
    EXPECT_EQ(sum, r.fact("path_ns"));
    EXPECT_EQ(r.path_us("[measurement]"), 60 + 94);  // 100 of 1,000, of which 940 are left
}

/// What the collector says of its own time is that of all samples in it: a thread has no more time than it lives.
TEST_F(TwoThreads, WhatTheCollectorRecordedOfItselfIsCountedOnceWhoeverWorksForIt)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId unwind = functions_.add("_Unwind_Find_FDE", "/lib/libgcc_s.so.1", main);
    for (int i = 1; i <= 10; ++i)
        sample(0, 100 * i - 1, i == 3 || i == 4 ? unwind : main, 100);
    thread(0).tool = {{from_us(200), from_us(400)}};
    const Replayed r = run();
    EXPECT_EQ(r.total_us("[measurement]"), 200);
    EXPECT_EQ(r.total_us("_Unwind_Find_FDE"), 0);
    EXPECT_EQ(r.total_us("main2"), 800);
}

}  // namespace
}  // namespace critpath::tests
