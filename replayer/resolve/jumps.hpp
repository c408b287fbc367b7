// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the jumps of the path as data: Jump is what one looks like and what travels, JumpTable keeps those of a location
// in 16 bytes each, and JumpList is how a walk sees either.
#pragma once

#include "analysis/model/dictionary.hpp"
#include "analysis/model/path.hpp"
#include "analysis/model/trace.hpp"
#include "replayer/growing_list.hpp"
#include "replayer/order.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace critpath::replayer
{

/// From the leave of a call, the path jumps to the enter of another (of any location, or an earlier one of its own).
/// All that a walk has to know. Plain data that travels between processes.
struct Jump {
    model::CallRef call;
    model::Ns leave;
    model::CallRef to;
    model::Ns to_enter;
};

/// What was waited for: all that is said of a jump on the path.
struct KnownJump : Jump {
    std::uint64_t bytes;
    model::ContextId context;  // of `call`; at a point, of the last call before it, or none() if it is of a thread
    model::SegmentKind kind;   // Transfer, Collective or Thread
    model::Confidence confidence;
    model::LocationId peer = model::LocationId::none();  // as rules::Predecessor
    bool sends = false;
};

/// Those of one location. What its trace tells is not kept a second time.
class JumpTable
{
public:
    JumpTable() = default;
    /// `locations`: of the trace.
    explicit JumpTable(std::size_t locations)
        : location_bits_(std::clamp(static_cast<unsigned>(std::bit_width(locations)), 1U, 31U))
    {
    }

    /// `jump` without its context.
    void add(const KnownJump& jump)
    {
        const model::Ns back = jump.leave - jump.to_enter;
        const std::uint32_t location = jump.to.location.value;
        const std::uint32_t message = messages_.add({jump.bytes, jump.peer, jump.kind, jump.confidence, jump.sends});
        Entry entry{jump.to.call.value, jump.call.call.value, far, static_cast<std::uint32_t>(far_ones_.size())};
        const bool is_near = model::Ns{0} <= back && back < model::Ns{far};
        if (is_near && location >> location_bits_ == 0 && message < 1U << (32 - location_bits_)) {
            entry.back = static_cast<std::uint32_t>(back.count());
            entry.what = message << location_bits_ | location;
        } else {
            far_ones_.push_back({back, message, location});
        }
        added_.push_back(entry);
    }

    /// By call; before that, nothing can be found, and behind it, nothing added. Of several of one call, the one that
    /// leads to the last moment stays.
    void sort()
    {
        entries_ = added_.take();
        // Who adds jumps does it mostly in order, one after the other.
        sort_runs(entries_, [this](const Entry& e) { return std::tuple(e.call, -back(e), to(e)); });
        const auto next_is_same = [](const Entry& a, const Entry& b) { return a.call == b.call; };
        const auto kept = std::unique(entries_.rbegin(), entries_.rend(), next_is_same);
        entries_.erase(entries_.begin(), kept.base());
        if (entries_.size() < entries_.capacity() / 8 * 7)
            entries_.shrink_to_fit();
        messages_.settle();
    }

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    /// The call that jumps.
    [[nodiscard]] std::uint32_t call(std::size_t i) const { return entries_[i].call; }
    /// `location`: whose jumps these are.
    [[nodiscard]] Jump at(std::size_t i, const model::LocationTrace& location) const
    {
        const Entry& e = entries_[i];
        const model::Ns leave = location.calls.leave(e.call);
        return {{location.location, {e.call}}, leave, to(e), leave - back(e)};
    }
    [[nodiscard]] KnownJump known(std::size_t i, const model::LocationTrace& location) const
    {
        const auto& [bytes, peer, kind, confidence, sends] = messages_[message(entries_[i])];
        const std::uint32_t call = entries_[i].call;
        const bool is_of_call = !location.calls.is_point(call) || kind != model::SegmentKind::Thread;
        const auto context = is_of_call ? location.calls.context(call) : model::ContextId::none();
        return {at(i, location), bytes, context, kind, confidence, peer, sends};
    }

private:
    /// What many jumps have in common.
    struct Message {
        std::uint64_t bytes;
        model::LocationId peer;
        model::SegmentKind kind;
        model::Confidence confidence;
        bool sends;
        bool operator==(const Message&) const = default;
    };
    struct MessageHash {
        std::size_t operator()(const Message& m) const noexcept
        {
            constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;
            const std::uint64_t rest =
                static_cast<std::uint64_t>(m.peer.value) << 17 | static_cast<std::uint64_t>(m.sends) << 16 |
                static_cast<std::uint64_t>(m.kind) << 8 | static_cast<std::uint64_t>(m.confidence);
            return static_cast<std::size_t>((m.bytes * odd ^ rest) * odd >> 32);
        }
    };
    /// Nearly all jumps lead back over less than four seconds, and there are few messages that differ. Of other jumps,
    /// an entry says where the rest is.
    static constexpr std::uint32_t far = ~0U;
    struct Entry {
        std::uint32_t to_call;
        std::uint32_t call;
        std::uint32_t back;  // ns from the enter of `to_call` until the leave of `call`; or far
        std::uint32_t what;  // the location of `to_call` in the lower location_bits_, above that which one of
                             // messages_; or if it is far, which one of far_ones_
    };
    static_assert(sizeof(Entry) == 16);
    struct Far {
        model::Ns back;
        std::uint32_t message;
        std::uint32_t location;
    };

    [[nodiscard]] model::Ns back(const Entry& e) const
    {
        return e.back != far ? model::Ns{e.back} : far_ones_[e.what].back;
    }
    [[nodiscard]] std::uint32_t message(const Entry& e) const
    {
        return e.back != far ? e.what >> location_bits_ : far_ones_[e.what].message;
    }
    [[nodiscard]] model::CallRef to(const Entry& e) const
    {
        const std::uint32_t near = e.what & ((1U << location_bits_) - 1);
        return {{e.back != far ? near : far_ones_[e.what].location}, {e.to_call}};
    }

    unsigned location_bits_ = 16;
    GrowingList<Entry> added_;    // until they are sorted: an array that doubles has three times the room, for a moment
    std::vector<Entry> entries_;  // sorted
    std::vector<Far> far_ones_;
    model::Dictionary<Message, MessageHash> messages_;
};

/// Those of a location that come from another process, as many as are expected.
class ArrivedJumps
{
public:
    ArrivedJumps() = default;
    explicit ArrivedJumps(std::size_t expected) : shift_(expected < few ? small : large)
    {
        const std::size_t piece = std::size_t{1} << shift_;
        for (std::size_t begin = 0; begin < expected; begin += piece)
            pieces_.emplace_back().reserve(std::min(piece, expected - begin));
    }

    void push_back(const Jump& jump)
    {
        location_ = jump.call.location;
        const model::Ns back = jump.leave - jump.to_enter;
        const bool is_near = model::Ns{0} <= back && back < model::Ns{far};
        const auto said =
            static_cast<std::uint32_t>(is_near ? static_cast<std::size_t>(back.count()) : far_ones_.size());
        if (!is_near)
            far_ones_.push_back(back);
        pieces_[size_++ >> shift_].push_back({jump.leave, jump.to, jump.call.call.value, is_near ? said : far | said});
    }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::uint32_t call(std::size_t i) const { return entry(i).call; }
    [[nodiscard]] model::Ns leave(std::size_t i) const { return entry(i).leave; }
    [[nodiscard]] Jump operator[](std::size_t i) const
    {
        const Entry& e = entry(i);
        const model::Ns back = e.back < far ? model::Ns{e.back} : far_ones_[e.back - far];
        return {{location_, {e.call}}, e.leave, e.to, e.leave - back};
    }

private:
    static constexpr std::uint32_t far = 1U << 31;
    struct Entry {
        model::Ns leave;
        model::CallRef to;
        std::uint32_t call;
        std::uint32_t back;  // ns from the enter of `to` until the leave; or, from `far` on, which one of far_ones_
    };
    static_assert(sizeof(Entry) == 24);

    [[nodiscard]] const Entry& entry(std::size_t i) const
    {
        return pieces_[i >> shift_][i & ((std::size_t{1} << shift_) - 1)];
    }

    // Of many locations with a few jumps each, those of one would not fit into what other small arrays have left; a
    // piece of 1.5 KiB does. Pieces of 192 KiB are paged (paged_memory.hpp), and fit into what messages have left.
    static constexpr std::size_t few = std::size_t{1} << 14;
    static constexpr unsigned small = 6, large = 13;

    model::LocationId location_;
    std::vector<std::vector<Entry>> pieces_;
    std::vector<model::Ns> far_ones_;
    unsigned shift_ = small;  // so many bits of the number of a jump say which one of a piece it is
    std::size_t size_ = 0;
};

/// The jumps of one location, ascending by call: as they are kept, or as they have come from another process.
class JumpList
{
public:
    JumpList() = default;
    JumpList(const JumpTable& table, const model::LocationTrace& location) : table_(&table), location_(&location) {}
    explicit JumpList(const ArrivedJumps& arrived) : arrived_(&arrived) {}

    [[nodiscard]] std::size_t size() const
    {
        if (table_ != nullptr)
            return table_->size();
        return arrived_ != nullptr ? arrived_->size() : 0;
    }
    [[nodiscard]] Jump operator[](std::size_t i) const
    {
        return table_ != nullptr ? table_->at(i, *location_) : (*arrived_)[i];
    }
    [[nodiscard]] std::uint32_t call(std::size_t i) const
    {
        return table_ != nullptr ? table_->call(i) : arrived_->call(i);
    }
    [[nodiscard]] model::Ns leave(std::size_t i) const
    {
        return table_ != nullptr ? location_->calls.leave(table_->call(i)) : arrived_->leave(i);
    }

    /// How many jumps are of calls before this one; and have left by this time. Fast if the answer is about `near`.
    [[nodiscard]] std::size_t before(model::CallId call_id, std::size_t near) const
    {
        return count_first(
            size(), [&](std::size_t i) { return call(i) < call_id.value; }, near);
    }
    [[nodiscard]] std::size_t until(model::Ns time, std::size_t near) const
    {
        return count_first(
            size(), [&](std::size_t i) { return leave(i) <= time; }, near);
    }

private:
    const JumpTable* table_ = nullptr;
    const model::LocationTrace* location_ = nullptr;
    const ArrivedJumps* arrived_ = nullptr;
};

}  // namespace critpath::replayer
