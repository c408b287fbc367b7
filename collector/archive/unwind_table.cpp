// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/unwind_table.hpp"

#include <algorithm>
#include <cstring>

namespace critpath::archive
{

namespace
{

// Pointer encodings (DW_EH_PE_*): the low four bits are the format, the next three what the value is relative to.
constexpr std::uint8_t format_mask = 0x0f;
constexpr std::uint8_t format_address = 0x00;
constexpr std::uint8_t format_uleb128 = 0x01;
constexpr std::uint8_t format_sleb128 = 0x09;
constexpr std::uint8_t relative_to_header_sdata4 = 0x3b;

// Reads little-endian values; past the end everything is zero and ok() is false.
class Reader
{
public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

    template <class T>
    T take()
    {
        T value{};
        if (rest_.size() < sizeof(T)) {
            ok_ = false;
            rest_ = {};
            return value;
        }
        std::memcpy(&value, rest_.data(), sizeof(T));
        rest_ = rest_.subspan(sizeof(T));
        return value;
    }

    std::uint64_t uleb128()
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; ok_; shift += 7) {
            const auto byte = take<std::uint8_t>();
            if (shift < 64) {
                value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            }
            if ((byte & 0x80U) == 0) {
                break;
            }
        }
        return value;
    }

    // The bits of an encoded pointer as they stand there, without what they are relative to.
    std::uint64_t encoded(std::uint8_t encoding)
    {
        switch (encoding & format_mask) {
        case format_address:
        case 0x04:
        case 0x0c:
            return take<std::uint64_t>();
        case 0x02:
        case 0x0a:
            return take<std::uint16_t>();
        case 0x03:
        case 0x0b:
            return take<std::uint32_t>();
        case format_uleb128:
        case format_sleb128:
            return uleb128();
        default:
            ok_ = false;
            return 0;
        }
    }

    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }

private:
    std::span<const std::byte> rest_;
    bool ok_ = true;
};

}  // namespace

UnwindTable::UnwindTable(std::span<const std::byte> file, std::span<const Segment> segments,
                         std::uint64_t header_address)
    : file_(file), segments_(segments), header_address_(header_address)
{
    const auto header = bytes_at(header_address);
    Reader reader(header);
    const auto version = reader.take<std::uint8_t>();
    const auto frame_encoding = reader.take<std::uint8_t>();
    const auto count_encoding = reader.take<std::uint8_t>();
    const auto table_encoding = reader.take<std::uint8_t>();
    // Linkers write no other table; without the fixed size there is nothing to search in.
    constexpr std::size_t fixed_size = 12;
    if (!reader.ok() || version != 1 || table_encoding != relative_to_header_sdata4 ||
        (frame_encoding & format_mask) != 0x0b || (count_encoding & format_mask) != 0x03) {
        return;
    }
    reader.encoded(frame_encoding);
    const std::uint64_t count = reader.encoded(count_encoding);
    if (reader.ok() && count <= (header.size() - fixed_size) / sizeof(Entry)) {
        count_ = count;
        entries_ = header.subspan(fixed_size, count * sizeof(Entry));
    }
}

std::optional<UnwindTable::Entry> UnwindTable::entry_before(std::uint64_t address) const
{
    const auto relative = static_cast<std::int64_t>(address - header_address_);
    std::size_t low = 0;
    std::size_t high = count_;
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (entry(middle).start <= relative) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? std::nullopt : std::optional(entry(low - 1));
}

std::optional<AddressRange> UnwindTable::find(std::uint64_t address) const
{
    const std::optional<Entry> found = entry_before(address);
    if (!found) {
        return std::nullopt;
    }
    const std::uint64_t start = address_of(found->start);
    const auto description = description_at(address_of(found->frame));
    if (!description || address >= start + description->length) {
        return std::nullopt;
    }
    return AddressRange{start, start + description->length};
}

namespace
{

// Before its first instruction, a function that is called has pushed and saved nothing.
bool has_frame_at_once(std::span<const std::byte> instructions)
{
    constexpr std::uint8_t nop = 0x00, def_cfa = 0x0c, def_cfa_offset = 0x0e, offset = 0x80, offset_mask = 0xc0;
    for (const std::byte byte : instructions) {
        const auto code = std::to_integer<std::uint8_t>(byte);
        if (code != nop) {
            return (code >= def_cfa && code <= def_cfa_offset) || (code & offset_mask) == offset;
        }
    }
    return false;
}

}  // namespace

bool UnwindTable::begins_in_frame(std::uint64_t start) const
{
    const std::optional<Entry> found = entry_before(start);
    const auto description = found ? description_at(address_of(found->frame)) : std::nullopt;
    return description && address_of(found->start) == start && has_frame_at_once(description->instructions);
}

std::vector<AddressRange> UnwindTable::all_in_frames() const
{
    std::vector<AddressRange> all;
    for (std::size_t i = 0; i < count_; ++i) {
        const Entry function = entry(i);
        const auto description = description_at(address_of(function.frame));
        if (description && has_frame_at_once(description->instructions)) {
            const std::uint64_t start = address_of(function.start);
            all.push_back({start, start + description->length});
        }
    }
    return all;
}

std::span<const std::byte> UnwindTable::bytes_at(std::uint64_t address) const
{
    for (const Segment& segment : segments_) {
        if (address >= segment.address && address - segment.address < segment.size) {
            const std::uint64_t skip = address - segment.address;
            const std::uint64_t begin = segment.offset + skip;
            if (begin >= file_.size()) {
                return {};
            }
            return file_.subspan(begin, std::min<std::uint64_t>(segment.size - skip, file_.size() - begin));
        }
    }
    return {};
}

UnwindTable::Entry UnwindTable::entry(std::size_t index) const
{
    Entry result;
    std::memcpy(&result, entries_.data() + index * sizeof result, sizeof result);
    return result;
}

std::optional<UnwindTable::Description> UnwindTable::description_at(std::uint64_t frame_address) const
{
    const std::span<const std::byte> bytes = bytes_at(frame_address);
    Reader reader(bytes);
    std::uint64_t id_at = sizeof(std::uint32_t);
    std::uint64_t size = reader.take<std::uint32_t>();
    if (size == 0xffffffffU) {  // 64-bit length
        size = reader.take<std::uint64_t>();
        id_at += sizeof(std::uint64_t);
    }
    const auto distance = reader.take<std::uint32_t>();  // back to the common information entry; 0 in one itself
    if (!reader.ok() || distance == 0) {
        return std::nullopt;
    }
    const auto encoding = encoding_of(frame_address + id_at - distance);
    if (!encoding) {
        return std::nullopt;
    }
    reader.encoded(encoding->pointer);  // start
    Description result;
    result.length = reader.encoded(encoding->pointer & format_mask);
    if (!reader.ok()) {
        return std::nullopt;
    }
    const std::uint64_t skipped = encoding->is_augmented ? reader.uleb128() : 0;
    const std::uint64_t at = bytes.size() - reader.rest().size();
    if (reader.ok() && size <= bytes.size() - id_at && skipped <= bytes.size() && at + skipped <= id_at + size) {
        result.instructions = bytes.subspan(at + skipped, id_at + size - at - skipped);
    }
    return result;
}

std::optional<UnwindTable::Encoding> UnwindTable::encoding_of(std::uint64_t common_address) const
{
    Reader reader(bytes_at(common_address));
    if (reader.take<std::uint32_t>() == 0xffffffffU) {
        reader.take<std::uint64_t>();
    }
    reader.take<std::uint32_t>();  // id
    const auto version = reader.take<std::uint8_t>();
    char augmentation[8] = {};
    std::size_t length = 0;
    for (char c = reader.take<char>(); c != '\0'; c = reader.take<char>()) {
        if (length == sizeof augmentation) {
            return std::nullopt;
        }
        augmentation[length++] = c;
    }
    reader.uleb128();  // code alignment
    reader.uleb128();  // data alignment; the sign does not matter for its length
    if (version == 1) {
        reader.take<std::uint8_t>();  // return address register
    } else {
        reader.uleb128();
    }
    if (length == 0) {
        return reader.ok() ? std::optional(Encoding{format_address, false}) : std::nullopt;
    }
    if (augmentation[0] != 'z') {
        return std::nullopt;
    }
    reader.uleb128();  // length of the augmentation data
    std::uint8_t result = format_address;
    for (std::size_t i = 1; i < length; ++i) {
        switch (augmentation[i]) {
        case 'R':
            result = reader.take<std::uint8_t>();
            break;
        case 'P': {
            const auto encoding = reader.take<std::uint8_t>();
            reader.encoded(encoding);
            break;
        }
        case 'L':
            reader.take<std::uint8_t>();
            break;
        default:  // S, B: no data
            break;
        }
    }
    return reader.ok() ? std::optional(Encoding{result, true}) : std::nullopt;
}

}  // namespace critpath::archive
