// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the helper writes of a stack, as the archive reads it. The stack is an array here, and the ring is written by
// hand.
#include "collector/archive/deep_stacks.hpp"
#include "collector/sampling/deep_stack.hpp"
#include "collector/sampling/state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <linux/perf_event.h>
#include <sys/mman.h>

namespace critpath::sampling
{
namespace
{

using Words = std::vector<std::uint64_t>;

constexpr std::size_t stack_words = 100'000;
constexpr std::size_t copied_words = 512;
constexpr std::uint64_t word = sizeof(std::uint64_t);

class DeepLooking : public testing::Test
{
protected:
    DeepLooking()
        : memory_(
              mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
          ring_((page_size() + ring_bytes) / word), stack_(map_stack(), stack_words),
          state_(*static_cast<State*>(memory_)), slot_(state_.slots[0])
    {
        pthread_mutex_init(&state_.pass_lock, nullptr);
        state_.config.clock_id = CLOCK_MONOTONIC_RAW;
        state_.choice.call_graph = spool::CallGraph::Dwarf;
        state_.choice.registers = std::uint64_t{1} << spool::stack_pointer_number;
        state_.choice.stack_bytes = copied_words * word;
        state_.used = 1;
        init_file(slot_.file);
        slot_.event = no_event;
        slot_.event.control = reinterpret_cast<char*>(ring_.data());
        slot_.event.ring_size = ring_bytes;
        slot_.state = SlotState::Active;
        slot_.deep.bottom = place(0);
        slot_.deep.top = place(stack_words);
    }

    ~DeepLooking() override
    {
        end_deep_stack(slot_);
        discard_memory(slot_.file);
        munmap(stack_.data(), stack_.size_bytes());
        munmap(memory_, sizeof(State));
    }

    DeepLooking(const DeepLooking&) = delete;
    DeepLooking& operator=(const DeepLooking&) = delete;

    /// Far from all code.
    static std::uint64_t* map_stack()
    {
        constexpr std::uint64_t far = 0x2000'0000'0000;
        void* const hint = reinterpret_cast<void*>(far);  // NOLINT(performance-no-int-to-ptr)
        void* memory = mmap(hint, stack_words * word, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return static_cast<std::uint64_t*>(memory);
    }

    std::uint64_t place(std::size_t i) { return reinterpret_cast<std::uint64_t>(stack_.data() + i); }

    /// With the stack pointer there, and a copy of that many words.
    void sample(std::size_t at, std::size_t words = copied_words)
    {
        Words record = {0, code, 0, 7, 0, 9, 1, 1, 1, 1, 2, place(at), copied_words * word};
        record.resize(record.size() + copied_words);
        record.push_back(words * word);
        const perf_event_header header{PERF_RECORD_SAMPLE, 0, static_cast<std::uint16_t>(record.size() * word)};
        std::memcpy(record.data(), &header, sizeof header);
        auto* control = reinterpret_cast<perf_event_mmap_page*>(ring_.data());
        std::memcpy(slot_.event.control + page_size() + control->data_head, record.data(), record.size() * word);
        control->data_head += record.size() * word;
    }

    void look()
    {
        state_.deep.next = 0;
        look_at_deep_stacks(state_);
    }

    archive::DeepStacks read() { return {std::as_bytes(std::span(slot_.file.memory, slot_.file.memory_used)), 0}; }

    /// The last word that the images have there.
    std::uint64_t last(std::size_t i)
    {
        const archive::DeepStacks stacks = read();
        const auto runs = stacks.runs(place(i));
        return runs.empty() || runs.back().last + 1 < stacks.images() ? 0 : runs.back().word;
    }

    static constexpr std::size_t ring_bytes = std::size_t{1} << 20;
    // Of this program; a library's is close to it, but for that.
    const std::uint64_t code = reinterpret_cast<std::uint64_t>(&look_at_deep_stacks);

    void* memory_;
    Words ring_;
    std::span<std::uint64_t> stack_;
    State& state_;
    Slot& slot_;
};

TEST_F(DeepLooking, ReadsWhatACallChainMayNeed)
{
    const std::size_t begin = 1000 + copied_words;
    stack_[begin - 1] = code;  // in the copy
    stack_[begin] = code;
    stack_[begin + 1] = 42;
    stack_[begin + 2] = place(begin + 10);  // outwards
    stack_[begin + 3] = place(begin + 1);   // inwards
    stack_[begin + 4] = place(begin + 10) + 1;
    stack_[begin + 5] = place(stack_words);  // none of its words
    stack_[stack_words - 1] = code + 1;
    sample(1000);
    look();
    EXPECT_EQ(read().images(), 1U);
    EXPECT_EQ(last(begin - 1), 0U);
    EXPECT_EQ(last(begin), code);
    EXPECT_EQ(last(begin + 1), 0U);
    EXPECT_EQ(last(begin + 2), place(begin + 10));
    EXPECT_EQ(last(begin + 3), 0U);
    EXPECT_EQ(last(begin + 4), 0U);
    EXPECT_EQ(last(begin + 5), 0U);
    EXPECT_EQ(last(stack_words - 1), code + 1);
}

TEST_F(DeepLooking, LooksAtNothingWhereNoCopyIsCut)
{
    sample(stack_words - copied_words);
    sample(1000, copied_words - 1);  // what follows cannot be read
    look();
    EXPECT_EQ(slot_.file.memory_used, 0U);
    EXPECT_FALSE(state_.deep.is_needed);
    EXPECT_EQ(slot_.deep.last_image, nullptr);
}

TEST_F(DeepLooking, LeavesAloneWhatIsNoStackOfTheThread)
{
    slot_.deep.bottom = place(50'000);
    sample(1000);
    look();
    EXPECT_EQ(slot_.file.memory_used, 0U);
    state_.choice.call_graph = spool::CallGraph::FramePointers;
    sample(60'000);
    look();
    EXPECT_EQ(slot_.file.memory_used, 0U);
}

TEST_F(DeepLooking, GoesOnWhereNoNewSampleCame)
{
    sample(1000);
    look();
    stack_[50'000] = code;
    look();
    EXPECT_EQ(read().images(), 2U);
    EXPECT_EQ(last(50'000), code);
    EXPECT_TRUE(state_.deep.is_needed);
}

TEST_F(DeepLooking, WritesWhatDiffers)
{
    stack_[40'000] = code;
    sample(1000);
    look();
    const std::size_t first = slot_.file.memory_used;
    look();
    EXPECT_EQ(slot_.file.memory_used - first, sizeof(spool::DeepStackRecord));
    stack_[40'000] = code + 1;
    stack_[30'000] = code;
    look();
    EXPECT_EQ(slot_.file.memory_used - first, 2 * sizeof(spool::DeepStackRecord) + 2 * sizeof(spool::DeepWord));
    EXPECT_EQ(last(40'000), code + 1);
    EXPECT_EQ(last(30'000), code);
    stack_[40'000] = 1;
    look();
    EXPECT_EQ(last(40'000), 0U);
    EXPECT_EQ(last(30'000), code);
    EXPECT_EQ(read().images(), 4U);
}

TEST_F(DeepLooking, KeepsTheOutermostWordsOfTooMany)
{
    std::ranges::fill(stack_, code);
    sample(0);
    look();
    EXPECT_EQ(read().images(), 1U);
    EXPECT_EQ(last(stack_words - DeepLooks::most_words), code);
    EXPECT_EQ(last(stack_words - DeepLooks::most_words - 1), 0U);
    // All of them change.
    std::ranges::fill(stack_, code + 1);
    look();
    EXPECT_EQ(read().images(), 2U);
    EXPECT_EQ(last(stack_words - DeepLooks::most_words), code + 1);
    // All are gone, and as many others have come: more than is written of changes.
    for (std::size_t i = 0; i < stack_words; ++i) {
        stack_[i] = i < stack_words - DeepLooks::most_words ? code : 0;
    }
    look();
    EXPECT_EQ(read().images(), 3U);
    EXPECT_EQ(last(stack_words - 1), 0U);
    EXPECT_EQ(last(stack_words - DeepLooks::most_words - 1), code);
}

TEST_F(DeepLooking, AThreadThatIsGoneIsNoHarm)
{
    void* gone = mmap(nullptr, stack_words * word, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sample(1000);
    look();
    slot_.deep.bottom = reinterpret_cast<std::uint64_t>(gone);
    slot_.deep.top = slot_.deep.bottom + stack_words * word;
    slot_.deep.lowest[0] = slot_.deep.bottom;
    munmap(gone, stack_words * word);
    look();
    EXPECT_EQ(read().images(), 2U);
}

TEST_F(DeepLooking, ComesLaterTheMoreItWrites)
{
    stack_[50'000] = code;
    sample(1000);
    look();
    const auto wait = [&] { return state_.deep.next - now(state_); };
    EXPECT_LE(wait(), 40 * ns_per_ms);  // half as much again as the least
    state_.deep.written = std::uint64_t{1} << 30;
    std::fill(stack_.end() - 8000, stack_.end(), code);
    look();
    EXPECT_GE(wait(), ns_per_second);
}

TEST_F(DeepLooking, ComesLaterTheLongerItTakes)
{
    sample(1000);
    look();
    const std::uint64_t before = state_.deep.taken;
    state_.deep.taken = ns_per_second;
    const std::uint64_t time = now(state_);
    look();
    const std::uint64_t took = state_.deep.taken - ns_per_second;
    EXPECT_GT(before, 0U);
    EXPECT_GE(state_.deep.next - time, took * 250);  // half as much less as the mean, of one part in 500
}

}  // namespace
}  // namespace critpath::sampling
