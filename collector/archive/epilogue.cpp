// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/epilogue.hpp"

#include <dwarf.h>

#include <algorithm>
#include <cstring>

#include <sys/uio.h>
#include <unistd.h>

namespace critpath::archive
{

namespace
{

constexpr std::size_t longest_epilogue = 32;  // bytes

#if defined(__x86_64__)

using RuleKind = FrameRule::Kind;

constexpr unsigned return_address_number = 16;
// DWARF's, by the processor's.
constexpr unsigned register_numbers[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr unsigned kept_by_calls[] = {3, 6, 12, 13, 14, 15};

// Follows the instructions (Intel's manual, volume 2), and where the stack pointer is: `offset_` bytes behind what the
// register `base_` holds at the beginning.
class Epilogue
{
public:
    explicit Epilogue(std::span<const std::byte> code) : rest_(code) {}

    std::optional<FrameRules> rules(std::uint64_t address)
    {
        while (!has_returned_) {
            if (!step()) {
                return std::nullopt;
            }
        }
        rules_.start = address;
        rules_.end = address + 1;
        rules_.frame = {RuleKind::Value, {place(offset_)}};
        for (const unsigned number : kept_by_calls) {
            const auto has_rule = [number](const auto& rule) { return rule.first == number; };
            if (std::ranges::none_of(rules_.registers, has_rule)) {
                rules_.registers.emplace_back(number, FrameRule{RuleKind::Same});
            } else if (number == frame_pointer) {
                rules_.keeps_frame_pointer = false;
            }
        }
        return std::move(rules_);
    }

private:
    [[nodiscard]] Dwarf_Op place(std::uint64_t offset) const
    {
        return {static_cast<std::uint8_t>(DW_OP_breg0 + base_), offset, 0, 0};
    }

    bool take(std::initializer_list<unsigned> bytes)
    {
        const auto is_there = [](unsigned byte, std::byte code) { return std::byte(byte) == code; };
        if (rest_.size() < bytes.size() || !std::equal(bytes.begin(), bytes.end(), rest_.begin(), is_there)) {
            return false;
        }
        rest_ = rest_.subspan(bytes.size());
        return true;
    }

    // Signed, but what is given back is not negative.
    template <class T>
    bool give_back()
    {
        T size = 0;
        if (rest_.size() < sizeof size) {
            return false;
        }
        std::memcpy(&size, rest_.data(), sizeof size);
        rest_ = rest_.subspan(sizeof size);
        offset_ += static_cast<std::uint64_t>(size);
        return size >= 0;
    }

    void pop(unsigned number)
    {
        rules_.registers.emplace_back(number, FrameRule{RuleKind::InMemory, {place(offset_)}});
        offset_ += sizeof(std::uint64_t);
    }

    bool step()
    {
        if (take({0x48, 0x83, 0xc4})) {  // add $8 bits,%rsp
            return give_back<std::int8_t>();
        }
        if (take({0x48, 0x81, 0xc4})) {  // add $32 bits,%rsp
            return give_back<std::int32_t>();
        }
        if (take({0xc9})) {  // leave: what was popped before came from elsewhere
            base_ = frame_pointer;
            offset_ = 0;
            const bool is_first = rules_.registers.empty();
            pop(frame_pointer);
            return is_first;
        }
        if (take({0xc3}) || take({0xf3, 0xc3})) {  // ret, rep ret
            // What is restored last was saved first: it is how functions with a frame begin.
            rules_.has_frame_pointer = !rules_.registers.empty() && rules_.registers.back().first == frame_pointer;
            rules_.return_register = return_address_number;
            pop(return_address_number);
            has_returned_ = true;
            return true;
        }
        const bool is_new_register = take({0x41});
        if (!rest_.empty() && rest_.front() >= std::byte{0x58} && rest_.front() <= std::byte{0x5f}) {  // pop
            const unsigned number =
                register_numbers[static_cast<unsigned>(rest_.front()) - 0x58U + (is_new_register ? 8 : 0)];
            rest_ = rest_.subspan(1);
            pop(number);
            return number != stack_pointer;
        }
        return false;
    }

    std::span<const std::byte> rest_;
    unsigned base_ = stack_pointer;
    std::uint64_t offset_ = 0;
    bool has_returned_ = false;
    FrameRules rules_;
};

#endif

}  // namespace

std::optional<FrameRules> epilogue_rules([[maybe_unused]] std::uint64_t address,
                                         [[maybe_unused]] std::span<const std::byte> code)
{
#if defined(__x86_64__)
    return Epilogue(code).rules(address);
#else
    return std::nullopt;
#endif
}

std::vector<std::byte> own_code(std::uint64_t address)
{
    std::vector<std::byte> code(longest_epilogue);
    // Memory behind may be no one's: a request that goes beyond a page gets what is before.
    const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t in_page = std::min<std::size_t>(longest_epilogue, page - address % page);
    const iovec to = {code.data(), longest_epilogue};
    const iovec from[] = {{reinterpret_cast<void*>(address), in_page},  // NOLINT(performance-no-int-to-ptr)
                          {reinterpret_cast<void*>(address + in_page), longest_epilogue - in_page}};  // NOLINT
    const ssize_t got = ::process_vm_readv(::getpid(), &to, 1, from, 2, 0);
    code.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return code;
}

}  // namespace critpath::archive
