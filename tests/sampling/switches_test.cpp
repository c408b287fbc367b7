// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Context switches, page faults, migrations and pauses, against what the threads know about themselves.
#include "collector/sampling/respite.hpp"
#include "tests/sampling/played.hpp"

#include <fmt/format.h>

#include <numeric>
#include <set>

#include <sys/syscall.h>

namespace critpath::test
{
namespace
{

using namespace sampling;

/// Of time, for each record of a switch.
constexpr std::uint64_t ns_needed = ns_a_switch_record * part_for_switches;

std::uint64_t duration(const std::vector<Off>& off)
{
    return std::accumulate(off.begin(), off.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const Off& o) { return sum + (o.end - o.begin); });
}

/// The parts that lie in [begin, end].
std::vector<Off> within(const std::vector<Off>& off, std::uint64_t begin, std::uint64_t end)
{
    std::vector<Off> result;
    std::copy_if(off.begin(), off.end(), std::back_inserter(result),
                 [=](const Off& o) { return o.begin >= begin && o.end <= end; });
    return result;
}

class Respites : public Sampling
{
protected:
    /// In the storm, and that this is because of respites.
    void expect_few_switches(const File& file) const
    {
        const std::uint64_t begin = facts["storm"][0], end = facts["storm"][1];
        // A yield is two records. Where others have the processor most of the time, there may be few.
        if (facts["yields"].get<std::uint64_t>() * 2 * ns_needed > 4 * (end - begin)) {
            EXPECT_FALSE(file.respites.empty());
        }
        const auto recorded = std::count_if(file.switches.begin(), file.switches.end(),
                                            [=](const Switch& s) { return s.time >= begin && s.time <= end; });
        EXPECT_LE(static_cast<std::uint64_t>(recorded) * ns_needed, end - begin + 2 * most_debt);
    }
};

TEST_F(Sampling, EachOutHasItsIn)
{
    PLAY_OR_SKIP("sleeps");
    const File& file = files["7.0.samples"];
    ASSERT_FALSE(file.switches.empty());
    std::uint64_t last = file.header.thread_start;
    bool out = false;
    for (const Switch& change : file.switches) {
        ASSERT_NE(change.out, out);
        ASSERT_EQ(change.tid, file.header.tid);
        ASSERT_GE(change.time, last);
        last = change.time;
        out = change.out;
    }
    EXPECT_LE(last, file.header.thread_end);
}

TEST_F(Sampling, LostSwitchesAreNoLostSamples)
{
    PLAY_OR_SKIP("storm_alone");
    const File& file = files["7.0.samples"];
    const double due = samples_in(facts["cpu"]);
    EXPECT_LE(static_cast<double>(file.samples.size() + file.header.lost), 2 + 1.2 * due);
    if (facts["yields"].get<std::uint64_t>() > 10 * file.switches.size()) {  // nine in ten did not fit
        EXPECT_GT(static_cast<double>(file.samples.size() + file.header.lost), 0.7 * due);
        EXPECT_GT(file.header.lost, 0);
    }
}

TEST_F(Sampling, ASleepIsBlockedTimeFromItsBeginningToItsEnd)
{
    PLAY_OR_SKIP("sleeps");
    const std::vector<Off> off = files["7.0.samples"].off();
    for (const auto& sleep : facts["sleeps"]) {
        const std::vector<Off> inside = within(off, sleep[0], sleep[1]);
        const auto blocked = std::count_if(inside.begin(), inside.end(), [](const Off& o) { return !o.preempted; });
        EXPECT_EQ(blocked, 1);
        EXPECT_GE(duration(inside), 3'000'000 - 100'000U);  // the kernel's clocks for sleeping and for us differ
    }
}

TEST_F(Sampling, WhatTheKernelCountsOfWaitsForAProcessorIsKept)
{
    PLAY_OR_SKIP("sleeps_beside_others");
    const File& file = files["7.0.samples"];
    const std::uint64_t least = facts["run_delay"][0], most = facts["run_delay"][1];
    if (least == 0) {
        EXPECT_TRUE(file.run_delays.empty());
        GTEST_SKIP() << "this kernel does not count how long threads wait for a processor";
    }
    EXPECT_EQ(file.header.samples.run_delay, 1U);
    std::uint64_t last = file.header.thread_start, waited = 0;
    for (const spool::RunDelayRecord& record : file.run_delays) {
        EXPECT_GE(record.since, last);
        EXPECT_GT(record.until, record.since);
        last = record.until;
        waited += record.waited;
    }
    EXPECT_LE(last, file.header.thread_end);
    EXPECT_LE(waited, most);
    if (file.respites.empty() && file.rested == 0) {
        constexpr std::uint64_t most_neglected = 20'000;  // ns, each time that the helper looks
        const std::uint64_t looks = (file.header.thread_end - file.header.thread_start) / 25'000'000 + 2;
        EXPECT_GE(waited + looks * most_neglected, least);
    }
}

/// What is no preemption is by how much sleeps were too long; at the most, since timers are late as well.
TEST_F(Sampling, WhoSleepsBesideOthersIsWokenAndWaits)
{
    PLAY_OR_SKIP("sleeps_beside_others");
    const File& file = files["7.0.samples"];
    const std::vector<Off> off = file.off();
    const auto& sleeps = facts["sleeps"];
    const std::uint64_t begin = sleeps.front()[0], end = sleeps.back()[1];
    std::uint64_t behind_sleeps = 0;
    for (const spool::RunDelayRecord& record : file.run_delays) {
        if (record.since < begin || record.until > end) {
            continue;
        }
        std::uint64_t preempted = 0, too_long = 0;
        for (const Off& o : off) {
            preempted += o.preempted && o.end > record.since && o.end <= record.until ? o.end - o.begin : 0;
        }
        for (const auto& sleep : sleeps) {
            const std::uint64_t before = sleep[0], after = sleep[1];
            too_long += after > record.since && before < record.until ? after - before - 10'000'000 : 0;
        }
        const std::uint64_t of_clocks = (record.until - record.since) / 100;
        EXPECT_LE(record.waited, preempted + too_long + of_clocks) << record.since << " to " << record.until;
        behind_sleeps += record.waited - std::min(record.waited, preempted);
    }
    RecordProperty("us_behind_sleeps", static_cast<int>(behind_sleeps / 1000));
}

TEST_F(Sampling, WhoIsBlockedForLongIsFoundThere)
{
    PLAY_OR_SKIP("blocked");
    const File& file = files["7.0.samples"];
    const std::vector<Off> off = file.off();
    std::set<std::uint64_t> found;
    std::size_t found_in_sleeps = 0;
    for (const spool::BlockedRecord& record : file.blocked) {
        EXPECT_TRUE(std::ranges::any_of(
            off, [&](const Off& o) { return o.begin == record.since && !o.preempted && o.end > o.begin; }));
        EXPECT_TRUE(found.insert(record.since).second) << "one look at each is enough";
        const bool in_sleep = std::ranges::any_of(facts["sleeps"], [&](const auto& sleep) {
            const std::uint64_t before = sleep[0], after = sleep[1];
            return before <= record.since && record.since < after;
        });
        if (!in_sleep) {
            continue;  // before and behind its sleeps, it may wait for the helper
        }
        ++found_in_sleeps;
        EXPECT_TRUE(record.system_call == SYS_clock_nanosleep || record.system_call == SYS_nanosleep)
            << record.system_call;
        EXPECT_EQ(record.is_timed, 1);
    }
    EXPECT_GE(found_in_sleeps, 4U) << "of a long sleep and ten of 100 ms";
}

TEST_F(Sampling, AThreadThatIsLikeTheOneBeforeItIsFoundAsWell)
{
    PLAY_OR_SKIP("blocked_in_turn");
    std::size_t found = 0;
    for (int thread = 1; thread <= 6; ++thread) {
        found += files[fmt::format("7.{}.samples", thread)].blocked.size();
    }
    EXPECT_GE(found, 4U);
}

TEST_F(Sampling, WhoIsBlockedForAWhileIsToldFromWhoIsUntilSomethingIsDone)
{
    PLAY_OR_SKIP("blocked_for_something");
    constexpr bool is_timed[] = {false, false, true, false, true};
    for (int thread = 1; thread <= 5; ++thread) {
        const File& file = files[fmt::format("7.{}.samples", thread)];
        EXPECT_FALSE(file.blocked.empty()) << thread;
        for (const spool::BlockedRecord& record : file.blocked) {
            EXPECT_EQ(record.is_timed, is_timed[thread - 1]) << thread << " in system call " << record.system_call;
        }
    }
}

TEST_F(Sampling, WhatAThreadDoesNotRunItIsOff)
{
    PLAY_OR_SKIP("shared_processor");
    const std::vector<Off> off = files["7.0.samples"].off();
    const std::uint64_t begin = facts["window"][0], end = facts["window"][1];
    const std::vector<Off> inside = within(off, begin, end);
    const auto missing = static_cast<double>(end - begin - facts["cpu"].get<std::uint64_t>());
    EXPECT_GT(missing, 0);
    // Interrupts and what the switches themselves take are neither here nor there.
    EXPECT_NEAR(static_cast<double>(duration(inside)), missing, 0.02 * static_cast<double>(end - begin));
    EXPECT_TRUE(std::any_of(inside.begin(), inside.end(), [](const Off& o) { return o.preempted; }));
}

TEST_F(Sampling, ThreadsOfOneProcessorTakeTurns)
{
    PLAY_OR_SKIP("shared_processor");
    const std::uint64_t begin = facts["window"][0], end = facts["window"][1];
    const std::uint64_t off = duration(within(files["7.0.samples"].off(), begin, end)) +
                              duration(within(files["7.1.samples"].off(), begin, end));
    EXPECT_GE(off, (end - begin) * 9 / 10) << "at each moment one of the two is off";
}

TEST_F(Sampling, AYieldIsAPreemption)
{
    PLAY_OR_SKIP("yields");
    const std::vector<Off> off = files["7.0.samples"].off();
    EXPECT_GE(std::count_if(off.begin(), off.end(), [](const Off& o) { return o.preempted; }), 50);
}

constexpr std::uint64_t second = 1'000'000'000;

TEST(Account, SwitchesMayTakeTheirPartOfTheTime)
{
    constexpr std::uint64_t allowed = second / ns_needed;  // records in a second
    Account account{};
    EXPECT_FALSE(account.charge_switches(0, 0, second));
    EXPECT_FALSE(account.charge_switches(allowed, second, 2 * second));
    EXPECT_EQ(account.debt(2 * second), 0U);
}

TEST(Account, WhatIsTooMuchIsOwed)
{
    constexpr std::uint64_t allowed = second / ns_needed;
    Account account{};
    EXPECT_TRUE(account.charge_switches(allowed / 20, 0, second / 100));
    EXPECT_EQ(account.debt(second / 100), second / 20 - second / 100);
    EXPECT_EQ(account.debt(second / 20), 0U);
    EXPECT_TRUE(account.charge_switches(100 * allowed, second, 2 * second));
    EXPECT_EQ(account.debt(2 * second), most_for_switches);
}

TEST(Account, RespitesInWaitsAreBoundedLikeSwitches)
{
    Account account{};
    ASSERT_TRUE(account.may_go_on(0));
    std::uint64_t respites = 0;
    for (std::uint64_t time = 0; time < second; time += 10'000) {
        respites += account.charge_respite(time) ? 1 : 0;
    }
    EXPECT_FALSE(account.may_go_on(second));
    EXPECT_NEAR(static_cast<double>(respites * ns_a_respite),
                static_cast<double>(second + most_debt) / part_for_switches, ns_a_respite);
    EXPECT_TRUE(account.may_go_on(second + most_debt / 2));
    EXPECT_FALSE(account.charge_switches(0, second, 2 * second));
    EXPECT_EQ(account.debt(2 * second), 0U);
}

TEST(Account, WhoRelapsesRestsForLonger)
{
    constexpr std::uint64_t too_many = 2 * second / ns_needed;
    Account account{};
    account.charge_switches(too_many, 0, second);
    account.rest_begins();
    EXPECT_TRUE(account.may_go_on(second)) << "at once, for the first time";
    std::uint64_t time = second, last_rest = 0;
    for (int relapse = 0; relapse < 3; ++relapse) {
        account.went_on = true;
        account.charge_switches(too_many, time, time);
        EXPECT_EQ(account.debt(time), most_for_switches << relapse);
        account.rest_begins();
        std::uint64_t rest = 0;
        while (!account.may_go_on(time + rest)) {
            rest += 1'000'000;
        }
        EXPECT_GT(rest, last_rest);
        last_rest = rest;
        time += rest;
    }
    EXPECT_GT(last_rest, 3 * most_for_switches);
    time += 2 * most_for_switches + 1;  // all is paid, and has been for long
    account.charge_switches(too_many, time, time);
    account.rest_begins();
    EXPECT_TRUE(account.may_go_on(time)) << "as for the first time";
}

TEST_F(Respites, ThreadsThatSwitchTooOftenGetARespite)
{
    PLAY_OR_SKIP("storm");
    const File& file = files["7.0.samples"];
    for (const auto& [from, to] : file.respites) {
        ASSERT_LE(from, to);
        const auto is_within = [from = from, to = to](const auto& record) {
            return record.time > from && record.time < to;
        };
        EXPECT_TRUE(std::none_of(file.samples.begin(), file.samples.end(), is_within));
        EXPECT_TRUE(std::none_of(file.switches.begin(), file.switches.end(), is_within));
    }
    // It has said that it works.
    const std::uint64_t begun = facts["begun"];
    EXPECT_TRUE(std::all_of(file.respites.begin(), file.respites.end(), [=](const auto& respite) {
        return respite.second != 0 && (respite.first > begun || respite.second <= begun);
    }));
    expect_few_switches(file);
    const std::uint64_t work = facts["work"][0], work_end = facts["work"][1];
    if (file.respites.empty() || file.respites.back().second < work) {  // it has the processor for itself
        EXPECT_GE(std::count_if(file.samples.begin(), file.samples.end(),
                                [=](const Sample& s) { return s.time >= work && s.time <= work_end; }),
                  100);
    }
}

TEST_F(Respites, ManyShortWaitsAreSwitchesLikeOthers)
{
    PLAY_OR_SKIP("short_waits");
    expect_few_switches(files["7.0.samples"]);
}

TEST_F(Respites, LongWaitsAmongShortOnesEndNoRespiteThatIsNeeded)
{
    PLAY_OR_SKIP("uneven_waits");
    expect_few_switches(files["7.0.samples"]);
}

TEST_F(Respites, WhoGivesUpAskingIsSampledSoon)
{
    PLAY_OR_SKIP("given_up");
    const File& file = files["7.0.samples"];
    std::uint64_t cpu = 0;
    std::ptrdiff_t samples = 0;
    for (const auto& work : facts["work"]) {
        const std::uint64_t begin = work[0], end = work[1];
        cpu += work[2].get<std::uint64_t>();
        samples += std::count_if(file.samples.begin(), file.samples.end(),
                                 [=](const Sample& s) { return s.time >= begin && s.time <= end; });
    }
    if (facts["yields"].get<std::uint64_t>() * 2 * ns_needed > second) {  // three times what the 0.3 s allow
        EXPECT_TRUE(file.rested > 0 || !file.respites.empty());
    }
    if (std::string_view(file.header.samples.event) == "cpu-clock") {
        // The helper looks twice, and may have to wait for its turn.
        EXPECT_GE(static_cast<double>(samples) * static_cast<double>(file.header.samples.own_period),
                  0.5 * static_cast<double>(cpu));
    }
}

TEST_F(Respites, RespitesInWaitsHideNothingElse)
{
    PLAY_OR_SKIP("waits");
    const File& file = files["7.0.samples"];
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> waits = facts["waits"];
    const std::vector<Off> off = file.off();
    std::uint64_t cpu = 0, missing = 0, recorded = 0;
    std::ptrdiff_t samples = 0, switches = 0;
    for (const auto& work : facts["work"]) {
        const std::uint64_t begin = work[0], end = work[1], used = work[2];
        cpu += used;
        missing += end - begin - used;
        recorded += duration(within(off, begin, end));
        samples += std::count_if(file.samples.begin(), file.samples.end(),
                                 [=](const Sample& s) { return s.time >= begin && s.time <= end; });
        switches += std::count_if(file.switches.begin(), file.switches.end(),
                                  [=](const Switch& s) { return s.time >= begin && s.time <= end; });
    }
    // Where others have it switch in its work as well, that may be too often by itself.
    if (static_cast<std::uint64_t>(switches) * ns_needed < (cpu + missing) / 4) {
        for (const auto& [from, to] : file.respites) {
            EXPECT_TRUE(std::any_of(waits.begin(), waits.end(),
                                    [from = from, to = to](const auto& wait) {
                                        return wait.first <= from && from <= to && to <= wait.second;
                                    }))
                << from << " to " << to;
        }
        EXPECT_NEAR(static_cast<double>(recorded), static_cast<double>(missing),
                    0.02 * static_cast<double>(cpu + missing));
        if (std::string_view(file.header.samples.event) == "cpu-clock") {
            const auto expected = static_cast<double>(cpu) / static_cast<double>(file.header.samples.own_period);
            EXPECT_NEAR(static_cast<double>(samples), expected, 0.1 * expected);
        }
    }
    const std::uint64_t waited =
        std::accumulate(waits.begin(), waits.end(), std::uint64_t{0},
                        [](auto sum, const auto& wait) { return sum + (wait.second - wait.first); });
    EXPECT_LE(file.rested, waited);
    if (facts["yields"].get<std::uint64_t>() * 2 * ns_needed > 4 * (cpu + missing + waited)) {
        EXPECT_GT(file.rested, waited / 4);
    }
}

TEST_F(Sampling, PageFaultsAreThoseOfTheKernel)
{
    PLAY_OR_SKIP("page_faults");
    const File& file = files["7.0.samples"];
    const auto faults = facts["faults"].get<std::uint64_t>();
    EXPECT_GE(faults, 9000);
    if (file.respites.empty()) {  // else other work makes it switch too often
        EXPECT_GE(file.header.samples.page_faults, faults);
    }
    EXPECT_LE(file.header.samples.page_faults, faults + 100);  // before and after: opening files, and the test itself
    std::uint64_t last = 0;
    for (const Sample& sample : file.samples) {
        ASSERT_EQ(sample.values.size(), 2);
        ASSERT_GE(sample.values[1], last);
        last = sample.values[1];
    }
    EXPECT_GE(last, file.header.samples.page_faults * 2 / 3);
    EXPECT_LE(last, file.header.samples.page_faults);
}

TEST_F(Sampling, MigrationsShowInTheSwitches)
{
    PLAY_OR_SKIP("migrations");
    const std::vector<Off> off = files["7.0.samples"].off();
    EXPECT_EQ(std::count_if(off.begin(), off.end(), [](const Off& o) { return o.migrated; }), facts["moves"]);
}

TEST_F(Sampling, APauseLeavesNothing)
{
    PLAY_OR_SKIP("pause");
    const std::uint64_t begin = facts["pause"][0], end = facts["pause"][1];
    for (const auto& [name, file] : files) {
        for (const Sample& sample : file.samples) {
            EXPECT_FALSE(sample.time > begin && sample.time < end) << name;
        }
        for (const Switch& change : file.switches) {
            EXPECT_FALSE(change.time > begin && change.time < end) << name;
        }
    }
    expect_samples_match(files["7.0.samples"], facts["cpu"]);
    expect_samples_match(files["7.1.samples"], facts["cpu_of_other"]);
}

}  // namespace
}  // namespace critpath::test
