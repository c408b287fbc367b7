// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/moved_parts.hpp"

#include <algorithm>
#include <cstring>

namespace critpath::archive
{

std::optional<std::uint64_t> MovedParts::function_of(std::uint64_t start) const
{
    if (!functions_.begins_in_frame(start)) {
        return std::nullopt;
    }
    std::call_once(once_, [this] { find_functions(); });
    const Part* part = part_at(start);
    const bool is_known = part != nullptr && part->function != 0 && !part->is_of_several;
    return is_known ? std::optional(part->function) : std::nullopt;
}

// Jumps to another function are jmp or jcc with a displacement of 32 bits. Bytes that only look like one, within other
// instructions, lead anywhere in 4 GiB, and hardly ever into a part, which would then be one of several functions.
void MovedParts::find_functions() const
{
    for (const AddressRange& range : functions_.all_in_frames()) {
        parts_.push_back({range});
    }
    constexpr std::size_t longest = 6;
    for (const Segment& segment : code_) {
        if (segment.offset >= file_.size()) {
            continue;
        }
        const auto bytes =
            file_.subspan(segment.offset, std::min<std::uint64_t>(segment.size, file_.size() - segment.offset));
        for (std::size_t at = 0; at + longest <= bytes.size(); ++at) {
            const bool is_jump = bytes[at] == std::byte{0xe9};
            const bool is_branch = bytes[at] == std::byte{0x0f} && (bytes[at + 1] & std::byte{0xf0}) == std::byte{0x80};
            if (is_jump || is_branch) {
                const std::size_t opcode = is_jump ? 1 : 2;
                std::int32_t displacement = 0;
                std::memcpy(&displacement, bytes.data() + at + opcode, sizeof displacement);
                const std::uint64_t from = segment.address + at;
                add_jump(from,
                         from + opcode + sizeof displacement + static_cast<std::uint64_t>(std::int64_t{displacement}));
            }
        }
    }
}

MovedParts::Part* MovedParts::part_at(std::uint64_t address) const
{
    const auto behind =
        std::ranges::upper_bound(parts_, address, {}, [](const Part& part) { return part.range.start; });
    if (behind == parts_.begin() || address >= std::prev(behind)->range.end) {
        return nullptr;
    }
    return &*std::prev(behind);
}

void MovedParts::add_jump(std::uint64_t from, std::uint64_t to) const
{
    Part* part = part_at(to);
    if (part == nullptr || (from >= part->range.start && from < part->range.end)) {
        return;
    }
    const std::optional<AddressRange> function = functions_.find(from);
    if (!function || part_at(function->start) != nullptr ||
        (part->function != 0 && part->function != function->start)) {
        part->is_of_several = true;
    } else {
        part->function = function->start;
    }
}

}  // namespace critpath::archive
