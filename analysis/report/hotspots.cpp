// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/hotspots.hpp"

#include "analysis/report/statistics.hpp"
#include "formats/result/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace critpath::report
{

namespace
{

/// The row of what samples do not cover of the segments that they fall into (formats/FORMAT.md).
constexpr std::string_view unsampled = "[not sampled]";

bool is_unsampled_rest(const model::Row& row)
{
    return row.kind == model::RowKind::Pseudo && row.name == unsampled;
}

bool is_found_by_samples(const model::Row& row)
{
    return row.kind == model::RowKind::Sampled || is_unsampled_rest(row);
}

/// Fills in the shares, once all times are known.
void add_shares(Hotspots& hotspots, std::int64_t sampled_domain_ns)
{
    if (hotspots.path_ns <= 0)
        return;
    for (Hotspot& item : hotspots.items) {
        item.is_estimate = item.is_estimate && hotspots.path_samples > 0 && item.path_ns > 0;
        item.share.value = static_cast<double>(item.path_ns) / static_cast<double>(hotspots.path_ns);
        item.share.exact = !item.is_estimate;
        if (item.is_estimate)
            item.share.error = sampling_error(item.path_ns, hotspots.path_samples, sampled_domain_ns, hotspots.path_ns);
    }
}

void add(Hotspot& sum, const Hotspot& item)
{
    sum.path_ns += item.path_ns;
    sum.path_samples += item.path_samples;
    if (item.total_ns)
        sum.total_ns = sum.total_ns.value_or(0) + *item.total_ns;
    sum.total_samples += item.total_samples;
    sum.functions += item.functions;
    sum.is_estimate = sum.is_estimate || item.is_estimate;
}

struct Sums {
    Hotspots hotspots;
    std::int64_t sampled_domain_ns = 0;  // path time of the segments that samples fall into
};

Sums sums_by_function(const model::Profile& profile)
{
    Sums sums;
    std::vector<Hotspot>& items = sums.hotspots.items;
    items.reserve(profile.rows.size());
    for (const model::Row& row : profile.rows) {
        Hotspot item;
        item.name = row.name;
        item.module = row.module;
        item.kind = result::name(row.kind);
        item.file = row.file;
        item.line = row.line;
        item.is_estimate = is_found_by_samples(row);
        items.push_back(std::move(item));
    }
    for (const model::CallPathTime& time : profile.path) {
        Hotspot& item = items[profile.row_of(time.call_path).value];
        item.path_ns += time.ns;
        item.path_samples += time.samples;
        sums.hotspots.path_ns += time.ns;
        if (item.is_estimate) {
            sums.sampled_domain_ns += time.ns;
            sums.hotspots.path_samples += time.samples;
        }
    }
    for (const model::CallPathTime& time : profile.totals) {
        Hotspot& item = items[profile.row_of(time.call_path).value];
        item.total_ns = item.total_ns.value_or(0) + time.ns;
        item.total_samples += time.samples;
        sums.hotspots.total_ns += time.ns;
    }
    for (Hotspot& item : items)
        item.functions = item.path_ns > 0 ? 1 : 0;
    return sums;
}

}  // namespace

Hotspots by_function(const model::Profile& profile)
{
    Sums sums = sums_by_function(profile);
    add_shares(sums.hotspots, sums.sampled_domain_ns);
    return std::move(sums.hotspots);
}

Hotspots by_module(const model::Profile& profile)
{
    Sums sums = sums_by_function(profile);
    std::map<std::string, std::size_t> places;
    std::vector<Hotspot> modules;
    for (const Hotspot& item : sums.hotspots.items) {
        // Time that belongs to no function belongs to no module either: it stays a row of its own.
        const bool has_place = !item.place().empty();
        const std::string& key = has_place ? item.place() : item.name;
        const auto [place, is_new] = places.emplace(key, modules.size());
        if (is_new) {
            Hotspot module;
            module.name = key;
            module.module = item.module;
            module.kind = has_place ? "module" : item.kind;
            modules.push_back(std::move(module));
        }
        add(modules[place->second], item);
    }
    sums.hotspots.items = std::move(modules);
    add_shares(sums.hotspots, sums.sampled_domain_ns);
    return std::move(sums.hotspots);
}

std::string unsampled_note(const Hotspots& hotspots)
{
    constexpr double large = 0.1;
    const auto row = std::find_if(hotspots.items.begin(), hotspots.items.end(),
                                  [](const Hotspot& item) { return item.name == unsampled && item.kind == "pseudo"; });
    if (row == hotspots.items.end() || row->share.value < large)
        return {};
    return fmt::format("{}: the process had no processor (more ranks than free cores?), was blocked in the kernel, or "
                       "was not sampled.",
                       unsampled);
}

std::string respite_note(const model::Profile& profile)
{
    const std::int64_t in_waits = fact(profile, "wait_respite_ns"), elsewhere = fact(profile, "respite_ns");
    constexpr std::int64_t printed = 500'000;  // ns: less would read 0.000
    if (in_waits + elsewhere < printed)
        return {};
    return fmt::format(
        "All ranks: without {:.3f} s of waiting in MPI and {:.3f} s elsewhere, where threads gave way to "
        "each other too often to be sampled.",
        static_cast<double>(in_waits) * 1e-9, static_cast<double>(elsewhere) * 1e-9);
}

void sort_by_path(std::vector<Hotspot>& items)
{
    std::stable_sort(items.begin(), items.end(),
                     [](const Hotspot& a, const Hotspot& b) { return a.path_ns > b.path_ns; });
}

std::int64_t fact(const model::Profile& profile, const std::string& key)
{
    const auto found = profile.facts.find(key);
    return found == profile.facts.end() ? 0 : found->second;
}

std::string property(const model::Profile& profile, const std::string& key)
{
    const auto found = profile.properties.find(key);
    return found == profile.properties.end() ? std::string() : found->second;
}

}  // namespace critpath::report
