// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/sample_reader.hpp"

#include "formats/spool/record.hpp"
#include "formats/spool/stack_image.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include <linux/perf_event.h>

namespace critpath::archive
{

namespace
{

// Layout of a sample behind its header, see spool::SampleFormat. `values` of the group follow, then the call chain, the
// registers and the stack, if they were asked for.
struct FixedPart {
    std::uint64_t ip;
    std::uint32_t pid, tid;
    std::uint64_t time;
    std::uint32_t processor, padding;
    std::uint64_t period;
    std::uint64_t values;
    std::uint64_t time_enabled, time_running;
};

// What all other records end in.
struct Trailer {
    std::uint32_t pid, tid;
    std::uint64_t time;
    std::uint32_t processor, padding;
};

// Addresses from here on are the markers PERF_CONTEXT_*, not addresses.
constexpr std::uint64_t first_marker = PERF_CONTEXT_MAX;
constexpr std::uint64_t user_marker = PERF_CONTEXT_USER;

// The part between the user marker and the next marker.
std::span<const std::uint64_t> user_part(std::span<const std::uint64_t> chain)
{
    const auto marker = std::find(chain.begin(), chain.end(), user_marker);
    if (marker == chain.end()) {
        return {};
    }
    const auto end = std::find_if(marker + 1, chain.end(), [](std::uint64_t a) { return a >= first_marker; });
    return {marker + 1, end};
}

bool is_user_address(std::uint64_t address)
{
    return address >> 63 == 0;
}

// Takes `length` words from the beginning of `rest`; nothing if it has fewer.
std::optional<std::span<const std::uint64_t>> take_list(std::span<const std::uint64_t>& rest, std::uint64_t length)
{
    if (length > rest.size()) {
        return std::nullopt;
    }
    const auto list = rest.first(length);
    rest = rest.subspan(length);
    return list;
}

// What the kernel has no registers of, such as its own threads, has an ABI of 0 and nothing behind it.
std::optional<std::span<const std::uint64_t>> take_registers(std::span<const std::uint64_t>& rest, std::uint64_t mask)
{
    const auto abi = take_list(rest, 1);
    return abi ? take_list(rest, abi->front() == 0 ? 0 : std::popcount(mask)) : std::nullopt;
}

// The copies of the stack, of which each says only what differs from the one before.
class Stacks
{
public:
    // What stands behind `registers`; nothing if it makes no sense.
    std::optional<std::span<const std::byte>> take(std::span<const std::uint64_t> rest,
                                                   std::span<const std::uint64_t> registers, std::uint64_t mask)
    {
        if (registers.empty()) {
            return std::span<const std::byte>();  // of the kernel's own threads
        }
        const std::uint64_t before = mask & ((std::uint64_t{1} << spool::stack_pointer_number) - 1);
        const auto pointer = static_cast<std::size_t>(std::popcount(before));
        std::size_t size = 0;
        const bool is_read =
            pointer < registers.size() && image_->unpack(registers[pointer], reinterpret_cast<const char*>(rest.data()),
                                                         rest.size_bytes(), copy_.data(), size) != 0;
        return is_read ? std::optional(std::as_bytes(std::span(copy_)).first(size)) : std::nullopt;
    }

    // A sample could not be read: later copies build on what it had.
    void lose() { is_lost_ = true; }
    [[nodiscard]] bool is_lost() const { return is_lost_; }

private:
    std::unique_ptr<spool::StackImage> image_ = std::make_unique<spool::StackImage>();
    std::vector<char> copy_ = std::vector<char>(spool::StackImage::largest_copy);
    bool is_lost_ = false;
};

std::optional<RawSample> parse_sample(std::span<const std::byte> body, const spool::SampleFormat& format,
                                      Stacks& stacks)
{
    FixedPart fixed;
    if (body.size() < sizeof fixed) {
        return std::nullopt;
    }
    std::memcpy(&fixed, body.data(), sizeof fixed);
    const auto* words = reinterpret_cast<const std::uint64_t*>(body.data());
    auto rest = std::span(words, body.size() / sizeof *words).subspan(sizeof fixed / sizeof *words);
    const auto values = take_list(rest, fixed.values);
    if (!values) {
        return std::nullopt;
    }
    RawSample sample;
    sample.time = fixed.time;
    sample.period = fixed.period;
    sample.time_enabled = fixed.time_enabled;
    sample.time_running = fixed.time_running;
    sample.values = *values;
    sample.processor = fixed.processor;
    if (format.call_graph == spool::CallGraph::FramePointers) {
        const auto length = take_list(rest, 1);
        const auto chain = length ? take_list(rest, length->front()) : std::nullopt;
        if (!chain) {
            return std::nullopt;
        }
        sample.chain = user_part(*chain);
    }
    if (format.registers != 0) {
        const auto registers = take_registers(rest, format.registers);
        if (!registers) {
            return std::nullopt;
        }
        sample.stack.registers = *registers;
    }
    if (format.stack_bytes != 0 && !stacks.is_lost()) {
        const auto bytes = stacks.take(rest, sample.stack.registers, format.registers);
        if (!bytes) {
            return std::nullopt;
        }
        sample.stack.bytes = *bytes;
    }
    if (!is_user_address(fixed.ip)) {
        sample.kernel = fixed.ip;
    } else if (sample.chain.empty()) {
        sample.chain = {words, 1};  // the ip
    }
    return sample;
}

std::optional<RawSwitch> parse_switch(std::span<const std::byte> body, std::uint16_t misc)
{
    Trailer trailer;
    if (body.size() < sizeof trailer) {
        return std::nullopt;
    }
    std::memcpy(&trailer, body.data() + body.size() - sizeof trailer, sizeof trailer);
    return RawSwitch{trailer.time, trailer.processor, (misc & PERF_RECORD_MISC_SWITCH_OUT) != 0,
                     (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0};
}

std::optional<RawBlocked> parse_blocked(std::uint16_t misc, std::span<const std::byte> body, Stacks& stacks)
{
    constexpr std::size_t before = offsetof(spool::BlockedRecord, since);
    spool::BlockedRecord record;
    if (body.size() < sizeof record - before) {
        return std::nullopt;
    }
    std::memcpy(&record.since, body.data(), sizeof record - before);
    const auto words =
        std::span(reinterpret_cast<const std::uint64_t*>(body.data()), body.size() / sizeof(std::uint64_t));
    constexpr std::size_t fixed = (sizeof record - before) / sizeof(std::uint64_t);
    RawBlocked blocked{record.since,         record.system_call, misc != 0,
                       record.stack_pointer, record.instruction, {words.first(fixed).last(2), {}}};
    if (stacks.is_lost()) {
        return blocked;
    }
    const auto bytes = stacks.take(words.subspan(fixed), blocked.stack.registers, spool::BlockedRecord::registers);
    if (!bytes) {
        return std::nullopt;
    }
    blocked.stack.bytes = *bytes;
    return blocked;
}

std::uint64_t word_at(std::span<const std::byte> body, std::size_t index)
{
    std::uint64_t word = 0;
    if (body.size() >= (index + 1) * sizeof word) {
        std::memcpy(&word, body.data() + index * sizeof word, sizeof word);
    }
    return word;
}

// All records are multiples of 8 bytes long; zeros are what a file has behind its last record.
bool is_possible(const perf_event_header& header)
{
    return header.size >= sizeof header && header.size % 8 == 0;
}

bool is_known(std::uint32_t type)
{
    constexpr std::uint32_t most_of_kernel = 128;  // more than there are, for kernels to come
    return (type != 0 && type < most_of_kernel) || type == spool::RespiteRecord::number ||
           type == spool::BlockedRecord::number || type == spool::RunDelayRecord::number ||
           type == spool::DeepStackRecord::number;
}

// Nothing if it has none.
std::optional<std::uint64_t> time_of(const perf_event_header& header, std::span<const std::byte> body)
{
    constexpr std::size_t before_end = sizeof(Trailer) - offsetof(Trailer, time);
    switch (header.type) {
    case PERF_RECORD_SAMPLE:
        return word_at(body, offsetof(FixedPart, time) / sizeof(std::uint64_t));
    case PERF_RECORD_SWITCH:
        return body.size() < before_end ? 0 : word_at(body.last(before_end), 0);
    case spool::RespiteRecord::number:
        if (static_cast<RawRespite::Change>(header.misc) == RawRespite::Change::RestedInWaits) {
            return std::nullopt;
        }
        return word_at(body, 0);
    case spool::BlockedRecord::number:
        return word_at(body, 0);
    case spool::RunDelayRecord::number:
    case spool::DeepStackRecord::number:
        return word_at(body, 1);
    default:
        return std::nullopt;
    }
}

}  // namespace

SampleExtent extent_of_samples(std::span<const std::byte> records, std::int64_t time_offset, std::uint64_t latest)
{
    SampleExtent extent;
    std::span<const std::byte> rest = records;
    perf_event_header header;
    while (rest.size() >= sizeof header) {
        std::memcpy(&header, rest.data(), sizeof header);
        if (!is_possible(header) || !is_known(header.type)) {
            extent.is_damaged = true;  // also zeros: nothing is reserved in such a file
            break;
        }
        if (header.size > rest.size()) {
            break;
        }
        const auto time = time_of(header, rest.subspan(sizeof header, header.size - sizeof header));
        if (time && *time + static_cast<std::uint64_t>(time_offset) > latest) {
            extent.is_damaged = true;
            break;
        }
        extent.bytes += header.size;
        ++extent.records;
        rest = rest.subspan(header.size);
    }
    return extent;
}

std::uint64_t read_samples(std::span<const std::byte> rest, const spool::SampleFormat& format, std::int64_t time_offset,
                           SampleHandler& handler)
{
    const auto offset = static_cast<std::uint64_t>(time_offset);  // modulo 2^64
    std::uint64_t lost = 0;
    Stacks stacks;
    const auto lose = [&](std::uint64_t count) {
        lost += count;
        handler.on_gap();
    };
    perf_event_header header;
    while (rest.size() >= sizeof header) {
        std::memcpy(&header, rest.data(), sizeof header);
        if (!is_possible(header) || header.size > rest.size()) {
            break;
        }
        const auto body = rest.subspan(sizeof header, header.size - sizeof header);
        rest = rest.subspan(header.size);
        if (header.type == PERF_RECORD_SAMPLE) {
            if (auto sample = parse_sample(body, format, stacks)) {
                sample->time += offset;
                handler.on(*sample);
            } else {
                stacks.lose();
                lose(1);
            }
        } else if (header.type == PERF_RECORD_SWITCH) {
            if (auto change = parse_switch(body, header.misc)) {
                change->time += offset;
                handler.on(*change);
            }
        } else if (header.type == spool::RespiteRecord::number && body.size() >= sizeof(std::uint64_t)) {
            const auto change = static_cast<RawRespite::Change>(header.misc);
            const bool is_duration = change == RawRespite::Change::RestedInWaits;
            handler.on(RawRespite{word_at(body, 0) + (is_duration ? 0 : offset), change});
        } else if (header.type == spool::BlockedRecord::number) {
            if (auto blocked = parse_blocked(header.misc, body, stacks)) {
                blocked->since += offset;
                handler.on(*blocked);
            } else {
                stacks.lose();
            }
        } else if (header.type == spool::RunDelayRecord::number && body.size() >= 3 * sizeof(std::uint64_t)) {
            handler.on(RawRunDelay{word_at(body, 0) + offset, word_at(body, 1) + offset, word_at(body, 2)});
        } else if (header.type == PERF_RECORD_LOST) {
            lose(word_at(body, 1));  // id, lost
        } else if (header.type == PERF_RECORD_LOST_SAMPLES) {
            lose(word_at(body, 0));
        }
    }
    return lost;
}

}  // namespace critpath::archive
