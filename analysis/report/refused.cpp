// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/refused.hpp"

#include "analysis/model/pseudo_rows.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace critpath::report
{

namespace
{

/// " (2 of 4 ranks)" where not all were refused it.
std::string some_ranks(const model::Profile& profile, std::int64_t ranks, std::string_view before,
                       std::string_view after)
{
    const std::size_t all = profile.processes.size();
    if (ranks >= static_cast<std::int64_t>(all))
        return {};
    return fmt::format("{}{} of {}{}", before, count_text(static_cast<std::uint64_t>(ranks)), counted(all, "rank"),
                       after);
}

std::string where(const model::Profile& profile, std::int64_t ranks)
{
    if (std::string some = some_ranks(profile, ranks, "on ", ""); !some.empty())
        return some;
    std::set<std::string> nodes;
    for (const model::ProcessTotals& process : profile.processes)
        nodes.insert(process.node);
    return nodes.size() > 1 ? "on all of these machines" : "on this machine";
}

/// What can be done against a refusal; empty: nothing is known.
std::string_view remedy_of(std::string_view reason)
{
    if (reason == "not supported")
        return "to tell, record on a machine that has hardware counters (virtual machines often hide them)";
    if (reason == "not permitted")
        return "allow them (sysctl kernel.perf_event_paranoid=2 as root, or in a container --cap-add=PERFMON) and "
               "record again";
    if (reason == "too many at once")
        return "ask for fewer";
    return {};
}

/// One event, as it was refused: on some ranks perhaps for another reason than on others.
std::vector<RefusedEvent> refusals_of(const model::Profile& profile, std::string_view event)
{
    std::vector<RefusedEvent> all = refused_events(profile);
    std::erase_if(all, [&](const RefusedEvent& one) { return one.name != event; });
    return all;
}

/// Of the first of these that was refused.
std::vector<RefusedEvent> first_refused(const model::Profile& profile, std::initializer_list<std::string_view> names)
{
    for (const std::string_view name : names)
        if (std::vector<RefusedEvent> refusals = refusals_of(profile, name); !refusals.empty())
            return refusals;
    return {};
}

std::int64_t ranks_of(const std::vector<RefusedEvent>& refusals)
{
    std::int64_t ranks = 0;
    for (const RefusedEvent& one : refusals)
        ranks += one.ranks;
    return ranks;
}

/// "not supported", "not supported on 2 ranks, not permitted on 1 rank"
std::string reasons_of(const std::vector<RefusedEvent>& refusals)
{
    std::vector<std::string> words;
    words.reserve(refusals.size());
    for (const RefusedEvent& one : refusals)
        words.push_back(refusals.size() == 1 ? one.reason
                                             : fmt::format("{} on {}", one.reason,
                                                           counted(static_cast<std::uint64_t>(one.ranks), "rank")));
    return fmt::format("{}", fmt::join(words, ", "));
}

/// What helps on the ranks with the most of them: what the machines of others have is of no use without these.
std::string_view remedy_of(const std::vector<RefusedEvent>& refusals)
{
    const auto most = std::ranges::max_element(refusals, {}, &RefusedEvent::ranks);
    return most == refusals.end() ? std::string_view() : remedy_of(most->reason);
}

std::string refusal_words(const model::Profile& profile, const std::vector<RefusedEvent>& refusals)
{
    return fmt::format("counters were refused {} ({}: {})", where(profile, ranks_of(refusals)), refusals.front().name,
                       reasons_of(refusals));
}

}  // namespace

std::vector<RefusedEvent> refused_events(const model::Profile& profile)
{
    std::vector<RefusedEvent> events;
    std::istringstream list(property(profile, "refused_events"));
    for (std::string word; std::getline(list, word, ',');) {
        const std::size_t count = word.rfind('=');
        const std::size_t reason = count == std::string::npos || count == 0 ? count : word.rfind('=', count - 1);
        if (reason == std::string::npos || reason == 0)
            continue;
        RefusedEvent event{word.substr(0, reason), word.substr(reason + 1, count - reason - 1), 0};
        std::from_chars(word.data() + count + 1, word.data() + word.size(), event.ranks);
        events.push_back(std::move(event));
    }
    return events;
}

std::string refused_text(const model::Profile& profile)
{
    std::map<std::pair<std::string, std::int64_t>, std::vector<std::string>> names;
    for (const RefusedEvent& event : refused_events(profile))
        names[{event.reason, event.ranks}].push_back(event.name);
    std::vector<std::string> parts;
    parts.reserve(names.size());
    for (const auto& [why, events] : names)
        parts.push_back(
            fmt::format("{}: {}{}", fmt::join(events, ", "), why.first, some_ranks(profile, why.second, " (", ")")));
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string refusal_of(const model::Profile& profile, std::string_view event)
{
    const std::vector<RefusedEvent> refusals = refusals_of(profile, event);
    return refusals.size() == 1 ? reasons_of(refusals) + some_ranks(profile, ranks_of(refusals), " on ", "")
                                : reasons_of(refusals);
}

std::string uncounted_note(const model::Profile& profile)
{
    constexpr std::string_view untold =
        "Which of instructions, cycles per instruction and frequency it is cannot be told where nothing counts them";
    constexpr std::string_view record = "sample cycles, which count instructions and cache misses, too, or record with "
                                        "--counters PAPI_TOT_INS,PAPI_TOT_CYC";
    const auto refused = first_refused(profile, {"cycles", "instructions", "PAPI_TOT_INS", "PAPI_TOT_CYC"});
    if (refused.empty())
        return fmt::format("{}: {}.", untold, record);
    const std::string_view remedy = remedy_of(refused);
    return fmt::format("{}: {}; {}.", untold, refusal_words(profile, refused), remedy.empty() ? record : remedy);
}

std::string unknown_misses_note(const model::Profile& profile)
{
    constexpr std::string_view unknown = "Whether slow instructions miss caches is not known";
    const auto refused = first_refused(profile, {"cache-misses", "cycles"});
    if (remedy_of(refused).empty())
        return fmt::format(
            "{}: record with --events instructions,cache-misses,branch-misses, long enough for 20 samples "
            "at the place.",
            unknown);
    return fmt::format("{}: {}; {}.", unknown, refusal_words(profile, refused), remedy_of(refused));
}

std::string no_run_delay_note(const model::Profile& profile)
{
    constexpr double least = 0.01;
    const std::int64_t threads = fact(profile, "no_run_delay");
    if (threads == 0)
        return {};
    std::int64_t path_ns = 0, blocked_ns = 0;
    for (const model::CallPathTime& time : profile.path) {
        path_ns += time.ns;
        blocked_ns += profile.row(time.call_path).name == model::pseudo::blocked ? time.ns : 0;
    }
    if (part(blocked_ns, path_ns) < least)
        return {};
    const std::size_t all = profile.locations.size();
    const bool are_some = threads < static_cast<std::int64_t>(all);
    return fmt::format(
        "{} may in part be [preempted]: the kernel did not count how long threads wait for a processor "
        "when they are woken{}.",
        model::pseudo::blocked,
        are_some ? fmt::format(" ({} of {})", count_text(static_cast<std::uint64_t>(threads)), counted(all, "thread"))
                 : "");
}

}  // namespace critpath::report
