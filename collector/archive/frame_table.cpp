// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/frame_table.hpp"

#include <dwarf.h>
#include <libelf.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace critpath::archive
{

namespace
{

using RuleKind = FrameRule::Kind;

struct FreeFrame {
    void operator()(Dwarf_Frame* frame) const { std::free(frame); }
};

bool uses_frame_pointer(const Dwarf_Op& op)
{
    return op.atom == DW_OP_breg0 + frame_pointer || (op.atom == DW_OP_bregx && op.number == frame_pointer);
}

FrameRule rule_of(Dwarf_Frame* frame, unsigned number)
{
    Dwarf_Op memory[3];
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    if (dwarf_frame_register(frame, static_cast<int>(number), memory, &ops, &count) != 0) {
        return {};
    }
    if (count == 0) {
        return {ops == nullptr ? RuleKind::Same : RuleKind::Unknown};
    }
    const unsigned last = ops[count - 1].atom;
    const bool is_register = last == DW_OP_regx || (last >= DW_OP_reg0 && last <= DW_OP_reg31);
    return {last == DW_OP_stack_value || is_register ? RuleKind::Value : RuleKind::InMemory, {ops, ops + count}};
}

}  // namespace

FrameTable::FrameTable(const std::string& path) : file_(path)
{
    open();
}

FrameTable::FrameTable(std::vector<std::byte> image) : file_(std::move(image))
{
    open();
}

FrameTable::~FrameTable()
{
    if (information_ != nullptr) {
        dwarf_cfi_end(information_);
    }
}

void FrameTable::open()
{
    if (file_) {
        information_ = dwarf_getcfi_elf(file_.elf());
    }
}

std::optional<std::uint64_t> FrameTable::address_of(std::uint64_t offset) const
{
    std::size_t count = 0;
    elf_getphdrnum(file_.elf(), &count);
    const Elf64_Phdr* headers = elf64_getphdr(file_.elf());
    for (std::size_t i = 0; headers != nullptr && i < count; ++i) {
        const Elf64_Phdr& part = headers[i];
        if (part.p_type == PT_LOAD && offset >= part.p_offset && offset - part.p_offset < part.p_filesz) {
            return part.p_vaddr + (offset - part.p_offset);
        }
    }
    return std::nullopt;
}

// Opened where somebody asks for it: few binaries need it, and many have much of it.
Dwarf_CFI* FrameTable::debug_information()
{
    if (!std::exchange(has_tried_debug_, true)) {
        debug_.reset(dwarf_begin_elf(file_.elf(), DWARF_C_READ, nullptr));
    }
    return debug_ == nullptr ? nullptr : dwarf_getcfi(debug_.get());
}

std::optional<FrameRules> FrameTable::read(std::uint64_t address)
{
    Dwarf_Frame* found = nullptr;
    if (information_ == nullptr || dwarf_cfi_addrframe(information_, address, &found) != 0) {
        Dwarf_CFI* const debug = debug_information();
        if (debug == nullptr || dwarf_cfi_addrframe(debug, address, &found) != 0) {
            return std::nullopt;
        }
    }
    const std::unique_ptr<Dwarf_Frame, FreeFrame> frame(found);
    FrameRules rules;
    // Where they begin to hold is wrong in libdw 0.188 behind DW_CFA_restore_state: it is that of the state restored.
    rules.start = address;
    const int return_register = dwarf_frame_info(frame.get(), nullptr, &rules.end, &rules.is_signal);
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    if (return_register < 0 || static_cast<unsigned>(return_register) >= register_count || rules.end <= address ||
        dwarf_frame_cfa(frame.get(), &ops, &count) != 0 || count == 0) {
        return std::nullopt;
    }
    rules.return_register = static_cast<unsigned>(return_register);
    rules.frame = {RuleKind::Value, {ops, ops + count}};
    rules.has_frame_pointer = std::any_of(ops, ops + count, uses_frame_pointer);
    for (unsigned number = 0; number < register_count; ++number) {
        FrameRule rule = rule_of(frame.get(), number);
        if (number == frame_pointer) {
            rules.keeps_frame_pointer = rule.kind == RuleKind::Same || rule.kind == RuleKind::Unknown;
        }
        if (rule.kind != RuleKind::Unknown) {
            rules.registers.emplace_back(number, std::move(rule));
        }
    }
    return rules;
}

std::span<const std::byte> FrameTable::before(std::uint64_t offset, std::size_t size) const
{
    const std::span<const std::byte> all = file_.bytes();
    return offset > all.size() ? std::span<const std::byte>()
                               : all.first(offset).last(std::min<std::size_t>(size, offset));
}

const FrameRules* FrameTable::find(std::uint64_t offset)
{
    const auto address = file_ ? address_of(offset) : std::nullopt;
    if (!address) {
        return nullptr;
    }
    if (const auto known = rules_.upper_bound(*address); known != rules_.end() && known->second.start <= *address) {
        return &known->second;
    }
    std::optional<FrameRules> rules = read(*address);
    if (!rules) {
        return nullptr;
    }
    FrameRules& kept = rules_.try_emplace(rules->end, *rules).first->second;
    kept.start = *address;  // those with this end that are known from a higher address on are the same
    return &kept;
}

}  // namespace critpath::archive
