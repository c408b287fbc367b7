// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Chains from stacks that are written here word by word, in functions that are never called: they only have addresses
// and unwind information.
#include "collector/archive/epilogue.hpp"
#include "collector/archive/unwinder.hpp"
#include "tests/archive/deep_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <sys/mman.h>

#if defined(__x86_64__)

// The points between the instructions: before and behind a push of the frame pointer, and in the body.
asm(R"(
    .text
frameless:
    .cfi_startproc
    nop
in_frameless:
    nop
    ret
    .cfi_endproc
framed:
    .cfi_startproc
    nop
at_framed:
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset 6, -16
behind_push:
    movq %rsp, %rbp
    .cfi_def_cfa_register 6
    nop
in_framed:
    nop
    leave
    .cfi_def_cfa 7, 8
behind_leave:
    ret
    .cfi_endproc
calls_framed:
    .cfi_startproc
    pushq %rbx
    .cfi_def_cfa_offset 16
    call framed
behind_call_of_framed:
    nop
    ret
    .cfi_endproc
calls_frameless:
    .cfi_startproc
    call frameless
behind_call_of_frameless:
    call *%rax
behind_call_of_any:
    nop
    ret
    .cfi_endproc
jumps_to_framed:
    .cfi_startproc
    nop
    .byte 0xe9  # jmp, not a short one
    .long framed - . - 4
    .cfi_endproc
calls_jumper:
    .cfi_startproc
    call jumps_to_framed
behind_call_of_jumper:
    nop
    call framed
behind_other_call_of_framed:
    nop
    ret
    .cfi_endproc
early_return:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset 6, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register 6
    jz behind_return
    .cfi_remember_state
    popq %rbp
    .cfi_def_cfa 7, 8
    .cfi_restore 6
in_early_return:
    nop
    ret
    .cfi_restore_state
    nop
behind_return:
    nop
    leave
    .cfi_def_cfa 7, 8
    ret
    .cfi_endproc
other_use:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset 6, -16
    movl $7, %ebp
in_other_use:
    nop
    popq %rbp
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
outermost:
    .cfi_startproc
    .cfi_undefined rip
    nop
in_outermost:
    nop
    hlt
    .cfi_endproc
without_rules:
    nop
in_without_rules:
    nop
    ret
)");

extern "C" {
extern const char in_frameless, at_framed, behind_push, in_framed, behind_leave, in_other_use, in_outermost;
extern const char in_without_rules, in_early_return, behind_return;
extern const char framed, calls_framed, behind_call_of_framed, behind_call_of_frameless, behind_call_of_any;
extern const char jumps_to_framed, calls_jumper, behind_call_of_jumper, behind_other_call_of_framed, early_return;
}

namespace critpath::archive
{
namespace
{

using testing::ElementsAre;
using testing::ElementsAreArray;

using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t stack_begin = 0x7ffd'0000'1000;
constexpr std::uint64_t mask = 1 << 6 | 1 << 7 | 1 << 8;  // frame pointer, stack pointer, instruction pointer
constexpr std::uint64_t filler = 0xdead;

// The address of the `i`-th word of the stack.
constexpr std::uint64_t place(std::size_t i)
{
    return stack_begin + i * sizeof(std::uint64_t);
}

std::uint64_t address(const char& label)
{
    return reinterpret_cast<std::uint64_t>(&label);
}

// Of the functions here only these are told from all others.
bool are_in_one_function(std::uint64_t a, std::uint64_t b, std::uint32_t /*epoch*/)
{
    const auto are_in = [=](const char& begin, const char& end) {
        return a >= address(begin) && a < address(end) && b >= address(begin) && b < address(end);
    };
    return are_in(framed, calls_framed) || are_in(jumps_to_framed, calls_jumper) || are_in(calls_jumper, early_return);
}

class Unwinding : public testing::Test
{
protected:
    // `stack` is what was copied of it, `kernel` the return addresses that the kernel found.
    Words chain(std::uint64_t instruction, std::uint64_t frame_pointer, const Words& stack, const Words& kernel)
    {
        Words walked = {instruction};
        walked.insert(walked.end(), kernel.begin(), kernel.end());
        const Words registers = {frame_pointer, stack_begin, instruction};
        RawSample sample;
        sample.chain = walked;
        sample.stack = {registers, std::as_bytes(std::span(stack))};
        const auto found = unwinder_.chain(sample, mask).addresses;
        return {found.begin(), found.end()};
    }

    // At time 150, with such images of what is beyond `stack`.
    Words chain_with(const std::vector<Words>& images, std::uint64_t instruction, std::uint64_t frame_pointer,
                     const Words& stack)
    {
        test::DeepBuilder builder;
        Words before(most_beyond);
        for (std::size_t i = 0; i < images.size(); ++i) {
            std::vector<std::pair<std::uint64_t, std::uint64_t>> changes;
            for (std::size_t j = images[i].size(); j-- > 0;) {
                if (before[j] != images[i][j]) {
                    changes.emplace_back(place(stack.size() + j), images[i][j]);
                    before[j] = images[i][j];
                }
            }
            builder.image(10 * i, 10 * i + 1, changes, i == 0 ? spool::DeepStackRecord::Whole : 0);
        }
        const DeepStacks deep(builder.bytes(), 0);
        const Words registers = {frame_pointer, stack_begin, instruction};
        RawSample sample;
        sample.time = 155;
        sample.stack = {registers, std::as_bytes(std::span(stack))};
        unwinder_.begin_thread(&deep);
        const auto found = unwinder_.chain(sample, mask).addresses;
        unwinder_.begin_thread(nullptr);
        return {found.begin(), found.end()};
    }

    // Of a thread that was found blocked: nobody knows its frame pointer.
    Words chain_of_blocked(std::uint64_t instruction, const Words& stack)
    {
        const Words registers = {stack_begin, instruction};
        const RawBlocked blocked{0, -1, false, stack_begin, instruction, {registers, std::as_bytes(std::span(stack))}};
        const auto found = unwinder_.chain(blocked, 0).addresses;
        return {found.begin(), found.end()};
    }

    static std::string maps()
    {
        std::ifstream file("/proc/self/maps");
        return {std::istreambuf_iterator<char>(file), {}};
    }

    static constexpr std::size_t most_beyond = 10;

    const std::uint64_t leaf_ = address(in_frameless);
    const std::uint64_t framed_ = address(in_framed);
    const std::uint64_t other_ = address(in_other_use);
    const std::uint64_t last_ = address(in_outermost);
    AddressMap map_{maps()};
    Unwinder unwinder_{map_, true, are_in_one_function};
};

TEST_F(Unwinding, ALeafWithoutAFrameHasACaller)
{
    const Words slice = {framed_};
    EXPECT_THAT(chain(leaf_, place(3), slice, {framed_ + 1, last_}), ElementsAre(leaf_, framed_, framed_ + 1, last_));
}

TEST_F(Unwinding, TheSameReturnAddressTwiceIsTwoCalls)
{
    const Words slice = {framed_};
    EXPECT_THAT(chain(leaf_, place(3), slice, {framed_, framed_, last_}),
                ElementsAre(leaf_, framed_, framed_, framed_, last_));
}

TEST_F(Unwinding, AFrameThatTheKernelKnowsIsThereOnce)
{
    EXPECT_THAT(chain(framed_, place(0), {}, {leaf_, last_}), ElementsAre(framed_, leaf_, last_));
    const Words slice = {place(5), framed_ + 1, filler};
    EXPECT_THAT(chain(framed_, place(0), slice, {framed_ + 1, last_}), ElementsAre(framed_, framed_ + 1, last_));
}

TEST_F(Unwinding, FirstAndLastInstructionsHaveTheFramePointerOfTheCaller)
{
    const std::uint64_t outer = place(4);
    EXPECT_THAT(chain(address(at_framed), outer, {framed_, filler}, {framed_ + 1, last_}),
                ElementsAre(address(at_framed), framed_, framed_ + 1, last_));
    EXPECT_THAT(chain(address(behind_push), outer, {outer, framed_}, {framed_ + 1, last_}),
                ElementsAre(address(behind_push), framed_, framed_ + 1, last_));
    EXPECT_THAT(chain(address(behind_leave), outer, {framed_}, {framed_ + 1, last_}),
                ElementsAre(address(behind_leave), framed_, framed_ + 1, last_));
}

TEST_F(Unwinding, RulesHoldWhereTheyStand)
{
    // Behind the return they are again what they were before it.
    const std::uint64_t behind = address(behind_return);
    EXPECT_THAT(chain(behind, place(0), {place(4), framed_, filler}, {framed_, last_}),
                ElementsAre(behind, framed_, last_));
    const std::uint64_t before = address(in_early_return);
    EXPECT_THAT(chain(before, place(4), {framed_, filler}, {framed_ + 1, last_}),
                ElementsAre(before, framed_, framed_ + 1, last_));
    EXPECT_THAT(chain(behind - 1, place(0), {place(4), framed_, filler}, {framed_, last_}),
                ElementsAre(behind - 1, framed_, last_));
}

TEST_F(Unwinding, FramesWithAndWithoutFramePointerInOneSlice)
{
    // leaf < framed < frameless < framed (beyond the slice) < outermost
    const Words slice = {framed_, filler, place(6), leaf_, framed_ + 1};
    EXPECT_THAT(chain(leaf_, place(2), slice, {leaf_, last_}), ElementsAre(leaf_, framed_, leaf_, framed_ + 1, last_));
}

TEST_F(Unwinding, WhatIsNoFramePointerLeadsNowhere)
{
    const Words slice = {filler, framed_};
    // The caller is in the slice; behind it the kernel has nothing to go by.
    EXPECT_THAT(chain(other_, 7, slice, {}), ElementsAre(other_, framed_));
    EXPECT_THAT(chain(other_, place(9), slice, {last_, last_}), ElementsAre(other_, framed_));
    EXPECT_THAT(chain(other_, place(9), {}, {last_, last_}), ElementsAre(other_));
    // Not on the stack, or not where a frame can be.
    EXPECT_THAT(chain(leaf_, 0x1000, {}, {framed_}), ElementsAre(leaf_));
    EXPECT_THAT(chain(leaf_, place(3) + 4, {}, {framed_}), ElementsAre(leaf_));
}

TEST_F(Unwinding, TheKernelsWalkEndsWhereTheFramePointerIsUsedForSomethingElse)
{
    EXPECT_THAT(chain(framed_, place(2), {}, {framed_ + 1, other_, last_}), ElementsAre(framed_, framed_ + 1, other_));
    EXPECT_THAT(chain(framed_, place(2), {}, {leaf_, last_}), ElementsAre(framed_, leaf_, last_));
}

TEST_F(Unwinding, WithoutWhatItNeedsTheKernelsWalkIsTaken)
{
    const std::uint64_t bare = address(in_without_rules);
    EXPECT_THAT(chain(bare, place(2), {framed_}, {framed_ + 1}), ElementsAre(bare, framed_ + 1));
    EXPECT_THAT(chain(leaf_, place(2), {}, {framed_}), ElementsAre(leaf_, framed_));
    EXPECT_THAT(chain(0x1234, place(2), {framed_}, {framed_ + 1}), ElementsAre(0x1234, framed_ + 1));
    const Words walked = {leaf_, framed_};
    RawSample sample;
    sample.chain = walked;
    EXPECT_THAT(unwinder_.chain(sample, mask).addresses, ElementsAreArray(walked));
    EXPECT_THAT(unwinder_.chain(sample, 0).addresses, ElementsAreArray(walked));
}

TEST_F(Unwinding, OnlyTheInstruction)
{
    const Words registers = {leaf_};
    RawSample sample;
    sample.stack.registers = registers;
    EXPECT_THAT(unwinder_.chain(sample, 1 << 8).addresses, ElementsAre(leaf_));
}

TEST_F(Unwinding, ACopyOfTheStackHasAllCallers)
{
    const Words stack = {filler, framed_, place(5), framed_, filler, filler, last_};
    EXPECT_THAT(chain(other_, 7, stack, {}), ElementsAre(other_, framed_));
    const Words whole = {place(4), leaf_, framed_, filler, place(6), leaf_, place(8), other_, filler, last_, filler};
    // other_use (its caller's frame pointer is in word 0) < frameless < framed (word 4) < frameless ...
    EXPECT_THAT(chain(other_, 7, whole, {}), ElementsAre(other_, leaf_, framed_, leaf_, place(8)));
    const Words ends = {place(4), leaf_, framed_, filler, place(6), leaf_, other_, filler, last_, filler};
    EXPECT_THAT(chain(other_, 7, ends, {}), ElementsAre(other_, leaf_, framed_, leaf_, other_, last_));
}

TEST_F(Unwinding, EndsWithTheLongestChainAndWithTheCopy)
{
    const Words many(1000, leaf_);
    EXPECT_EQ(chain(leaf_, 7, many, {}).size(), 127U);
    const Words kernel(500, framed_);
    EXPECT_EQ(chain(framed_, place(2), {}, kernel).size(), 127U);
    EXPECT_EQ(chain(leaf_, 7, Words(10, leaf_), {}).size(), 11U);
}

TEST_F(Unwinding, BeyondTheCopyImagesOfTheStackGoOn)
{
    const std::uint64_t caller = address(behind_call_of_framed);
    const std::uint64_t any = address(behind_call_of_any);
    const Words copy = {filler, filler};
    // framed (its frame pointer, then who called it) < calls_framed < calls_frameless
    const Words image = {place(9), caller, filler, any};
    const std::vector<Words> same(20, image);
    EXPECT_THAT(chain_with(same, framed_, place(2), copy), ElementsAre(framed_, caller, any));
    EXPECT_THAT(chain_with({}, framed_, place(2), copy), ElementsAre(framed_));
    EXPECT_THAT(chain_with(std::vector<Words>(15, image), framed_, place(2), copy), ElementsAre(framed_))
        << "the last one is before the sample";
    EXPECT_THAT(chain_with(same, framed_, place(2), {}), ElementsAre(framed_)) << "without a copy they are of nobody";
    // Just before the sample, or behind it, it was something else.
    for (const std::size_t i : {15U, 16U}) {
        std::vector<Words> changed = same;
        changed[i][3] = 0;
        EXPECT_THAT(chain_with(changed, framed_, place(2), copy), ElementsAre(framed_, caller)) << i;
        changed[i][1] = filler;
        EXPECT_THAT(chain_with(changed, framed_, place(2), copy), ElementsAre(framed_)) << i;
    }
    // Some time or other it was another one that may have called it.
    std::vector<Words> others = same;
    others[2][1] = address(behind_other_call_of_framed);
    EXPECT_THAT(chain_with(others, framed_, place(2), copy), ElementsAre(framed_));
}

TEST_F(Unwinding, BeyondTheCopyTheCallMustFit)
{
    const Words copy = {filler, filler};
    const auto chain_by = [&](std::uint64_t caller) {
        return chain_with(std::vector<Words>(20, {place(9), caller}), framed_, place(2), copy);
    };
    EXPECT_THAT(chain_by(address(behind_call_of_frameless)), ElementsAre(framed_)) << "calls another one";
    EXPECT_THAT(chain_by(leaf_), ElementsAre(framed_)) << "behind no call";
    EXPECT_THAT(chain_by(address(behind_call_of_any)), ElementsAre(framed_, address(behind_call_of_any)));
    // That one goes on to the function by a jump.
    EXPECT_THAT(chain_by(address(behind_call_of_jumper)), ElementsAre(framed_, address(behind_call_of_jumper)));
}

TEST_F(Unwinding, BeyondTheCopyTwoCallsOfOneFunctionAreAlike)
{
    const Words copy = {filler, filler};
    const std::uint64_t one = address(behind_call_of_jumper);
    const std::uint64_t other = address(behind_other_call_of_framed);
    std::vector<Words> images(20, {place(9), one});
    for (std::size_t i = 0; i < images.size(); i += 2) {
        images[i][1] = other;
    }
    EXPECT_THAT(chain_with(images, framed_, place(2), copy), ElementsAre(framed_, one));
}

// A page of code that was made at run time.
class MadeCode
{
public:
    MadeCode() : page_(mmap(nullptr, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
    ~MadeCode() { give_back(); }
    MadeCode(const MadeCode&) = delete;
    MadeCode& operator=(const MadeCode&) = delete;

    void give_back()
    {
        if (page_ != nullptr) {
            munmap(page_, size);
        }
        page_ = nullptr;
    }

    // A return address, with these bytes there.
    std::uint64_t put(std::initializer_list<unsigned char> bytes, std::size_t at = size / 2)
    {
        std::copy(bytes.begin(), bytes.end(), static_cast<unsigned char*>(page_) + at);
        return reinterpret_cast<std::uint64_t>(page_) + at;
    }

    static constexpr std::size_t size = 4096;

private:
    void* page_;
};

TEST_F(Unwinding, AFramePointerThatNobodyKnowsIsSought)
{
    const std::uint64_t caller = address(behind_call_of_framed);
    const std::uint64_t elsewhere = address(behind_call_of_frameless);
    // Behind local variables, and what another call has left among them.
    const Words stack = {framed_, filler, place(12), elsewhere, filler, place(20), caller, filler, last_};
    EXPECT_THAT(chain_of_blocked(leaf_, stack), ElementsAre(leaf_, framed_, caller, last_));
    // The caller has used the register for something else.
    EXPECT_THAT(chain_of_blocked(leaf_, {framed_, filler, 1, caller, filler, last_}),
                ElementsAre(leaf_, framed_, caller, last_));
    // A call by a register may be the one, if the frame behind it may be one.
    const std::uint64_t any = address(behind_call_of_any);
    EXPECT_THAT(chain_of_blocked(leaf_, {framed_, filler, place(20), any, last_}),
                ElementsAre(leaf_, framed_, any, last_));
    EXPECT_THAT(chain_of_blocked(leaf_, {framed_, filler, 1, any, last_}), ElementsAre(leaf_, framed_));
    EXPECT_THAT(chain_of_blocked(leaf_, {framed_, filler, place(20), elsewhere, last_}), ElementsAre(leaf_, framed_));
    // In the first and last instructions it is not needed.
    EXPECT_THAT(chain_of_blocked(address(behind_leave), {caller, filler, last_}),
                ElementsAre(address(behind_leave), caller, last_));
}

TEST_F(Unwinding, BehindACallInMadeCodeItsEndIsFollowed)
{
    MadeCode code;
    const std::uint64_t plain = code.put({0x48, 0x83, 0xc4, 0x08, 0xc3});      // add $8,%rsp; ret
    const std::uint64_t pops = code.put({0x41, 0x5c, 0x5d, 0xf3, 0xc3}, 100);  // pop %r12; pop %rbp; rep ret
    const std::uint64_t leaves = code.put({0xc9, 0xc3}, MadeCode::size - 2);   // leave; ret, and no memory behind
    const std::uint64_t more = code.put({0x48, 0x89, 0xc3, 0xc3}, 300);        // mov %rax,%rbx; ret
    const std::uint64_t large = code.put({0x48, 0x81, 0xc4, 0, 1, 0, 0, 0xc3}, 400);  // add $256,%rsp; ret
    const AddressMap map{maps()};
    Unwinder unwinder(map, true, are_in_one_function);
    Unwinder of_another(map, false, are_in_one_function);
    const auto chain_by = [](Unwinder& by, std::uint64_t instruction, std::uint64_t frame_pointer, const Words& stack) {
        const Words registers = {frame_pointer, stack_begin, instruction};
        RawSample sample;
        sample.chain = std::span(registers).subspan(2);
        sample.stack = {registers, std::as_bytes(std::span(stack))};
        const auto found = by.chain(sample, mask).addresses;
        return Words(found.begin(), found.end());
    };
    const Words stack = {plain, filler, leaf_, last_};
    EXPECT_THAT(chain_by(unwinder, leaf_, 7, stack), ElementsAre(leaf_, plain, leaf_, last_));
    EXPECT_THAT(chain_by(of_another, leaf_, 7, stack), ElementsAre(leaf_, plain)) << "its memory is not here";
    // The frame pointer that is restored finds the frame behind.
    const Words restored = {pops, filler, place(5), framed_, filler, filler, last_};
    EXPECT_THAT(chain_by(unwinder, leaf_, 7, restored), ElementsAre(leaf_, pops, framed_, last_));
    const Words left = {leaves, filler, filler, place(6), framed_, filler, filler, last_};
    EXPECT_THAT(chain_by(unwinder, leaf_, place(3), left), ElementsAre(leaf_, leaves, framed_, last_));
    EXPECT_THAT(chain_by(unwinder, leaf_, 7, {more, last_}), ElementsAre(leaf_, more));
    Words far(40, filler);
    far[0] = large;
    far[33] = last_;
    EXPECT_THAT(chain_by(unwinder, leaf_, 7, far), ElementsAre(leaf_, large, last_));
    // Interrupted in it: what has happened to the stack is not known.
    EXPECT_THAT(chain_by(unwinder, plain, 7, {filler, last_}), ElementsAre(plain));

    // By now it may be gone.
    code.give_back();
    Unwinder later(map, true, are_in_one_function);
    EXPECT_THAT(chain_by(later, leaf_, 7, stack), ElementsAre(leaf_, plain));
}

TEST(Epilogue, IsNothingElse)
{
    const auto is_one = [](std::initializer_list<unsigned> values) {
        std::vector<std::byte> code;
        for (const unsigned value : values) {
            code.push_back(std::byte(value));
        }
        return epilogue_rules(0x1000, code).has_value();
    };
    EXPECT_TRUE(is_one({0xc3}));
    EXPECT_TRUE(is_one({0x48, 0x83, 0xc4, 0x08, 0x5b, 0x41, 0x5f, 0xc3}));
    EXPECT_FALSE(is_one({}));
    EXPECT_FALSE(is_one({0x48, 0x83, 0xc4}));  // cut off
    EXPECT_FALSE(is_one({0x48, 0x83, 0xc4, 0x08}));
    EXPECT_FALSE(is_one({0x48, 0x83, 0xc4, 0xf8, 0xc3}));  // takes more
    EXPECT_FALSE(is_one({0x48, 0x83, 0xec, 0x08, 0xc3}));  // sub
    EXPECT_FALSE(is_one({0x5b, 0xc9, 0xc3}));              // of another frame
    EXPECT_FALSE(is_one({0x5c, 0xc3}));                    // pop %rsp
    EXPECT_FALSE(is_one({0xff, 0xd1, 0xc3}));              // another call
    EXPECT_FALSE(is_one({0xeb, 0x00, 0xc3}));
    EXPECT_FALSE(is_one({0x41, 0xc3}));
    EXPECT_FALSE(is_one({0xc2, 0x08, 0x00}));
}

TEST_F(Unwinding, WhateverTheStackHolds)
{
    std::mt19937_64 random(20);  // NOLINT: the same each time
    const Words pieces = {leaf_,
                          framed_,
                          other_,
                          last_,
                          address(in_early_return),
                          address(behind_return),
                          place(0),
                          place(3),
                          place(60),
                          0,
                          ~0ULL,
                          stack_begin - 8,
                          reinterpret_cast<std::uint64_t>(&std::fopen)};
    const auto any = [&] { return pieces[random() % pieces.size()]; };
    for (int i = 0; i < 5000; ++i) {
        Words stack(random() % 80);
        std::ranges::generate(stack, any);
        Words kernel(random() % 5);
        std::ranges::generate(kernel, any);
        const std::uint64_t instruction = any();
        const Words found = chain(instruction, any(), stack, kernel);
        ASSERT_THAT(found.size(), testing::AllOf(testing::Ge(1U), testing::Le(1 + stack.size() + kernel.size()))) << i;
        ASSERT_EQ(found.front(), instruction);
    }
}

TEST_F(Unwinding, WhateverTheImagesHold)
{
    std::mt19937_64 random(21);  // NOLINT: the same each time
    const Words pieces = {framed_,
                          leaf_,
                          address(behind_call_of_framed),
                          address(behind_call_of_any),
                          0,
                          place(3),
                          address(behind_call_of_jumper),
                          address(in_early_return),
                          place(6),
                          place(9),
                          last_};
    const auto any = [&] { return pieces[random() % pieces.size()]; };
    for (int i = 0; i < 2000; ++i) {
        std::vector<Words> images(1, Words(most_beyond));
        std::ranges::generate(images.front(), any);
        while (images.size() < 20) {
            images.push_back(images.back());
            if (random() % 4 == 0) {
                images.back()[random() % most_beyond] = any();
            }
        }
        Words copy(1 + random() % 3);
        std::ranges::generate(copy, any);
        const Words found = chain_with(images, framed_, place(random() % 5), copy);
        ASSERT_THAT(found.size(), testing::AllOf(testing::Ge(1U), testing::Le(1 + copy.size() + most_beyond))) << i;
        ASSERT_EQ(found.front(), framed_);
    }
}

}  // namespace
}  // namespace critpath::archive

#endif
