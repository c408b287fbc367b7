// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the compact form of records: what a thread's stage is drained to whenever it is full. A frame holds the records
// of one stage. Each record is told from what its predecessor of the same kind and function lets expect: a byte that
// names that predecessor, a byte whose bits say which of the eight words differ from the expectation, and the
// differences, in seven bits a byte. A record takes five to ten bytes. (Bytes counted in front and stored without
// branches were slower: 16 against 9.5 ns a record.) Nothing here allocates or needs the C++ runtime.
//
//   FrameHeader, its bytes, the next FrameHeader ...
#pragma once

#include "formats/spool/record.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace critpath::spool
{

inline constexpr std::uint64_t frame_magic = 0x454d415246504331;  // "1CPFRAME", little endian

struct FrameHeader {
    std::uint64_t magic;
    std::uint64_t first;  // number of its first record in the thread's recording, from 0
    std::uint32_t records;
    std::uint32_t bytes;
    std::uint64_t check;  // checksum() of the bytes
};
static_assert(sizeof(FrameHeader) == 32);

/// Differs wherever one word of eight bytes does, and as good as always where more do.
inline std::uint64_t checksum(const unsigned char* bytes, std::size_t size)
{
    std::uint64_t sum = size;
    for (std::size_t i = 0; i < size; i += sizeof sum) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes + i, size - i < sizeof word ? size - i : sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15U;
        sum ^= sum >> 32;
    }
    return sum;
}

/// What both directions know of the records so far. Zeroed at the beginning of a frame.
class Expectation
{
public:
    static constexpr std::size_t words = sizeof(Record) / sizeof(std::uint64_t);
    using Words = std::uint64_t[words];

    static std::uint8_t slot_of(std::uint64_t first_word)
    {
        const std::uint64_t kind = first_word & 0xff;
        const std::uint64_t function = first_word >> 16 & 0xffff;
        return static_cast<std::uint8_t>((kind * 37 + function) % slots);
    }

    /// What word `i` will be, where the words before it are `known`.
    [[nodiscard]] std::uint64_t word(std::uint8_t slot, std::size_t i, const Words& known) const
    {
        const Words& last = last_[slot];
        if (i == 1 && is_interval(known[0])) {
            return time_;
        }
        if (i == 2 && is_interval(known[0])) {
            return known[1] + (last[2] - last[1]);
        }
        return last[i];
    }

    void learn(std::uint8_t slot, const Words& record)
    {
        std::memcpy(last_[slot], record, sizeof(Words));
        if (is_interval(record[0])) {
            time_ = record[2];
        }
    }

    static constexpr std::size_t slots = 128;

private:
    // Words 1 and 2 are times.
    static bool is_interval(std::uint64_t first_word)
    {
        const auto kind = static_cast<RecordKind>(first_word & 0xff);
        return kind == RecordKind::Call || kind == RecordKind::Tool || kind == RecordKind::Off;
    }

    Words last_[slots] = {};
    std::uint64_t time_ = 0;
};

/// The most bytes that one record takes.
inline constexpr std::size_t largest_packed = 2 + Expectation::words * 10;

/// Writes one record of 64 bytes at `out`, which has room for largest_packed bytes. Returns its end.
inline unsigned char* pack_record(Expectation& expected, const void* record, unsigned char* out)
{
    Expectation::Words words;
    std::memcpy(words, record, sizeof words);
    const std::uint8_t slot = Expectation::slot_of(words[0]);
    unsigned char* mask = out + 1;
    *out = slot;
    *mask = 0;
    out += 2;
    for (std::size_t i = 0; i < Expectation::words; ++i) {
        const std::uint64_t difference = words[i] - expected.word(slot, i, words);
        if (difference == 0) {
            continue;
        }
        *mask = static_cast<unsigned char>(*mask | 1U << i);
        // Small numbers of both signs become small numbers.
        std::uint64_t rest = difference << 1 ^ (0 - (difference >> 63));
        for (; rest >= 0x80; rest >>= 7) {
            *out++ = static_cast<unsigned char>(rest | 0x80);
        }
        *out++ = static_cast<unsigned char>(rest);
    }
    expected.learn(slot, words);
    return out;
}

/// Reads one record from [in, end) into the 64 bytes at `record`. Returns its end, or nullptr where there is none.
inline const unsigned char* unpack_record(Expectation& expected, const unsigned char* in, const unsigned char* end,
                                          void* record)
{
    if (end - in < 2 || in[0] >= Expectation::slots) {
        return nullptr;
    }
    const std::uint8_t slot = *in++;
    const unsigned char mask = *in++;
    Expectation::Words words;
    for (std::size_t i = 0; i < Expectation::words; ++i) {
        std::uint64_t folded = 0;
        if ((mask >> i & 1) != 0) {
            unsigned shift = 0;
            do {
                if (in == end || shift > 63) {
                    return nullptr;
                }
                folded |= static_cast<std::uint64_t>(*in & 0x7f) << shift;
                shift += 7;
            } while ((*in++ & 0x80) != 0);
        }
        words[i] = expected.word(slot, i, words) + (folded >> 1 ^ (0 - (folded & 1)));
    }
    expected.learn(slot, words);
    std::memcpy(record, words, sizeof words);
    return in;
}

}  // namespace critpath::spool
