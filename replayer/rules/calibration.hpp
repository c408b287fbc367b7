// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the replay learns from the trace about the machine: the least cost of a call, the least time of a
// message, the eager limit, the least time of a collective. All from integers that combine by minimum, maximum or
// sum, so that the outcome does not depend on how many processes gathered them. (docs/ALGORITHM, "What the trace
// teaches about the machine")
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/rules/operation.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace critpath::replayer::rules
{

using model::Ns;

using model::size_bucket;
inline constexpr int size_buckets = 65;

constexpr std::uint64_t largest_size(int bucket)
{
    return bucket < 64 ? (std::uint64_t{1} << bucket) - 1 : UINT64_MAX;
}
constexpr std::uint64_t smallest_size(int bucket)
{
    return bucket > 0 ? std::uint64_t{1} << (bucket - 1) : 0;
}

/// Where a message travels. Each class has a speed and an eager limit of its own.
enum class Link : std::uint8_t { SameNode, OtherNode };
inline constexpr int links = 2;

// ------------------------------------------------------------------------------------------- cost of calls

/// How long the calls of one (function, size bucket) took: a histogram with 16 steps an octave and the exact minimum.
class Durations
{
public:
    static constexpr int bins = 640;

    void add(Ns duration);
    void merge(const Durations& other);
    [[nodiscard]] bool empty() const;

    /// The duration that 1 % of the calls do not exceed, at least the minimum.
    [[nodiscard]] Ns fast() const;
    /// Median absolute deviation of the calls that took at most twice `fast()`: the scatter of calls that did not
    /// wait, however many others did.
    [[nodiscard]] Ns scatter() const;
    /// From the first quartile to the third, to the step.
    [[nodiscard]] Ns spread() const;
    /// How many took so long, to the step, or longer.
    [[nodiscard]] std::uint64_t count_from(Ns duration) const;

    // Flat access, for a reduction over processes: `counts` by sum, `minimum` by minimum.
    std::array<std::uint64_t, bins> counts{};
    std::int64_t minimum = std::numeric_limits<std::int64_t>::max();

private:
    /// The first bin up to which there are so many of a hundred.
    [[nodiscard]] int bin_of_percent(std::uint64_t percent) const;
};

struct CallKey {
    FunctionId function;
    int bucket;
    auto operator<=>(const CallKey&) const = default;

    /// A number of its own, less than `count`; in their order.
    static constexpr std::size_t count = static_cast<std::size_t>(FunctionId::count) * size_buckets;
    [[nodiscard]] constexpr std::size_t number() const
    {
        return static_cast<std::size_t>(function) * size_buckets + static_cast<std::size_t>(bucket);
    }
    static constexpr CallKey of(std::size_t number)
    {
        return {static_cast<FunctionId>(number / size_buckets), static_cast<int>(number % size_buckets)};
    }
};

/// What a call costs that waits for nobody, and by how much it must exceed that to count as having waited.
struct CallCost {
    Ns least;
    Ns threshold;
};

/// It completes one message. Of several, nobody knows how many they were, so that what one takes says nothing.
bool completes_one_message(FunctionId function);
/// It may receive that, and does nothing else before.
bool receives_one_message(FunctionId function);

class CallCosts
{
public:
    void set(CallKey key, const Durations& durations);
    [[nodiscard]] CallCost of(FunctionId function, std::uint64_t bytes) const
    {
        return of_bucket(function, size_bucket(bytes));
    }
    [[nodiscard]] CallCost of_bucket(FunctionId function, int bucket) const
    {
        const bool is_known = !costs_.empty() && function < FunctionId::count;
        return is_known ? costs_[CallKey{function, bucket}.number()] : without_example(function, bucket);
    }

    /// The kinds of which there are examples, and which cost more than that. Ascending.
    [[nodiscard]] std::vector<CallKey> above(Ns cost) const;

    /// Calls that complete one message of `bucket` cost no more than `most`: all of them may have waited.
    void bound_messages(int bucket, Ns most);
    /// A call of this kind needed no more than that once somebody else had done his part: if those of the kind take
    /// much longer, all of them may have waited. There must be an example of it. The least such bound counts.
    void bound(CallKey key, Ns most);
    /// Likewise; and each of them ended when what it completed had come.
    void bound_all_waited(CallKey key, Ns most);
    [[nodiscard]] bool have_all_waited(CallKey key) const
    {
        return !examples_.empty() && key.function < FunctionId::count && examples_[key.number()].have_all_waited;
    }

private:
    struct Example {
        std::optional<CallCost> cost;
        std::optional<Ns> most;
        bool have_all_waited = false;
    };

    [[nodiscard]] Ns most(FunctionId function, int bucket) const;
    [[nodiscard]] CallCost without_example(FunctionId function, int bucket) const;
    [[nodiscard]] CallCost conclude(CallKey key) const;

    // By the number of the key, made at the first set(): what the trace has examples of, and what follows.
    std::vector<Example> examples_;
    std::vector<CallCost> costs_;
    std::array<std::optional<Ns>, size_buckets> most_of_messages_;
};

// ------------------------------------------------------------------------------------------ time of messages

/// The shortest observed time from start to completion among the messages of one size bucket.
struct FastestMessage {
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    std::int64_t ns = none;
    std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();  // of that message; ties: the smallest

    void add(std::int64_t elapsed_ns, std::uint64_t message_bytes);
    void merge(const FastestMessage& other) { add(other.ns, other.bytes); }
};
using FastestMessages = std::array<FastestMessage, size_buckets>;

/// What a message may take of which it is only known that it was there when somebody asked for it: 20 us, and 1 GB/s.
Ns usual_transfer(std::uint64_t bytes);

/// No processor copies faster: 64 GB/s. What was there sooner had come before.
constexpr Ns fastest_copy(std::uint64_t bytes)
{
    return Ns{static_cast<std::int64_t>(bytes / 64)};
}

/// Least time of a message by its size: the lower convex hull of the fastest messages, made monotone first (a
/// larger message is not faster). Without any message it is 0.
class TransferTime
{
public:
    TransferTime() = default;
    explicit TransferTime(const FastestMessages& fastest);
    /// `fastest` are upper bounds: also of those that nobody waited for, which may have lain there for as long as their
    /// receiver computed. Where a size has only such ones, the usual time is the estimate if that is less, or what
    /// follows from those of other sizes that were `waited_for`.
    TransferTime(const FastestMessages& waited_for, FastestMessages fastest);
    [[nodiscard]] Ns of(std::uint64_t bytes) const;

private:
    [[nodiscard]] Ns most(std::uint64_t bytes) const;

    struct Point {
        std::uint64_t bytes;
        std::int64_t ns;
    };
    std::vector<Point> hull_;
};

// --------------------------------------------------------------------------------------- time of collectives

/// Whose examples tell how long a collective takes: of one that is not blocking, or persistent, the blocking one that
/// does the same; else itself.
FunctionId timed_as(FunctionId function);

struct CollectiveKey {
    FunctionId function;  // timed_as() some
    int bytes_bucket;
    int members_bucket;
    auto operator<=>(const CollectiveKey&) const = default;
};

/// The least time of each kind of collective from the last needed arrival to the leave.
class CollectiveTimes
{
public:
    using Entry = std::pair<CollectiveKey, Ns>;

    /// Fastest in the order of the keys.
    void set(CollectiveKey key, Ns least);
    [[nodiscard]] std::optional<Ns> find(CollectiveKey key) const;
    /// Those of a function.
    [[nodiscard]] std::span<const Entry> of(FunctionId function) const;

private:
    std::vector<Entry> entries_;  // ascending
};

/// What a collective may take after its last needed arrival without any example: a tree whose steps take 20 us and
/// copy at 1 GB/s. `bytes`: the largest part of a member. That of a root is what all together get or give.
Ns usual_completion(FunctionId function, std::uint64_t bytes, std::size_t members);

// ------------------------------------------------------------------------------------------------ all of it

/// From this size on, what a call costs is next to nothing beside what its messages take.
inline constexpr std::uint64_t large_message = 65536;

/// Standard sends up to this size are buffered by every implementation that is in use. Larger limits are learned; but
/// a program whose sends all complete together with its receives (Isend, Irecv, Waitall) proves nothing.
inline constexpr std::int64_t surely_eager = 1024;

/// How far off distances between times of different locations may be. Without definitions they are exact.
class ClockUncertainty
{
public:
    ClockUncertainty() = default;
    /// `definitions` must outlive this.
    explicit ClockUncertainty(const model::Definitions& definitions);

    [[nodiscard]] Ns between(model::LocationId a, model::LocationId b) const
    {
        return largest_ == Ns{0} ? Ns{0} : definitions_->uncertainty(a, b);
    }
    /// The own part of a location in that, which is the sum of both.
    [[nodiscard]] Ns of(model::LocationId location) const
    {
        return largest_ == Ns{0} ? Ns{0} : definitions_->uncertainty(definitions_->locations[location.value].process);
    }
    [[nodiscard]] Ns largest() const { return largest_; }

private:
    const model::Definitions* definitions_ = nullptr;
    Ns largest_{0};
};

/// The calibrated quantities; equal on all processes.
struct Calibration {
    CallCosts calls;
    std::array<TransferTime, links> transfer;   // of messages
    std::array<TransferTime, links> one_sided;  // between windows: often by other ways than messages
    // In bytes: up to the first, data travels at once; up to the second, sends wait for nobody.
    std::array<std::int64_t, links> eager_limit = {surely_eager, surely_eager};
    std::array<std::int64_t, links> local_limit = {surely_eager, surely_eager};
    CollectiveTimes collectives;
    bool collectives_unseen = false;  // they are still to come; until then those times are lower bounds
    ClockUncertainty clocks;

    /// Least time of a collective after its last needed arrival; 0 where the trace has no example.
    [[nodiscard]] Ns collective(FunctionId function, std::uint64_t bytes, std::size_t members) const;
    /// The longest time after an arrival at which a collective may still be said to have waited for it: four times the
    /// fastest example, at least the usual.
    [[nodiscard]] Ns collective_limit(FunctionId function, std::uint64_t bytes, std::size_t members) const;
    /// Least time of any message.
    [[nodiscard]] Ns least_message() const { return std::min(transfer[0].of(0), transfer[1].of(0)); }
};

}  // namespace critpath::replayer::rules
