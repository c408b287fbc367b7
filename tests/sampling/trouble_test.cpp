// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sampling where the machine, or the application, makes it hard: nothing may go wrong, and what is missing is said.
#include "tests/sampling/played.hpp"

namespace critpath::test
{
namespace
{

TEST_F(Sampling, RefusalIsExplainedAndDoesNoHarm)
{
    ASSERT_NO_FATAL_FAILURE(play("refused"));
    EXPECT_EQ(facts["refused"], EACCES);
    EXPECT_THAT(reason(), testing::HasSubstr("seccomp profile"));
    ASSERT_EQ(files.size(), 3);
    for (const auto& [name, file] : files) {
        EXPECT_STREQ(file.header.samples.event, "") << name;
        EXPECT_EQ(file.header.samples.why_not, EACCES) << name;
        EXPECT_EQ(file.header.closed, 1) << name;
        EXPECT_EQ(file.records, 0) << name;
    }
}

TEST_F(Sampling, ChildOfForkIsForgotten)
{
    PLAY_OR_SKIP("fork");
    EXPECT_EQ(facts["child"], 23);
    ASSERT_EQ(files.size(), 1);
    const File& file = files["7.0.samples"];
    EXPECT_EQ(file.header.closed, 1);
    EXPECT_TRUE(std::all_of(file.samples.begin(), file.samples.end(), [&file](const Sample& sample) {
        return sample.pid == file.header.pid || sample.tid == file.header.tid;
    }));
    expect_samples_match(file, facts["cpu"].get<std::uint64_t>() + 100'000'000);
}

TEST_F(Sampling, FullDiskIsCountedAndTheFileEndsWithAWholeRecord)
{
    PLAY_OR_SKIP("full_disk");
    const File& file = files["7.0.samples"];
    EXPECT_TRUE(file.whole);
    EXPECT_GT(file.header.lost, 0);
    EXPECT_EQ(file.header.records, file.records);
    EXPECT_EQ(facts["unwritten"], EFBIG);
}

TEST_F(Sampling, MissingDirectoryDoesNoHarm)
{
    ASSERT_NO_FATAL_FAILURE(play("bad_directory"));
    EXPECT_TRUE(files.empty());
    EXPECT_EQ(facts["unwritten"], ENOTDIR);
}

TEST_F(Sampling, ClosedDescriptorsDoNoHarm)
{
    PLAY_OR_SKIP("closed_descriptors");
    const File& file = files["7.0.samples"];
    EXPECT_TRUE(file.whole);
    EXPECT_EQ(file.header.closed, 1);
    const double seconds = 1e-9 * facts["before"].get<double>();
    EXPECT_GT(static_cast<double>(file.samples.size()),
              0.5 * seconds * 1e9 / static_cast<double>(file.header.samples.period));
    EXPECT_TRUE(facts["lost_events"].get<bool>());
}

TEST_F(Sampling, DescriptorsThatTheApplicationHasTakenAreLeftAlone)
{
    PLAY_OR_SKIP("taken_descriptors");
    EXPECT_GE(facts["taken"], 3);  // event, helper, file
    EXPECT_EQ(facts["still_open"], facts["taken"]);
    EXPECT_EQ(facts["written"], 0);
    EXPECT_TRUE(facts["lost_events"].get<bool>());
    EXPECT_EQ(files["7.0.samples"].header.samples.timer_stopped, 1);
    EXPECT_TRUE(files["7.0.samples"].whole);
    EXPECT_EQ(files["7.0.samples"].header.closed, 1);
}

TEST_F(Sampling, AThreadThatWasEndedDoesNotEndAnother)
{
    PLAY_OR_SKIP("ended_early");
    EXPECT_EQ(files["7.1.samples"].header.closed, 1);
    expect_samples_match(files["7.2.samples"], facts["cpu_of_other"]);
}

TEST_F(Sampling, HelperSleepsWhereItCannotPoll)
{
    PLAY_OR_SKIP("lower_limit");
    EXPECT_GT(facts["sleeps"], 3);
    EXPECT_TRUE(files["7.0.samples"].whole);
}

TEST_F(Sampling, HelperDoesNotOutliveTheApplicationsThreads)
{
    PLAY_OR_SKIP("main_thread_ends");
    EXPECT_EQ(files["7.0.samples"].header.closed, 1);
}

TEST_F(Sampling, RefusalOfALaterThreadIsItsOwn)
{
    PLAY_OR_SKIP("refused_later");
    EXPECT_EQ(files["7.1.samples"].header.samples.why_not, EMFILE);
    EXPECT_EQ(files["7.1.samples"].header.closed, 1);
    expect_samples_match(files["7.0.samples"], facts["cpu"]);
}

TEST_F(Sampling, WithoutADescriptorItSaysSo)
{
    ASSERT_NO_FATAL_FAILURE(play("no_descriptor"));
    EXPECT_EQ(facts["refused"], EMFILE);
    EXPECT_THAT(reason(), testing::HasSubstr("ulimit -n"));
}

TEST_F(Sampling, WithFewDescriptorsPageFaultsAreLeftOut)
{
    PLAY_OR_SKIP("few_descriptors");
    ASSERT_EQ(files.size(), 1);
    const File& file = files["7.0.samples"];
    EXPECT_TRUE(file.whole);
    EXPECT_EQ(file.header.samples.why_not, 0);
    EXPECT_EQ(file.header.samples.page_faults, 0);
    expect_samples_match(file, facts["cpu"]);
}

TEST_F(Sampling, ALateHelperEndsNoOtherThread)
{
    PLAY_OR_SKIP("late_helper");
    ASSERT_EQ(files.size(), 3);
    EXPECT_EQ(facts["has_heard_of_end"], true);
    expect_samples_match(files["7.2.samples"], facts["cpu"]);
    EXPECT_EQ(facts["lost_events"], false);
}

TEST_F(Sampling, LittleLockedMemoryMeansSmallRingsThenNone)
{
    PLAY_OR_SKIP("little_locked_memory");
    ASSERT_EQ(files.size(), 61);
    // The smallest ring holds 8 samples: where the helper waits longer for a processor, the rest is lost, and counted.
    const File& sampled = files["7.0.samples"];
    const double expected = samples_in(facts["cpu"]);
    EXPECT_LT(static_cast<double>(sampled.samples.size()), 1.3 * expected);
    EXPECT_GT(static_cast<double>(sampled.samples.size() + sampled.header.lost), 0.7 * expected);
    for (const auto& [name, file] : files) {
        EXPECT_EQ(file.header.closed, 1) << name;
        EXPECT_TRUE(file.whole) << name;
        EXPECT_THAT(file.header.samples.why_not, testing::AnyOf(0, ENOBUFS)) << name;
        EXPECT_EQ(file.header.samples.why_not == 0, file.header.samples.event[0] != '\0') << name;
    }
}

TEST_F(Sampling, AThousandThreadsInTurn)
{
    PLAY_OR_SKIP("thread_storm");
    EXPECT_EQ(files.size(), 1001);
    EXPECT_TRUE(std::all_of(files.begin(), files.end(), [](const auto& file) {
        return file.second.header.closed == 1 && file.second.header.samples.why_not == 0 && file.second.whole;
    }));
}

TEST_F(Sampling, OtherProgramsInheritNothing)
{
    PLAY_OR_SKIP("spawn");
    EXPECT_FALSE(facts["before"].empty());
    EXPECT_EQ(facts["before"], facts["while_sampled"]);
    ASSERT_EQ(files.size(), 1);
    expect_samples_match(files["7.0.samples"], facts["cpu"]);
}

TEST_F(Sampling, WhatAProgramLeavesThatBecomesAnotherIsWhole)
{
    PLAY_OR_SKIP("exec");
    const File& file = files["7.0.samples"];
    EXPECT_TRUE(file.whole);
    EXPECT_EQ(file.header.closed, 0);
    EXPECT_EQ(file.header.rank, 7);
}

}  // namespace
}  // namespace critpath::test
