// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the playing of a scenario of sampling_subject in a process of its own, and the reading of what it left.
#pragma once

#include "formats/spool/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <linux/perf_event.h>
#include <sys/wait.h>
#include <unistd.h>

namespace critpath::test
{

namespace fs = std::filesystem;
using spool::SpoolHeader;

struct Sample {
    std::uint64_t ip, time, period;
    std::uint32_t pid, tid, processor;
    std::vector<std::uint64_t> values;  // of the event, and of page faults
    std::vector<std::uint64_t> chain;   // user part, leaf first
    std::vector<std::uint64_t> registers;
    std::uint64_t stack_bytes = 0;
};

struct Switch {
    std::uint64_t time;
    std::uint32_t tid, processor;
    bool out, preempted;
};

/// Time off the processor.
struct Off {
    std::uint64_t begin, end;
    bool preempted;
    bool migrated;
};

struct File {
    SpoolHeader header;
    std::uint64_t records = 0;
    bool whole = true;  // the last record is complete
    std::vector<Sample> samples;
    std::vector<Switch> switches;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> respites;  // from, to (0: no end)
    std::uint64_t rested = 0;                                       // ns, in waits, as the thread itself says
    std::vector<spool::BlockedRecord> blocked;                      // without its stack
    std::vector<spool::RunDelayRecord> run_delays;

    /// What lies between each out and its in.
    [[nodiscard]] std::vector<Off> off() const
    {
        std::vector<Off> result;
        for (std::size_t i = 1; i < switches.size(); ++i) {
            const Switch& out = switches[i - 1];
            const Switch& in = switches[i];
            if (out.out && !in.out) {
                result.push_back({out.time, in.time, out.preempted, out.processor != in.processor});
            }
        }
        return result;
    }
};

template <class T>
T take(const char*& at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

inline Sample parse_sample(const char* at, const spool::SampleFormat& format)
{
    Sample sample;
    sample.ip = take<std::uint64_t>(at);
    sample.pid = take<std::uint32_t>(at);
    sample.tid = take<std::uint32_t>(at);
    sample.time = take<std::uint64_t>(at);
    sample.processor = take<std::uint32_t>(at);
    take<std::uint32_t>(at);
    sample.period = take<std::uint64_t>(at);
    const auto values = take<std::uint64_t>(at);
    at += 2 * sizeof(std::uint64_t);  // times
    for (std::uint64_t i = 0; i < values; ++i) {
        sample.values.push_back(take<std::uint64_t>(at));
    }
    const bool has_chain = format.call_graph == spool::CallGraph::FramePointers;
    const auto frames = has_chain ? take<std::uint64_t>(at) : 0;
    for (std::uint64_t i = 0; i < frames; ++i) {
        const auto frame = take<std::uint64_t>(at);
        if (frame < PERF_CONTEXT_MAX) {
            sample.chain.push_back(frame);
        }
    }
    if (format.registers != 0 && take<std::uint64_t>(at) != 0) {
        for (int i = 0; i < std::popcount(format.registers); ++i) {
            sample.registers.push_back(take<std::uint64_t>(at));
        }
    }
    sample.stack_bytes = format.stack_bytes != 0 ? take<std::uint64_t>(at) : 0;
    return sample;
}

inline Switch parse_switch(const char* at, std::uint16_t misc)
{
    Switch result{};
    take<std::uint32_t>(at);
    result.tid = take<std::uint32_t>(at);
    result.time = take<std::uint64_t>(at);
    result.processor = take<std::uint32_t>(at);
    result.out = (misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
    result.preempted = (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
    return result;
}

inline File parse_file(const fs::path& path)
{
    std::ifstream stream(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    File file;
    if (bytes.size() < spool::header_size) {
        ADD_FAILURE() << path << " has no header";
        return file;
    }
    std::memcpy(&file.header, bytes.data(), sizeof file.header);
    const char* at = bytes.data() + spool::header_size;
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
            file.samples.push_back(parse_sample(at + sizeof header, file.header.samples));
        }
        if (header.type == PERF_RECORD_SWITCH) {
            file.switches.push_back(parse_switch(at + sizeof header, header.misc));
        }
        if (header.type == spool::BlockedRecord::number) {
            const char* body = at;
            file.blocked.push_back(take<spool::BlockedRecord>(body));
            EXPECT_GT(take<std::uint64_t>(body), 0U) << "a copy of the stack";
        }
        if (header.type == spool::RunDelayRecord::number) {
            const char* body = at;
            file.run_delays.push_back(take<spool::RunDelayRecord>(body));
        }
        if (header.type == spool::RespiteRecord::number) {
            const char* body = at;
            const auto record = take<spool::RespiteRecord>(body);
            const bool is_open = !file.respites.empty() && file.respites.back().second == 0;
            if (record.change == spool::RespiteRecord::RestedInWaits) {
                file.rested += record.time;
                at += header.size;
                ++file.records;
                continue;
            }
            const bool begins = record.change != spool::RespiteRecord::Ends;
            EXPECT_NE(begins, is_open) << "respites take turns with work";
            if (begins) {
                file.respites.emplace_back(record.time, 0);
            } else if (is_open) {
                file.respites.back().second = record.time;
            }
        }
        ++file.records;
        at += header.size;
    }
    return file;
}

class Sampling : public testing::Test
{
protected:
    void SetUp() override
    {
        std::string pattern = (fs::temp_directory_path() / "critpath-sampling-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        directory = pattern;
        fs::permissions(directory, fs::perms::all);  // a scenario may become another user
    }

    void TearDown() override { fs::remove_all(directory); }

    /// `sampler`: empty, or timer.
    void play(const std::string& scenario, const std::string& sampler = "")
    {
        const std::string command =
            "timeout -s KILL 120 " SAMPLING_SUBJECT " " + scenario + " " + directory.string() + " " + sampler;
        FILE* pipe = popen(command.c_str(), "r");
        ASSERT_NE(pipe, nullptr);
        std::string output;
        char block[4096];
        while (const std::size_t got = fread(block, 1, sizeof block, pipe)) {
            output.append(block, got);
        }
        const int status = pclose(pipe);
        ASSERT_TRUE(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77) {
            GTEST_SKIP() << output;
        }
        ASSERT_EQ(WEXITSTATUS(status), 0) << scenario;
        facts = nlohmann::json::parse(output);
        for (const auto& entry : fs::directory_iterator(directory)) {
            if (entry.path().extension() == ".samples") {
                files[entry.path().filename()] = parse_file(entry.path());
            }
        }
        std::ifstream list(directory / "7.files");
        for (std::string name; std::getline(list, name);) {
            EXPECT_TRUE(files.contains("7." + name)) << name << " is listed, and not there";
        }
    }

    [[nodiscard]] bool no_samples_here() const { return facts.at("refused").get<int>() != 0; }

    [[nodiscard]] std::string reason() const { return facts.at("explanation").get<std::string>(); }

    /// How many samples a thread that computed for so long (ns) should have.
    [[nodiscard]] static double samples_in(std::uint64_t cpu_ns) { return 997.0 * 1e-9 * static_cast<double>(cpu_ns); }

    /// The first periods of a thread may be short, until the helper has seen a sample.
    static void expect_samples_match(const File& file, std::uint64_t cpu_ns)
    {
        constexpr double until_seen = 20e6;  // ns
        const auto first_period = static_cast<double>(file.header.samples.first_period);
        const auto samples = static_cast<double>(file.samples.size());
        const double expected = samples_in(cpu_ns);
        EXPECT_GE(samples, 0.7 * expected) << "lost " << file.header.lost << ", refused " << file.header.samples.why_not
                                           << ", counted " << file.header.samples.counted << " ns";
        EXPECT_LE(samples, 1.3 * expected + (first_period > 0 ? until_seen / first_period : 0));
    }

    /// Timers: all periods that have passed are the processor's time. Where others compete for the processors, many are
    /// of runs between two ticks, and have no sample.
    static void expect_time_matches(const File& file, std::uint64_t cpu_ns)
    {
        constexpr double unseen = 40e6;  // ns: some ticks before the first and behind the last sample
        const auto expected = static_cast<double>(cpu_ns);
        EXPECT_NEAR(static_cast<double>(file.header.samples.counted), expected, 0.1 * expected + unseen);
        EXPECT_LE(sampled_ns(file), file.header.samples.counted);
        EXPECT_GE(static_cast<double>(sampled_ns(file)), 0.1 * expected - unseen);
    }

    static std::uint64_t sampled_ns(const File& file)
    {
        std::uint64_t sum = 0;
        for (const Sample& sample : file.samples) {
            sum += sample.period;
        }
        return sum;
    }

    /// Of the scenarios that burn time in a function that another one calls.
    void expect_callers_of_work(const File& file) const
    {
        std::size_t leaves = 0, callers = 0;
        for (const Sample& sample : file.samples) {
            const bool burning = !sample.chain.empty() && inside("burning", sample.chain.front());
            leaves += burning;
            callers += burning && std::any_of(sample.chain.begin(), sample.chain.end(),
                                              [this](std::uint64_t frame) { return inside("calling", frame); });
        }
        EXPECT_GE(leaves, file.samples.size() * 9 / 10);
        EXPECT_GE(callers, leaves * 9 / 10);
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
    if (IsSkipped())                                                                                                   \
        return;                                                                                                        \
    if (no_samples_here())                                                                                             \
    GTEST_SKIP() << "perf_event_open is refused on this machine: " << reason()

}  // namespace critpath::test
