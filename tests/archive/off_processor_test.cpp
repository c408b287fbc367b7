// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/off_processor.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace critpath::archive
{
namespace
{

using testing::ElementsAre;
using testing::IsEmpty;

class Thread
{
public:
    Thread& out(std::uint64_t time, bool preempted = false, std::uint32_t processor = 0)
    {
        off_.on(RawSwitch{time, processor, true, preempted});
        return *this;
    }
    Thread& in(std::uint64_t time, std::uint32_t processor = 0)
    {
        off_.on(RawSwitch{time, processor, false, false});
        return *this;
    }
    Thread& sample(std::uint64_t time)
    {
        RawSample sample;
        sample.time = time;
        off_.on(sample);
        return *this;
    }
    Thread& respite(std::uint64_t begin, std::uint64_t end)
    {
        off_.on(RawRespite{begin, RawRespite::Change::Begins});
        off_.on(RawRespite{end, RawRespite::Change::Ends});
        return *this;
    }
    Thread& wait_respite(std::uint64_t begin, std::uint64_t end)
    {
        off_.on(RawRespite{begin, RawRespite::Change::BeginsInWait});
        off_.on(RawRespite{end, RawRespite::Change::Ends});
        return *this;
    }
    Thread& gap()
    {
        off_.on_gap();
        return *this;
    }

    std::vector<std::string> off(std::uint64_t end)
    {
        std::vector<std::string> words;
        for (const OffInterval& off : off_.finish(end)) {
            words.push_back(fmt::format("{}-{}{}{}", off.begin, off.end, off.preempted ? " preempted" : "",
                                        off.migrated ? fmt::format(" to {}", off.processor) : ""));
        }
        return words;
    }

private:
    OffProcessor off_;
};

TEST(OffProcessor, FromOutToIn)
{
    EXPECT_THAT(Thread().out(1, true).in(5).sample(6).out(10).in(20, 1).off(100),
                ElementsAre("1-5 preempted", "10-20 to 1"));
}

TEST(OffProcessor, WhatIsOpenEndsWithTheThread)
{
    EXPECT_THAT(Thread().out(1).off(100), ElementsAre("1-100"));
    EXPECT_THAT(Thread().out(1).off(0), IsEmpty());  // nobody knows the end
}

TEST(OffProcessor, WhatIsOpenAtARespiteEndsThere)
{
    EXPECT_THAT(Thread().out(1).respite(5, 50).in(60).out(70).in(80).off(100), ElementsAre("1-5", "70-80"));
    EXPECT_THAT(Thread().out(1).in(3).respite(5, 50).sample(55).off(100), ElementsAre("1-3"));
}

TEST(OffProcessor, WhoComesBackLongAfterARespiteWasBlocked)
{
    const std::uint64_t ms = 1'000'000;
    EXPECT_THAT(Thread().out(1).respite(5, 50).in(50 + 30 * ms).off(100 * ms), ElementsAre("1-5", "50-30000050"));
    EXPECT_THAT(Thread().respite(5, 50).in(50 + 3 * ms).off(100 * ms), IsEmpty());  // it may have waited for its turn
    EXPECT_THAT(Thread().wait_respite(5, 50).in(50 + 30 * ms).off(100 * ms), IsEmpty());        // it ends at work
    EXPECT_THAT(Thread().respite(5, 50).sample(60).in(50 + 30 * ms).off(100 * ms), IsEmpty());  // it was there
    EXPECT_THAT(Thread().respite(5, 50).out(60).in(70).in(50 + 30 * ms).off(100 * ms), ElementsAre("60-70"));
}

TEST(OffProcessor, AnInWithoutOutSaysNothing)
{
    EXPECT_THAT(Thread().in(1).out(5).in(6).in(7).off(100), ElementsAre("5-6"));
}

TEST(OffProcessor, WithoutInItEndsWithTheNextSignOfWork)
{
    EXPECT_THAT(Thread().out(1).out(7).in(9).off(100), ElementsAre("1-7", "7-9"));
    EXPECT_THAT(Thread().out(1).sample(4).sample(6).out(7).in(9).off(100), ElementsAre("1-4", "7-9"));
    EXPECT_THAT(Thread().out(1).sample(4).off(100), ElementsAre("1-4"));
}

TEST(OffProcessor, ASampleInTheActOfSwitchingIsNoSignOfWork)
{
    EXPECT_THAT(Thread().out(1).sample(2).in(9).off(100), ElementsAre("1-9"));
}

TEST(OffProcessor, AfterAGapASampleIsOne)
{
    EXPECT_THAT(Thread().out(1).gap().sample(4).in(9).off(100), ElementsAre("1-4"));
    EXPECT_THAT(Thread().gap().out(1).in(3).off(100), ElementsAre("1-3"));
    EXPECT_THAT(Thread().out(1).sample(4).gap().sample(6).in(9).off(100), ElementsAre("1-4"));
    EXPECT_THAT(Thread().out(1).sample(4).gap().in(9).off(100), ElementsAre("1-4"));
    EXPECT_THAT(Thread().out(1).gap().in(9).off(100), ElementsAre("1-9"));
}

}  // namespace
}  // namespace critpath::archive
