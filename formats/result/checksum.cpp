// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/result/checksum.hpp"

#include <array>
#include <bit>
#include <string>

namespace critpath::result
{

namespace
{

/// FNV-1a over 64-bit words instead of bytes, with a final mix: each step is a bijection, so that a change of one
/// word always changes the sum.
class Sum
{
public:
    void add(std::uint64_t word)
    {
        state_ = (state_ ^ word) * 0x00000100000001b3U;
        state_ ^= state_ >> 29U;
    }

    void add(const std::string& text)
    {
        add(text.size());
        std::uint64_t word = 0;
        std::size_t used = 0;
        for (const char byte : text) {
            word = word << 8U | static_cast<unsigned char>(byte);
            if (++used % 8 == 0)
                add(word);
        }
        add(word);
    }

    [[nodiscard]] std::int64_t value() const { return static_cast<std::int64_t>(state_); }

private:
    std::uint64_t state_ = 0xcbf29ce484222325U;
};

void add(Sum& sum, const model::CallPath& path)
{
    sum.add(path.row.value);
    sum.add(path.parent.value);
    sum.add(path.site);
}

void add(Sum& sum, const model::Module& module)
{
    sum.add(module.path);
    sum.add(module.build_id);
    sum.add(std::uint64_t{module.has_lines});
    sum.add(std::uint64_t{module.lacks_split_units});
}

void add(Sum& sum, const model::AddressTime& time)
{
    sum.add(time.call_path.value);
    sum.add(time.address);
    sum.add(static_cast<std::uint64_t>(time.ns));
    sum.add(time.samples);
}

void add(Sum& sum, const model::EventCount& event)
{
    sum.add(event.call_path.value);
    sum.add(event.process.value);
    sum.add(event.event);
    for (const std::int64_t number : {event.count, event.ns, event.known_ns, event.scaled_ns, event.sample_count})
        sum.add(static_cast<std::uint64_t>(number));
}

void add(Sum& sum, const model::CallPathTime& time)
{
    sum.add(static_cast<std::uint64_t>(time.other_threads_ns));
    sum.add(static_cast<std::uint64_t>(time.found_ns));
    sum.add(static_cast<std::uint64_t>(time.in_calls_ns));
    sum.add(time.call_path.value);
    sum.add(time.process.value);
    sum.add(static_cast<std::uint64_t>(time.ns));
    sum.add(time.samples);
}

void add(Sum& sum, const model::KindTime& time)
{
    sum.add(static_cast<std::uint64_t>(time.kind));
    sum.add(time.function.value);
    sum.add(time.process.value);
    sum.add(static_cast<std::uint64_t>(time.ns));
    sum.add(time.segments);
}

void add(Sum& sum, const model::Stretch& stretch)
{
    sum.add(stretch.before.value);
    sum.add(stretch.after.value);
    for (const model::StretchNumber& number : model::stretch_numbers)
        sum.add(static_cast<std::uint64_t>(stretch.*number.member));
}

void add(Sum& sum, const model::StretchShare& share)
{
    sum.add(share.stretch);
    sum.add(share.process.value);
    sum.add(static_cast<std::uint64_t>(share.ns));
    sum.add(static_cast<std::uint64_t>(share.gaps));
    sum.add(static_cast<std::uint64_t>(share.longer_ns));
}

void add(Sum& sum, const model::StretchRank& rank)
{
    sum.add(rank.stretch);
    sum.add(rank.process.value);
    for (const model::DifferenceNumber& number : model::difference_numbers)
        sum.add(static_cast<std::uint64_t>(rank.*number.member));
}

void add(Sum& sum, const model::StretchCode& code)
{
    sum.add(code.stretch);
    sum.add(code.call_path.value);
    sum.add(static_cast<std::uint64_t>(code.ns));
    sum.add(code.samples);
    sum.add(static_cast<std::uint64_t>(code.spinning_ns));
    sum.add(static_cast<std::uint64_t>(code.blocked_ns));
    sum.add(static_cast<std::uint64_t>(code.peers_ns));
}

void add(Sum& sum, const model::StretchAddress& at)
{
    sum.add(at.stretch);
    sum.add(at.row.value);
    sum.add(at.address);
    sum.add(static_cast<std::uint64_t>(at.ns));
    sum.add(at.samples);
    sum.add(static_cast<std::uint64_t>(at.peers_ns));
}

void add(Sum& sum, const model::ProcessTotals& process)
{
    sum.add(process.name);
    sum.add(process.node);
    for (const std::int64_t ns : {process.lifetime_ns, process.mpi_ns, process.path_ns, process.sampled_ns})
        sum.add(static_cast<std::uint64_t>(ns));
    sum.add(process.calls);
    sum.add(process.samples);
}

void add(Sum& sum, const model::ClockTotals& clock)
{
    sum.add(clock.node);
    sum.add(clock.processes);
    for (const std::int64_t ns :
         {clock.path_ns, clock.decided_ns, clock.doubted_ns, clock.correction_ns, clock.uncertainty_ns})
        sum.add(static_cast<std::uint64_t>(ns));
    sum.add(clock.last_arrivals);
    sum.add(std::uint64_t{clock.is_known});
}

void add(Sum& sum, const model::Row& row)
{
    sum.add(static_cast<std::uint64_t>(row.kind));
    sum.add(row.name);
    sum.add(row.module);
    sum.add(row.file);
    sum.add(row.line);
}

void add(Sum& sum, const model::SourceFunction& function)
{
    sum.add(function.name);
    sum.add(function.file);
    sum.add(function.line);
}

void add(Sum& sum, const model::SourceFrame& frame)
{
    sum.add(frame.module);
    sum.add(frame.address);
    sum.add(frame.function);
    sum.add(frame.file);
    sum.add(frame.line);
}

template <class Items>
void add_all(Sum& sum, const Items& items)
{
    sum.add(items.size());
    for (const auto& item : items)
        add(sum, item);
}

/// Of one record.
template <class Words>
std::uint64_t checksum_of(const Words& words, std::uint64_t number)
{
    Sum sum;
    sum.add(number);
    for (const auto word : words)
        sum.add(static_cast<std::uint64_t>(word));
    return static_cast<std::uint64_t>(sum.value());
}

template <class Record>
std::uint64_t checksum_of(std::span<const Record> records, std::uint64_t first)
{
    using Words = std::array<std::uint64_t, sizeof(Record) / sizeof(std::uint64_t)>;
    std::uint64_t total = 0;
    for (const Record& record : records)
        total += checksum_of(std::bit_cast<Words>(record), first++);
    return total;
}

}  // namespace

std::int64_t checksum(const model::Profile& profile)
{
    Sum sum;
    for (const auto& [key, value] : profile.facts) {
        if (key == checksum_fact)
            continue;
        sum.add(key);
        sum.add(static_cast<std::uint64_t>(value));
    }
    for (const auto& [key, value] : profile.properties) {
        sum.add(key);
        sum.add(value);
    }
    for (const std::string& name : profile.locations)
        sum.add(name);
    for (const std::uint32_t process : profile.location_process)
        sum.add(process);
    for (const std::int64_t ns : profile.computed_ns)
        sum.add(static_cast<std::uint64_t>(ns));
    add_all(sum, profile.processes);
    add_all(sum, profile.clocks);
    add_all(sum, profile.rows);
    add_all(sum, profile.modules);
    add_all(sum, profile.call_paths);
    add_all(sum, profile.path);
    add_all(sum, profile.totals);
    for (const std::string& name : profile.events)
        sum.add(name);
    add_all(sum, profile.path_events);
    add_all(sum, profile.addresses);
    add_all(sum, profile.total_addresses);
    add_all(sum, profile.kinds);
    add_all(sum, profile.stretches);
    add_all(sum, profile.stretch_shares);
    add_all(sum, profile.stretch_ranks);
    add_all(sum, profile.stretch_code);
    add_all(sum, profile.stretch_addresses);
    sum.add(profile.source_files.size());
    for (const std::string& path : profile.source_files)
        sum.add(path);
    add_all(sum, profile.source_functions);
    add_all(sum, profile.source_frames);
    return sum.value();
}

std::uint64_t checksum(std::span<const model::Segment> segments, std::uint64_t first)
{
    return checksum_of(segments, first);
}

std::uint64_t checksum(std::span<const model::Attribution> attributions, std::uint64_t first)
{
    return checksum_of(attributions, first);
}

std::uint64_t checksum(std::span<const model::TotalPart> totals, std::uint64_t first)
{
    return checksum_of(totals, first);
}

std::uint64_t checksum(std::span<const model::ComputedParts> computed, std::uint64_t first)
{
    return checksum_of(computed, first);
}

std::uint64_t checksum(const model::CountRecords& records, std::uint64_t first)
{
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < records.size(); ++i)
        total += checksum_of(records.record(i), first + i);
    return total;
}

}  // namespace critpath::result
