// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/rules/calibration.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <string>
#include <string_view>

namespace critpath::replayer::rules
{

namespace
{

__extension__ using Wide = __int128;

constexpr int steps = 16;  // of the histogram, an octave
constexpr Ns least_threshold = std::chrono::microseconds{1};

/// Where every call of a bucket waited, the shortest of them says nothing about the cost of a call. No call that
/// copies its data at 1 GB/s costs more than this, whatever size of the bucket they have.
constexpr Ns most_cost(std::uint64_t bytes)
{
    constexpr std::uint64_t most_bytes = 1ULL << 40;
    return std::chrono::microseconds{5} + Ns{static_cast<std::int64_t>(std::min(bytes, most_bytes))};
}

int bin_of(std::int64_t ns)
{
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
    if (value < steps)
        return static_cast<int>(value);
    const int octave = static_cast<int>(std::bit_width(value)) - 5;  // 16..31 is octave 0
    const int step = static_cast<int>((value >> octave) - steps);
    return std::min(steps + octave * steps + step, Durations::bins - 1);
}

std::int64_t bin_begin(int bin)
{
    if (bin < steps)
        return bin;
    const int octave = (bin - steps) / steps;
    return static_cast<std::int64_t>(steps + (bin - steps) % steps) << octave;
}

struct Weighted {
    std::int64_t value;
    std::uint64_t count;
};

/// The smallest value that at least half of the weight does not exceed. `values` is sorted.
std::int64_t median(std::span<const Weighted> values)
{
    std::uint64_t total = 0;
    for (const Weighted& w : values)
        total += w.count;
    std::uint64_t below = 0;
    for (const Weighted& w : values) {
        below += w.count;
        if (2 * below >= total)
            return w.value;
    }
    return 0;
}

}  // namespace

// ------------------------------------------------------------------------------------------- cost of calls

bool completes_one_message(FunctionId function)
{
    using enum functions::SemanticClass;
    const auto of = functions::semantic_class(function);
    return of == Send || of == Recv || of == Mrecv || of == Sendrecv || of == Wait || of == Waitany;
}

bool receives_one_message(FunctionId function)
{
    using enum functions::SemanticClass;
    const auto of = functions::semantic_class(function);
    return of == Recv || of == Mrecv || of == Wait || of == Waitany;
}

void Durations::add(Ns duration)
{
    ++counts[static_cast<std::size_t>(bin_of(duration.count()))];
    minimum = std::min(minimum, std::max<std::int64_t>(duration.count(), 0));
}

void Durations::merge(const Durations& other)
{
    for (std::size_t i = 0; i < counts.size(); ++i)
        counts[i] += other.counts[i];
    minimum = std::min(minimum, other.minimum);
}

bool Durations::empty() const
{
    return minimum == std::numeric_limits<std::int64_t>::max();
}

int Durations::bin_of_percent(std::uint64_t percent) const
{
    const std::uint64_t total = count_from(Ns{0});
    std::uint64_t below = 0;
    for (int bin = 0; bin < bins; ++bin) {
        below += counts[static_cast<std::size_t>(bin)];
        if (below > 0 && 100 * below >= percent * total)
            return bin;
    }
    return 0;
}

Ns Durations::fast() const
{
    return empty() ? Ns{0} : Ns{std::max(minimum, bin_begin(bin_of_percent(1)))};
}

Ns Durations::spread() const
{
    return Ns{bin_begin(bin_of_percent(75)) - bin_begin(bin_of_percent(25))};
}

std::uint64_t Durations::count_from(Ns duration) const
{
    std::uint64_t count = 0;
    for (int bin = bin_of(duration.count()); bin < bins; ++bin)
        count += counts[static_cast<std::size_t>(bin)];
    return count;
}

Ns Durations::scatter() const
{
    const std::int64_t from = fast().count();
    std::vector<Weighted> values;
    for (int bin = bin_of(from); bin < bins && bin_begin(bin) <= 2 * from; ++bin)
        values.push_back({std::max(from, bin_begin(bin)), counts[static_cast<std::size_t>(bin)]});
    const std::int64_t middle = median(values);
    for (Weighted& w : values)
        w.value = std::abs(w.value - middle);
    std::ranges::sort(values, {}, &Weighted::value);
    return Ns{median(values)};
}

void CallCosts::set(CallKey key, const Durations& durations)
{
    for (std::size_t i = costs_.size(); i < CallKey::count; ++i) {
        examples_.emplace_back();
        costs_.push_back(without_example(CallKey::of(i).function, CallKey::of(i).bucket));
    }
    if (durations.empty())
        return;
    examples_[key.number()].cost = {durations.fast(), std::max(least_threshold, 3 * durations.scatter())};
    costs_[key.number()] = conclude(key);
}

std::vector<CallKey> CallCosts::above(Ns cost) const
{
    std::vector<CallKey> keys;
    for (std::size_t i = 0; i < examples_.size(); ++i)
        if (examples_[i].cost && costs_[i].least > cost)
            keys.push_back(CallKey::of(i));
    return keys;
}

void CallCosts::bound_messages(int bucket, Ns most)
{
    most_of_messages_[static_cast<std::size_t>(bucket)] = most;
    for (std::size_t function = 0; function < costs_.size() / size_buckets; ++function) {
        const CallKey key{static_cast<FunctionId>(function), bucket};
        costs_[key.number()] = conclude(key);
    }
}

void CallCosts::bound(CallKey key, Ns most)
{
    std::optional<Ns>& known = examples_[key.number()].most;
    known = std::min(known.value_or(most), most);
    costs_[key.number()] = conclude(key);
}

Ns CallCosts::most(FunctionId function, int bucket) const
{
    const Ns usual = most_cost(largest_size(bucket));
    const auto& of_messages = most_of_messages_[static_cast<std::size_t>(bucket)];
    return of_messages && completes_one_message(function) ? std::min(usual, *of_messages) : usual;
}

void CallCosts::bound_all_waited(CallKey key, Ns most)
{
    examples_[key.number()].have_all_waited = true;
    bound(key, most);
}

CallCost CallCosts::without_example(FunctionId function, int bucket) const
{
    return {most(function, bucket), least_threshold};
}

CallCost CallCosts::conclude(CallKey key) const
{
    const Example& example = examples_[key.number()];
    const CallCost without = without_example(key.function, key.bucket);
    const std::optional<CallCost>& cost = example.cost;
    if (cost && example.most && cost->least > *example.most + least_threshold)
        return {std::min(without.least, *example.most), least_threshold};
    // If all calls waited, their scatter is not that of the cost.
    return cost && cost->least <= without.least ? *cost : without;
}

// ------------------------------------------------------------------------------------------ time of messages

Ns usual_transfer(std::uint64_t bytes)
{
    return std::chrono::microseconds{15} + most_cost(bytes);
}

void FastestMessage::add(std::int64_t elapsed_ns, std::uint64_t message_bytes)
{
    if (elapsed_ns < ns || (elapsed_ns == ns && message_bytes < bytes)) {
        ns = elapsed_ns;
        bytes = message_bytes;
    }
}

TransferTime::TransferTime(const FastestMessages& fastest)
{
    std::vector<Point> points;  // from the largest size down
    std::int64_t least = FastestMessage::none;
    for (auto message = fastest.rbegin(); message != fastest.rend(); ++message) {
        if (message->ns == FastestMessage::none)
            continue;
        least = std::min(least, message->ns);
        points.push_back({message->bytes, least});
    }
    std::ranges::reverse(points);
    for (const Point& p : points) {
        const auto above = [&](const Point& a, const Point& b) {  // b is on or above the line from a to p
            return Wide{b.ns - a.ns} * Wide{p.bytes - a.bytes} >= Wide{p.ns - a.ns} * Wide{b.bytes - a.bytes};
        };
        while (hull_.size() >= 2 && above(hull_[hull_.size() - 2], hull_.back()))
            hull_.pop_back();
        hull_.push_back(p);
    }
}

TransferTime::TransferTime(const FastestMessages& waited_for, FastestMessages fastest)
{
    const TransferTime known(waited_for);
    for (std::size_t bucket = 0; bucket < fastest.size(); ++bucket) {
        FastestMessage& message = fastest[bucket];
        if (message.ns != FastestMessage::none && waited_for[bucket].ns == FastestMessage::none)
            message.ns = std::min(message.ns, known.most(message.bytes).count());
    }
    *this = TransferTime(fastest);
}

/// The usual time, or what follows from those that are known: of a size between them, the line; beyond them, if these
/// are slower than usual, it may be as much. Small ones do not tell what a byte of a large one takes.
Ns TransferTime::most(std::uint64_t bytes) const
{
    const Ns usual = usual_transfer(bytes);
    if (hull_.empty())
        return usual;
    const bool is_below = bytes < hull_.front().bytes;
    const Point& nearest = is_below ? hull_.front() : hull_.back();
    const Wide scaled = Wide{usual.count()} * nearest.ns / usual_transfer(nearest.bytes).count();
    Wide time = scaled;
    if (is_below)
        time = std::min(scaled, Wide{nearest.ns});
    else if (bytes <= nearest.bytes)
        time = of(bytes).count();
    else if (hull_.size() > 1)  // one size is no line
        time = std::min(scaled, Wide{of(bytes).count()});
    return std::max(usual, Ns{static_cast<std::int64_t>(time)});
}

Ns TransferTime::of(std::uint64_t bytes) const
{
    if (hull_.empty())
        return Ns{0};
    if (bytes <= hull_.front().bytes || hull_.size() == 1)
        return Ns{hull_.front().ns};
    std::size_t right = 1;  // beyond the last point, its line goes on
    while (right + 1 < hull_.size() && hull_[right].bytes < bytes)
        ++right;
    const Point& a = hull_[right - 1];
    const Point& b = hull_[right];
    const Wide product = Wide{b.ns - a.ns} * Wide{bytes - a.bytes}, run = Wide{b.bytes - a.bytes};
    constexpr Wide longest = Wide{1} << 60;
    // Mostly, all numbers are small: then it takes less time.
    const bool are_small = product >= 0 && product < longest && run < longest;
    const Wide rise = are_small ? static_cast<std::int64_t>(product) / static_cast<std::int64_t>(run) : product / run;
    return Ns{a.ns + static_cast<std::int64_t>(std::min(rise, longest))};
}

// --------------------------------------------------------------------------------------- time of collectives

void CollectiveTimes::set(CollectiveKey key, Ns least)
{
    const auto at = entries_.empty() || entries_.back().first < key
                        ? entries_.end()
                        : std::ranges::lower_bound(entries_, key, {}, &Entry::first);
    if (at != entries_.end() && at->first == key)
        at->second = least;
    else
        entries_.insert(at, {key, least});
}

std::optional<Ns> CollectiveTimes::find(CollectiveKey key) const
{
    const auto at = std::ranges::lower_bound(entries_, key, {}, &Entry::first);
    return at != entries_.end() && at->first == key ? std::optional(at->second) : std::nullopt;
}

std::span<const CollectiveTimes::Entry> CollectiveTimes::of(FunctionId function) const
{
    const auto function_of = [](const Entry& entry) { return entry.first.function; };
    const auto begin = std::ranges::lower_bound(entries_, function, {}, function_of);
    return {begin, std::ranges::upper_bound(begin, entries_.end(), function, {}, function_of)};
}

Ns usual_completion(FunctionId function, std::uint64_t bytes, std::size_t members)
{
    const auto shape = operation(function).shape;
    const bool has_root = shape == CollectiveShape::OneToAll || shape == CollectiveShape::AllToOne;
    const int depth = members > 1 ? size_bucket(members - 1) : 1;
    const Ns step = usual_transfer(0);
    return depth * step + (has_root ? 1 : depth) * (usual_transfer(bytes) - step);
}

ClockUncertainty::ClockUncertainty(const model::Definitions& definitions)
    : definitions_(&definitions), largest_(definitions.largest_uncertainty())
{
}

namespace
{

/// "MPI_Ibcast" or "MPI_Bcast_init": "MPI_Bcast".
std::string blocking_name(const functions::FunctionInfo& info)
{
    constexpr std::string_view prefix = "MPI_", init = "_init";
    const std::string_view name = info.name;
    if (info.semantic_class == functions::SemanticClass::CollectiveInit && name.ends_with(init))
        return std::string(name.substr(0, name.size() - init.size()));
    if (info.semantic_class != functions::SemanticClass::Icollective || name.size() < prefix.size() + 2)
        return {};
    std::string result(prefix);
    result += static_cast<char>(std::toupper(static_cast<unsigned char>(name[prefix.size() + 1])));
    return result.append(name.substr(prefix.size() + 2));
}

std::vector<FunctionId> blocking_forms()
{
    std::vector<FunctionId> forms(static_cast<std::size_t>(FunctionId::count));
    for (std::size_t i = 0; i < forms.size(); ++i) {
        forms[i] = FunctionId(i);
        if (const std::string name = blocking_name(functions::table[i]); !name.empty())
            for (std::size_t other = 0; other < forms.size(); ++other)
                if (functions::table[other].name == name)
                    forms[i] = FunctionId(other);
    }
    return forms;
}

}  // namespace

FunctionId timed_as(FunctionId function)
{
    static const std::vector<FunctionId> forms = blocking_forms();
    return function < FunctionId::count ? forms[static_cast<std::size_t>(function)] : function;
}

Ns Calibration::collective(FunctionId function, std::uint64_t bytes, std::size_t members) const
{
    CollectiveKey key{function, size_bucket(bytes), size_bucket(members)};
    std::optional<Ns> found = collectives.find(key);
    if (!found && timed_as(function) != function) {
        key.function = timed_as(function);
        found = collectives.find(key);
    }
    return found.value_or(Ns{0});
}

Ns Calibration::collective_limit(FunctionId function, std::uint64_t bytes, std::size_t members) const
{
    return std::max(4 * collective(function, bytes, members), usual_completion(function, bytes, members));
}

}  // namespace critpath::replayer::rules
