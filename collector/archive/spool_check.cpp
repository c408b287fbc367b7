// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/spool_check.hpp"

#include "collector/archive/sample_reader.hpp"
#include "formats/functions/functions.hpp"
#include "formats/otf2/clock_correction.hpp"
#include "formats/otf2/time_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace critpath::archive
{

namespace
{

using spool::RecordKind;

constexpr std::size_t record_bytes = sizeof(spool::Record);
// Half of what the replay takes for possible: the clocks of other ranks may be far away.
constexpr auto longest_recording = static_cast<std::uint64_t>(otf2::longest_run / 2);
// Clocks may be a little off, which is no damage: the archive puts events in their order.
constexpr std::uint64_t tolerance = 1'000'000;  // ns
constexpr std::size_t smallest_block = 512;     // of a file system

bool is_zero(std::span<const std::byte> bytes)
{
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

/// The times of what a process recorded.
class Times
{
public:
    explicit Times(const spool::SpoolHeader& header)
        : earliest_(header.process_start - std::min(header.process_start, tolerance)),
          latest_(header.process_start + longest_recording)
    {
    }

    [[nodiscard]] bool have(std::uint64_t time) const { return time >= earliest_ && time <= latest_; }
    [[nodiscard]] bool are_behind(std::uint64_t time) const { return time > latest_; }

private:
    std::uint64_t earliest_, latest_;
};

struct Damage {
    std::uint64_t at = 0;  // the number of a record, from 0
    std::string what;
};

// One pass over the records of a thread.
class CallsCheck
{
public:
    explicit CallsCheck(const SpoolFile& file) : file_(file), times_(file.header()), cursor_(file.records()) {}

    void run()
    {
        for (RecordKind kind = cursor_.kind(); kind != RecordKind::Empty; kind = cursor_.kind()) {
            if (!damage_) {
                look_at(kind);
            }
            cursor_.skip();
            ++number_;
        }
        if (suspect_) {
            place_blame(false);
        }
        look_behind_end();
        if (!damage_) {
            look_at_end();
        }
    }

    [[nodiscard]] const std::optional<Damage>& damage() const { return damage_; }
    /// Packed records are missing; then nothing behind them is read in any case.
    [[nodiscard]] bool has_gap() const { return cursor_.missing() > 0; }
    /// Before the damage there is none.
    [[nodiscard]] bool has_no_call() const { return first_call_ >= damage_->at; }
    /// Records are missing, nobody knows how many.
    [[nodiscard]] bool is_cut() const { return is_cut_; }
    /// In all, as far as it is known.
    [[nodiscard]] std::uint64_t records() const
    {
        const spool::SpoolHeader& header = file_.header();
        return std::max(number_ + behind_end_, header.closed != 0 ? header.records : 0);
    }

private:
    void report(std::uint64_t at, std::string what) { damage_ = Damage{at, std::move(what)}; }

    void look_at(RecordKind kind)
    {
        switch (kind) {
        case RecordKind::Call:
            first_call_ = std::min(first_call_, number_);
            [[fallthrough]];
        case RecordKind::Tool:
        case RecordKind::Off:
            look_at_interval(kind, cursor_.peek<spool::Record>());
            break;
        case RecordKind::Clock: {
            const auto clock = cursor_.peek<spool::ClockRecord>();
            constexpr std::int64_t largest = otf2::largest_clock_offset / 2;
            if (times_.are_behind(clock.time) || clock.low > clock.high || clock.low < -largest ||
                clock.high > largest) {
                report(number_, "which compares clocks as no clocks are");
            }
            break;
        }
        case RecordKind::Skipped:
            if (times_.are_behind(cursor_.peek<spool::SkippedRecord>().since)) {
                report(number_, outside);
            }
            break;
        default:
            break;
        }
    }

    void look_at_interval(RecordKind kind, const spool::Record& record)
    {
        if (kind == RecordKind::Call && record.function >= static_cast<std::uint16_t>(functions::FunctionId::count)) {
            report(number_, "which names a function that there is not");
        } else if (!times_.have(record.enter) || !times_.have(record.leave)) {
            report(number_, outside);
        } else if (record.enter > record.leave) {
            report(number_, "which ends before it begins");
        } else {
            look_at_order(kind, record.leave);
        }
    }

    // Records are in the order of their leaves, but the last of polls in vain grows although a pause may follow it.
    void look_at_order(RecordKind kind, std::uint64_t leave)
    {
        if (kind == RecordKind::Call && suspect_) {
            place_blame(leave + tolerance < latest_);
        } else if (kind == RecordKind::Call && leave + tolerance < latest_) {
            suspect_ = number_;
        } else if (!suspect_ && leave >= latest_) {
            latest_ = leave;
            latest_number_ = number_;
        }
    }

    // Two records contradict each other; which of them is wrong, the next call says.
    void place_blame(bool on_earlier)
    {
        report(on_earlier ? latest_number_ : *suspect_, "where times run backwards");
        suspect_.reset();
    }

    void look_behind_end()
    {
        const std::uint64_t first = file_.header().first_record;
        const std::span<const std::byte> stage = file_.stage();
        slots_ = stage.size() / record_bytes;
        slot_ = number_ - std::min(number_, first);
        if (first <= number_ && slot_ <= slots_) {  // otherwise what stands there was read before
            const std::span<const std::byte> rest = stage.subspan(slot_ * record_bytes);
            is_empty_ = rest.empty() || rest.front() == std::byte{0};
            behind_end_ = used_slots(rest);
        }
    }

    void look_at_end()
    {
        const spool::SpoolHeader& header = file_.header();
        const auto call = cursor_.open_call(latest_);
        if (has_gap()) {
            report(number_, "where packed records do not go on");
        } else if (behind_end_ > 0) {
            report(number_,
                   is_empty_ ? "which is empty, though others stand behind it" : "which is of no kind that there is");
        } else if (call && times_.are_behind(call->enter)) {
            report(number_, outside);
        } else if (header.stage_bytes % record_bytes != 0 || is_shorter_than_made()) {
            is_cut_ = true;
            report(number_, "where the file is cut off");
        } else if (slot_ < slots_ && !is_zero(cursor_.unread_frames())) {
            report(number_, "where packed records do not go on");
        } else if (header.closed != 0 && header.records > number_) {
            report(number_, fmt::format("where one of {} should be", header.records));
        } else if (number_ == 0 && header.thread == 0) {
            report(0, "where nothing is");
        }
    }

    // From the beginning of `rest` to the last that has a kind; the first may be a call that was not finished. Behind
    // that a writer has left nothing but zeros.
    static std::uint64_t used_slots(std::span<const std::byte> rest)
    {
        if (rest.size() < record_bytes) {
            return 0;
        }
        std::size_t used = rest.front() != std::byte{0} ? 1 : 0;
        for (std::size_t slot = 1; (slot + 1) * record_bytes <= rest.size(); ++slot) {
            if (!is_zero(rest.subspan(slot * record_bytes, record_bytes))) {
                used = slot + 1;
            }
        }
        return used;
    }

    // What is reserved at the beginning is given back where it was not needed.
    [[nodiscard]] bool is_shorter_than_made() const
    {
        const spool::SpoolHeader& header = file_.header();
        const bool is_given_back = header.closed != 0 && header.first_record == 0;
        return !is_given_back && file_.stage().size() < header.stage_bytes;
    }

    static constexpr const char* outside = "whose time is outside of the recording";

    const SpoolFile& file_;
    Times times_;
    RecordCursor cursor_;
    std::uint64_t number_ = 0;  // of the record at the cursor
    std::uint64_t first_call_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t slot_ = 0, slots_ = 0;  // of the stage: that behind the last record, and in all
    bool is_empty_ = true;                // that one
    bool is_cut_ = false;
    std::uint64_t behind_end_ = 0;  // slots with something that was not read
    std::uint64_t latest_ = 0;      // leave so far, of
    std::uint64_t latest_number_ = 0;
    std::optional<std::uint64_t> suspect_;  // a call that ends before that
    std::optional<Damage> damage_;
};

// Returns whether there is a call that can be trusted, if there is damage.
bool check_calls(const std::string& path, ThreadSpool& thread, std::vector<std::string>& damage)
{
    CallsCheck check(*thread.calls);
    check.run();
    if (!check.damage()) {
        return true;
    }
    const std::uint64_t trusted = check.damage()->at;
    damage.push_back(fmt::format("{}: damaged at record {}, {}: what stands there and behind it", path, trusted + 1,
                                 check.damage()->what));
    if (check.has_gap()) {
        return true;
    }
    thread.trusted_records = trusted;
    thread.damaged_records = check.records() - std::min(check.records(), trusted);
    if (check.is_cut() && thread.samples) {
        // Without calls they would say that the thread went on computing.
        thread.damaged_records = std::max<std::uint64_t>(thread.damaged_records, 1);
    }
    return !check.has_no_call();
}

void check_samples(const std::string& path, SpoolFile& file, std::vector<std::string>& damage)
{
    const SampleExtent extent =
        extent_of_samples(file.body(), file.header().time_offset, file.header().process_start + longest_recording);
    const bool is_short = file.header().closed != 0 && extent.records < file.header().records;
    // A process that is killed while it writes has written whole blocks.
    const bool is_cut = extent.bytes < file.body().size() && file.body().size() % smallest_block != 0;
    if (extent.is_damaged || is_short || is_cut) {
        damage.push_back(fmt::format("{}: {} behind {} bytes: the samples that stand there", path,
                                     extent.is_damaged ? "damaged" : "cut off", spool::header_size + extent.bytes));
    }
    if (extent.is_damaged) {
        file.trust(extent.bytes);
    }
}

}  // namespace

bool check_records(const std::string& directory, int rank, ProcessSpool& process, std::vector<std::string>& damage)
{
    bool has_calls = true;
    for (ThreadSpool& thread : process.threads) {
        const std::string base = fmt::format("{}/{}.{}", directory, rank, thread.thread);
        if (thread.calls && !check_calls(base + ".calls", thread, damage) && thread.thread == 0) {
            has_calls = false;
        }
        if (thread.samples) {
            check_samples(base + ".samples", *thread.samples, damage);
        }
    }
    return has_calls;
}

}  // namespace critpath::archive
