// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/elsewhere.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace critpath::replayer
{

namespace
{

/// What takes so many times as long as its peers may be what these do elsewhere.
constexpr double much_longer = 1.25;

/// What gaps at a place, or the spans or laps that they are in, take beside those of the peers.
struct Beside {
    const model::Stretch& sums;
    Longer longer;
};

/// How many times as long as their peers they take, all of them or those that take longer, if that is notable. Ranks
/// that take turns on the path are each other's peers: what one takes longer, another one takes less.
double most_times_of_peers(const Beside& gaps)
{
    constexpr double notable = 0.05;  // of all at the place
    const auto ns = static_cast<double>(gaps.longer.ns);
    const auto peers_ns = static_cast<double>(std::max<std::int64_t>(gaps.longer.peers_ns, 1));
    const double times = times_of_peers(gaps.sums);
    return ns > notable * static_cast<double>(gaps.sums.peers_ns) ? std::max(times, 1 + ns / peers_ns) : times;
}

bool is_much_longer(const Beside& gaps)
{
    return has_peers(gaps.sums) && most_times_of_peers(gaps) > much_longer;
}

/// Whether the gaps of peers at a place are not all of their same work: if half of what a gap takes longer, or as much
/// as they have there, they have more of elsewhere in their spans, or laps.
bool have_work_elsewhere(const Beside& gaps, const Beside& wider)
{
    const std::int64_t elsewhere = gaps.longer.ns - wider.longer.ns;
    return 2 * elsewhere >= gaps.longer.ns || elsewhere >= gaps.longer.peers_ns;
}

/// Of who takes longer elsewhere in spans, too, that says nothing; but then gaps take about as many times as long as
/// these.
bool have_other_work(const Beside& gaps, const Beside& wider)
{
    constexpr double about = 2;
    return most_times_of_peers(gaps) > about * times_of_peers(wider.sums);
}

/// Puts what is known of entries of `wider` in the place of what is known of stretches.
class Replacement
{
public:
    Replacement(Sums& wider, Sums& found) : wider_(wider), found_(found), stretch_of_(wider.stretches.size(), none) {}

    void replace(std::size_t stretch, std::size_t entry, model::ComparedBy by)
    {
        stretch_of_[entry] = static_cast<std::uint32_t>(stretch);
        const std::int64_t others_at_work_ns = found_.stretches[stretch].others_at_work_ns;
        found_.stretches[stretch] = wider_.stretches[entry];
        found_.stretches[stretch].compared_by = static_cast<std::int64_t>(by);
        found_.stretches[stretch].others_at_work_ns = others_at_work_ns;
        found_.longer[stretch] = wider_.longer[entry];
        const auto is_of_stretch = [&](const auto& part) { return part.stretch == stretch; };
        std::erase_if(found_.shares, is_of_stretch);
        std::erase_if(found_.ranks, is_of_stretch);
    }
    void finish()
    {
        add(wider_.shares, found_.shares);
        add(wider_.ranks, found_.ranks);
    }

private:
    static constexpr std::uint32_t none = UINT32_MAX;

    template <class Part>
    void add(const std::vector<Part>& parts, std::vector<Part>& to) const
    {
        for (Part part : parts) {
            if (stretch_of_[part.stretch] == none)
                continue;
            part.stretch = stretch_of_[part.stretch];
            to.push_back(part);
        }
    }

    Sums& wider_;
    Sums& found_;
    std::vector<std::uint32_t> stretch_of_;  // by entry
};

Beside beside(const Sums& sums, std::size_t place)
{
    return {sums.stretches[place], sums.longer[place]};
}

/// In front of a span and behind it.
bool all_meet_at(GapPlace bounds, const model::Definitions& definitions)
{
    return is_collective(definitions, bounds.before) && is_collective(definitions, bounds.after);
}

/// Those without peers, and those that calls which cannot wait divide. Returns, of those that are compared so, the
/// calls around most spans, by place. Collective.
std::map<std::size_t, GapPlace> compare_by_one_call(const Replay& replay, const SameCalls& same, const Spans& spans,
                                                    std::vector<Gaps>& gaps, const Chosen& chosen,
                                                    const std::vector<GapPlace>& places, Sums& found)
{
    std::vector<std::size_t> doubtful;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (!has_peers(found.stretches[i]) || (is_much_longer(beside(found, i)) && spans.are_parts(places[i])))
            doubtful.push_back(i);
    if (doubtful.empty())
        return {};
    const ByOneCall by_calls = by_one_call(replay, gaps, chosen, spans, doubtful);
    Sums wider = sum_up(replay, gaps, by_calls.spans);
    Replacement replacement(wider, found);
    std::map<std::size_t, GapPlace> bounds;
    for (std::size_t i = 0; i < doubtful.size(); ++i) {
        const std::size_t place = doubtful[i];
        const auto by = choose_call(replay.definitions, same, by_calls.bounds[i], wider.stretches[2 * i],
                                    wider.stretches[2 * i + 1]);
        if (!by)
            continue;
        const std::size_t entry = 2 * i + (by == model::ComparedBy::CallBefore ? 1 : 0);
        const Beside of_gaps = beside(found, place), of_spans = beside(wider, entry);
        if (!has_peers(of_gaps.sums) || have_work_elsewhere(of_gaps, of_spans) ||
            (of_spans.longer.ns > of_gaps.longer.ns && have_other_work(of_gaps, of_spans))) {
            replacement.replace(place, entry, *by);
            bounds[place] = by_calls.bounds[i];
        }
    }
    replacement.finish();
    return bounds;
}

/// What is done between two collectives.
struct Regions {
    std::map<std::size_t, std::size_t> entries;  // of the sums, by place
    Sums sums;
};

/// Those of places where all meet in front of the calls around them and behind these, and the path waits in none of the
/// calls between: a message that is sent on the way divides the work of the rank that sends it, and not that of the
/// others. Collective.
Regions find_regions(const Replay& replay, const Predecessors& predecessors, const Spans& meetings,
                     std::vector<Gaps>& gaps, const Chosen& chosen, const std::vector<std::size_t>& places)
{
    if (places.empty())
        return {};
    const std::vector<bool> is_one = waits_in_none(replay, predecessors, gaps, chosen, meetings, places);
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (is_one[i])
            asked.push_back(places[i]);
    if (asked.empty())
        return {};
    // Those that lead to the same collective come from the same one, too.
    const ByOneCall by_meetings = by_one_call(replay, gaps, chosen, meetings, asked, SpansBy::CallAfter);
    Regions result{{}, sum_up(replay, gaps, by_meetings.spans)};
    for (std::size_t i = 0; i < asked.size(); ++i)
        if (all_meet_at(by_meetings.bounds[i], replay.definitions) && has_peers(result.sums.stretches[i]))
            result.entries[asked[i]] = i;
    return result;
}

/// Whether laps fit with what the others do meanwhile: who works while they wait is waited for, whatever they do at
/// other times. One of them at least must work elsewhere then, for where all meet in front of such work and behind it,
/// the others do at the place what they do; and either they work for most of the time, or do elsewhere a third of what
/// they do less there. `others`: of the same gaps, or spans.
bool fit(const Beside& laps, const Meanwhile& others, std::size_t processes)
{
    constexpr double about = 1.45, little = 0.1, much = 1.0 / 3;
    const double elsewhere = others.at_work - others.there;
    return elsewhere * static_cast<double>(processes - 1) >= little &&
           (1 / std::max(others.at_work, 1e-9) <= about * std::max(times_of_peers(laps.sums), 1.0) ||
            elsewhere >= much * (1 - others.there));
}

/// Those whose peers come by the same calls as often, and do other things between them: in a ring, the one that sends
/// first works before it sends, and the others before they receive. `others`, by index in `doubtful`: none where these
/// do all of it elsewhere, since they do not come by between the same two calls. If there is a region for such a place,
/// that comes in place of the lap. Collective.
void compare_by_lap(const Replay& replay, const Spans& spans, std::vector<Gaps>& gaps, const Chosen& chosen,
                    const std::vector<GapPlace>& places, const std::vector<std::size_t>& doubtful,
                    const std::vector<std::optional<Meanwhile>>& others, Regions& regions, Sums& found)
{
    Sums wider = sum_up(replay, gaps, by_lap(gaps, chosen, spans, doubtful, places));
    Replacement replacement(wider, found), by_regions(regions.sums, found);
    for (std::size_t i = 0; i < doubtful.size(); ++i) {
        const std::size_t entry = 2 * i + (has_peers(wider.stretches[2 * i]) ? 0 : 1);
        const Beside of_gaps = beside(found, doubtful[i]), of_laps = beside(wider, entry);
        if (has_peers(of_laps.sums) && (!others[i] || fit(of_laps, *others[i], replay.definitions.processes.size())) &&
            (have_work_elsewhere(of_gaps, of_laps) || have_other_work(of_gaps, of_laps))) {
            if (const auto region = regions.entries.find(doubtful[i]); region != regions.entries.end())
                by_regions.replace(doubtful[i], region->second, model::ComparedBy::Meetings);
            else
                replacement.replace(doubtful[i], entry, model::ComparedBy::Lap);
        }
    }
    replacement.finish();
    by_regions.finish();
}

}  // namespace

void compare_elsewhere(const Replay& replay, const Predecessors& predecessors, const SameCalls& same,
                       std::vector<Gaps>& gaps, const Chosen& chosen, const std::vector<GapPlace>& places, Sums& found)
{
    bool is_doubtful = false;
    for (std::size_t i = 0; i < places.size(); ++i)
        is_doubtful = is_doubtful || !has_peers(found.stretches[i]) || is_much_longer(beside(found, i));
    if (!is_doubtful || replay.definitions.processes.size() < 2)
        return;
    const Spans spans(replay, predecessors, same, gaps), meetings = spans.between_meetings(gaps);
    const std::map<std::size_t, GapPlace> bounds =
        compare_by_one_call(replay, same, spans, gaps, chosen, places, found);
    std::vector<std::size_t> doubtful;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (is_much_longer(beside(found, i)))
            doubtful.push_back(i);
    if (doubtful.empty())
        return;
    SameWork same_work(places.size(), spans, meetings);
    std::vector<std::size_t> divided;
    for (const std::size_t place : doubtful) {
        const auto calls = bounds.find(place);
        if (calls == bounds.end())
            same_work.add(place, places[place], replay.definitions);
        else if (all_meet_at(calls->second, replay.definitions))
            same_work.add(place, calls->second, replay.definitions);
        else
            divided.push_back(place);
    }
    const std::vector<Meanwhile> meanwhile = others_at_work(replay, predecessors, gaps, chosen, &same_work);
    std::vector<std::optional<Meanwhile>> others;
    for (const std::size_t place : doubtful)
        others.push_back(same_work.is_asked(place) ? std::optional(meanwhile[place]) : std::nullopt);
    Regions regions = find_regions(replay, predecessors, meetings, gaps, chosen, divided);
    compare_by_lap(replay, spans, gaps, chosen, places, doubtful, others, regions, found);
}

}  // namespace critpath::replayer
