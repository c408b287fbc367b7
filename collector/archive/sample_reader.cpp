// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/sample_reader.hpp"

#include <algorithm>
#include <cstring>

#include <linux/perf_event.h>

namespace critpath::archive
{

namespace
{

// Layout of PERF_SAMPLE_IP | TID | TIME | PERIOD | CALLCHAIN behind the header.
struct FixedPart {
    std::uint64_t ip;
    std::uint32_t pid, tid;
    std::uint64_t time;
    std::uint64_t period;
    std::uint64_t chain_length;
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

std::optional<RawSample> parse(std::span<const std::byte> body)
{
    FixedPart fixed;
    if (body.size() < sizeof fixed) {
        return std::nullopt;
    }
    std::memcpy(&fixed, body.data(), sizeof fixed);
    if (fixed.chain_length > (body.size() - sizeof fixed) / sizeof(std::uint64_t)) {
        return std::nullopt;
    }
    const auto* words = reinterpret_cast<const std::uint64_t*>(body.data());
    RawSample sample{fixed.time, fixed.period, user_part({words + sizeof fixed / sizeof *words, fixed.chain_length})};
    if (sample.chain.empty() && is_user_address(fixed.ip)) {
        sample.chain = {words, 1};  // the ip
    }
    return sample;
}

std::uint64_t word_at(std::span<const std::byte> body, std::size_t index)
{
    std::uint64_t word = 0;
    if (body.size() >= (index + 1) * sizeof word) {
        std::memcpy(&word, body.data() + index * sizeof word, sizeof word);
    }
    return word;
}

}  // namespace

std::optional<RawSample> SampleReader::next()
{
    perf_event_header header;
    while (rest_.size() >= sizeof header) {
        std::memcpy(&header, rest_.data(), sizeof header);
        // All records are multiples of 8 bytes long; zeros are what a file has behind its last record.
        if (header.size < sizeof header || header.size % 8 != 0 || header.size > rest_.size()) {
            break;
        }
        const auto body = rest_.subspan(sizeof header, header.size - sizeof header);
        rest_ = rest_.subspan(header.size);
        if (header.type == PERF_RECORD_SAMPLE) {
            if (auto sample = parse(body)) {
                return sample;
            }
            ++lost_;
        } else if (header.type == PERF_RECORD_LOST) {
            lost_ += word_at(body, 1);  // id, lost
        } else if (header.type == PERF_RECORD_LOST_SAMPLES) {
            lost_ += word_at(body, 0);
        }
    }
    rest_ = {};
    return std::nullopt;
}

}  // namespace critpath::archive
