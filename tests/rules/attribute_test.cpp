// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/division/not_sampled.hpp"
#include "replayer/attribute/attribute.hpp"
#include "tests/builder/replayed.hpp"
#include "tests/rules/windows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

namespace critpath::tests
{
namespace
{

std::int64_t path_sum(const Replayed& r)
{
    std::int64_t ns = 0;
    for (const model::CallPathTime& time : r.profile.path)
        ns += time.ns;
    return ns;
}

TEST(Attribute, SamplesOnThePathAndNotThoseOfTheWait)
{
    Program p(2);
    for (int t = 5; t < 500; t += 10)
        p[0].sample(t, "work", 10);
    for (int t = 15; t < 500; t += 10)
        p[1].sample(t, "progress", 10);
    p[0].send({500, 501}, 1);
    p[1].recv({10, 503}, 0);
    for (int t = 505; t < 600; t += 10)
        p[1].sample(t, "after", 8);
    p.finish(600);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path_us("work"), 500);
    EXPECT_EQ(r.path_us("progress"), 0);
    EXPECT_EQ(r.path_us("after"), 80);
    EXPECT_EQ(r.path_us("[transfer]"), 3);
    EXPECT_EQ(r.path_us("[not sampled]"), 17);  // 597 of the path are compute, 580 are sampled
    EXPECT_EQ(r.total_us("progress"), 490);
    EXPECT_EQ(r.total_us("work"), 500);
    EXPECT_EQ(r.total_us("MPI_Recv"), 493);
    EXPECT_EQ(path_sum(r), 600'000);
    EXPECT_EQ(r.fact("path_samples"), 60);
    EXPECT_EQ(r.fact("samples"), 109);
}

TEST(Attribute, SamplesThatExceedThePathAreScaledToIt)
{
    Program p(1);
    p[0].sample(5, "a", 30);
    p[0].sample(15, "b", 10);
    p.finish(20);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path_us("a"), 15);
    EXPECT_EQ(r.path_us("b"), 5);
    EXPECT_EQ(r.path_us("[not sampled]"), 0);
    EXPECT_EQ(path_sum(r), 20'000);
}

TEST(Attribute, WithoutSamplesUserRegionsDivideTheComputation)
{
    Program p(2);
    p[0].region(0, "main");
    p[0].region(20, "heavy");
    p[0].region(45, "main");
    p[0].send({50, 51}, 1);
    p[1].recv({10, 53}, 0);
    p[1].call(FunctionId::MPI_Irecv, {60, 62});
    p[0].finish(80);
    p[1].finish(100);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path_us("main"), 25);
    EXPECT_EQ(r.path_us("heavy"), 25);
    EXPECT_EQ(r.path_us("[transfer]"), 3);
    EXPECT_EQ(r.path_us("[compute]"), 45);
    EXPECT_EQ(r.path_us("MPI_Irecv"), 2);
    EXPECT_EQ(r.total_us("main"), 54);
    EXPECT_EQ(r.total_us("heavy"), 25);
    EXPECT_EQ(r.total_us("MPI_Recv"), 43);
    EXPECT_EQ(path_sum(r), 100'000);
}

TEST(Attribute, RowsAreSortedAndUniqueAndProcessesComplete)
{
    Program p(3);
    p[0].collective(FunctionId::MPI_Barrier, {50, 52});
    p[1].collective(FunctionId::MPI_Barrier, {10, 52});
    p[2].collective(FunctionId::MPI_Barrier, {10, 52});
    p.finish(60);
    const Replayed r = replay(p);
    const auto key = [](const model::Row& row) { return std::tie(row.kind, row.module, row.name); };
    for (std::size_t i = 1; i < r.profile.rows.size(); ++i)
        EXPECT_LT(key(r.profile.rows[i - 1]), key(r.profile.rows[i]));
    ASSERT_EQ(r.profile.processes.size(), 3U);
    EXPECT_EQ(r.profile.processes[0].path_ns, 50'000);
    EXPECT_EQ(r.profile.processes[1].path_ns, 0);
    EXPECT_EQ(r.profile.processes[2].path_ns, 10'000);
    EXPECT_EQ(r.profile.processes[1].mpi_ns, 42'000);
    EXPECT_EQ(r.profile.processes[1].lifetime_ns, 60'000);
    EXPECT_EQ(r.profile.processes[1].calls, 2U);  // and MPI_Finalize
    std::int64_t kinds = 0;
    for (const model::KindTime& k : r.profile.kinds)
        kinds += k.ns;
    EXPECT_EQ(kinds, r.fact("makespan_ns"));
}

TEST(Attribute, WhatRanksComputeIsBetweenTheirCalls)
{
    Program p(2);
    p[0].tool({5, 8});
    p[0].tool({18, 22});  // 2 of it before the call
    p[0].switched_off({40, 60});
    p[0].tool({45, 50});  // counts once
    p[0].send({20, 30}, 1);
    p[1].begin(4);
    p[1].recv({10, 32}, 0);
    p[0].finish(70);
    p[1].finish(100);
    const Replayed r = replay(p);
    // 0 to 20 and 30 to 70, without 5 to 8, 18 to 20 and 40 to 60; 4 to 10 and 32 to 100.
    EXPECT_EQ(r.profile.computed_ns, (std::vector<std::int64_t>{(20 - 3 - 2 + 40 - 20) * 1000, (6 + 68) * 1000}));
}

TEST(Attribute, TimeBelongsToCallPaths)
{
    Program p(2);
    p[0].sample(100, {"main", "solve", "kernel"}, 100, 0x10);
    p[0].sample(200, {"main", "kernel"}, 100, 0x10);
    p[0].sample(300, {"main", "solve", "kernel"}, 100, 0x20);
    p[0].called_from({"main", "solve"});
    p[0].send({400, 410}, 1);
    p[1].called_from({"main", "exchange"});
    p[1].recv({10, 420}, 0);
    p.finish(420);
    const Replayed r = replay(p);
    EXPECT_EQ(r.call_paths(), "[not sampled]: 100 | main;exchange;MPI_Recv;[transfer]: 20 | main;kernel: 100 | "
                              "main;solve;kernel: 200");
    std::map<std::pair<std::string, std::uint64_t>, std::int64_t> addresses;  // by the caller of `kernel`
    for (const model::AddressTime& time : r.profile.addresses) {
        EXPECT_EQ(r.profile.row(time.call_path).name, "kernel");
        EXPECT_EQ(time.samples, 1U);
        const model::CallPathId caller = r.profile.call_paths[time.call_path.value].parent;
        addresses[{r.profile.row(caller).name, time.address}] += time.ns;
    }
    const decltype(addresses) expected = {
        {{"main", 0x10}, 100'000}, {{"solve", 0x10}, 100'000}, {{"solve", 0x20}, 100'000}};
    EXPECT_EQ(addresses, expected);
}

// The kernel says when a thread had no processor: that is not left to samples, nor hidden in the call that it was in.
TEST(Attribute, TimeWithoutAProcessorIsExact)
{
    const Replayed r = replay_off_the_processor();
    EXPECT_EQ(r.call_paths(),
              "[not sampled]: 139 | main;step;MPI_Allreduce: 10 | main;step;MPI_Allreduce;[preempted]: 40 "
              "| main;step;[blocked]: 10 | main;step;exchange;MPI_Send: 1 | main;step;kernel: 200 "
              "| main;step;kernel;[preempted]: 100");
    EXPECT_EQ(r.total_us("[preempted]"), 140);
    EXPECT_EQ(r.total_us("[blocked]"), 10);  // what rank 1 is blocked in the collective is time of that
    EXPECT_EQ(r.total_us("MPI_Allreduce"), 10 + 347);
    EXPECT_EQ(path_sum(r), 500'000);
}

// What samples find in a call is a second time there, for who wants to see the inside; all else of a thread's time is
// there once, as on the path: a call that lacks a processor is not at work, nor is the collector.
TEST(Attribute, TimeOfAllRanksIsThereOnce)
{
    Program p(2);
    p[0].called_from({"main"});
    p[1].called_from({"main"});
    p[0].sample(50, {"main", "work"}, 100, 0);
    p[1].sample(150, {"main", "poll"}, 40, 0);  // in the call
    p[1].sample(900, {"main", "work"}, 60, 0);
    p[0].tool({190, 210});
    p[0].off({200, 260}, true);  // for a while, in the collector
    p[0].tool({290, 305});       // and this for a while in the call
    p[0].send({300, 310}, 1);
    p[1].off({180, 230}, true);
    p[1].off({240, 250}, false);
    p[1].recv({100, 320}, 0);
    p[0].off({390, 420}, true);  // it is preempted when it comes to the call
    p[0].collective(FunctionId::MPI_Allreduce, {400, 500});
    p[1].off({450, 480}, false);  // the data are not there yet
    p[1].collective(FunctionId::MPI_Allreduce, {350, 500});
    p.finish(1000);
    const Replayed r = replay(p);
    EXPECT_EQ(r.all_call_paths(), "[measurement]: 35 | main;MPI_Allreduce: 230 | main;MPI_Allreduce;[preempted]: 20 | "
                                  "main;MPI_Recv: 160 | main;MPI_Recv;[blocked]: 10 | main;MPI_Recv;[preempted]: 50 | "
                                  "main;MPI_Send: 10 | main;[preempted]: 10 | main;poll: 40 | main;work: 160 | "
                                  "main;work;[preempted]: 50");
    std::map<std::string, std::int64_t> in_calls_us;
    for (const model::CallPathTime& time : r.profile.totals)
        if (time.in_calls_ns != 0)
            in_calls_us[r.profile.row(time.call_path).name] += time.in_calls_ns / 1000;
    EXPECT_EQ(in_calls_us, (std::map<std::string, std::int64_t>{{"[measurement]", 5}, {"poll", 40}}));
}

// A collective that waits for nobody is blocked by something else; and who completes one may be blocked by that.
TEST(Attribute, BlockedInCallsIsOnAllRanksWhatItIsOnThePath)
{
    Program p(2);
    p[0].off({20, 50}, false);
    p[0].rooted(FunctionId::MPI_Bcast, {10, 60}, 0);
    p[1].rooted(FunctionId::MPI_Bcast, {5, 62}, 0);
    p[0].send({70, 71}, 1);
    p[1].recv({65, 75}, 0);
    const auto mine = p[0].icollective(FunctionId::MPI_Iallreduce, {100, 102});
    const auto theirs = p[1].icollective(FunctionId::MPI_Iallreduce, {190, 192});
    p[0].off({130, 200}, false);
    p[0].wait_collective({110, 210}, mine);
    p[1].wait_collective({193, 205}, theirs);
    p[1].finish(290);
    p[0].finish(300);
    const Replayed r = replay(p);
    EXPECT_EQ(r.call_paths(), "MPI_Bcast: 20 | MPI_Bcast;[blocked]: 30 | MPI_Recv;[transfer]: 5 | MPI_Wait: 20 | "
                              "[compute]: 225");
    EXPECT_EQ(r.all_call_paths(), "MPI_Bcast: 77 | MPI_Bcast;[blocked]: 30 | MPI_Iallreduce: 4 | MPI_Recv: 10 | "
                                  "MPI_Send: 1 | MPI_Wait: 52 | MPI_Wait;[blocked]: 60 | [compute]: 356");
}

// Both calls are made by one function, and nothing happens there: it had returned in between.
TEST(Attribute, TimeWithoutAProcessorIsWhereItsSamplesAre)
{
    Program p(1);
    p[0].called_from({"main", "norm"});
    p[0].call(FunctionId::MPI_Irecv, {0, 10});
    p[0].sample(50, {"main", "work"}, 40, 0);
    p[0].off({60, 90}, true);
    p[0].sample(100, {"main", "work"}, 20, 0);
    p[0].off({120, 150}, false);
    p[0].call(FunctionId::MPI_Irecv, {160, 170});
    p[0].finish(170);
    EXPECT_EQ(replay(p).call_paths(), "[not sampled]: 30 | main;[blocked]: 30 | main;norm;MPI_Irecv: 20 | "
                                      "main;work: 60 | main;work;[preempted]: 30");
}

// The second time, nothing is sampled between the two calls of norm. The first time shows that it has returned there,
// but that between the calls of norm and of sum nothing else is known to happen.
// Preemption comes at any time, as samples do: the nearest one says where, or, between calls that have none, the
// nearest one between two such calls.
TEST(Attribute, PreemptionIsWhereTheNearestSampleIs)
{
    Program p(1);
    const auto step = [&](std::int64_t begin) {
        p[0].called_from({"main", "step"});
        p[0].collective(FunctionId::MPI_Barrier, {begin, begin + 10});
    };
    step(0);
    p[0].sample(100, {"main", "step", "first"}, 100);
    p[0].off({120, 150}, true);
    p[0].off({370, 390}, true);
    p[0].sample(400, {"main", "step", "second"}, 100);
    step(500);
    p[0].off({520, 560}, true);
    step(600);
    p.finish(700);
    const Replayed r = replay(p);
    const auto preempted_in = [&](const std::string& function) {
        const std::string all = r.call_paths(), name = function + ";[preempted]: ";
        const auto found = all.find(name);
        return found == std::string::npos ? 0 : std::stoi(all.substr(found + name.size()));
    };
    EXPECT_EQ(preempted_in("first"), 30);
    EXPECT_EQ(preempted_in("second"), 20 + 40);
}

TEST(Attribute, WhatHappensBetweenTwoCallsIsKnownFromOtherTimes)
{
    Program p(1);
    p[0].called_from({"main", "solve", "norm"});
    p[0].call(FunctionId::MPI_Irecv, {0, 10});
    p[0].sample(50, {"main", "solve", "work"}, 40, 0);
    p[0].call(FunctionId::MPI_Irecv, {100, 110});
    p[0].off({120, 150}, false);
    p[0].call(FunctionId::MPI_Irecv, {160, 170});
    p[0].off({180, 200}, false);
    p[0].called_from({"main", "solve", "norm", "sum"});
    p[0].call(FunctionId::MPI_Irecv, {210, 220});
    p[0].finish(220);
    EXPECT_EQ(replay(p).call_paths(), "[not sampled]: 90 | main;solve;[blocked]: 30 | main;solve;norm;MPI_Irecv: 30 | "
                                      "main;solve;norm;[blocked]: 20 | main;solve;norm;sum;MPI_Irecv: 10 | "
                                      "main;solve;work: 40");
}

// Who sleeps in a collective until the data of the others are there does what the collective is about; who could run
// and may not, does not.
TEST(Attribute, ACollectiveMayBlockButNotBePreempted)
{
    Program p(2);
    p[0].sample(150, "work", 100);
    p[0].collective(FunctionId::MPI_Allreduce, {400, 420});
    p[1].off({110, 430}, false);
    p[1].off({440, 450}, true);
    p[1].collective(FunctionId::MPI_Allreduce, {105, 452});
    p[0].finish(450);
    p[1].finish(453);
    const Replayed r = replay(p);
    EXPECT_EQ(r.call_paths(), "MPI_Allreduce: 42 | MPI_Allreduce;[preempted]: 10 | [not sampled]: 301 | work: 100");
}

/// A message takes 2 us. What it waits for from its arrival on until the receiver has its processor back is not its
/// time; but who has run since would have found it.
TEST(Attribute, AMessageThatIsThereMayWaitForAProcessor)
{
    const auto with = [](Span off, Span again, bool preempted) {
        Program p(2);
        p[0].send({0, 1}, 1);
        p[1].recv({0, 2}, 0);
        p[0].send({100, 101}, 1);
        p[1].recv({50, 300}, 0);
        p[1].off(off, preempted);
        p[1].off(again, preempted);
        p[0].finish(200);
        p[1].finish(400);
        return replay(p);
    };
    const auto check = [](const Replayed& r, std::int64_t preempted, std::int64_t transfer) {
        EXPECT_EQ(r.path_us("[preempted]"), preempted);
        EXPECT_EQ(r.path_us("[transfer]"), transfer);
        EXPECT_EQ(r.path_us("MPI_Recv"), 200 - preempted - transfer);
        EXPECT_EQ(path_sum(r), 400'000);
    };
    check(with({60, 290}, {295, 296}, true), 188 + 1, 2);    // it was there at 102, and found at 296
    check(with({60, 200}, {205, 290}, true), 98 + 85, 2);    // looking for 5 us is not long enough
    check(with({60, 200}, {250, 290}, true), 40, 150);       // looking for 50 us is
    check(with({150, 200}, {205, 290}, true), 50 + 85, 50);  // it may have come at 150
    check(with({60, 200}, {205, 270}, true), 0, 200);
    check(with({60, 290}, {295, 296}, false), 0, 200);  // who is blocked waits for the message
}

TEST(NotSampled, SharesAddUpAndNoneIsNegative)
{
    using division::not_sampled;
    const auto result = not_sampled({{100, 130}, {100, 20}, {50, 49}, {0, 0}});
    EXPECT_EQ(std::accumulate(result.by_process.begin(), result.by_process.end(), std::int64_t{0}), 51);
    for (const std::int64_t ns : result.by_process)
        EXPECT_GE(ns, 0);
    EXPECT_EQ(result.by_process[0], 0);
    EXPECT_EQ(result.scale(70), 70);
    EXPECT_EQ(not_sampled({{100, 400}}).scale(80), 20);
}

/// Of the event of the only kind that these programs have: "count of ns, known of these, scaled of these".
std::map<std::string, std::string> counts(const Replayed& r)
{
    std::map<std::string, model::EventCount> sums;
    for (const model::EventCount& e : r.profile.path_events) {
        model::EventCount& sum = sums[r.profile.row(e.call_path).name];
        sum.count += e.count;
        sum.ns += e.ns;
        sum.known_ns += e.known_ns;
        sum.scaled_ns += e.scaled_ns;
    }
    std::map<std::string, std::string> words;
    for (const auto& [name, sum] : sums)
        words[name] =
            fmt::format("{} of {}, {}, {}", sum.count, sum.ns / 1000, sum.known_ns / 1000, sum.scaled_ns / 1000);
    return words;
}

/// By row: what the sample of an event has counted, in the mean.
std::map<std::string, double> sample_counts(const Replayed& r)
{
    std::map<std::string, double> counts;
    for (const model::EventCount& e : r.profile.path_events)
        counts[r.profile.row(e.call_path).name] = static_cast<double>(e.sample_count) / 1000;
    return counts;
}

using Words = std::map<std::string, std::string>;

TEST(Counts, AreDividedAtTheBordersOfSegments)
{
    Program p(2);
    p[0].sample(40, "work", 40);
    p[0].counts(400);
    p[0].sample(80, "more", 40);
    p[0].counts(800);
    p[0].call(FunctionId::MPI_Irecv, {90, 100});
    p[0].sample(110, "again", 30);  // a third of it before the call, a third in it
    p[0].counts(900);
    p[0].send({120, 121}, 1);
    p[0].sample(160, "later", 50);  // a fifth of it on the path
    p[0].counts(1600);
    p[1].sample(60, "progress", 60);  // all in a wait
    p[1].counts(999);
    p[1].recv({10, 123}, 0);
    p[1].sample(140, "after", 80);
    p[1].counts(80);
    p.finish(160);
    const Replayed r = replay(p);
    EXPECT_EQ(counts(r), (Words{{"work", "400 of 40, 40, 0"},
                                {"more", "1100 of 50, 50, 0"},
                                {"MPI_Irecv", "300 of 10, 10, 0"},
                                {"again", "620 of 20, 20, 0"},
                                {"after", "17 of 37, 17, 0"}}));
    // However small the part, all of the sample hangs on one place.
    const auto each = sample_counts(r);
    EXPECT_NEAR(each.at("work"), 400, 1e-3);
    EXPECT_NEAR(each.at("more"), (800.0 * 800 + 300.0 * 900) / 1100, 1e-3);
    EXPECT_NEAR(each.at("MPI_Irecv"), 900, 1e-3);
    EXPECT_NEAR(each.at("again"), (300.0 * 900 + 320.0 * 1600) / 620, 1e-3);
    EXPECT_NEAR(each.at("after"), 80, 1e-3);
}

TEST(Counts, OfTimeWithoutAProcessorThereAreNone)
{
    Program p(1);
    p[0].off({20, 60}, true);
    p[0].sample(70, "work", 30);
    p[0].counts(300);
    p[0].call(FunctionId::MPI_Irecv, {80, 90});
    p[0].off({95, 145}, false);
    p[0].sample(150, "after", 30);  // 10 us before the call, 10 in it, 10 behind
    p[0].counts(90);
    p.finish(150);
    const Replayed r = replay(p);
    EXPECT_EQ(counts(r),
              (Words{{"work", "330 of 40, 40, 0"}, {"MPI_Irecv", "30 of 10, 10, 0"}, {"after", "30 of 10, 10, 0"}}));
    // Those of intervals that are a part of their sample are bounds, as if each lacked one event.
    const double exact = (300.0 * 300 + 30.0 * 90) / 330, cut = sample_counts(r).at("work");
    EXPECT_LE(cut, exact);
    EXPECT_GE(cut, 0.99 * exact);
}

// One event of a sample is one, also where it counts in a small part of the time.
TEST(Counts, OneEventIsNotTakenForMany)
{
    Program p(1);
    p[0].off({50, 60}, true);
    p[0].sample(61, "work", 51);
    p[0].counts(1);
    p.finish(61);
    const Replayed r = replay(p);
    EXPECT_EQ(counts(r), (Words{{"work", "1 of 51, 51, 0"}}));
    EXPECT_NEAR(sample_counts(r).at("work"), 1, 1e-3);
}

TEST(Counts, WhatIsNotKnownIsNotZero)
{
    Program p(1);
    p[0].sample(10, "a", 10);
    p[0].counts(100);
    p[0].sample(20, "b", 10);
    p[0].counts(model::SampleCounts::unknown, true);
    p[0].sample(30, "c", 10);
    p[0].counts(50, true);
    p.finish(40);
    EXPECT_EQ(counts(replay(p)), (Words{{"a", "100 of 10, 10, 0"}, {"b", "0 of 10, 0, 0"}, {"c", "50 of 20, 10, 10"}}));
}

TEST(Counts, SegmentsWithoutSamplesHaveTheirPart)
{
    Program p(1);
    for (int call = 0; call < 10; ++call)
        p[0].call(FunctionId::MPI_Irecv, {10 * call + 8, 10 * call + 10});
    p[0].sample(65, "work", 100);
    p[0].counts(650);
    p[0].sample(99, "inside", 100);
    p[0].counts(340);
    p.finish(100);
    EXPECT_EQ(counts(replay(p)), (Words{{"work", "800 of 80, 80, 0"}, {"MPI_Irecv", "190 of 20, 19, 0"}}));
}

}  // namespace
}  // namespace critpath::tests
