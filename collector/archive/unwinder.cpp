// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/unwinder.hpp"

#include "collector/archive/epilogue.hpp"
#include "collector/archive/module_file.hpp"
#include "collector/archive/runtime_code.hpp"
#include "formats/support/longest_chains.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <asm/perf_regs.h>

namespace critpath::archive
{

namespace
{

// The kernel's number of each register, by DWARF's.
#if defined(__x86_64__)
constexpr unsigned kernel_numbers[] = {
    PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,  PERF_REG_X86_SI,  PERF_REG_X86_DI,
    PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,  PERF_REG_X86_R10, PERF_REG_X86_R11,
    PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15, PERF_REG_X86_IP};
constexpr unsigned instruction_pointer = PERF_REG_X86_IP;
#elif defined(__aarch64__)
constexpr unsigned kernel_numbers[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                       16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
constexpr unsigned instruction_pointer = PERF_REG_ARM64_PC;
#else
constexpr unsigned kernel_numbers[register_count] = {};
constexpr unsigned instruction_pointer = 0;
#endif
static_assert(std::size(kernel_numbers) == register_count);

// The value of the register with this number, of those that `mask` names.
std::optional<std::uint64_t> recorded(std::span<const std::uint64_t> values, std::uint64_t mask, unsigned number)
{
    const auto position = static_cast<std::size_t>(std::popcount(mask & ((std::uint64_t{1} << number) - 1)));
    return (mask >> number & 1) != 0 && position < values.size() ? std::optional(values[position]) : std::nullopt;
}

Registers read_registers(std::span<const std::uint64_t> values, std::uint64_t mask)
{
    Registers registers;
    for (unsigned number = 0; number < register_count; ++number) {
        if (const auto value = recorded(values, mask, kernel_numbers[number])) {
            registers.set(number, *value);
        }
    }
    return registers;
}

// A return address is that of the instruction behind the call.
std::uint64_t call_before(std::uint64_t return_address)
{
    return return_address - 1;
}

#if defined(__x86_64__)
constexpr std::size_t longest_call = 7;  // bytes, but for prefixes

// What the call that `code` ends in calls, if it says so itself.
std::optional<std::uint64_t> direct_target(std::span<const std::byte> code, std::uint64_t behind)
{
    constexpr std::byte call{0xe8};
    std::int32_t distance = 0;
    const auto end = code.last(sizeof distance);
    std::memcpy(&distance, end.data(), sizeof distance);
    return code[code.size() - sizeof distance - 1] == call
               ? std::optional(behind + static_cast<std::uint64_t>(std::int64_t{distance}))
               : std::nullopt;
}

// Whether it may end in a call of what a register or memory has: ff /2, with 0 to 5 more bytes.
bool is_indirect_call(std::span<const std::byte> code)
{
    for (std::size_t i = 0; i + 1 < code.size(); ++i) {
        if (code[i] == std::byte{0xff} && (code[i + 1] >> 3 & std::byte{7}) == std::byte{2}) {
            return true;
        }
    }
    return false;
}
#endif

bool is_same(const FrameRule& one, const FrameRule& other)
{
    return one.kind == other.kind && std::ranges::equal(one.expression, other.expression, [](auto& a, auto& b) {
               return a.atom == b.atom && a.number == b.number && a.number2 == b.number2;
           });
}

// From two places of one function: where its arguments are not on the stack, they mostly do.
bool lead_to_the_same(const FrameRules* one, const FrameRules* other)
{
    if (one == nullptr || other == nullptr || one->is_signal || other->is_signal ||
        !is_same(one->frame, other->frame) || one->registers.size() != other->registers.size()) {
        return false;
    }
    return std::ranges::equal(one->registers, other->registers,
                              [](auto& a, auto& b) { return a.first == b.first && is_same(a.second, b.second); });
}

// The frame pointer belongs to a frame further out, or to nobody.
bool is_beyond(const FrameRules& rules)
{
    return !rules.has_frame_pointer && !rules.is_signal;
}

}  // namespace

// Where in the kernel's walk we are: which of its addresses is the one that stands behind a given frame pointer.
class Unwinder::KernelWalk
{
public:
    KernelWalk(std::span<const std::uint64_t> chain, const Registers& registers) : rest_(chain)
    {
        link_ = registers.get(frame_pointer);
        rest_ = rest_.subspan(std::min<std::size_t>(1, rest_.size()));  // without the instruction itself
    }

    // We have come from a frame with these registers to the one of its caller.
    void follow(const FrameRules& rules, const Registers& registers, const Registers& caller)
    {
        const auto next = caller.get(frame_pointer);
        if (rules.has_frame_pointer && link_ && registers.get(frame_pointer) == link_) {
            rest_ = rest_.subspan(std::min<std::size_t>(1, rest_.size()));
            link_ = next;
        } else if (next != link_) {
            link_.reset();  // it was something else that the kernel took for a frame pointer
        }
    }

    // What the kernel knows from a frame on that we cannot leave.
    [[nodiscard]] std::span<const std::uint64_t> rest(const FrameRules* rules, const Registers& registers) const
    {
        const bool is_on_stack = link_ && *link_ % sizeof *link_ == 0 && *link_ >= registers.get(stack_pointer);
        const bool is_used = rules != nullptr && is_beyond(*rules) && !rules->keeps_frame_pointer;
        return is_on_stack && !is_used && registers.get(frame_pointer) == link_ ? rest_
                                                                                : std::span<const std::uint64_t>();
    }

private:
    std::span<const std::uint64_t> rest_;
    std::optional<std::uint64_t> link_;  // frame pointer that the first of them was found with
};

Unwinder::Unwinder(const AddressMap& map, bool is_own, AreInOneFunction are_in_one_function)
    : map_(map), is_own_(is_own), are_in_one_function_(std::move(are_in_one_function)), tables_(map.modules().size()),
      rules_(map.last_epoch() + std::size_t{1}), jumps_from_(map.last_epoch() + std::size_t{1})
{
    are_alike_ = [this](std::uint64_t one, std::uint64_t other) {
        return one == other || (are_in_one_function_(call_before(one), call_before(other), epoch_) &&
                                lead_to_the_same(rules_at(call_before(one)), rules_at(call_before(other))));
    };
}

void Unwinder::begin_thread(const DeepStacks* deep)
{
    deep_ = deep;
    evidence_.clear();
}

CallChain Unwinder::chain(const RawSample& sample, std::uint64_t registers)
{
    const auto instruction = recorded(sample.stack.registers, registers, instruction_pointer);
    if (!instruction || (!sample.chain.empty() && sample.chain.front() != *instruction)) {
        return {sample.chain, false};
    }
    epoch_ = map_.epoch_at(sample.time);
    chain_.assign(1, *instruction);
    const Registers start = read_registers(sample.stack.registers, registers);
    KernelWalk walk(sample.chain, start);
    if (sample.stack.bytes.empty() && sample.chain.size() <= 1) {
        return {chain_, false};
    }
    const bool is_whole = unwind(
        {start.get(stack_pointer).value_or(0), sample.stack.bytes, view(sample.stack, sample.time)}, start, walk);
    return {chain_, is_whole};
}

// Nothing follows what is not there.
DeepView Unwinder::view(const RawStack& stack, std::uint64_t time) const
{
    return {stack.bytes.empty() ? nullptr : deep_, time, &are_alike_};
}

CallChain Unwinder::chain(const RawBlocked& blocked, std::uint64_t time)
{
    epoch_ = map_.epoch_at(time);
    chain_.assign(1, blocked.instruction);
    const Registers start = read_registers(blocked.stack.registers, spool::BlockedRecord::registers);
    KernelWalk walk({}, start);
    const bool is_whole = unwind({blocked.stack_pointer, blocked.stack.bytes, view(blocked.stack, time)}, start, walk);
    return {chain_, is_whole};
}

bool Unwinder::unwind(const StackPiece& stack, Registers registers, KernelWalk& walk)
{
    bool is_exact = true;  // no call, but the instruction that was interrupted
    while (chain_.size() < longest_sampled_chain) {
        const std::uint64_t place = chain_.size() == 1 ? chain_.back() : call_before(chain_.back());
        const FrameRules* rules = is_exact ? rules_at(place) : rules_behind_call(chain_.back());
        if (rules != nullptr && rules->is_signal && !is_exact) {
            ++chain_.back();  // no call leads to where a handler returns to: it is the first instruction there
        }
        if (rules != nullptr && rules->has_frame_pointer && !registers.get(frame_pointer)) {
            const auto found =
                find_frame_pointer(*rules, registers, stack, frames_at_[chain_.back()],
                                   [&](std::uint64_t return_address) { return called_before(return_address, place); });
            if (found) {
                registers.set(frame_pointer, *found);
            }
        }
        const std::optional<Caller> caller = rules == nullptr ? std::nullopt : step(*rules, registers, stack);
        if (!caller) {
            append(walk.rest(rules, registers));
            return false;
        }
        if (caller->return_address == 0) {
            return true;
        }
        if (deep_ != nullptr && stack.is_beyond(caller->return_place) && !is_certain(*caller, stack.deep.time, place)) {
            return false;
        }
        // What does not lead outwards is no stack.
        if (caller->registers.get(stack_pointer) <= registers.get(stack_pointer) && !is_exact) {
            return false;
        }
        walk.follow(*rules, registers, caller->registers);
        registers = caller->registers;
        is_exact = rules->is_signal;
        chain_.push_back(caller->return_address + (is_exact ? 1 : 0));
    }
    return false;
}

// What the call before has called may have gone on to the function by a jump: where it ends in a call, or in a part of
// it that lies elsewhere.
bool Unwinder::may_lead_to(Called called, std::uint64_t return_address, std::uint64_t function)
{
    if (called != Called::Other) {
        return called != Called::Nothing;
    }
#if defined(__x86_64__)
    std::uint64_t offset = 0;
    const FrameTable* frames = table_at(return_address, offset);
    const auto target = direct_target(frames->before(offset, longest_call), return_address);
    return target && std::ranges::any_of(jumps_from(*target), [&](std::uint64_t place) {
               return are_in_one_function_(place, function, epoch_);
           });
#else
    return false;
#endif
}

#if defined(__x86_64__)
// What looks like one in the middle of other instructions hardly ever leads to a given function.
const std::vector<std::uint64_t>& Unwinder::jumps_from(std::uint64_t function)
{
    constexpr std::size_t most = 65536;  // bytes of it that are searched
    constexpr std::byte jump{0xe9};
    constexpr std::byte two_bytes{0x0f};  // of a conditional one, 0x80 to 0x8f the other
    const auto [known, is_new] = jumps_from_[epoch_].try_emplace(function);
    std::uint64_t offset = 0;
    const FrameTable* frames = is_new ? table_at(function, offset) : nullptr;
    if (frames == nullptr) {
        return known->second;
    }
    std::size_t size = 0;
    for (std::size_t step = most; step > 0; step /= 2) {
        size += are_in_one_function_(function, function + size + step - 1, epoch_) ? step : 0;
    }
    const auto code = frames->before(offset + size, size);
    for (std::size_t i = 0; i + 1 + sizeof(std::int32_t) <= code.size(); ++i) {
        const bool is_conditional = i > 0 && code[i - 1] == two_bytes && (code[i] & std::byte{0xf0}) == std::byte{0x80};
        if (code[i] == jump || is_conditional) {
            std::int32_t distance = 0;
            std::memcpy(&distance, &code[i + 1], sizeof distance);
            const std::uint64_t behind = function + size - code.size() + i + 1 + sizeof distance;
            known->second.push_back(behind + static_cast<std::uint64_t>(std::int64_t{distance}));
        }
    }
    std::erase_if(known->second, [&](std::uint64_t place) { return are_in_one_function_(place, function, epoch_); });
    return known->second;
}
#endif

bool Unwinder::is_certain(const Caller& caller, std::uint64_t time, std::uint64_t function)
{
    const Called own = called_before(caller.return_address, function);
    if (!may_lead_to(own, caller.return_address, function)) {
        return false;
    }
    const auto [known, is_new] = evidence_.try_emplace({caller.return_place, caller.return_address, function, epoch_});
    if (is_new) {
        known->second = CallerEvidence(deep_->runs(caller.return_place), [&](std::uint64_t word) {
            if (are_alike_(word, caller.return_address)) {
                return Seen::This;
            }
            const Called called = called_before(word, function);
            if (called == Called::Unknown && own != Called::Unknown) {
                return Seen::Perhaps;
            }
            return may_lead_to(called, word, function) ? Seen::Other : Seen::Nobody;
        });
    }
    return known->second.is_certain(deep_->runs_around(caller.return_place, time));
}

// Where a function uses the frame pointer for something else, the kernel goes astray.
void Unwinder::append(std::span<const std::uint64_t> rest)
{
    for (const std::uint64_t address : rest) {
        if (chain_.size() == longest_sampled_chain) {
            return;
        }
        chain_.push_back(address);
        const FrameRules* rules = rules_at(call_before(address));
        if (rules != nullptr && is_beyond(*rules) && !rules->keeps_frame_pointer) {
            return;
        }
    }
}

const FrameRules* Unwinder::rules_at(std::uint64_t address)
{
    const auto [known, is_new] = rules_[epoch_].try_emplace(address, nullptr);
    if (is_new) {
        std::uint64_t offset = 0;
        FrameTable* frames = table_at(address, offset);
        known->second = frames == nullptr ? nullptr : frames->find(offset);
    }
    return known->second;
}

const FrameRules* Unwinder::rules_behind_call(std::uint64_t return_address)
{
    if (const FrameRules* rules = rules_at(call_before(return_address))) {
        return rules;
    }
    const MappedRange* range = is_own_ ? map_.find(return_address, epoch_) : nullptr;
    if (range == nullptr || map_.modules()[range->module] != anonymous_module) {
        return nullptr;
    }
    const auto [known, is_new] = epilogues_.try_emplace(return_address);
    if (is_new) {
        known->second = epilogue_rules(return_address, own_code(return_address));
    }
    return known->second ? &*known->second : nullptr;
}

// Machines that are not known here cannot tell more than that it is code.
Called Unwinder::called_before(std::uint64_t return_address, std::uint64_t function)
{
    // Most words of a stack are none; nothing is to be remembered of each.
    if (map_.find(return_address, epoch_) == nullptr || rules_behind_call(return_address) == nullptr) {
        return Called::Nothing;
    }
#if defined(__x86_64__)
    std::uint64_t offset = 0;
    const FrameTable* frames = table_at(return_address, offset);
    const auto code = frames == nullptr ? std::span<const std::byte>() : frames->before(offset, longest_call);
    if (code.size() < longest_call) {
        return Called::Unknown;
    }
    if (const auto target = direct_target(code, return_address)) {
        if (are_in_one_function_(*target, function, epoch_)) {
            return Called::This;
        }
        // From another module it is called by way of a table.
        const MappedRange* here = map_.find(return_address, epoch_);
        const MappedRange* there = map_.find(function, epoch_);
        return here != nullptr && there != nullptr && here->module == there->module ? Called::Other : Called::Unknown;
    }
    return is_indirect_call(code) ? Called::Unknown : Called::Nothing;
#else
    return function != 0 ? Called::Unknown : Called::Nothing;
#endif
}

FrameTable* Unwinder::table_at(std::uint64_t address, std::uint64_t& offset)
{
    const MappedRange* range = map_.find(address, epoch_);
    if (range == nullptr) {
        return nullptr;
    }
    offset = address - range->start + range->offset;
    return table(range->module, *range);
}

FrameTable* Unwinder::table(std::uint32_t module, const MappedRange& range)
{
    std::unique_ptr<FrameTable>& frames = tables_[module];
    const std::string& name = map_.modules()[module];
    if (frames == nullptr && name.front() == '/') {
        ModuleFile file = find_module(map_, range, is_own_);
        frames = file.path.empty() ? std::make_unique<FrameTable>(std::move(file.image))
                                   : std::make_unique<FrameTable>(file.path);
    } else if (frames == nullptr && name == vdso_module && is_own_) {
        frames = std::make_unique<FrameTable>(own_vdso(range.start, range.end));
    }
    return frames.get();
}

}  // namespace critpath::archive
