// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the collective operations of one process as data: CollectiveCall is what its part in one looks like,
// CollectiveCalls keeps many of them, in 8 bytes each (12 where some are non-blocking).
#pragma once

#include "analysis/model/calls.hpp"
#include "analysis/model/dictionary.hpp"
#include "analysis/model/table_iterator.hpp"
#include "formats/functions/functions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace critpath::model
{

/// One member's part in a collective operation.
struct CollectiveCall {
    static constexpr std::int32_t this_rank = -2;
    static constexpr std::int32_t no_precede = -4;

    CallRef call;  // of a non-blocking one: that completed it; invalid if none did
    CommId comm;
    std::int32_t root;  // rank in comm (inter-communicator: in the remote group); -1: none; this_rank, and -3:
                        // another of its side, in an inter-communicator; no_precede: a fence that need not wait for
                        // anybody (MPI_MODE_NOPRECEDE)
    std::uint64_t sent;
    std::uint64_t received;
    CallRef post{};  // of a non-blocking one: that began it; else invalid
    // Of a non-blocking one: what the trace says that it does, where the function that began it may not tell.
    functions::FunctionId operation = functions::FunctionId::none;

    [[nodiscard]] bool is_blocking() const { return !post.valid(); }
    /// The call whose enter counts, and whose function says what it was, unless that is MPI_Start.
    [[nodiscard]] CallRef begin() const { return is_blocking() ? call : post; }
};

class CollectiveCalls
{
public:
    explicit CollectiveCalls(CallNumbers numbers = {}) : numbers_(std::move(numbers)) {}

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] bool empty() const { return entries_.empty(); }
    [[nodiscard]] std::size_t capacity() const { return entries_.capacity(); }
    void reserve(std::size_t operations) { entries_.reserve(operations); }
    /// All operations are there.
    void settle()
    {
        parts_.settle();
        large_.settle();
    }

    void push_back(const CollectiveCall& c)
    {
        const std::uint32_t post = numbers_.of(c.post);
        if (c.post.valid() && posts_.empty())
            posts_.resize(size(), CallNumbers::none);
        if (!posts_.empty() || c.post.valid())
            posts_.push_back(post);
        entries_.push_back({numbers_.of(c.call), part(c.comm, c.root, {c.sent, c.received}, c.operation)});
    }

    /// What its completion says of a non-blocking one. `operation` counts if its post did not say it.
    void complete(std::size_t i, CallRef call, CommId comm, std::int32_t root, std::uint64_t sent,
                  std::uint64_t received, functions::FunctionId operation = functions::FunctionId::none)
    {
        const functions::FunctionId posted = parts_[entries_[i].part].operation;
        entries_[i] = {numbers_.of(call),
                       part(comm, root, {sent, received}, posted == functions::FunctionId::none ? operation : posted)};
    }

    /// So far all calls were of one location; now there are others, and they are numbered like this.
    void renumber(const CallNumbers& numbers)
    {
        const std::uint32_t start = numbers.of(numbers_.ref(0));
        for (Entry& entry : entries_)
            entry.call += entry.call == CallNumbers::none ? 0 : start;
        for (std::uint32_t& post : posts_)
            post += post == CallNumbers::none ? 0 : start;
        numbers_ = numbers;
    }

    /// Entry i becomes what was entry order[i]; others are gone.
    void select(std::span<const std::uint32_t> order)
    {
        std::vector<Entry> entries;
        std::vector<std::uint32_t> posts;
        for (const std::uint32_t i : order) {
            entries.push_back(entries_[i]);
            if (!posts_.empty())
                posts.push_back(posts_[i]);
        }
        entries_ = std::move(entries);
        posts_ = std::move(posts);
    }

    [[nodiscard]] CollectiveCall operator[](std::size_t i) const
    {
        const Part& part = parts_[entries_[i].part];
        const Sizes sizes = part.sent == very_large ? large_[part.received] : Sizes{part.sent, part.received};
        return {numbers_.ref(entries_[i].call),
                part.comm,
                part.root,
                sizes.sent,
                sizes.received,
                posts_.empty() ? CallRef{} : numbers_.ref(posts_[i]),
                part.operation};
    }
    [[nodiscard]] TableIterator<CollectiveCalls> begin() const { return {*this, 0}; }
    [[nodiscard]] TableIterator<CollectiveCalls> end() const { return {*this, size()}; }

private:
    static constexpr std::uint32_t very_large = UINT32_MAX;
    struct Sizes {
        std::uint64_t sent, received;
        bool operator==(const Sizes&) const = default;
    };
    struct SizesHash {
        std::size_t operator()(const Sizes& s) const noexcept
        {
            constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;
            return static_cast<std::size_t>((s.sent * odd ^ s.received) * odd >> 32);
        }
    };
    /// What the parts in many operations have in common. Where sizes vary, they may be as many as the operations.
    struct Part {
        CommId comm;
        std::int32_t root;
        std::uint32_t sent;      // bytes; or very_large
        std::uint32_t received;  // likewise; if `sent` is very_large, both are in large_, at this number
        functions::FunctionId operation;
        bool operator==(const Part&) const = default;
    };
    static_assert(sizeof(Part) == 20);
    struct PartHash {
        std::size_t operator()(const Part& p) const noexcept
        {
            constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;
            std::uint64_t h = (std::uint64_t{p.comm.value} << 32 | static_cast<std::uint32_t>(p.root)) * odd;
            h = (h ^ h >> 32 ^ p.sent ^ static_cast<std::uint64_t>(p.operation) << 48) * odd;
            h = (h ^ h >> 32 ^ p.received) * odd;
            return static_cast<std::size_t>(h >> 32);
        }
    };
    struct Entry {
        std::uint32_t call;
        std::uint32_t part;
    };

    /// Its number in parts_.
    std::uint32_t part(CommId comm, std::int32_t root, const Sizes& sizes, functions::FunctionId operation)
    {
        if (std::max(sizes.sent, sizes.received) < very_large)
            return parts_.add({comm, root, static_cast<std::uint32_t>(sizes.sent),
                               static_cast<std::uint32_t>(sizes.received), operation});
        return parts_.add({comm, root, very_large, large_.add(sizes), operation});
    }

    CallNumbers numbers_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> posts_;  // by entry; empty: all are blocking
    Dictionary<Part, PartHash> parts_;
    Dictionary<Sizes, SizesHash> large_;
};

}  // namespace critpath::model
