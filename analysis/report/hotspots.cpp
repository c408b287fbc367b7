// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/hotspots.hpp"

#include "analysis/model/pseudo_rows.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/statistics.hpp"
#include "analysis/report/text.hpp"
#include "formats/result/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <utility>

namespace critpath::report
{

namespace
{

using model::pseudo::not_sampled;

bool is_unsampled_rest(const model::Row& row)
{
    return row.kind == model::RowKind::Pseudo && row.name == not_sampled;
}

/// Adds each time to the items that `items_of(call path, add)` calls `add(item)` for.
template <class ItemsOf>
void distribute(const model::Profile& profile, const Selection& selection, Hotspots& hotspots, ItemsOf items_of)
{
    for (const model::CallPathTime& time : profile.path) {
        const model::Row& row = profile.row(time.call_path);
        if (selection.has_rank(time.process) && selection.has_row(row))
            items_of(time.call_path, [&](std::size_t item) {
                add_path(hotspots.items[item], time, is_found_by_samples(profile, time));
            });
    }
    for (const model::CallPathTime& time : profile.totals)
        if (const model::Row& row = profile.row(time.call_path); selection.has_row(row) && !is_transfer(row))
            items_of(time.call_path, [&](std::size_t item) { add_total(hotspots.items[item], time); });
}

}  // namespace

Hotspot item_of(const model::Row& row)
{
    Hotspot item;
    item.name = row.name;
    item.module = row.module;
    item.kind = result::name(row.kind);
    item.file = row.file;
    item.line = row.line;
    item.has_waits = row.kind == model::RowKind::Mpi || row.kind == model::RowKind::Pseudo;
    return item;
}

void add_path(Hotspot& item, const model::CallPathTime& time, bool is_sampled)
{
    item.path_ns += time.ns;
    item.path_samples += time.samples;
    if (is_sampled)
        item.sampled_ns += time.ns;
}

void add_total(Hotspot& item, const model::CallPathTime& time)
{
    item.total_ns = item.total_ns.value_or(0) + time.ns;
    item.total_samples += time.samples;
    item.has_other_threads = item.has_other_threads || time.other_threads_ns != 0;
}

void add(Hotspot& sum, const Hotspot& item)
{
    sum.path_ns += item.path_ns;
    sum.guessed_ns += item.guessed_ns;
    sum.sampled_ns += item.sampled_ns;
    sum.path_samples += item.path_samples;
    if (item.total_ns)
        sum.total_ns = sum.total_ns.value_or(0) + *item.total_ns;
    sum.total_samples += item.total_samples;
    sum.has_waits = sum.has_waits || item.has_waits;
    sum.has_other_threads = sum.has_other_threads || item.has_other_threads;
    sum.functions += item.functions;
}

void add_addresses(const model::Profile& profile, std::vector<Hotspot>& items)
{
    for (const auto* times : {&profile.addresses, &profile.total_addresses})
        for (const model::AddressTime& time : *times)
            items[profile.row_of(time.call_path).value].address = time.address;
}

void finish(const model::Profile& profile, const Selection& selection, Hotspots& hotspots)
{
    const auto ranks = static_cast<std::int64_t>(profile.processes.size());
    for (Hotspot& item : hotspots.items) {
        hotspots.add_share(item);
        if (!item.total_ns || !selection.ranks.empty())
            continue;  // the path of some against the time of all says nothing
        // With timers for samples, and where the path is shared out among threads that others wait for, all ranks may
        // be seen to have less than the path.
        if (*item.total_ns >= item.path_ns)
            item.off_path_ns = *item.total_ns - item.path_ns;
        // The path has one thread at a time; the mean of a rank that computes with several has more.
        if (!item.has_waits && !item.has_other_threads && ranks > 1)
            item.imbalance_ns = item.path_ns - *item.total_ns / ranks;
    }
}

bool is_found_by_samples(const model::Profile& profile, const model::CallPathTime& time)
{
    return profile.is_sampled(time) || is_unsampled_rest(profile.row(time.call_path));
}

bool is_transfer(const model::Row& row)
{
    return row.kind == model::RowKind::Pseudo && row.name == model::pseudo::transfer;
}

bool Selection::has_rank(model::ProcessId process) const
{
    return ranks.empty() || std::ranges::binary_search(ranks, process.value);
}

void Hotspots::add_share(Hotspot& item) const
{
    if (path_ns <= 0)
        return;
    const bool is_guessed = is_sampled && item.name != not_sampled;  // where no sample is: by those of elsewhere
    const bool has_sampled = item.sampled_ns > 0 && (path_samples > 0 || is_guessed);
    item.is_estimate = has_sampled || (is_sampled && item.may_be_sampled && domain_ns > 0);
    item.share.value = static_cast<double>(item.path_ns) / static_cast<double>(path_ns);
    item.share.low = item.share.value - part(item.may_lack_ns, path_ns);
    item.share.high = std::min(1.0, item.share.value + part(item.may_have_ns, path_ns));
    item.share.exact = !item.is_estimate && item.may_have_ns == 0 && item.may_lack_ns == 0;
    if (!item.is_estimate || domain_ns <= 0)
        return;
    // Samples count in the compute segments only. Within these the share is binomial; what is exact adds to it.
    const std::int64_t of_samples_ns = item.name == not_sampled ? domain_ns : sampled_domain_ns();
    const std::int64_t divided_ns = item.divided_ns > 0 ? item.divided_ns : of_samples_ns;
    const double n = item.divided_ns > 0 ? item.divided_by : equal_samples();
    const double p = std::min(1.0, part(item.sampled_ns, divided_ns));
    const Interval within = n > 0 ? score_interval(p, n) : Interval{0, 1};
    const double domain_share = part(divided_ns, path_ns);
    item.share.low = std::max(0.0, item.share.low - (p - within.low) * domain_share);
    const double unseen = item.name == not_sampled ? 0 : part(anyones_ns, path_ns);
    item.share.high = std::min(1.0, item.share.high + (within.high - p) * domain_share + unseen);
    // That is a matter of samples alone, whatever else nobody has sampled.
    const std::int64_t found_ns = item.name == not_sampled ? domain_ns : domain_ns - not_sampled_ns;
    item.could_be_missed = report::could_be_missed(std::min(1.0, part(item.sampled_ns, found_ns)), equal_samples());
}

double Hotspots::equal_samples() const
{
    return static_cast<double>(independent_samples) * evenness;
}

double Hotspots::most_unseen() const
{
    if (independent_samples == 0)
        return 0;
    return score_interval(0, equal_samples()).high * part(sampled_domain_ns(), path_ns) +
           part(not_by_timers_ns, path_ns);
}

Hotspots sums(const model::Profile& profile)
{
    Hotspots result;
    for (const model::CallPathTime& time : profile.path) {
        result.path_ns += time.ns;
        if (is_found_by_samples(profile, time)) {
            result.domain_ns += time.ns;
            result.path_samples += time.samples;
        }
        if (is_unsampled_rest(profile.row(time.call_path)))
            result.not_sampled_ns += time.ns;
    }
    // Timers do not expire between the kernel's ticks, and do not know the time without a processor.
    if (!knows_time_off_processor(profile))
        result.not_by_timers_ns = result.not_sampled_ns;
    result.anyones_ns = result.not_by_timers_ns;
    const auto independent = static_cast<std::uint64_t>(fact(profile, "independent_samples"));
    result.independent_samples = independent > 0 ? std::min(independent, result.path_samples) : result.path_samples;
    constexpr double million = 1e6;
    if (const std::int64_t equal = fact(profile, "equal_samples_ppm"); equal > 0)
        result.evenness = static_cast<double>(equal) / million;
    result.is_sampled = has_samples(profile);
    for (const model::CallPathTime& time : profile.totals)
        result.total_ns += is_transfer(profile.row(time.call_path)) ? 0 : time.ns;
    return result;
}

Hotspots by_function(const model::Profile& profile, const Selection& selection)
{
    Hotspots hotspots = sums(profile);
    hotspots.items.reserve(profile.rows.size());
    for (const model::Row& row : profile.rows)
        hotspots.items.push_back(item_of(row));
    distribute(profile, selection, hotspots,
               [&](model::CallPathId path, auto add_to) { add_to(profile.row_of(path).value); });
    for (Hotspot& item : hotspots.items)
        item.functions = item.path_ns > 0 ? 1 : 0;
    finish(profile, selection, hotspots);
    return hotspots;
}

Hotspots by_module(const model::Profile& profile, const Selection& selection)
{
    Hotspots functions = by_function(profile, selection);
    std::map<std::string, std::size_t> places;
    std::vector<Hotspot> modules;
    for (const Hotspot& item : functions.items) {
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
    functions.items = std::move(modules);
    finish(profile, selection, functions);
    return functions;
}

bool ranks_compare(const model::Profile& profile)
{
    std::vector<std::uint32_t> threads(profile.processes.size(), 0);
    for (const std::uint32_t process : profile.location_process)
        ++threads[process];
    return threads.size() > 1 && fact(profile, "missing_processes") == 0 &&
           std::ranges::all_of(threads, [](std::uint32_t n) { return n == 1; });
}

std::string lost_samples_note(const model::Profile& profile)
{
    constexpr std::string_view mark = "died: ";  // of CRITPATH::INCOMPLETE (formats/FORMAT.md), first of its lists
    const std::string incomplete = property(profile, "incomplete");
    if (!incomplete.starts_with(mark))
        return {};
    const std::string ranks = incomplete.substr(mark.size(), incomplete.find(';') - mark.size());
    const bool is_one = ranks.find_first_of(",-") == std::string::npos;
    return fmt::format("Rank{} {} died: {} last samples (16 of each thread, or some more) may be lost.",
                       is_one ? "" : "s", ranks, is_one ? "its" : "their");
}

std::string unsampled_note(const model::Profile& profile, const Hotspots& hotspots)
{
    constexpr double large = 0.1;
    const auto row = std::find_if(hotspots.items.begin(), hotspots.items.end(), [](const Hotspot& item) {
        return item.name == not_sampled && item.kind == "pseudo";
    });
    if (row == hotspots.items.end() || row->share.value < large)
        return {};
    if (const std::int64_t most_off = most_unsampled_off_processor_ns(profile); most_off < row->path_ns)
        return fmt::format("{}: {}the process had a processor, but no sample says where it was{}.", not_sampled,
                           most_off > 0 ? fmt::format("for {} or more, ", duration_text(row->path_ns - most_off)) : "",
                           most_off > 0 ? "; the rest may be where it gave up its processor too often to be sampled"
                                        : "");
    const std::string lost = lost_samples_note(profile);
    return fmt::format("{}: the process had no processor (more ranks than free cores?), was blocked in the kernel, or "
                       "was not sampled{}.{}{}",
                       not_sampled,
                       hotspots.not_by_timers_ns > 0 ? "; timers do not tell which, so that any function may have it"
                                                     : "",
                       lost.empty() ? "" : " ", lost);
}

std::string other_rules(const model::Profile& profile)
{
    const std::string rules = property(profile, "rules");
    return rules == "arrival" ? "" : rules;
}

/// What ranks lived for and no row has, if rows have what samples find in calls. Where threads switch all the time,
/// that is less than their respites: the kernel counts what a switch takes, some 2 us, as time on the processor and off
/// it. Nothing where ranks have several threads, of which only the first one's time is known.
static std::optional<std::int64_t> missing_ns(const model::Profile& profile)
{
    if (profile.processes.empty() || profile.locations.size() != profile.processes.size())
        return std::nullopt;
    std::int64_t ns = 0;
    for (const model::ProcessTotals& process : profile.processes)
        ns += process.lifetime_ns;
    for (const model::CallPathTime& time : profile.totals)
        if (const model::Row& row = profile.row(time.call_path); row.kind != model::RowKind::Mpi && !is_transfer(row))
            ns -= time.ns;
    return std::max<std::int64_t>(ns, 0);
}

std::string respite_note(const model::Profile& profile, InsideOfCalls inside)
{
    // What was not sampled in a call is time of the call nevertheless.
    std::int64_t in_waits = inside == InsideOfCalls::OfTheLibrary ? fact(profile, "wait_respite_ns") : 0;
    const std::int64_t elsewhere = fact(profile, "respite_ns");
    if (const std::optional<std::int64_t> missing = missing_ns(profile); missing && in_waits > 0)
        in_waits = std::clamp<std::int64_t>(*missing - elsewhere, 0, in_waits);
    constexpr std::int64_t printed = 500'000;  // ns: less would read 0.000
    if (in_waits + elsewhere < printed)
        return {};
    const auto seconds = [](std::int64_t ns) { return fmt::format("{:.3f} s", static_cast<double>(ns) * 1e-9); };
    std::string what;
    if (in_waits >= printed)
        what = seconds(in_waits) + " of waiting in MPI";
    if (elsewhere >= printed)
        what += what.empty() ? seconds(elsewhere) + " outside of waits in MPI"
                             : " and " + seconds(elsewhere) + " elsewhere";
    if (what.empty())
        what = seconds(in_waits + elsewhere);
    return fmt::format("All ranks: without {}, where threads gave up their processor too often to be sampled.", what);
}

std::string doubt_note(const model::Profile& profile, std::string_view trace)
{
    if (const std::string rules = other_rules(profile); !rules.empty())
        return fmt::format(
            "Replayed by --rules={}, to compare: by cpreplay's own rules the path may be elsewhere, and they "
            "tell of doubt.",
            rules);
    constexpr double large = 0.01;
    const double doubted = part(fact(profile, "led_by_doubt_ns"), fact(profile, "path_ns"));
    if (doubted < large)
        return {};
    const std::int64_t segments = fact(profile, "low_confidence_segments");
    const std::string which = segments == 0 ? "some of it is"
                              : segments == 1
                                  ? "1 of its segments is"
                                  : count_text(static_cast<std::uint64_t>(segments)) + " of its segments are";
    return fmt::format("{} % of the path is where doubtful decisions put it, and may as well be on other ranks; {} in "
                       "doubt ({} % of the path): {}",
                       percent_text(doubted), which,
                       percent_text(part(fact(profile, "low_confidence_ns"), fact(profile, "path_ns"))),
                       command_line("path --doubtful", trace));
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

std::int64_t period_of(const model::Profile& profile)
{
    const std::string text = property(profile, "period");
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

bool has_samples(const model::Profile& profile)
{
    return !property(profile, "event").empty();
}

bool knows_time_off_processor(const model::Profile& profile)
{
    const std::string event = property(profile, "event");
    return !event.empty() && event != "cpu-timer";
}

std::int64_t most_unsampled_off_processor_ns(const model::Profile& profile)
{
    // Whoever starts MPI is blocked for a while: where nothing ever is, as of other tools, nobody has recorded
    // switches.
    const bool has_switches =
        knows_time_off_processor(profile) && (fact(profile, "preempted_ns") > 0 || fact(profile, "blocked_ns") > 0);
    const bool has_lost =
        fact(profile, "lost_samples") > 0 || fact(profile, "lost_records") > 0 || !lost_samples_note(profile).empty();
    if (!has_switches || has_lost)
        return std::numeric_limits<std::int64_t>::max();
    return fact(profile, "respite_ns") + fact(profile, "wait_respite_ns");
}

std::string property(const model::Profile& profile, const std::string& key)
{
    const auto found = profile.properties.find(key);
    return found == profile.properties.end() ? std::string() : found->second;
}

}  // namespace critpath::report
