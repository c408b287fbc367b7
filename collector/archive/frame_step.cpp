// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/frame_step.hpp"

#include <dwarf.h>

#include <cstring>

namespace critpath::archive
{

namespace
{

using RuleKind = FrameRule::Kind;

// The operations that compilers and the C library put into unwind information (DWARF 5, section 2.5). All others, and
// what needs a value that is not known, have no result.
class Machine
{
public:
    Machine(const Registers& registers, const StackPiece& stack, std::optional<std::uint64_t> frame)
        : registers_(registers), stack_(stack), frame_(frame)
    {
    }

    std::optional<std::uint64_t> run(std::span<const Dwarf_Op> expression)
    {
        for (const Dwarf_Op& op : expression) {
            if (!execute(op)) {
                return std::nullopt;
            }
        }
        return depth_ > 0 ? std::optional(values_[depth_ - 1]) : std::nullopt;
    }

private:
    static constexpr std::size_t deepest = 16;

    bool push(std::optional<std::uint64_t> value)
    {
        if (!value || depth_ == deepest) {
            return false;
        }
        values_[depth_++] = *value;
        return true;
    }

    bool push_sum(std::optional<std::uint64_t> value, std::uint64_t offset) { return value && push(*value + offset); }

    bool execute(const Dwarf_Op& op)
    {
        const unsigned atom = op.atom;
        if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
            return push(atom - DW_OP_lit0);
        }
        if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
            return push_sum(registers_.get(atom - DW_OP_breg0), op.number);
        }
        if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
            return push(registers_.get(atom - DW_OP_reg0));
        }
        switch (atom) {
        case DW_OP_bregx:
            return push_sum(registers_.get(op.number), op.number2);
        case DW_OP_regx:
            return push(registers_.get(op.number));
        case DW_OP_call_frame_cfa:
            return push(frame_);
        case DW_OP_const1u:
        case DW_OP_const1s:
        case DW_OP_const2u:
        case DW_OP_const2s:
        case DW_OP_const4u:
        case DW_OP_const4s:
        case DW_OP_const8u:
        case DW_OP_const8s:
        case DW_OP_constu:
        case DW_OP_consts:
            return push(op.number);
        case DW_OP_stack_value:
        case DW_OP_nop:
            return true;
        default:
            return depth_ > 0 && (execute_on_top(op) || execute_on_two(atom));
        }
    }

    bool execute_on_top(const Dwarf_Op& op)
    {
        std::uint64_t& top = values_[depth_ - 1];
        switch (op.atom) {
        case DW_OP_plus_uconst:
            top += op.number;
            return true;
        case DW_OP_deref: {
            const auto word = stack_.word_at(top);
            top = word.value_or(0);
            return word.has_value();
        }
        case DW_OP_dup:
            return push(top);
        case DW_OP_drop:
            --depth_;
            return true;
        default:
            return false;
        }
    }

    bool execute_on_two(unsigned atom)
    {
        if (depth_ < 2) {
            return false;
        }
        std::uint64_t& first = values_[depth_ - 2];
        const std::uint64_t second = values_[depth_ - 1];
        switch (atom) {
        case DW_OP_plus:
            first += second;
            break;
        case DW_OP_minus:
            first -= second;
            break;
        case DW_OP_mul:
            first *= second;
            break;
        case DW_OP_and:
            first &= second;
            break;
        case DW_OP_or:
            first |= second;
            break;
        case DW_OP_shl:
            first = second < 64 ? first << second : 0;
            break;
        case DW_OP_shr:
            first = second < 64 ? first >> second : 0;
            break;
        case DW_OP_eq:
            first = first == second ? 1 : 0;
            break;
        case DW_OP_ne:
            first = first != second ? 1 : 0;
            break;
        case DW_OP_ge:
            first = static_cast<std::int64_t>(first) >= static_cast<std::int64_t>(second) ? 1 : 0;
            break;
        case DW_OP_gt:
            first = static_cast<std::int64_t>(first) > static_cast<std::int64_t>(second) ? 1 : 0;
            break;
        case DW_OP_le:
            first = static_cast<std::int64_t>(first) <= static_cast<std::int64_t>(second) ? 1 : 0;
            break;
        case DW_OP_lt:
            first = static_cast<std::int64_t>(first) < static_cast<std::int64_t>(second) ? 1 : 0;
            break;
        default:
            return false;
        }
        --depth_;
        return true;
    }

    const Registers& registers_;
    const StackPiece& stack_;
    std::optional<std::uint64_t> frame_;
    std::array<std::uint64_t, deepest> values_{};
    std::size_t depth_ = 0;
};

/// `place` becomes where on the stack the value is, if it is there.
std::optional<std::uint64_t> apply(const FrameRule& rule, unsigned number, const Registers& registers,
                                   const StackPiece& stack, std::uint64_t frame, std::uint64_t& place)
{
    if (rule.kind == RuleKind::Same) {
        return registers.get(number);
    }
    const auto result = Machine(registers, stack, frame).run(rule.expression);
    if (rule.kind == RuleKind::Value || !result) {
        return result;
    }
    // At the end of a function compilers leave the rule behind, of what is back in its register.
    const bool is_popped = *result < registers.get(stack_pointer).value_or(0);
    if (is_popped) {
        return registers.get(number);
    }
    place = *result;
    return stack.word_at(place);
}

}  // namespace

std::optional<std::uint64_t> DeepView::word_at(std::uint64_t address) const
{
    const auto runs = stacks->runs_around(address, time);
    if (runs.empty()) {
        return std::nullopt;
    }
    for (const DeepStacks::Run& run : runs) {
        if (run.word != runs.front().word && !(*are_alike)(run.word, runs.front().word)) {
            return std::nullopt;
        }
    }
    return runs.front().word;
}

std::optional<std::uint64_t> StackPiece::word_at(std::uint64_t address) const
{
    std::uint64_t word = 0;
    const std::uint64_t offset = address - begin;  // huge where the address is below
    if (deep.stacks != nullptr && is_beyond(address)) {
        return deep.word_at(address);
    }
    if (bytes.size() < sizeof word || offset > bytes.size() - sizeof word) {
        return std::nullopt;
    }
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    return word;
}

std::optional<Caller> step(const FrameRules& rules, const Registers& registers, const StackPiece& stack)
{
    const auto frame = Machine(registers, stack, std::nullopt).run(rules.frame.expression);
    if (!frame) {
        return std::nullopt;
    }
    Caller caller;
    caller.registers.set(stack_pointer, *frame);  // unless there is a rule for it
    bool has_caller = false;
    for (const auto& [number, rule] : rules.registers) {
        std::uint64_t place = 0;
        const auto value = apply(rule, number, registers, stack, *frame, place);
        if (value) {
            caller.registers.set(number, *value);
        }
        if (number == rules.return_register) {
            if (!value) {
                return std::nullopt;
            }
            has_caller = true;
            caller.return_address = *value;
            caller.return_place = place;
        }
    }
    caller.return_address = has_caller ? caller.return_address : 0;
    return caller;
}

}  // namespace critpath::archive
