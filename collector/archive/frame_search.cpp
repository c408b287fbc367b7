// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/frame_search.hpp"

namespace critpath::archive
{

namespace
{

constexpr std::uint64_t word = sizeof(std::uint64_t);
constexpr std::uint64_t largest_frame = std::uint64_t{8} << 20;
constexpr std::uint64_t most_searched = 4096;  // bytes: so much of local variables

bool may_be_callers_frame(std::optional<std::uint64_t> pointer, std::uint64_t own)
{
    return pointer && *pointer % word == 0 && *pointer > own && *pointer - own < largest_frame;
}

}  // namespace

std::optional<std::uint64_t> find_frame_pointer(const FrameRules& rules, const Registers& registers,
                                                const StackPiece& stack,
                                                const std::function<Called(std::uint64_t return_address)>& called)
{
    if (!rules.has_frame_pointer || registers.get(frame_pointer)) {
        return std::nullopt;
    }
    const std::uint64_t begin = registers.get(stack_pointer).value_or(0) / word * word;
    for (std::uint64_t at = begin; at - begin < most_searched && stack.word_at(at); at += word) {
        Registers with = registers;
        with.set(frame_pointer, at);
        const std::optional<Caller> caller = step(rules, with, stack);
        const std::optional<std::uint64_t> outer = caller ? caller->registers.get(frame_pointer) : std::nullopt;
        if (!caller || caller->return_address == 0) {
            continue;
        }
        // The outermost function that uses it has found anything there.
        const Called what = called(caller->return_address);
        if (what == Called::This || (what == Called::Unknown && may_be_callers_frame(outer, at))) {
            return at;
        }
    }
    return std::nullopt;
}

}  // namespace critpath::archive
