// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the scenarios of sampling_subject, each in a process of its own, and reads the files that they leave.
#include "formats/spool/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <linux/perf_event.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

namespace fs = std::filesystem;
using critpath::spool::SpoolHeader;

struct Sample {
    std::uint64_t ip, time, period;
    std::uint32_t pid, tid;
    std::vector<std::uint64_t> chain;  // user part, leaf first
};

struct File {
    SpoolHeader header;
    std::uint64_t records = 0;
    bool whole = true;  // the last record is complete
    std::vector<Sample> samples;
};

template <class T>
T take(const char*& at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

Sample parse_sample(const char* at)
{
    Sample sample;
    sample.ip = take<std::uint64_t>(at);
    sample.pid = take<std::uint32_t>(at);
    sample.tid = take<std::uint32_t>(at);
    sample.time = take<std::uint64_t>(at);
    sample.period = take<std::uint64_t>(at);
    const auto frames = take<std::uint64_t>(at);
    for (std::uint64_t i = 0; i < frames; ++i) {
        const auto frame = take<std::uint64_t>(at);
        if (frame < PERF_CONTEXT_MAX) {
            sample.chain.push_back(frame);
        }
    }
    return sample;
}

File parse_file(const fs::path& path)
{
    std::ifstream stream(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    File file;
    if (bytes.size() < critpath::spool::header_size) {
        ADD_FAILURE() << path << " has no header";
        return file;
    }
    std::memcpy(&file.header, bytes.data(), sizeof file.header);
    const char* at = bytes.data() + critpath::spool::header_size;
    const char* end = bytes.data() + bytes.size();
    while (at < end) {
        perf_event_header header;
        if (static_cast<std::size_t>(end - at) < sizeof header) {
            file.whole = false;
            break;
        }
        std::memcpy(&header, at, sizeof header);
        if (header.size < sizeof header || header.size > end - at) {
            file.whole = false;
            break;
        }
        if (header.type == PERF_RECORD_SAMPLE) {
            file.samples.push_back(parse_sample(at + sizeof header));
        }
        ++file.records;
        at += header.size;
    }
    return file;
}

class Sampling : public ::testing::Test
{
protected:
    void SetUp() override
    {
        std::string pattern = (fs::temp_directory_path() / "critpath-sampling-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        directory = pattern;
    }

    void TearDown() override { fs::remove_all(directory); }

    void play(const std::string& scenario)
    {
        const std::string command = "timeout -s KILL 30 " SAMPLING_SUBJECT " " + scenario + " " + directory.string();
        FILE* pipe = popen(command.c_str(), "r");
        ASSERT_NE(pipe, nullptr);
        std::string output;
        char block[4096];
        while (const std::size_t got = fread(block, 1, sizeof block, pipe)) {
            output.append(block, got);
        }
        const int status = pclose(pipe);
        ASSERT_TRUE(WIFEXITED(status));
        ASSERT_EQ(WEXITSTATUS(status), 0) << scenario;
        facts = nlohmann::json::parse(output);
        for (const auto& entry : fs::directory_iterator(directory)) {
            files[entry.path().filename()] = parse_file(entry.path());
        }
    }

    [[nodiscard]] bool no_samples_here() const { return facts.at("refused").get<int>() != 0; }

    [[nodiscard]] std::string reason() const { return facts.at("explanation").get<std::string>(); }

    void expect_samples_match(const File& file, std::uint64_t cpu_ns) const
    {
        const double expected = 997.0 * 1e-9 * static_cast<double>(cpu_ns);
        EXPECT_NEAR(static_cast<double>(file.samples.size()), expected, 0.3 * expected);
    }

    [[nodiscard]] bool inside(const char* code, std::uint64_t address) const
    {
        return address >= facts.at(code)[0].get<std::uint64_t>() && address < facts.at(code)[1].get<std::uint64_t>();
    }

    fs::path directory;
    nlohmann::json facts;
    std::map<std::string, File> files;
};

#define PLAY_OR_SKIP(scenario)                                                                                         \
    ASSERT_NO_FATAL_FAILURE(play(scenario));                                                                           \
    if (no_samples_here())                                                                                             \
    GTEST_SKIP() << "perf_event_open is refused on this machine: " << reason()

TEST_F(Sampling, TakesAboutFrequencyTimesProcessorTimeSamples)
{
    PLAY_OR_SKIP("main_thread");
    ASSERT_TRUE(files.contains("7.0.samples"));
    const File& file = files["7.0.samples"];
    expect_samples_match(file, facts["cpu"]);
    EXPECT_TRUE(file.whole);
    EXPECT_EQ(file.header.lost, 0);
}

TEST_F(Sampling, FillsInTheHeader)
{
    PLAY_OR_SKIP("main_thread");
    const File& file = files["7.0.samples"];
    EXPECT_EQ(file.header.magic, critpath::spool::magic);
    EXPECT_EQ(file.header.rank, 7);
    EXPECT_EQ(file.header.size, 8);
    EXPECT_EQ(file.header.thread, 0);
    EXPECT_EQ(file.header.record_size, 0);
    EXPECT_STREQ(file.header.host, "somewhere");
    EXPECT_THAT(file.header.samples.event, ::testing::AnyOf(::testing::StrEq("cycles"), ::testing::StrEq("cpu-clock")));
    EXPECT_GT(file.header.samples.period, 0);
    EXPECT_NE(file.header.samples.period % 1000, 0) << "a round period meets round programs always at the same place";
    EXPECT_EQ(file.header.samples.why_not, 0);
    EXPECT_EQ(file.header.closed, 1);
    EXPECT_EQ(file.header.records, file.records);
    EXPECT_LE(facts["start"], file.header.thread_start);
    EXPECT_LT(file.header.thread_start, file.header.thread_end);
    EXPECT_LE(file.header.thread_end, facts["end"]);
    // The totals of the counter: at least the burning is in them, and no more than the life of the thread.
    EXPECT_GE(file.header.samples.time_running, facts["cpu"].get<std::uint64_t>() * 9 / 10);
    EXPECT_LE(file.header.samples.time_running, file.header.thread_end - file.header.thread_start);
    EXPECT_GE(file.header.samples.counted, file.samples.size() * file.header.samples.period * 9 / 10);
}

TEST_F(Sampling, SamplesCarryTheClockAndTheThreadOfTheEvents)
{
    PLAY_OR_SKIP("main_thread");
    const File& file = files["7.0.samples"];
    std::uint64_t last = file.header.thread_start;
    for (const Sample& sample : file.samples) {
        ASSERT_GE(sample.time, last);
        ASSERT_EQ(sample.tid, file.header.tid);
        ASSERT_GT(sample.period, 0);
        last = sample.time;
    }
    EXPECT_LE(last, file.header.thread_end);
}

TEST_F(Sampling, LeavesAndCallersAreThoseOfTheWork)
{
    PLAY_OR_SKIP("main_thread");
    const auto& samples = files["7.0.samples"].samples;
    std::size_t leaves = 0, callers = 0;
    for (const Sample& sample : samples) {
        const bool burning = !sample.chain.empty() && inside("burning", sample.chain.front());
        leaves += burning;
        callers += burning && std::any_of(sample.chain.begin(), sample.chain.end(),
                                          [this](std::uint64_t frame) { return inside("calling", frame); });
    }
    EXPECT_GE(leaves, samples.size() * 9 / 10);
    EXPECT_GE(callers, leaves * 9 / 10);
}

TEST_F(Sampling, KeepsSamplesFromBeforeTheFilesAreOpen)
{
    PLAY_OR_SKIP("before_files");
    expect_samples_match(files["7.0.samples"], facts["cpu"]);
    EXPECT_TRUE(files["7.0.samples"].whole);
    EXPECT_EQ(files["7.0.samples"].header.records, files["7.0.samples"].records);
}

TEST_F(Sampling, LeavesNothingIfTheFilesNeverOpen)
{
    ASSERT_NO_FATAL_FAILURE(play("never_opened"));
    EXPECT_TRUE(files.empty());
}

TEST_F(Sampling, GivesEachThreadItsFile)
{
    PLAY_OR_SKIP("threads");
    ASSERT_EQ(files.size(), 4);
    for (int thread = 0; thread < 4; ++thread) {
        const File& file = files["7." + std::to_string(thread) + ".samples"];
        EXPECT_EQ(file.header.thread, thread);
        EXPECT_EQ(file.header.closed, 1);
        if (thread > 0) {
            expect_samples_match(file, facts["cpu_of"][static_cast<std::size_t>(thread)]);
        }
        EXPECT_TRUE(std::all_of(file.samples.begin(), file.samples.end(),
                                [&file](const Sample& sample) { return sample.tid == file.header.tid; }));
    }
}

TEST_F(Sampling, ManyShortThreadsOneAfterTheOther)
{
    PLAY_OR_SKIP("many_threads");
    EXPECT_EQ(files.size(), 201);
    EXPECT_TRUE(std::all_of(files.begin(), files.end(), [](const auto& file) {
        return file.second.header.closed == 1 && file.second.header.samples.why_not == 0;
    }));
}

TEST_F(Sampling, FinishEndsThreadsThatStillRun)
{
    PLAY_OR_SKIP("unstopped_threads");
    ASSERT_EQ(files.size(), 4);
    for (const auto& [name, file] : files) {
        EXPECT_EQ(file.header.closed, 1) << name;
        EXPECT_GT(file.header.thread_end, file.header.thread_start) << name;
    }
}

TEST_F(Sampling, LeavesTheApplicationsSignalsAlone)
{
    PLAY_OR_SKIP("signals");
    EXPECT_EQ(facts["errno"], ERANGE);
    EXPECT_EQ(facts["mask_kept"], true);
    EXPECT_EQ(facts["pending"], false);
    EXPECT_GE(facts["profiling_signals"], 10);
    expect_samples_match(files["7.0.samples"], facts["cpu"]);
}

TEST_F(Sampling, FrequencyZeroTakesNone)
{
    ASSERT_NO_FATAL_FAILURE(play("off"));
    EXPECT_EQ(facts["refused"], 0);
    const File& file = files["7.0.samples"];
    EXPECT_STREQ(file.header.samples.event, "");
    EXPECT_EQ(file.header.samples.why_not, 0);
    EXPECT_EQ(file.header.closed, 1);
    EXPECT_EQ(file.records, 0);
}

TEST_F(Sampling, CallsMayBeRepeated)
{
    PLAY_OR_SKIP("twice");
    ASSERT_EQ(files.size(), 1);
    expect_samples_match(files["7.0.samples"], facts["cpu"]);
}

TEST_F(Sampling, RefusalIsExplainedAndDoesNoHarm)
{
    ASSERT_NO_FATAL_FAILURE(play("refused"));
    EXPECT_EQ(facts["refused"], EACCES);
    EXPECT_THAT(reason(), ::testing::HasSubstr("seccomp profile"));
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
}

TEST_F(Sampling, MissingDirectoryDoesNoHarm)
{
    ASSERT_NO_FATAL_FAILURE(play("bad_directory"));
    EXPECT_TRUE(files.empty());
}

TEST_F(Sampling, ClosedDescriptorsDoNoHarm)
{
    PLAY_OR_SKIP("closed_descriptors");
    EXPECT_TRUE(files["7.0.samples"].whole);
}

TEST_F(Sampling, HelperDoesNotOutliveTheApplicationsThreads)
{
    PLAY_OR_SKIP("main_thread_ends");
    EXPECT_EQ(files["7.0.samples"].header.closed, 1);
}

TEST_F(Sampling, HelperHardlyWorks)
{
    PLAY_OR_SKIP("cost");
    EXPECT_LT(facts["helper"].get<double>(), 0.02 * facts["cpu"].get<double>());
}

}  // namespace
