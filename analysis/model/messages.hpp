// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the message operations of one process as data: Send and Receive are what one looks like, Sends and Receives keep
// many of them, in 16 bytes each.
#pragma once

#include "analysis/model/calls.hpp"
#include "analysis/model/dictionary.hpp"
#include "analysis/model/table_iterator.hpp"
#include "formats/functions/functions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace critpath::model
{

using functions::SendMode;

/// A send operation, at the position of its post (the call in which it began).
struct Send {
    CallRef post;
    CallRef completion;  // == post for blocking sends; invalid if it was never completed
    CommId comm;         // none() if it was cancelled
    std::int32_t dest;   // rank in comm (inter-communicator: in the remote group)
    std::int32_t tag;
    SendMode mode;
    std::uint64_t bytes;
};

/// A receive operation, at the position of its post; source and tag are the actual ones.
struct Receive {
    CallRef post;
    CallRef completion;  // == post for blocking receives; invalid if it was never completed
    CallRef matched;     // the Mprobe or Improbe at which it was matched; invalid: at the post
    CommId comm;         // none() if it got no message: not completed, or cancelled
    std::int32_t source;
    std::int32_t tag;
    std::uint64_t bytes;
};

/// What a message says on the outside, as its process names it: `peer` is the rank of its destination or its source.
struct Envelope {
    CommId comm;
    std::int32_t peer;
    std::int32_t tag;
    bool operator==(const Envelope&) const = default;
};

struct EnvelopeHash {
    std::size_t operator()(const Envelope& e) const noexcept
    {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;
        std::uint64_t h = (std::uint64_t{e.comm.value} << 32 | static_cast<std::uint32_t>(e.peer)) * odd;
        h = (h ^ h >> 32 ^ static_cast<std::uint32_t>(e.tag)) * odd;
        return static_cast<std::size_t>(h >> 32);
    }
};

using EnvelopeId = std::uint32_t;  // within one table

/// What the two have in common. Calls are named by their number in the process; Sends and Receives also say CallRef.
class MessageTable
{
public:
    static constexpr EnvelopeId no_envelope = (1U << 29) - 1;

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] bool empty() const { return entries_.empty(); }
    [[nodiscard]] std::size_t capacity() const { return entries_.capacity(); }
    void reserve(std::size_t messages) { entries_.reserve(messages); }

    [[nodiscard]] std::uint32_t post(std::size_t i) const { return entries_[i].post; }
    [[nodiscard]] std::uint32_t completion(std::size_t i) const { return entries_[i].completion; }
    [[nodiscard]] EnvelopeId envelope(std::size_t i) const { return entries_[i].envelope; }
    [[nodiscard]] bool has_envelope(std::size_t i) const { return entries_[i].envelope != no_envelope; }
    [[nodiscard]] const Dictionary<Envelope, EnvelopeHash>& envelopes() const { return envelopes_; }
    [[nodiscard]] std::uint64_t bytes(std::size_t i) const
    {
        const std::uint32_t bytes = entries_[i].bytes;
        return bytes == very_large ? large_.at(static_cast<std::uint32_t>(i)) : bytes;
    }

    /// It was completed without a message, or is not to be known any more.
    void cancel(std::size_t i, CallRef completion)
    {
        entries_[i].completion = numbers_.of(completion);
        entries_[i].envelope = no_envelope;
    }

    /// So far all calls were of one location; now there are others, and they are numbered like this.
    void renumber(const CallNumbers& numbers)
    {
        const std::uint32_t start = numbers.of(numbers_.ref(0));
        for (Entry& entry : entries_) {
            entry.post += start;
            entry.completion += entry.completion == CallNumbers::none ? 0 : start;
        }
        numbers_ = numbers;
    }

    /// All messages are there.
    void settle() { envelopes_.settle(); }

protected:
    struct Entry {
        std::uint32_t post, completion;
        std::uint32_t envelope : 29;
        std::uint32_t mode : 3;
        std::uint32_t bytes;
    };
    static_assert(sizeof(Entry) == 16);
    static constexpr std::uint32_t very_large = std::numeric_limits<std::uint32_t>::max();

    explicit MessageTable(CallNumbers numbers) : numbers_(std::move(numbers)) {}

    void add(CallRef post, CallRef completion, const Envelope& envelope, SendMode mode, std::uint64_t bytes)
    {
        entries_.push_back({numbers_.of(post), numbers_.of(completion), 0, static_cast<unsigned>(mode) & 7U, 0});
        set_message(size() - 1, envelope, bytes);
    }

    void set_message(std::size_t i, const Envelope& envelope, std::uint64_t bytes)
    {
        entries_[i].envelope = (envelope.comm.valid() ? envelopes_.add(envelope) : no_envelope) & no_envelope;
        entries_[i].bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, very_large));
        if (bytes >= very_large)
            large_[static_cast<std::uint32_t>(i)] = bytes;
    }

    [[nodiscard]] Envelope envelope_of(std::size_t i) const
    {
        return has_envelope(i) ? envelopes_[entries_[i].envelope] : Envelope{CommId::none(), -1, -1};
    }

    /// Entry i becomes what was entry order[i]; others are gone.
    void select(std::span<const std::uint32_t> order)
    {
        std::vector<Entry> entries;
        entries.reserve(order.size());
        std::unordered_map<std::uint32_t, std::uint64_t> large;
        for (const std::uint32_t i : order) {
            if (entries_[i].bytes == very_large)
                large[static_cast<std::uint32_t>(entries.size())] = large_.at(i);
            entries.push_back(entries_[i]);
        }
        entries_ = std::move(entries);
        large_ = std::move(large);
    }

    CallNumbers numbers_;
    std::vector<Entry> entries_;

private:
    std::unordered_map<std::uint32_t, std::uint64_t> large_;  // sizes that do not fit
    Dictionary<Envelope, EnvelopeHash> envelopes_;
};

class Sends : public MessageTable
{
public:
    explicit Sends(CallNumbers numbers = {}) : MessageTable(std::move(numbers)) {}

    void push_back(const Send& s) { add(s.post, s.completion, {s.comm, s.dest, s.tag}, s.mode, s.bytes); }
    void complete(std::size_t i, CallRef completion) { entries_[i].completion = numbers_.of(completion); }
    void select(std::span<const std::uint32_t> order) { MessageTable::select(order); }

    [[nodiscard]] SendMode mode(std::size_t i) const { return static_cast<SendMode>(entries_[i].mode); }
    [[nodiscard]] Send operator[](std::size_t i) const
    {
        const auto [comm, dest, tag] = envelope_of(i);
        return {numbers_.ref(post(i)), numbers_.ref(completion(i)), comm, dest, tag, mode(i), bytes(i)};
    }
    [[nodiscard]] TableIterator<Sends> begin() const { return {*this, 0}; }
    [[nodiscard]] TableIterator<Sends> end() const { return {*this, size()}; }
};

class Receives : public MessageTable
{
public:
    explicit Receives(CallNumbers numbers = {}) : MessageTable(std::move(numbers)) {}

    void push_back(const Receive& r)
    {
        add(r.post, r.completion, {r.comm, r.source, r.tag}, SendMode::None, r.bytes);
        if (r.matched.valid())
            set_matched(size() - 1, r.matched);
    }
    void complete(std::size_t i, CallRef completion, const Envelope& envelope, std::uint64_t bytes)
    {
        entries_[i].completion = numbers_.of(completion);
        set_message(i, envelope, bytes);
    }
    void complete(std::size_t i, CallRef completion) { entries_[i].completion = numbers_.of(completion); }
    void set_matched(std::size_t i, CallRef call) { matched_[static_cast<std::uint32_t>(i)] = call; }
    void select(std::span<const std::uint32_t> order)
    {
        MessageTable::select(order);
        std::unordered_map<std::uint32_t, CallRef> matched;
        for (std::uint32_t i = 0; i < order.size() && !matched_.empty(); ++i)
            if (const auto found = matched_.find(order[i]); found != matched_.end())
                matched[i] = found->second;
        matched_ = std::move(matched);
    }

    [[nodiscard]] bool any_matched() const { return !matched_.empty(); }
    [[nodiscard]] CallRef matched(std::size_t i) const
    {
        if (matched_.empty())
            return {};
        const auto found = matched_.find(static_cast<std::uint32_t>(i));
        return found == matched_.end() ? CallRef{} : found->second;
    }
    [[nodiscard]] Receive operator[](std::size_t i) const
    {
        const auto [comm, source, tag] = envelope_of(i);
        return {numbers_.ref(post(i)), numbers_.ref(completion(i)), matched(i), comm, source, tag, bytes(i)};
    }
    [[nodiscard]] TableIterator<Receives> begin() const { return {*this, 0}; }
    [[nodiscard]] TableIterator<Receives> end() const { return {*this, size()}; }

private:
    std::unordered_map<std::uint32_t, CallRef> matched_;  // of a matched probe; few
};

}  // namespace critpath::model
