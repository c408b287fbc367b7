// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/pace.hpp"

#include "analysis/model/stretch.hpp"
#include "replayer/peers/split.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

namespace critpath::replayer
{

namespace
{

constexpr double nearly_all = 0.9;  // of the processor time that a sample tells of

std::optional<std::size_t> place_of(const std::vector<std::string>& counted, const char* event)
{
    const auto found = std::ranges::find(counted, event);
    return found == counted.end() ? std::nullopt : std::optional<std::size_t>(found - counted.begin());
}

/// The samples that tell of the place, in order of time.
class SamplesAt
{
public:
    SamplesAt(Gaps& gaps, std::span<const std::uint32_t> list, const PaceEvents& events)
        : gaps_(gaps), list_(list), events_(events)
    {
    }

    std::vector<CountedTime> take()
    {
        const std::vector<model::Sample>& samples = gaps_.location().samples;
        std::vector<CountedTime> result;
        for (std::size_t s = 1; s < samples.size() && next_ < list_.size(); ++s) {
            const Ns since = samples[s - 1].time, time = samples[s].time;
            while (next_ < list_.size() && gaps_.end_of(list_[next_]) <= since)
                ++next_;
            const auto whole = static_cast<double>(gaps_.on_processor(since, time));
            if (whole <= 0 || static_cast<double>(inside(since, time)) < nearly_all * whole)
                continue;
            const auto instructions = count(s, events_.instructions), cycles = count(s, events_.cycles);
            if (instructions && cycles)
                result.push_back({whole, *instructions, *cycles, other_count(s, events_.cache_misses),
                                  other_count(s, events_.branch_misses)});
        }
        return result;
    }

private:
    using Ns = model::Ns;

    /// Of [since, time), what is in gaps of the list, on the processor.
    std::int64_t inside(Ns since, Ns time)
    {
        std::int64_t ns = 0;
        for (std::size_t i = next_; i < list_.size() && gaps_.begin_of(list_[i]) < time; ++i)
            ns += gaps_.on_processor(std::max(since, gaps_.begin_of(list_[i])), std::min(time, gaps_.end_of(list_[i])));
        return ns;
    }

    /// None, if it should be known and is not.
    [[nodiscard]] std::optional<double> count(std::size_t sample, std::optional<std::size_t> event) const
    {
        if (!event)
            return 0;
        const std::int64_t count = gaps_.location().sample_counts.count(sample, *event);
        return count < 0 ? std::nullopt : std::optional<double>(static_cast<double>(count));
    }

    /// Less than 0 if it is not known.
    [[nodiscard]] double other_count(std::size_t sample, std::optional<std::size_t> event) const
    {
        return event ? static_cast<double>(gaps_.location().sample_counts.count(sample, *event)) : -1;
    }

    Gaps& gaps_;
    std::span<const std::uint32_t> list_;
    const PaceEvents& events_;
    std::size_t next_ = 0;  // in the list: the first that ends behind the last sample
};

}  // namespace

Ratio ratio(std::span<const CountedTime> parts, double CountedTime::*over, double CountedTime::*under)
{
    double sum_over = 0;
    double sum_under = 0;
    for (const CountedTime& part : parts) {
        sum_over += part.*over;
        sum_under += part.*under;
    }
    const double quotient = sum_over / sum_under;
    double squared = 0;
    for (const CountedTime& part : parts) {
        const double difference = part.*over - quotient * part.*under;
        squared += difference * difference;
    }
    const auto n = static_cast<double>(parts.size());
    return {rounded(std::log(quotient) * fixed_one),
            rounded(n / (n - 1) * squared / (sum_over * sum_over) * fixed_one)};
}

Misses misses(std::span<const CountedTime> parts, double CountedTime::*count)
{
    std::vector<CountedTime> known;
    std::ranges::copy_if(parts, std::back_inserter(known), [&](const CountedTime& part) { return part.*count >= 0; });
    if (known.size() < static_cast<std::size_t>(model::enough_samples))
        return {};
    double instructions = 0;
    for (const CountedTime& part : known)
        instructions += part.instructions;
    if (instructions <= 0)
        return {};
    if (std::ranges::any_of(known, [&](const CountedTime& part) { return part.*count > 0; }))
        return {1, ratio(known, count, &CountedTime::instructions)};
    constexpr double half = 0.5, variance = 1 / half;  // of Poisson's distribution: as much as its mean
    return {1, {rounded(std::log(half / instructions) * fixed_one), rounded(variance * fixed_one)}};
}

PaceEvents pace_events(const model::Definitions& definitions)
{
    if (!definitions.has_samples)
        return {};
    const auto place = [&](const char* event) { return place_of(definitions.counted, event); };
    return {place("instructions"), place("cycles"), place("cache-misses"), place("branch-misses")};
}

Pace pace(Gaps& gaps, std::span<const std::uint32_t> list, const PaceEvents& events)
{
    const std::vector<CountedTime> parts = SamplesAt(gaps, list, events).take();
    Pace result;
    const auto has_some = [&](double CountedTime::*count) {
        return std::ranges::any_of(parts, [&](const CountedTime& part) { return part.*count > 0; });
    };
    if ((events.instructions && !has_some(&CountedTime::instructions)) ||
        (events.cycles && !has_some(&CountedTime::cycles)))
        return result;  // who computes counts both
    result.samples = static_cast<std::int64_t>(parts.size());
    if (result.samples < model::enough_samples)
        return result;
    if (events.instructions)
        result.instruction_time = ratio(parts, &CountedTime::ns, &CountedTime::instructions);
    if (events.cycles)
        result.frequency = ratio(parts, &CountedTime::cycles, &CountedTime::ns);
    if (events.instructions && events.cycles)
        result.cycles = ratio(parts, &CountedTime::cycles, &CountedTime::instructions);
    if (events.instructions) {
        result.cache_misses = misses(parts, &CountedTime::cache_misses);
        result.branch_misses = misses(parts, &CountedTime::branch_misses);
    }
    return result;
}

}  // namespace critpath::replayer
