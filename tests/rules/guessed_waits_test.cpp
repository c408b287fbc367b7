// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// For which thread another one was blocked outside of MPI, where nobody recorded it.
#include "replayer/resolve/guessed_waits.hpp"
#include "tests/builder/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace critpath::tests
{
namespace
{

using functions::FunctionId;
using model::ContextId;

/// A process of threads that are there from 0 to 10,000 us. Thread 0 is blocked from 1000 to 2000 us, unless said
/// otherwise, and calls MPI before and after.
class GuessedWaits : public testing::Test
{
protected:
    GuessedWaits()
    {
        for (const FunctionId function : {FunctionId::MPI_Send, FunctionId::MPI_Test}) {
            model::Region region;
            region.role = model::RegionRole::Mpi;
            region.function = function;
            definitions_.regions.push_back(region);
            definitions_.contexts.push_back({{static_cast<std::uint32_t>(definitions_.contexts.size())}, {}});
        }
        add_thread();
        call(0, 500, 510);
        blocked(0, 1000, 2000);
        call(0, 2500, 2510);
    }

    std::size_t add_thread(std::int64_t end = 10'000)
    {
        model::LocationTrace added;
        added.location = {static_cast<std::uint32_t>(trace_.locations.size())};
        added.end = from_us(end);
        trace_.locations.push_back(added);
        return trace_.locations.size() - 1;
    }
    model::LocationTrace& thread(std::size_t i) { return trace_.locations[i]; }
    void call(std::size_t i, std::int64_t enter, std::int64_t leave, std::uint32_t function = 0)
    {
        thread(i).calls.add(from_us(enter), from_us(leave), {function});
    }
    void blocked(std::size_t i, std::int64_t begin, std::int64_t end)
    {
        thread(i).off.push_back({from_us(begin), from_us(end), false});
        thread(i).calls.add_point(from_us(end));
    }
    void preempted(std::size_t i, std::int64_t begin, std::int64_t end)
    {
        thread(i).off.push_back({from_us(begin), from_us(end), true});
    }
    /// It was blocked until `begin`.
    void woken(std::size_t i, std::int64_t begin, std::int64_t end)
    {
        preempted(i, begin, end);
        thread(i).off.back().is_woken = true;
    }
    /// The last call of thread `to` receives what the one of thread `from`, a matched probe, has found. To be called
    /// when all calls are there.
    void hand_over(std::size_t from, std::size_t to)
    {
        std::vector<std::uint32_t> starts{0};
        for (const model::LocationTrace& location : trace_.locations)
            starts.push_back(starts.back() + static_cast<std::uint32_t>(location.calls.size()));
        trace_.numbers = model::CallNumbers({0}, starts);
        trace_.receives = model::Receives(trace_.numbers);
        const auto last = [&](std::size_t i) {
            return model::CallRef{thread(i).location, {static_cast<std::uint32_t>(thread(i).calls.size() - 1)}};
        };
        trace_.receives.push_back({last(to), last(to), last(from), {0}, 0, 0, 8});
    }
    /// "0 from 1 at 5, 2 from ?": thread 0 waited for thread 1, and for whom thread 2 did is not clear.
    std::string found()
    {
        std::vector<std::string> words;
        for (const replayer::GuessedWait& wait : replayer::guessed_waits(definitions_, trace_)) {
            const auto& [call, time] = wait.waited_for;
            const std::string whom = fmt::format("{} at {}", call.location.value, time.count() / 1000);
            words.push_back(fmt::format("{} from {}", wait.waiter.location.value, call.valid() ? whom : "?"));
        }
        std::ranges::sort(words);
        return fmt::format("{}", fmt::join(words, ", "));
    }
    /// What thread i was last blocked for, as it was looked at, or as others like it were.
    void last_was_for(std::size_t i, model::WaitsFor what, bool is_found = true)
    {
        thread(i).off.back().waits_for = what;
        thread(i).off.back().is_found = is_found;
    }

    model::Definitions definitions_;
    model::ProcessTrace trace_;
};

TEST_F(GuessedWaits, AreForTheOneThreadThatWorksAtTheEnd)
{
    const std::size_t other = add_thread();
    call(other, 800, 1500);
    call(other, 2100, 2200);
    EXPECT_EQ(found(), "0 from 1 at 1999");
}

TEST_F(GuessedWaits, AreNotForAThreadWhereItWasSeenToWaitForSomethingElse)
{
    const std::size_t other = add_thread();
    call(other, 1990, 3000);
    EXPECT_EQ(found(), "0 from 1 at 1990");
    last_was_for(0, model::WaitsFor::Thread);
    EXPECT_EQ(found(), "0 from 1 at 1990");
    last_was_for(0, model::WaitsFor::Other);
    EXPECT_EQ(found(), "");
}

// Nobody has looked at this one, but at others. Where sleeps come often, so do threads that stop as one ends.
TEST_F(GuessedWaits, AreNotForAThreadWhereOthersLikeThemWereForSomethingElse)
{
    const std::size_t other = add_thread();
    call(other, 1200, 1500);
    call(other, 2090, 3000);
    EXPECT_EQ(found(), "0 from 1 at 1999");
    last_was_for(0, model::WaitsFor::Time, false);
    EXPECT_EQ(found(), "");
    last_was_for(0, model::WaitsFor::Unknown, false);
    EXPECT_EQ(found(), "0 from 1 at 1999");
}

// A sleep may end as well some milliseconds after somebody has stopped.
TEST_F(GuessedWaits, AreInDoubtWhereNobodySawThemAndTheOtherStoppedBefore)
{
    blocked(0, 3000, 30'000);
    const std::size_t other = add_thread(100'000);
    call(other, 800, 20'000);
    call(other, 24'000, 50'000);
    EXPECT_EQ(found(), "0 from ?");
    last_was_for(0, model::WaitsFor::Thread);
    EXPECT_EQ(found(), "0 from 1 at 24000");
}

TEST_F(GuessedWaits, AreInDoubtWhereTheyWereForAThreadAndNobodyWorked)
{
    const std::size_t other = add_thread();
    call(other, 800, 3000);
    EXPECT_EQ(found(), "");
    last_was_for(0, model::WaitsFor::Thread);
    EXPECT_EQ(found(), "0 from ?");
    last_was_for(0, model::WaitsFor::Thread, false);
    EXPECT_EQ(found(), "") << "it is not like the others";
}

// As with a barrier: the last one to come wakes several, and some are back sooner than others.
TEST_F(GuessedWaits, AreNotForAThreadThatWasWokenAsWell)
{
    const std::size_t other = add_thread();
    call(other, 800, 1500);
    call(other, 2100, 2200);
    const std::size_t woken = add_thread();
    call(woken, 700, 800);
    blocked(woken, 900, 1985);
    call(woken, 2050, 2200);
    EXPECT_EQ(found(), "0 from 1 at 1999, 2 from 1 at 1984");
    last_was_for(woken, model::WaitsFor::Time);
    EXPECT_EQ(found(), "0 from ?") << "who of the two was the last?";
    last_was_for(woken, model::WaitsFor::Thread);
    EXPECT_EQ(found(), "0 from 1 at 1999, 2 from 1 at 1984");
}

TEST_F(GuessedWaits, AreNotForAThreadThatWasWokenAndHadToWait)
{
    const std::size_t other = add_thread();
    call(other, 800, 1500);
    call(other, 2100, 2200);
    const std::size_t sibling = add_thread();
    call(sibling, 700, 800);
    blocked(sibling, 900, 1700);
    last_was_for(sibling, model::WaitsFor::Thread);
    woken(sibling, 1700, 1985);
    call(sibling, 2050, 2200);
    EXPECT_EQ(found(), "0 from 1 at 1999, 2 from 1 at 1699");
}

/// Thread 2, which does not call MPI, waits for thread 1 as thread 0 does, and is back sooner.
class SiblingsOfGuessedWaits : public GuessedWaits
{
protected:
    SiblingsOfGuessedWaits()
    {
        add_thread();
        call(1, 800, 1500);
        preempted(1, 1850, 3000);
        call(1, 3100, 3200);
        add_thread();
        blocked(2, 900, 1855);
        last_was_for(2, model::WaitsFor::Thread);
    }
};

TEST_F(SiblingsOfGuessedWaits, LeadOnToWhoLetThemGoOn)
{
    blocked(2, 1995, 5000);
    EXPECT_EQ(found(), "0 from 2 at 1995, 2 from 1 at 1850");
}

TEST_F(SiblingsOfGuessedWaits, AreNoneOfThoseIfTheyGoOn)
{
    EXPECT_EQ(found(), "0 from 1 at 1850, 2 from 1 at 1850");
}

TEST_F(SiblingsOfGuessedWaits, TellNothingWhereTheyWaitedForNoThread)
{
    last_was_for(2, model::WaitsFor::Time);
    blocked(2, 1995, 5000);
    EXPECT_EQ(found(), "") << "it worked last, and for nobody else";
}

// It came last, out of a sleep at which nobody looked, and was as long as the barriers.
TEST_F(SiblingsOfGuessedWaits, HaveWorkedIfNobodySawThemWait)
{
    thread(1).off.clear();
    thread(1).off.push_back({from_us(1600), from_us(1955), false});
    thread(1).off.back().waits_for = model::WaitsFor::Thread;
    blocked(1, 2010, 5000);
    thread(2).off[0].end = from_us(1300);
    blocked(2, 1310, 5000);
    EXPECT_THAT(found(), testing::HasSubstr("0 from 1 at 1999"));
}

TEST_F(SiblingsOfGuessedWaits, LeaveADoubtWhereTheirWaitDoes)
{
    add_thread();
    call(3, 800, 1500);
    preempted(3, 1851, 3000);
    call(3, 3100, 3200);
    blocked(2, 1995, 5000);
    EXPECT_EQ(found(), "0 from ?, 2 from ?") << "thread 1 or thread 3";
}

TEST_F(SiblingsOfGuessedWaits, AreNotForWhoWaitsItself)
{
    for (const std::size_t i : {1, 2}) {
        thread(i).off.clear();
        thread(i).calls = {};
    }
    call(1, 800, 9000);
    blocked(2, 900, 1010);
    blocked(2, 1995, 5000);
    EXPECT_EQ(found(), "2 from 0 at 1000");
}

TEST_F(GuessedWaits, AreForAThreadThatEndsMeanwhile)
{
    const std::size_t other = add_thread(1600);
    call(other, 800, 1500);
    EXPECT_EQ(found(), "0 from 1 at 1600");
}

TEST_F(GuessedWaits, AreForAThreadThatIsBlockedRightAfter)
{
    const std::size_t other = add_thread();
    call(other, 800, 1500);
    blocked(other, 1980, 3000);
    call(other, 8000, 8100);
    EXPECT_EQ(found(), "0 from 1 at 1980");
}

TEST_F(GuessedWaits, AreNotForAThreadThatGoesOn)
{
    const std::size_t other = add_thread();
    call(other, 800, 1500);
    call(other, 8000, 8100);
    EXPECT_EQ(found(), "");
    last_was_for(0, model::WaitsFor::Thread);
    EXPECT_EQ(found(), "0 from ?");
}

// When exactly it was woken may be a guess.
TEST_F(GuessedWaits, AreForAThreadThatStopsSoonAfterTheyHaveAProcessorAgain)
{
    const std::size_t other = add_thread();
    call(other, 800, 1500);
    call(other, 3200, 3300);
    EXPECT_EQ(found(), "");
    woken(0, 2000, 2400);
    EXPECT_EQ(found(), "0 from 1 at 1999");
}

// Who takes a message can not have gone on before it was found, and the other one need not stop for that.
TEST_F(GuessedWaits, AreForAThreadThatGoesOnIfItHasFoundTheMessage)
{
    const std::size_t other = add_thread();
    call(other, 800, 1500);
    EXPECT_EQ(found(), "");
    hand_over(other, 0);
    EXPECT_EQ(found(), "0 from 1 at 1999");
}

TEST_F(GuessedWaits, AreNotForAMessageThatWasThereBefore)
{
    const std::size_t other = add_thread();
    call(other, 800, 900);
    hand_over(other, 0);
    EXPECT_EQ(found(), "");
}

TEST_F(GuessedWaits, AreNotForAMessageThatIsReceivedLater)
{
    const std::size_t other = add_thread();
    call(0, 2600, 2610);
    call(other, 800, 1500);
    hand_over(other, 0);
    EXPECT_EQ(found(), "");
}

TEST_F(GuessedWaits, AreNotForAMessageThatWasFoundLongBefore)
{
    const std::size_t other = add_thread(100'000);
    blocked(0, 3000, 30'000);
    call(0, 30'500, 30'510);
    call(other, 4000, 5000);
    preempted(other, 5010, 60'000);
    hand_over(other, 0);
    EXPECT_EQ(found(), "");
}

TEST_F(GuessedWaits, AreForTheThreadThatWorkedLast)
{
    const std::size_t other = add_thread();
    call(other, 800, 1500);
    call(other, 1900, 2200);
    EXPECT_EQ(found(), "0 from 1 at 1900");
    const std::size_t third = add_thread();
    call(third, 800, 1500);
    preempted(third, 1990, 6000);
    call(third, 7000, 7100);
    EXPECT_EQ(found(), "0 from 2 at 1990");
}

TEST_F(GuessedWaits, AreNotForAThreadThatIsInMpiOrDidNotWorkForLong)
{
    const std::size_t other = add_thread();
    call(other, 800, 2100);
    EXPECT_EQ(found(), "");
    blocked(0, 3000, 30'000);
    call(other, 4000, 31'000);
    EXPECT_EQ(found(), "");
}

TEST_F(GuessedWaits, AreNotForAThreadThatPollsAllTheTime)
{
    const std::size_t other = add_thread();
    for (std::int64_t time = 800; time < 3000; time += 100)
        call(other, time + 10, time + 90, 1);
    EXPECT_EQ(found(), "");
    const std::size_t last = add_thread();
    call(last, 800, 1500);
    call(last, 2020, 2200);
    EXPECT_EQ(found(), "0 from 2 at 1999");
}

TEST_F(GuessedWaits, AreNotGuessedAmongSeveral)
{
    for (int i = 0; i < 2; ++i) {
        const std::size_t other = add_thread();
        call(other, 800, 1500);
        call(other, 2100, 2200);
    }
    EXPECT_EQ(found(), "0 from ?");
}

TEST_F(GuessedWaits, AreInNoDoubtAmongSeveralThatDoNotCallMpi)
{
    const std::size_t other = add_thread();
    call(other, 800, 3000);
    for (int i = 0; i < 2; ++i)
        blocked(add_thread(), 2100, 3000);
    EXPECT_EQ(found(), "");
}

TEST_F(GuessedWaits, AreNotGuessedWhereOneThreadCallsMpi)
{
    add_thread(1600);
    EXPECT_EQ(found(), "");
}

TEST_F(GuessedWaits, AreNotGuessedWhereTheTraceSaysHowThreadsMet)
{
    const std::size_t other = add_thread(1600);
    call(other, 800, 1500);
    trace_.thread_waits.push_back({});
    EXPECT_EQ(found(), "");
}

}  // namespace
}  // namespace critpath::tests
