// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/packer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include <linux/perf_event.h>

namespace critpath::sampling
{
namespace
{

using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t mask = 0b11 | std::uint64_t{1} << spool::stack_pointer_number;

EventChoice choice_of(spool::CallGraph call_graph)
{
    EventChoice choice{};
    choice.call_graph = call_graph;
    choice.registers = mask;
    choice.stack_bytes = 8192;
    return choice;
}

/// With its header, as in the ring.
Words record_of(std::uint32_t type, const Words& body)
{
    perf_event_header header{type, 0, static_cast<std::uint16_t>(sizeof header + body.size() * sizeof body[0])};
    Words record(1);
    std::memcpy(record.data(), &header, sizeof header);
    record.insert(record.end(), body.begin(), body.end());
    return record;
}

/// A sample up to its registers.
Words begin_of_sample(spool::CallGraph call_graph, std::uint64_t stack_pointer)
{
    Words words = {1, 0, 7, 0, 9, 1, 1, 1, 1};
    if (call_graph == spool::CallGraph::FramePointers) {
        words.insert(words.end(), {2, 0x401000, 0x402000});
    }
    words.insert(words.end(), {2, 11, 12, stack_pointer});
    return words;
}

/// As the ring has it, which ends behind `wrap` words and goes on at its begin.
Words packed(const Words& ring, std::size_t wrap, const EventChoice& choice, spool::StackImage& image)
{
    Unread unread{};
    const Words first(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(wrap));
    const Words second(ring.begin() + static_cast<std::ptrdiff_t>(wrap), ring.end());
    unread.piece[0] = reinterpret_cast<const char*>(first.data());
    unread.piece[1] = reinterpret_cast<const char*>(second.data());
    unread.size[0] = first.size() * sizeof first[0];
    unread.size[1] = second.size() * sizeof second[0];
    Words out(most_packed(unread) / sizeof out[0]);
    const std::size_t size = pack_records(choice, unread, image, reinterpret_cast<char*>(out.data())).bytes;
    EXPECT_EQ(size % sizeof out[0], 0U);
    EXPECT_LE(size, out.size() * sizeof out[0]);
    out.resize(size / sizeof out[0]);
    return out;
}

Words unpacked(spool::StackImage& image, std::uint64_t address, const Words& words)
{
    Words copy(spool::StackImage::largest_copy / sizeof words[0]);
    std::size_t bytes = 0;
    EXPECT_EQ(image.unpack(address, reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0],
                           reinterpret_cast<char*>(copy.data()), bytes),
              words.size() * sizeof words[0]);
    copy.resize(bytes / sizeof copy[0]);
    return copy;
}

/// A stack that grows and shrinks, with some words of it written from copy to copy: what comes out is what went in,
/// wherever the ring wraps, and little of it was written.
TEST(Packer, CopiesOfTheStackComeBack)
{
    std::mt19937_64 random(1);
    constexpr std::uint64_t top = 0x7ffffff00000;
    constexpr std::size_t words_of_stack = 4096;
    for (const auto call_graph : {spool::CallGraph::FramePointers, spool::CallGraph::Dwarf}) {
        Words stack(words_of_stack);  // the last word is below `top`
        spool::StackImage writer, reader;
        std::size_t raw = 0, written = 0;
        for (int i = 0; i < 300; ++i) {
            const std::size_t deep = 1 + random() % (i % 10 == 0 ? words_of_stack : 1200);
            for (std::size_t changes = random() % 40; changes > 0; --changes) {
                stack[words_of_stack - 1 - random() % deep] = random();
            }
            const std::uint64_t pointer = top - deep * sizeof stack[0];
            Words copy(stack.end() - static_cast<std::ptrdiff_t>(deep), stack.end());
            copy.resize(std::min<std::size_t>(deep, 1024));  // behind the bottom, the kernel fills up with anything
            const std::size_t filled = copy.size() * sizeof copy[0];
            copy.resize(1024, random());
            Words body = begin_of_sample(call_graph, pointer);
            const std::size_t before = body.size() + 1;
            body.push_back(8192);
            body.insert(body.end(), copy.begin(), copy.end());
            body.push_back(filled);
            Words ring = record_of(PERF_RECORD_SAMPLE, body);
            const Words other = record_of(PERF_RECORD_SWITCH, {1, 2, 3});
            ring.insert(ring.begin(), other.begin(), other.end());
            ring.insert(ring.end(), other.begin(), other.end());
            const Words out = packed(ring, random() % (ring.size() + 1), choice_of(call_graph), writer);
            raw += ring.size();
            written += out.size();

            perf_event_header header;
            std::memcpy(&header, &out[other.size()], sizeof header);
            ASSERT_EQ(out.size(), 2 * other.size() + header.size / 8);
            EXPECT_EQ(Words(out.begin(), out.begin() + 4), other);
            EXPECT_EQ(Words(out.end() - 4, out.end()), other);
            const auto sample = out.begin() + 4;
            EXPECT_TRUE(std::equal(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(before) - 1, sample + 1));
            copy.resize(filled / sizeof copy[0]);
            EXPECT_EQ(unpacked(reader, pointer, Words(sample + static_cast<std::ptrdiff_t>(before), out.end() - 4)),
                      copy);
        }
        EXPECT_LT(written * 3, raw);
    }
}

TEST(Packer, WhatHasNoStackStaysAsItIs)
{
    spool::StackImage image;
    const EventChoice choice = choice_of(spool::CallGraph::Dwarf);
    const Words without_registers = record_of(PERF_RECORD_SAMPLE, {1, 0, 7, 0, 9, 1, 1, 1, 1, 0, 0});
    EXPECT_EQ(packed(without_registers, 3, choice, image), without_registers);
    Words body = begin_of_sample(spool::CallGraph::Dwarf, 4096);
    body.push_back(0);  // the size of the copy
    const Words without_copy = record_of(PERF_RECORD_SAMPLE, body);
    EXPECT_EQ(packed(without_copy, 3, choice, image), without_copy);
    EventChoice none{};
    const Words sample = record_of(PERF_RECORD_SAMPLE, {1, 0, 7, 0, 9, 1, 1, 1, 1});
    EXPECT_EQ(packed(sample, 3, none, image), sample);
}

TEST(Packer, OfWhoIsBlockedTheStackComesBack)
{
    constexpr std::uint64_t pointer = 4096;
    for (const auto call_graph : {spool::CallGraph::None, spool::CallGraph::Dwarf}) {
        EventChoice choice = choice_of(call_graph);
        choice.stack_bytes = call_graph == spool::CallGraph::None ? 0 : choice.stack_bytes;
        spool::StackImage writer, reader;
        for (int i = 0; i < 2; ++i) {
            const Words ring = record_of(spool::BlockedRecord::number, {7, 230, pointer, 0x401000, 24, 21, 22, 23, 24});
            const Words out = packed(ring, 3, choice, writer);
            EXPECT_EQ(out.size(), i == 0 ? 5U + 5U : 5U + 2U);
            EXPECT_TRUE(std::equal(out.begin() + 1, out.begin() + 5, ring.begin() + 1));
            EXPECT_EQ(unpacked(reader, pointer, Words(out.begin() + 5, out.end())), Words({21, 22, 23}));
        }
    }
}

/// The ring is memory of the application: whatever stands there, nothing outside of it is read or written.
TEST(Packer, DamageStaysInItsRecord)
{
    std::mt19937_64 random(2);
    for (int i = 0; i < 20'000; ++i) {
        const auto call_graph = i % 2 == 0 ? spool::CallGraph::FramePointers : spool::CallGraph::Dwarf;
        Words body = begin_of_sample(call_graph, 4096);
        body.push_back(64);
        body.insert(body.end(), {1, 2, 3, 4, 5, 6, 7, 8, 64});
        Words ring = record_of(PERF_RECORD_SAMPLE, body);
        const Words again = ring;
        ring.insert(ring.end(), again.begin(), again.end());
        for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) {
            const std::uint64_t values[] = {0, 1, 8, 64, ring.size(), 8 * ring.size(), random(), ~std::uint64_t{0}};
            ring[random() % ring.size()] = values[random() % std::size(values)];
        }
        spool::StackImage image;
        packed(ring, random() % (ring.size() + 1), choice_of(call_graph), image);
    }
}

}  // namespace
}  // namespace critpath::sampling
