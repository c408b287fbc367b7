// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what threads counted while the critical path was on them. With these and the segments, what was counted can be
// divided in any part of the run.
#pragma once

#include "analysis/model/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace critpath::model
{

/// What was counted of an event. Of the processor time that it is of, so much is known, and so much of that scaled.
struct EventAmount {
    std::int64_t count = 0;
    std::int64_t ns = 0, known_ns = 0, scaled_ns = 0;
    double weighted = 0;  // the sum of each part of the count times that of the whole sample that it comes from

    void add(const EventAmount& more)
    {
        // Of damaged traces, the sum may be none.
        const auto sum = static_cast<std::uint64_t>(count) + static_cast<std::uint64_t>(more.count);
        count = static_cast<std::int64_t>(sum);
        ns += more.ns;
        known_ns += more.known_ns;
        scaled_ns += more.scaled_ns;
        weighted += more.weighted;
    }
};

/// What a sample says of the computation around it.
enum class CountOwner : std::uint32_t {
    None,      // nothing: it is in a call, of an unknown place, or there is no sample
    Function,  // its function counts
    Waiting,   // the thread waits for others, and counts its spinning
    Others,    // likewise, and what the others count comes in its place
};
inline constexpr std::uint32_t count_owners = 4;

struct CountPlace {
    std::uint64_t address;    // of the sample, in its binary; 0: not known
    std::uint32_t call_path;  // CallPathId of its function; none() of CountOwner::None
    CountOwner owner;
};

/// One record of counts.bin (formats/FORMAT.md): 80 bytes, little endian, and behind them a count for each event.
/// Sorted by process, location, whether they are moments, and begin. An interval is a part of the time between two
/// samples of a thread, in which it had a processor, and which the path has something of: counts are spread over it
/// evenly. A moment is what another thread counted for the path.
struct CountInterval {
    static constexpr std::uint32_t scaled = 1;        // its counts are of a part of the time, and scaled up
    static constexpr std::uint32_t no_processor = 2;  // as far as is known, the thread never had one in it
    static constexpr std::uint32_t moment = 4;
    static constexpr std::uint32_t all_flags = 7;

    std::int64_t begin;         // ns since the first moment of the run
    std::int64_t ns;            // its length; of a moment, the processor time that it stands for
    std::int64_t since, until;  // the samples around it: when they were taken
    CountPlace last;            // at `until`; of a moment, whose counts these are
    CountPlace before;          // at `since`
    std::uint32_t location;     // LocationId; of a moment, that of the path
    std::uint32_t flags;
    std::int64_t whole_ns;  // processor time of all that its sample counts

    [[nodiscard]] std::int64_t end() const { return begin + ns; }
    [[nodiscard]] bool has(std::uint32_t flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(CountInterval) == 80);

inline constexpr std::int64_t unknown_count = -1;

/// Records of counts.bin, wherever they are.
class CountRecords
{
public:
    static constexpr std::size_t interval_words = sizeof(CountInterval) / sizeof(std::int64_t);
    static constexpr std::size_t words_for(std::size_t events) { return interval_words + events; }

    /// `words`: of whole records, of which each has counts of so many events.
    CountRecords(std::span<const std::int64_t> words, std::size_t events)
        : words_(words), words_each_(words_for(events))
    {
    }

    [[nodiscard]] std::size_t size() const { return words_.size() / words_each_; }
    [[nodiscard]] CountInterval interval(std::size_t i) const
    {
        CountInterval result;
        std::memcpy(&result, record(i).data(), sizeof result);
        return result;
    }
    /// By event; unknown_count where that is not known.
    [[nodiscard]] std::span<const std::int64_t> counts(std::size_t i) const
    {
        return record(i).subspan(interval_words);
    }
    [[nodiscard]] std::span<const std::int64_t> record(std::size_t i) const
    {
        return words_.subspan(i * words_each_, words_each_);
    }
    [[nodiscard]] std::span<const std::int64_t> words() const { return words_; }

private:
    std::span<const std::int64_t> words_;
    std::size_t words_each_;
};

/// Records that are being made.
class CountTable
{
public:
    explicit CountTable(std::size_t events = 0) : events_(events) {}

    void push_back(const CountInterval& interval, std::span<const std::int64_t> counts)
    {
        const std::size_t at = words_.size();
        words_.resize(at + CountRecords::words_for(events_));
        std::memcpy(&words_[at], &interval, sizeof interval);
        for (std::size_t event = 0; event < events_; ++event)
            words_[at + CountRecords::interval_words + event] = counts[event];
    }
    void reserve(std::size_t records) { words_.reserve(records * CountRecords::words_for(events_)); }
    /// Calls `change(interval)` for what stands before the counts of each record.
    template <class Change>
    void change_intervals(Change change)
    {
        for (std::size_t at = 0; at < words_.size(); at += CountRecords::words_for(events_)) {
            CountInterval interval;
            std::memcpy(&interval, &words_[at], sizeof interval);
            change(interval);
            std::memcpy(&words_[at], &interval, sizeof interval);
        }
    }
    [[nodiscard]] CountRecords records() const { return {words_, events_}; }
    [[nodiscard]] std::size_t events() const { return events_; }

private:
    std::vector<std::int64_t> words_;
    std::size_t events_;
};

}  // namespace critpath::model
