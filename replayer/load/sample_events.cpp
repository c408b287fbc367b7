// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The part of EventLoader that reads samples and counters.
#include "replayer/load/events.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace critpath::replayer::load
{

using namespace model;
using otf2::Moment;
namespace event = otf2::event;

void EventLoader::on(const Moment& moment, const event::Metric& record)
{
    const Ns now = advance(moment);
    if (const auto sampled = vocabulary_.sampled.find(record.metric); sampled != vocabulary_.sampled.end()) {
        if (!events_.read(now, record, sampled->second, definitions_.counted.size())) {
            ++out_.anomalies.ignored_metric_records;
        }
        return;
    }
    const auto places = vocabulary_.counters.find(record.metric);
    if (places == vocabulary_.counters.end() || !counts_.read(now, record, places->second)) {
        ++out_.anomalies.ignored_metric_records;
    }
}

/// The weight is the period, in units of the generator; scale_samples makes it time.
void EventLoader::on(const Moment& moment, const event::CallingContextSample& record)
{
    const Ns now = advance(moment);
    const auto context = vocabulary_.contexts.find(record.context);
    if (!context.valid() || record.generator != vocabulary_.generator.reference) {
        ignore();
        return;
    }
    const auto& attributes = vocabulary_.attributes;
    std::uint64_t period = vocabulary_.generator.period;
    std::uint64_t offset = 0;
    if (attributes.period != OTF2_UNDEFINED_ATTRIBUTE) {
        period = moment.uint64(attributes.period).value_or(period);
    }
    if (attributes.offset != OTF2_UNDEFINED_ATTRIBUTE) {
        offset = moment.uint64(attributes.offset).value_or(0);
    }
    std::uint64_t page_faults = 0;
    if (attributes.page_faults != OTF2_UNDEFINED_ATTRIBUTE) {
        constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
        page_faults = std::min(most, moment.uint64(attributes.page_faults).value_or(0));
    }
    out_.trace.samples.push_back(
        {now, context, static_cast<std::uint32_t>(page_faults), static_cast<std::int64_t>(period), offset});
    add_counts(now, moment, page_faults);
}

/// What stands before the sample, or in its attributes.
void EventLoader::add_counts(Ns now, const Moment& moment, std::uint64_t page_faults)
{
    const std::size_t events = definitions_.counted.size();
    if (events == 0) {
        return;
    }
    const std::span<std::int64_t> counts = events_.take(now, events);
    const auto& attributes = vocabulary_.attributes;
    const bool has_faults = attributes.page_faults != OTF2_UNDEFINED_ATTRIBUTE &&
                            vocabulary_.locations[out_.trace.location.value].counts_page_faults;
    if (has_faults) {
        counts.front() = static_cast<std::int64_t>(page_faults);
    }
    bool is_scaled = false;
    if (attributes.counted != OTF2_UNDEFINED_ATTRIBUTE) {
        const auto counted = moment.uint32(attributes.counted);
        is_scaled = counted.has_value();
        if (counted == 0U) {
            std::ranges::fill(counts, model::SampleCounts::unknown);
        }
    }
    out_.trace.sample_counts.push_back(counts, is_scaled);
}

void EventLoader::scale_samples()
{
    auto& samples = out_.trace.samples;
    if (samples.empty()) {
        return;
    }
    double ns = vocabulary_.generator.ns_per_unit;
    if (!vocabulary_.generator.counts_time) {
        ns = vocabulary_.locations[out_.trace.location.value].ns_per_count;
        if (ns <= 0) {
            // The trace does not say how long an event takes. Take it that the thread never rested while it was
            // sampled.
            double counts = 0;
            std::for_each(samples.begin() + 1, samples.end(), [&](const Sample& s) { counts += double(s.weight); });
            const auto span = static_cast<double>((samples.back().time - samples.front().time).count());
            ns = counts > 0 ? span / counts : 0;
        }
    }
    constexpr std::int64_t longest = std::int64_t{1}
                                     << 40;  // 18 minutes; damaged traces say more, and their sum is none
    for (auto& sample : samples) {
        if (ns != 1 || sample.weight < 0 || sample.weight > longest) {
            const double weight = static_cast<double>(sample.weight) * ns;
            sample.weight = std::llround(std::fmin(std::fmax(weight, 0), static_cast<double>(longest)));
        }
    }
}

}  // namespace critpath::replayer::load
