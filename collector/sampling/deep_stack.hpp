// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is known of a stack beyond the copies of its samples: where a function has much on it, a copy ends before
// the return address of that function. Who has called it stays there for much longer than a sample takes. So while
// copies are cut, the helper looks at the rest now and then, and keeps what a call chain may need of it
// (spool::DeepStackRecord). What is the same before and behind a sample was so then, says archive/deep_stacks.
#pragma once

#include "formats/spool/record.hpp"

#include <cstddef>
#include <cstdint>

namespace critpath::sampling
{

struct State;
struct Slot;

/// Of one thread. Plain data, under the pass lock but for what begin_deep_stack() writes.
struct DeepStack {
    std::uint64_t bottom, top;    // an image may be of what is in between; 0: of nothing
    std::uint64_t seen;           // the ring, up to here
    std::uint64_t lowest[2];      // end of a copy that was cut, in this window of time and in the one before; 0: none
    std::uint64_t window;         // when it began
    std::uint32_t count;          // of the last image
    spool::DeepWord* last_image;  // mapped when there is one; descending addresses
};

/// What all looks share.
struct DeepLooks {
    static constexpr std::uint32_t most_words = 8192;  // of an image: those furthest out
    static constexpr std::size_t piece_words = 8192;
    static constexpr std::uint32_t most_blocks = 8;

    std::uint64_t next;                  // look, not before
    std::uint64_t taken;                 // processor's time, by all of them
    std::uint64_t written;               // bytes, likewise
    std::uint32_t next_slot;             // which has its turn then
    bool is_needed;                      // there are copies that are cut
    std::uint64_t code_begin, code_end;  // of the program itself
    std::uint32_t blocks;                // of 4 GiB, in which there is other code
    std::uint32_t block[most_blocks];    // numbers
    std::uint64_t piece[piece_words];    // of a stack
    spool::DeepWord image[most_words];   // the new one
    spool::DeepWord changes[most_words];
};

/// By the thread itself: where its stack is.
void begin_deep_stack(const State& state, Slot& slot);

/// Gives its memory back.
void end_deep_stack(Slot& slot);

/// The helper, whenever it is awake; does nothing before its time. The caller does not hold the pass lock. Of what was
/// taken out of the rings before nothing is known.
void look_at_deep_stacks(State& state);

}  // namespace critpath::sampling
