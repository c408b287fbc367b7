// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/deep_stacks.hpp"

#include "formats/spool/record.hpp"

#include <algorithm>
#include <cstring>

#include <linux/perf_event.h>

namespace critpath::archive
{

DeepStacks::DeepStacks(std::span<const std::byte> records, std::int64_t time_offset)
{
    perf_event_header header;
    while (records.size() >= sizeof header) {
        std::memcpy(&header, records.data(), sizeof header);
        if (header.size < sizeof header || header.size % sizeof(std::uint64_t) != 0 || header.size > records.size()) {
            break;
        }
        const bool is_ours = header.type == spool::DeepStackRecord::number;
        if (is_ours && !take(records.first(header.size).subspan(sizeof header), header.misc,
                             static_cast<std::uint64_t>(time_offset))) {
            break;
        }
        records = records.subspan(header.size);
    }
    finish();
}

bool DeepStacks::take(std::span<const std::byte> body, unsigned part, std::uint64_t time_offset)
{
    using Record = spool::DeepStackRecord;
    constexpr std::size_t before = offsetof(Record, since);
    constexpr unsigned known = Record::More | Record::Whole;
    Record record;
    if (body.size() < sizeof record - before ||
        (body.size() - (sizeof record - before)) % sizeof(spool::DeepWord) != 0) {
        return false;
    }
    std::memcpy(&record.since, body.data(), sizeof record - before);
    const Times times{record.since + time_offset, record.until + time_offset};
    const bool is_whole = (part & Record::Whole) != 0;
    if (is_whole) {
        finish();
    }
    if (is_open_) {
        if (times.since != times_.back().since || times.until != times_.back().until) {
            return false;
        }
    } else if (times.since > times.until || (!times_.empty() && times.since < times_.back().until) ||
               (times_.empty() && !is_whole) || (part & ~known) != 0) {
        return false;
    } else {
        times_.push_back(times);
    }
    for (auto rest = body.subspan(sizeof record - before); !rest.empty();
         rest = rest.subspan(sizeof(spool::DeepWord))) {
        spool::DeepWord word;
        std::memcpy(&word, rest.data(), sizeof word);
        put(word.address, word.word);
    }
    is_open_ = (part & Record::More) != 0;
    return true;
}

void DeepStacks::put(std::uint64_t address, std::uint64_t word)
{
    const auto image = static_cast<std::uint32_t>(times_.size() - 1);
    std::vector<Run>& runs = runs_[address];
    if (!runs.empty() && runs.back().last == goes_on) {
        if (runs.back().first == image) {
            runs.pop_back();  // twice in one image: damaged, and the later one is as good
        } else {
            runs.back().last = image - 1;
        }
    }
    if (word != 0) {
        runs.push_back({image, goes_on, word});
    }
}

// Of an image that has no end nothing is known.
void DeepStacks::finish()
{
    if (is_open_) {
        times_.pop_back();
        is_open_ = false;
    }
    for (auto& [address, runs] : runs_) {
        if (runs.empty() || runs.back().last != goes_on) {
            continue;
        }
        if (runs.back().first >= times_.size()) {
            runs.pop_back();
        } else {
            runs.back().last = static_cast<std::uint32_t>(times_.size() - 1);
        }
    }
}

std::span<const DeepStacks::Run> DeepStacks::runs_around(std::uint64_t address, std::uint64_t time) const
{
    const std::span<const Run> all = runs(address);
    const auto ready = std::partition_point(times_.begin(), times_.end(), [=](auto& t) { return t.until <= time; });
    const auto behind = std::partition_point(ready, times_.end(), [=](auto& t) { return t.since < time; });
    if (all.empty() || ready == times_.begin() || behind == times_.end()) {
        return {};
    }
    const auto first = static_cast<std::uint32_t>(ready - times_.begin() - 1);
    const auto last = static_cast<std::uint32_t>(behind - times_.begin());
    const auto begin = std::partition_point(all.begin(), all.end(), [=](const Run& r) { return r.last < first; });
    auto end = begin;
    for (auto next = first; next <= last; next = end++->last + 1) {
        if (end == all.end() || end->first > next) {
            return {};
        }
    }
    return {begin, end};
}

std::span<const DeepStacks::Run> DeepStacks::runs(std::uint64_t address) const
{
    const auto found = runs_.find(address);
    return found == runs_.end() ? std::span<const Run>() : std::span<const Run>(found->second);
}

}  // namespace critpath::archive
