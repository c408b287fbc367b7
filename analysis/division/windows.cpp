// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/division/windows.hpp"

#include "analysis/model/pseudo_rows.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace critpath::division
{

namespace
{

using model::Attribution;
using model::CallPathId;
using model::Segment;
using model::SegmentKind;

struct Amount {
    std::int64_t ns = 0;
    std::uint64_t count = 0;
    std::int64_t found_ns = 0;  // as CallPathTime

    void add(std::int64_t more_ns, std::uint64_t more, std::int64_t more_found = 0)
    {
        ns += more_ns;
        count += more;
        found_ns += more_found;
    }
};

/// Where the time of a segment goes that is not attributed otherwise.
class Defaults
{
public:
    explicit Defaults(const model::Profile& profile) : profile_(profile), transfers_(profile.call_paths.size())
    {
        std::ranges::fill(transfers_, CallPathId::none());
        for (std::uint32_t i = 0; i < profile.call_paths.size(); ++i) {
            const model::Row& row = profile.row({i});
            if (row.kind != model::RowKind::Pseudo)
                continue;
            const CallPathId parent = profile.call_paths[i].parent;
            if (!parent.valid())
                roots_.emplace(row.name, CallPathId{i});
            else if (row.name == model::pseudo::transfer)
                transfers_[parent.value] = {i};
        }
    }

    [[nodiscard]] CallPathId root(std::string_view name) const
    {
        const auto found = roots_.find(name);
        return found == roots_.end() ? CallPathId::none() : found->second;
    }

    /// Every trace with samples has it.
    [[nodiscard]] CallPathId not_sampled() const { return root(model::pseudo::not_sampled); }

    /// Not of computation.
    [[nodiscard]] CallPathId of(const Segment& segment) const
    {
        const CallPathId call{segment.call};
        switch (static_cast<SegmentKind>(segment.kind)) {
        case SegmentKind::Compute:
            break;
        case SegmentKind::Mpi:
        case SegmentKind::Delay:
        case SegmentKind::Collective:
            return call;
        case SegmentKind::Transfer:
            return call.valid() ? transfers_.at(call.value) : root(model::pseudo::transfer);
        case SegmentKind::StartDelay:
            return root(model::pseudo::start_delay);
        case SegmentKind::Tool:
            return root(model::pseudo::measurement);
        case SegmentKind::Unrecorded:
            return root(model::pseudo::not_recorded);
        case SegmentKind::Thread:
            return root(model::pseudo::threads);
        }
        return CallPathId::none();
    }

    [[nodiscard]] model::RowId function_of(const Segment& segment) const
    {
        const CallPathId call{segment.call};
        const auto kind = static_cast<SegmentKind>(segment.kind);
        const bool in_call = kind == SegmentKind::Mpi || kind == SegmentKind::Transfer ||
                             kind == SegmentKind::Collective || kind == SegmentKind::Delay;
        return in_call && call.valid() ? profile_.row_of(call) : model::RowId::none();
    }

private:
    const model::Profile& profile_;
    std::map<std::string_view, CallPathId> roots_;
    std::vector<CallPathId> transfers_;  // by the call path that they are below
};

/// The sums of one window.
class Divider
{
public:
    Divider(const model::Profile& profile, const Defaults& defaults, const HasRank& has_rank, const Window& window)
        : profile_(profile), defaults_(defaults), has_rank_(has_rank), window_(window),
          coverage_(profile.processes.size()), process_path_ns_(profile.processes.size(), 0)
    {
    }

    void add(const Segment& segment)
    {
        const std::int64_t ns = length_in(window_, segment.begin, segment.end);
        const std::uint32_t process = profile_.location_process[segment.location];
        const auto kind = static_cast<SegmentKind>(segment.kind);
        kinds_[{kind, defaults_.function_of(segment).value, process}].add(ns, 1);
        process_path_ns_[process] += ns;
        if (kind == SegmentKind::Compute)
            coverage_[process].time += ns;
        else
            add_path(defaults_.of(segment), process, ns, 0);
    }

    void add(const Attribution& attribution)
    {
        const CallPathId call_path{attribution.call_path};
        const std::uint32_t process = profile_.location_process[attribution.location];
        if (attribution.is_sample()) {
            independent_samples_ += attribution.independent;
            if (call_path.valid())
                add_sample(attribution, process);
            return;
        }
        const std::int64_t ns = length_in(window_, attribution.begin, attribution.begin + attribution.ns);
        add_path(call_path, process, ns, 0, attribution.is_found() ? ns : 0);
        add_address(attribution, process, ns, 0);
        const bool is_sampled =  // what a sample in another wait has left
            profile_.row(call_path).kind == model::RowKind::Sampled && defaults_.not_sampled().valid();
        if (is_sampled)
            coverage_[process].sampled += ns;
        else if (attribution.kind == model::AttributionKind::Computation)
            coverage_[process].time -= ns;
        else
            add_path(profile_.call_paths[call_path.value].parent, process, -ns, 0);
    }

    Parts take(bool has_samples)
    {
        Parts parts;
        parts.window = window_;
        if (!has_samples) {
            for (std::uint32_t process = 0; process < coverage_.size(); ++process)
                if (coverage_[process].time != 0)
                    add_path(defaults_.root(model::pseudo::compute), process, coverage_[process].time, 0);
            coverage_.clear();
        }
        for (const auto& [key, amount] : path_)
            if (amount.ns != 0 || amount.count != 0)
                parts.path.push_back({{static_cast<std::uint32_t>(key >> 32U)},
                                      {static_cast<std::uint32_t>(key)},
                                      amount.ns,
                                      amount.count,
                                      0,
                                      amount.found_ns});
        std::ranges::sort(parts.path, {},
                          [](const model::CallPathTime& t) { return std::tuple(t.call_path, t.process); });
        for (const auto& [key, amount] : addresses_)
            parts.addresses.push_back({{key.first}, key.second, amount.ns, amount.count});
        for (const auto& [key, amount] : kinds_) {
            const auto& [kind, function, process] = key;
            parts.kinds.push_back({kind, {function}, {process}, amount.ns, amount.count});
        }
        parts.process_path_ns = std::move(process_path_ns_);
        parts.coverage = std::move(coverage_);
        parts.independent_samples = independent_samples_;
        return parts;
    }

private:
    void add_path(CallPathId call_path, std::uint32_t process, std::int64_t ns, std::uint64_t samples,
                  std::int64_t found_ns = 0)
    {
        if (!call_path.valid())
            throw std::out_of_range("the path has a place that the result does not know");
        path_[std::uint64_t{call_path.value} << 32U | process].add(ns, samples, found_ns);
    }

    void add_sample(const Attribution& sample, std::uint32_t process)
    {
        add_path({sample.call_path}, process, sample.ns, 1);
        coverage_[process].sampled += sample.ns;
        add_address(sample, process, sample.ns, 1);
    }

    void add_address(const Attribution& of, std::uint32_t process, std::int64_t ns, std::uint64_t samples)
    {
        if (of.address != 0 && (ns > 0 || samples > 0) && (!has_rank_ || has_rank_({process})))
            addresses_[{of.call_path, of.address}].add(ns, samples);
    }

    const model::Profile& profile_;
    const Defaults& defaults_;
    const HasRank& has_rank_;
    Window window_;
    std::unordered_map<std::uint64_t, Amount> path_;  // by call path and process
    std::map<std::pair<std::uint32_t, std::uint64_t>, Amount> addresses_;
    std::map<std::tuple<SegmentKind, std::uint32_t, std::uint32_t>, Amount> kinds_;
    std::vector<SampledTime> coverage_;
    std::vector<std::int64_t> process_path_ns_;
    std::uint64_t independent_samples_ = 0;
};

}  // namespace

std::vector<Parts> divide(const model::Profile& profile, const PathRecords& records, std::span<const Window> windows,
                          const HasRank& has_rank)
{
    const Defaults defaults(profile);
    std::vector<Divider> dividers;
    dividers.reserve(windows.size());
    for (const Window& window : windows)
        dividers.emplace_back(profile, defaults, has_rank, window);

    auto segment =
        std::ranges::upper_bound(records.segments, windows.empty() ? 0 : windows.front().begin, {}, &Segment::end);
    for (std::size_t i = 0; i < windows.size(); ++i) {
        while (segment != records.segments.end() && segment->end <= windows[i].begin)
            ++segment;
        auto next = segment;
        for (; next != records.segments.end() && next->begin < windows[i].end; ++next)
            dividers[i].add(*next);
        segment = next == segment ? segment : next - 1;  // it may reach into the next window
    }
    for (const Attribution& attribution : records.attributions) {
        if (attribution.is_inside_mpi())
            continue;
        // A sample is a point, and so in one window.
        const std::int64_t end = attribution.begin + (attribution.is_sample() ? 1 : attribution.ns);
        auto i = static_cast<std::size_t>(std::ranges::upper_bound(windows, attribution.begin, {}, &Window::end) -
                                          windows.begin());
        for (; i < windows.size() && windows[i].begin < end; ++i)
            dividers[i].add(attribution);
    }

    std::vector<Parts> result;
    for (Divider& divider : dividers)
        result.push_back(divider.take(defaults.not_sampled().valid()));
    return result;
}

void restrict_to(model::Profile& profile, Parts parts)
{
    profile.path = std::move(parts.path);
    profile.addresses = std::move(parts.addresses);
    profile.kinds = std::move(parts.kinds);
    profile.totals = std::move(parts.totals);
    profile.total_addresses.clear();
    profile.stretches.clear();
    profile.stretch_shares.clear();
    profile.stretch_ranks.clear();
    for (std::size_t process = 0; process < profile.processes.size(); ++process)
        profile.processes[process].path_ns = parts.process_path_ns[process];
    profile.facts["path_ns"] = parts.window.length();
    profile.facts["independent_samples"] = static_cast<std::int64_t>(parts.independent_samples);
    if (const CallPathId rest = Defaults(profile).not_sampled(); rest.valid())
        balance(profile, parts.coverage, rest);
}

}  // namespace critpath::division
