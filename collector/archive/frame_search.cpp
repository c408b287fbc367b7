// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/frame_search.hpp"

namespace critpath::archive
{

namespace
{

constexpr std::uint64_t word_size = sizeof(std::uint64_t);
constexpr std::uint64_t largest_frame = std::uint64_t{8} << 20;
constexpr std::uint64_t most_searched = 4096;  // bytes: so much of local variables
constexpr unsigned most_in_vain = 16;

bool may_be_callers_frame(std::optional<std::uint64_t> pointer, std::uint64_t own)
{
    return pointer && *pointer % word_size == 0 && *pointer > own && *pointer - own < largest_frame;
}

/// Whether the function may be called from there, if its frame pointer is `at`.
bool fits(const FrameRules& rules, Registers registers, const StackPiece& stack, std::uint64_t at,
          const std::function<Called(std::uint64_t return_address)>& called)
{
    registers.set(frame_pointer, at);
    const std::optional<Caller> caller = step(rules, registers, stack);
    if (!caller || caller->return_address == 0) {
        return false;
    }
    // The outermost function that uses it has found anything there.
    const Called what = called(caller->return_address);
    return what == Called::This ||
           (what == Called::Unknown && may_be_callers_frame(caller->registers.get(frame_pointer), at));
}

}  // namespace

std::optional<std::uint64_t> find_frame_pointer(const FrameRules& rules, const Registers& registers,
                                                const StackPiece& stack, FramesAt& known,
                                                const std::function<Called(std::uint64_t return_address)>& called)
{
    if (!rules.has_frame_pointer || registers.get(frame_pointer) || known.in_vain >= most_in_vain) {
        return std::nullopt;
    }
    const std::uint64_t begin = registers.get(stack_pointer).value_or(0) / word_size * word_size;
    if (known.distance != 0 && fits(rules, registers, stack, begin + known.distance, called)) {
        known.in_vain = 0;
        return begin + known.distance;
    }
    for (std::uint64_t at = begin; at - begin < most_searched && stack.word_at(at); at += word_size) {
        if (fits(rules, registers, stack, at, called)) {
            known = {at - begin, 0};
            return at;
        }
    }
    ++known.in_vain;
    return std::nullopt;
}

}  // namespace critpath::archive
