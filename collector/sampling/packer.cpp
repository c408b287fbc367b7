// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/packer.hpp"

#include <cstring>

#include <linux/perf_event.h>

namespace critpath::sampling
{
namespace
{

constexpr std::size_t word_size = sizeof(std::uint64_t);

/// The unread bytes as if they did not wrap.
class Bytes
{
public:
    explicit Bytes(const Unread& unread) : unread_(unread) {}

    [[nodiscard]] std::size_t size() const { return unread_.size[0] + unread_.size[1]; }

    void copy(std::size_t begin, std::size_t bytes, char* out) const
    {
        const std::size_t first = begin < unread_.size[0] ? unread_.size[0] - begin : 0;
        const std::size_t of_first = bytes < first ? bytes : first;
        if (of_first > 0) {
            std::memcpy(out, unread_.piece[0] + begin, of_first);
        }
        if (bytes > of_first) {
            std::memcpy(out + of_first, unread_.piece[1] + (begin + of_first - unread_.size[0]), bytes - of_first);
        }
    }

    /// Records are whole words, so that no word wraps.
    [[nodiscard]] std::uint64_t word_at(std::size_t begin) const
    {
        std::uint64_t result = 0;
        copy(begin, word_size, reinterpret_cast<char*>(&result));
        return result;
    }

private:
    const Unread& unread_;
};

/// Of a sample: where the size of its stack stands, from the begin of the record, and where the stack pointer does.
struct Places {
    std::size_t stack;
    std::size_t pointer;
};

/// False if it has no stack. The ring is memory of the application, which may have written there: nothing is believed
/// that would lead out of the record.
bool find_places(const EventChoice& choice, const Bytes& bytes, std::size_t record, std::size_t size, Places& found)
{
    if (choice.stack_bytes == 0) {
        return false;
    }
    std::size_t place = 6 * word_size;  // behind header, ip, ids, time, processor, period
    const auto take = [&](std::uint64_t& value) {
        if (place + word_size > size) {
            return false;
        }
        value = bytes.word_at(record + place);
        place += word_size;
        return value < size;
    };
    std::uint64_t count = 0;
    if (!take(count)) {
        return false;
    }
    place += (2 + count) * word_size;  // times enabled and running
    if (choice.call_graph == spool::CallGraph::FramePointers) {
        if (!take(count)) {
            return false;
        }
        place += count * word_size;
    }
    std::uint64_t abi = 0;
    if (!take(abi) || abi == 0) {
        return false;
    }
    const std::uint64_t before = choice.registers & ((std::uint64_t{1} << spool::stack_pointer_number) - 1);
    found.pointer = place + static_cast<std::size_t>(__builtin_popcountll(before)) * word_size;
    found.stack = place + static_cast<std::size_t>(__builtin_popcountll(choice.registers)) * word_size;
    return found.stack + word_size <= size;
}

bool find_places(std::uint32_t type, const EventChoice& choice, const Bytes& bytes, std::size_t record,
                 std::size_t size, Places& found)
{
    if (type == spool::BlockedRecord::number) {
        found = {sizeof(spool::BlockedRecord), offsetof(spool::BlockedRecord, stack_pointer)};
        return size >= found.stack + word_size;
    }
    return type == PERF_RECORD_SAMPLE && find_places(choice, bytes, record, size, found);
}

}  // namespace

std::size_t most_packed(const Unread& unread)
{
    // A stack is put together behind the place for its packed form, which is hardly longer than it is.
    return 2 * (unread.size[0] + unread.size[1]);
}

Packed pack_records(const EventChoice& choice, const Unread& unread, spool::StackImage& image, char* out)
{
    const Bytes bytes(unread);
    Packed packed;
    std::size_t size = 0;
    for (std::size_t record = 0; record + sizeof(perf_event_header) <= bytes.size(); record += size) {
        perf_event_header header;
        bytes.copy(record, sizeof header, reinterpret_cast<char*>(&header));
        size = header.size;
        if (size < sizeof header || size > bytes.size() - record) {
            break;
        }
        char* const begin = out + packed.bytes;
        Places places{};
        std::size_t kept = size;
        if (find_places(header.type, choice, bytes, record, size, places)) {
            const std::size_t data = places.stack + word_size;
            const std::uint64_t copied = bytes.word_at(record + places.stack);
            const std::size_t room = size - data;
            // { u64 size; char data[size]; u64 filled; }, or a size of 0 alone
            const bool is_there =
                copied != 0 && room >= word_size && copied <= room - word_size && copied % word_size == 0;
            const std::uint64_t filled = is_there ? bytes.word_at(record + data + copied) : 0;
            std::size_t used = filled < copied ? filled : copied;
            used = used < spool::StackImage::largest_copy ? used : spool::StackImage::largest_copy;
            char* const stack = begin + places.stack + spool::StackImage::most(used);
            bytes.copy(record + data, used, stack);
            kept = places.stack + image.pack(bytes.word_at(record + places.pointer), stack, used, begin + places.stack);
            bytes.copy(record, places.stack, begin);
            header.size = static_cast<std::uint16_t>(kept);
            std::memcpy(begin, &header, sizeof header);
        } else {
            bytes.copy(record, size, begin);
        }
        packed.bytes += kept;
        ++packed.records;
        packed.samples += header.type == PERF_RECORD_SAMPLE ? 1 : 0;
    }
    return packed;
}

std::uint32_t find_cut_copies(const EventChoice& choice, const Unread& unread, std::size_t skipped,
                              std::uint64_t bottom, std::uint64_t top, CopyOfStack& lowest)
{
    const Bytes bytes(unread);
    std::uint32_t found = 0;
    std::size_t size = 0;
    for (std::size_t record = skipped; record + sizeof(perf_event_header) <= bytes.size(); record += size) {
        perf_event_header header;
        bytes.copy(record, sizeof header, reinterpret_cast<char*>(&header));
        size = header.size;
        if (size < sizeof header || size > bytes.size() - record) {
            break;
        }
        Places places{};
        if (header.type != PERF_RECORD_SAMPLE || !find_places(choice, bytes, record, size, places)) {
            continue;
        }
        const std::uint64_t copied = bytes.word_at(record + places.stack);
        if (copied == 0 || copied > size || places.stack + 2 * word_size + copied > size) {
            continue;
        }
        const std::uint64_t filled = bytes.word_at(record + places.stack + word_size + copied);
        const std::uint64_t end = bytes.word_at(record + places.pointer) + copied;
        if (filled != copied || end < bottom || end >= top) {
            continue;
        }
        lowest.end = found == 0 || end < lowest.end ? end : lowest.end;
        lowest.instruction = bytes.word_at(record + word_size);
        ++found;
    }
    return found;
}

}  // namespace critpath::sampling
