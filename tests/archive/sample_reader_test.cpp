// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/sample_reader.hpp"
#include "formats/spool/stack_image.hpp"
#include "tests/archive/deep_builder.hpp"
#include "tests/archive/spool_builder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::archive
{
namespace
{

using test::SamplesBuilder;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

constexpr std::uint64_t user = SamplesBuilder::user;
constexpr std::uint64_t kernel_context = SamplesBuilder::kernel;

// What was read, in words.
class Listener : public SampleHandler
{
public:
    explicit Listener(std::span<const std::byte> records, std::int64_t time_offset = 0,
                      const spool::SampleFormat& format = test::kernel_chains)
    {
        lost = read_samples(records, format, time_offset, *this);
    }

    void on(const RawSample& sample) override
    {
        words.push_back(fmt::format("sample {}", sample.time));
        last = sample;
        chain.assign(sample.chain.begin(), sample.chain.end());
    }
    void on(const RawSwitch& change) override
    {
        const char* way = !change.out ? "in" : change.preempted ? "preempted" : "blocked";
        words.push_back(fmt::format("{} {} {}", way, change.time, change.processor));
    }
    void on(const RawRespite& change) override
    {
        static constexpr const char* words_of[] = {"to", "from", "in a wait from", "in waits of"};
        words.push_back(fmt::format("respite {} {}", words_of[static_cast<int>(change.change)], change.time));
    }
    void on(const RawBlocked& blocked) override
    {
        words.push_back(fmt::format("{} {} since {} at {:x}, {} bytes from {:x}",
                                    blocked.is_timed ? "timed call" : "call", blocked.system_call, blocked.since,
                                    blocked.instruction, blocked.stack.bytes.size(), blocked.stack_pointer));
    }
    void on(const RawRunDelay& delay) override
    {
        words.push_back(fmt::format("waited {} from {} to {}", delay.waited, delay.since, delay.until));
    }
    void on_gap() override { words.emplace_back("gap"); }

    std::vector<std::string> words;
    RawSample last;
    std::vector<std::uint64_t> chain;
    std::uint64_t lost = 0;
};

std::vector<std::uint64_t> chain_of(const std::vector<std::uint64_t>& raw, std::uint64_t ip)
{
    SamplesBuilder builder;
    builder.sample(7, 9, raw, ip, 5, 3);
    const Listener heard(builder.bytes());
    EXPECT_THAT(heard.words, ElementsAre("sample 7"));
    EXPECT_EQ(heard.last.period, 9U);
    EXPECT_THAT(heard.last.values, ElementsAre(7, 5));
    EXPECT_EQ(heard.last.processor, 3U);
    return heard.chain;
}

TEST(SampleReader, KeepsTheUserPartOfTheChain)
{
    EXPECT_THAT(chain_of({user, 1, 2, 3}, 1), ElementsAre(1, 2, 3));
    EXPECT_THAT(chain_of({kernel_context, ~0xfffffULL, user, 1, 2}, ~0xfffffULL), ElementsAre(1, 2));
    EXPECT_THAT(chain_of({user, 1, 2, kernel_context, 5}, 1), ElementsAre(1, 2));
}

TEST(SampleReader, TakesTheInstructionWhereThereIsNoChain)
{
    EXPECT_THAT(chain_of({}, 0x1234), ElementsAre(0x1234));
    EXPECT_THAT(chain_of({kernel_context, ~0xfffffULL}, ~0xfffffULL), ElementsAre());
}

TEST(SampleReader, TellsWhereInTheKernel)
{
    const auto kernel_of = [](std::uint64_t ip) {
        SamplesBuilder builder;
        builder.sample(7, 9, {user, 1, 2}, ip);
        return Listener(builder.bytes()).last.kernel;
    };
    EXPECT_EQ(kernel_of(0xffffffff81000010ULL), 0xffffffff81000010ULL);
    EXPECT_EQ(kernel_of(0x7fffffffffffULL), 0U);
}

TEST(SampleReader, SkipsOtherRecordsAndCountsWhatWasLost)
{
    SamplesBuilder builder;
    builder.lost(5);
    builder.record(PERF_RECORD_THROTTLE, {1, 2, 3, 0, 0, 0});
    builder.sample(1, 1, {user, 1});
    builder.record(PERF_RECORD_LOST_SAMPLES, {2, 0, 0, 0});
    builder.sample(2, 1, {user, 1});
    const Listener heard(builder.bytes());
    EXPECT_THAT(heard.words, ElementsAre("gap", "sample 1", "gap", "sample 2"));
    EXPECT_EQ(heard.lost, 7U);
}

TEST(SampleReader, SwitchesSayWhereAndWhy)
{
    SamplesBuilder builder;
    builder.out(10, true, 1);
    builder.in(20, 0);
    builder.out(30, false);
    const Listener heard(builder.bytes());
    EXPECT_THAT(heard.words, ElementsAre("preempted 10 1", "in 20 0", "blocked 30 0"));
}

TEST(SampleReader, RespitesAreOurOwnRecords)
{
    SamplesBuilder builder;
    builder.out(10, true, 1);
    const auto add = [&builder](spool::RespiteRecord::Change change, std::uint64_t time) {
        const spool::RespiteRecord record = {spool::RespiteRecord::number, change, sizeof record, time};
        builder.add(&record, sizeof record);
    };
    add(spool::RespiteRecord::BeginsInWait, 20);
    add(spool::RespiteRecord::Ends, 90);
    add(spool::RespiteRecord::RestedInWaits, 7);
    add(spool::RespiteRecord::Begins, 95);
    EXPECT_THAT(Listener(builder.bytes(), 5).words,
                ElementsAre("preempted 15 1", "respite in a wait from 25", "respite to 95", "respite in waits of 7",
                            "respite from 100"));
}

TEST(SampleReader, WhatTheKernelCountedOfWaitsIsARecordOfOurOwn)
{
    SamplesBuilder builder;
    const spool::RunDelayRecord record = {spool::RunDelayRecord::number, 0, sizeof record, 10, 30, 7};
    builder.add(&record, sizeof record);
    EXPECT_THAT(Listener(builder.bytes(), 5).words, ElementsAre("waited 7 from 15 to 35"));
    const SampleExtent extent = extent_of_samples(builder.bytes(), 5, 35);
    EXPECT_EQ(extent.records, 1U);
    EXPECT_FALSE(extent.is_damaged);
    EXPECT_TRUE(extent_of_samples(builder.bytes(), 5, 34).is_damaged);
}

TEST(SampleReader, ImagesOfTheStackAreForOthers)
{
    test::DeepBuilder builder;
    builder.image(10, 30, {{800, 7}}, spool::DeepStackRecord::Whole);
    builder.sample(40, 1, {user, 1});
    EXPECT_THAT(Listener(builder.bytes(), 5).words, ElementsAre("sample 45"));
    const SampleExtent extent = extent_of_samples(builder.bytes(), 5, 45);
    EXPECT_EQ(extent.records, 2U);
    EXPECT_FALSE(extent.is_damaged);
    EXPECT_TRUE(extent_of_samples(builder.bytes(), 5, 34).is_damaged) << "taken later than the recording ended";
}

constexpr std::uint64_t pointer = 4096;  // to the stack: a line begins there

TEST(SampleReader, WhereAThreadWasFoundBlockedIsARecordOfOurOwn)
{
    SamplesBuilder builder;
    const auto add = [&builder](std::uint64_t since, const std::vector<std::uint64_t>& stack, bool is_timed = false) {
        const std::size_t size = sizeof(spool::BlockedRecord) + stack.size() * sizeof stack[0];
        std::vector<char> bytes(size);
        const spool::BlockedRecord record = {
            spool::BlockedRecord::number, is_timed, static_cast<std::uint16_t>(size), since, 230, pointer, 0x401000};
        std::memcpy(bytes.data(), &record, sizeof record);
        std::memcpy(bytes.data() + sizeof record, stack.data(), size - sizeof record);
        builder.add(bytes.data(), size);
    };
    builder.out(10, false, 1);
    add(10, {16, 1, 21, 22});
    add(30, {16, 0});       // the stack is as it was
    add(40, {0, 0}, true);  // nobody wanted it
    const Listener heard(builder.bytes(), 5);
    EXPECT_THAT(heard.words,
                ElementsAre("blocked 15 1", fmt::format("call 230 since 15 at 401000, 16 bytes from {:x}", pointer),
                            fmt::format("call 230 since 35 at 401000, 16 bytes from {:x}", pointer),
                            fmt::format("timed call 230 since 45 at 401000, 0 bytes from {:x}", pointer)));
    EXPECT_EQ(heard.lost, 0U);
}

TEST(SampleReader, TimesOfTheKernelBecomeThoseOfTheProcess)
{
    SamplesBuilder builder;
    builder.sample(1000, 1, {user, 1});
    builder.out(2000, false);
    EXPECT_THAT(Listener(builder.bytes(), 500).words, ElementsAre("sample 1500", "blocked 2500 0"));
    EXPECT_THAT(Listener(builder.bytes(), -500).words, ElementsAre("sample 500", "blocked 1500 0"));
}

TEST(SampleReader, TheSampledEventMayBeAlone)
{
    SamplesBuilder builder;
    builder.sample(1, 1, {user, 7, 8}, SamplesBuilder::Group{1, 1, {9}});
    const Listener heard(builder.bytes());
    EXPECT_THAT(heard.last.values, ElementsAre(9));
    EXPECT_THAT(heard.chain, ElementsAre(7, 8));
}

TEST(SampleReader, StopsAtZerosAndAtDamage)
{
    SamplesBuilder builder;
    builder.sample(1, 1, {user, 1});
    const std::size_t good = builder.bytes().size();
    const char zeros[64] = {};
    builder.add(zeros, sizeof zeros);
    builder.sample(2, 1, {user, 1});
    EXPECT_THAT(Listener(builder.bytes()).words, ElementsAre("sample 1"));

    // Every shorter piece of a file with one sample has no sample, and is not read beyond its end.
    for (std::size_t size = 0; size < good; ++size) {
        const std::vector<std::byte> piece(builder.bytes().begin(), builder.bytes().begin() + size);
        EXPECT_THAT(Listener(piece).words, IsEmpty()) << size;
    }
}

TEST(SampleReader, AListLongerThanItsRecordIsLost)
{
    SamplesBuilder builder;
    builder.record(PERF_RECORD_SAMPLE, {0, 0, 1, 0, 1, 1, 1, 1, 1, 1'000'000, user, 1});  // chain
    builder.record(PERF_RECORD_SAMPLE, {0, 0, 1, 0, 1, ~0ULL, 1, 1, 1, 1, user, 1});      // group
    builder.record(PERF_RECORD_SAMPLE, {0, 0, 1, 0, 1, 1, 1, 1, 1});
    builder.record(PERF_RECORD_SAMPLE, {0, 0});
    builder.record(PERF_RECORD_SWITCH, {0});
    builder.sample(3, 1, {user, 1});
    const Listener heard(builder.bytes());
    EXPECT_THAT(heard.words, ElementsAre("gap", "gap", "gap", "gap", "sample 3"));
    EXPECT_EQ(heard.lost, 4U);
}

// ---- samples with registers and a copy of the stack

spool::SampleFormat with_stack(spool::CallGraph call_graph)
{
    spool::SampleFormat format{};
    format.call_graph = call_graph;
    format.registers = 0b11 | std::uint64_t{1} << spool::stack_pointer_number;
    format.stack_bytes = 24;
    return format;
}

constexpr std::uint64_t abi = 2;
const std::vector<std::uint64_t> fixed_part = {1, 0, 7, 0, 9, 1, 1, 1, 1};

std::vector<std::uint64_t> sample_with(const std::vector<std::uint64_t>& words)
{
    std::vector<std::uint64_t> all = fixed_part;
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

std::vector<std::uint64_t> words_of(const RawStack& stack)
{
    std::vector<std::uint64_t> words(stack.bytes.size() / sizeof(std::uint64_t));
    std::memcpy(words.data(), stack.bytes.data(), stack.bytes.size());
    return words;
}

TEST(SampleReader, RegistersAndStackStandBehindTheChain)
{
    SamplesBuilder builder;
    builder.record(PERF_RECORD_SAMPLE, sample_with({3, user, 1, 2, abi, 11, 12, pointer, 16, 1, 21, 22}));
    const Listener heard(builder.bytes(), 0, with_stack(spool::CallGraph::FramePointers));
    EXPECT_THAT(heard.words, ElementsAre("sample 7"));
    EXPECT_THAT(heard.chain, ElementsAre(1, 2));
    EXPECT_THAT(heard.last.stack.registers, ElementsAre(11, 12, pointer));
}

TEST(SampleReader, OfALineThatIsNotThereTheStackHasWhatItHadBefore)
{
    const auto first = sample_with({abi, 11, 12, pointer, 24, 1, 21, 22, 23});
    const auto second = sample_with({abi, 11, 12, pointer + 8, 16, 0});
    for (const std::size_t samples : {1U, 2U}) {
        SamplesBuilder builder;
        builder.record(PERF_RECORD_SAMPLE, first);
        if (samples == 2) {
            builder.record(PERF_RECORD_SAMPLE, second);
        }
        std::vector<std::uint64_t> stack;
        class Last : public SampleHandler
        {
        public:
            explicit Last(std::vector<std::uint64_t>& stack) : stack_(stack) {}
            void on(const RawSample& sample) override { stack_ = words_of(sample.stack); }
            void on(const RawSwitch&) override {}
            void on(const RawRespite&) override {}
            void on(const RawBlocked&) override {}
            void on(const RawRunDelay&) override {}
            void on_gap() override {}

        private:
            std::vector<std::uint64_t>& stack_;
        } last(stack);
        EXPECT_EQ(read_samples(builder.bytes(), with_stack(spool::CallGraph::Dwarf), 0, last), 0U);
        EXPECT_THAT(stack, samples == 1 ? ElementsAreArray({21, 22, 23}) : ElementsAreArray({22, 23}));
    }
}

TEST(SampleReader, TheKernelMayHaveNeitherRegistersNorStack)
{
    for (const std::vector<std::uint64_t>& words : {std::vector<std::uint64_t>{0, 0}, {abi, 11, 12, pointer, 0}}) {
        SamplesBuilder builder;
        builder.record(PERF_RECORD_SAMPLE, sample_with(words));
        const Listener heard(builder.bytes(), 0, with_stack(spool::CallGraph::Dwarf));
        EXPECT_THAT(heard.words, ElementsAre("sample 7"));
        EXPECT_EQ(heard.last.stack.bytes.size(), 0U);
        EXPECT_EQ(heard.last.stack.registers.size(), words.front() == 0 ? 0U : 3U);
    }
}

/// What later samples say of the stack builds on what cannot be read: they go without.
TEST(SampleReader, NoMoreOfTheStackIsThereThanTheRecordHas)
{
    const std::vector<std::vector<std::uint64_t>> damaged = {
        {},                                            // cut before the registers,
        {abi, 11, 12},                                 // in them,
        {abi, 11, 12, pointer},                        // before the stack,
        {abi, 11, 12, pointer, 24},                    // before its bitmap,
        {abi, 11, 12, pointer, 24, 1, 21, 22},         // in it
        {abi, 11, 12, pointer, ~0ULL, 1, 21, 22, 23},  // absurd sizes
        {abi, 11, 12, pointer, spool::StackImage::largest_copy + 8, 0, 0, 0},
        {abi, 11, 12, pointer, 23, 0},
        {abi, 11, 12, pointer + 1, 24, 0},  // no address of a word
    };
    for (const auto& words : damaged) {
        SamplesBuilder builder;
        builder.record(PERF_RECORD_SAMPLE, sample_with(words));
        builder.record(PERF_RECORD_LOST_SAMPLES, {2, 0, 0, 0});
        builder.record(PERF_RECORD_SAMPLE, sample_with({abi, 11, 12, pointer, 24, 1, 21, 22, 23}));
        const Listener heard(builder.bytes(), 0, with_stack(spool::CallGraph::Dwarf));
        EXPECT_THAT(heard.words, ElementsAre("gap", "gap", "sample 7")) << words.size();
        EXPECT_EQ(heard.lost, 3U);
        EXPECT_THAT(heard.last.stack.bytes, IsEmpty());
        EXPECT_THAT(heard.last.stack.registers, ElementsAre(11, 12, pointer));
    }
}

TEST(SampleReader, WithoutCallersTheInstructionIsEnough)
{
    SamplesBuilder builder;
    std::vector<std::uint64_t> words = fixed_part;
    words.insert(words.end(), {abi, 0x1234});
    builder.record(PERF_RECORD_SAMPLE, words);
    spool::SampleFormat format{};
    format.registers = 0b1000;
    const Listener heard(builder.bytes(), 0, format);
    EXPECT_THAT(heard.chain, ElementsAre(1));
    EXPECT_THAT(heard.last.stack.registers, ElementsAre(0x1234));
}

}  // namespace
}  // namespace critpath::archive
