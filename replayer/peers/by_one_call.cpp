// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/chosen.hpp"

#include <mpi.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace critpath::replayer
{

namespace
{

/// Numbers for the calls that lists are by.
class ListNumbers
{
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    explicit ListNumbers(std::size_t contexts) : after_(contexts + 1, none), before_(contexts + 1, none) {}

    std::uint32_t add_after(model::ContextId call) { return add(after_[index(call)]); }
    std::uint32_t add_before(model::ContextId call) { return add(before_[index(call)]); }
    [[nodiscard]] std::uint32_t after(model::ContextId call) const { return after_[index(call)]; }
    [[nodiscard]] std::uint32_t before(model::ContextId call) const { return before_[index(call)]; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    std::uint32_t add(std::uint32_t& number)
    {
        if (number == none)
            number = size_++;
        return number;
    }

    /// None stands last: the start of the process, or of what has nothing on the path.
    [[nodiscard]] std::size_t index(model::ContextId call) const
    {
        return call.valid() ? call.value : before_.size() - 1;
    }

    std::vector<std::uint32_t> after_, before_;
    std::uint32_t size_ = 0;
};

/// Finds the spans of what is on the path at some places.
class Seeker
{
public:
    Seeker(const std::vector<Gaps>& gaps, const Chosen& chosen, const Spans& spans,
           const std::vector<std::size_t>& places)
        : gaps_(gaps), chosen_(chosen), spans_(spans), index_(chosen.places(), is_not)
    {
        for (std::size_t i = 0; i < places.size(); ++i)
            index_[places[i]] = i;
    }

    [[nodiscard]] std::size_t processes() const { return gaps_.size(); }

    /// Calls `visit_span(span)`, in order of time, of one owned process, and behind each `visit(span, index of the
    /// place, on path)` for what is on the path in it.
    template <class VisitSpan, class Visit>
    void for_each_span(std::size_t p, VisitSpan visit_span, Visit visit) const
    {
        const std::vector<Chosen::OnPath>& all = chosen_.on_path[p];
        std::size_t next = 0;
        spans_.for_each(p, gaps_[p], [&](const Span& span) {
            visit_span(span);
            for (; next < all.size() && all[next].gap < span.end; ++next)
                if (const std::size_t i = index_[all[next].place]; i != is_not)
                    visit(span, i, all[next]);
        });
    }
    template <class Visit>
    void for_each_on_path(std::size_t p, Visit visit) const
    {
        for_each_span(
            p, [](const Span&) {}, visit);
    }

private:
    static constexpr std::size_t is_not = SIZE_MAX;

    const std::vector<Gaps>& gaps_;
    const Chosen& chosen_;
    const Spans& spans_;
    std::vector<std::size_t> index_;  // by place: its index among these
};

/// What one rank has on the path in spans that a call bounds.
struct Bound {
    std::int64_t ns = -1;
    std::int64_t call = model::ContextId::none().value;  // the start of the process has no number, too
};

/// Of all processes, the one with the most; of several, the first. `bounds`: two for each place.
void agree(const Replay& replay, std::vector<Bound>& bounds)
{
    const auto count = static_cast<int>(bounds.size());
    std::vector<std::int64_t> most, calls;
    std::ranges::transform(bounds, std::back_inserter(most), &Bound::ns);
    MPI_Allreduce(MPI_IN_PLACE, most.data(), count, MPI_INT64_T, MPI_MAX, replay.comm);
    for (std::size_t i = 0; i < bounds.size(); ++i)
        calls.push_back(bounds[i].ns == most[i] ? bounds[i].call : INT64_MAX);
    MPI_Allreduce(MPI_IN_PLACE, calls.data(), count, MPI_INT64_T, MPI_MIN, replay.comm);
    for (std::size_t i = 0; i < bounds.size(); ++i)
        bounds[i] = {most[i], calls[i]};
}

/// By index of the place. Collective over `replay.comm`.
std::vector<GapPlace> find_bounds(const Replay& replay, const Seeker& seeker, std::size_t count)
{
    std::vector<Bound> bounds(2 * count);
    for (std::size_t p = 0; p < seeker.processes(); ++p) {
        std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> sums;  // by index of the bound, and its call
        seeker.for_each_on_path(p, [&](const Span& span, std::size_t i, const Chosen::OnPath& on_path) {
            sums[{2 * i, span.bounds.after.value}] += on_path.ns * on_path.stands_for;
            sums[{2 * i + 1, span.bounds.before.value}] += on_path.ns * on_path.stands_for;
        });
        for (const auto& [bound, ns] : sums)
            if (ns > bounds[bound.first].ns ||
                (ns == bounds[bound.first].ns && bound.second < bounds[bound.first].call))
                bounds[bound.first] = {ns, bound.second};
    }
    agree(replay, bounds);
    std::vector<GapPlace> places;
    for (std::size_t i = 0; i < count; ++i) {
        const auto call = [&](const Bound& bound) { return model::ContextId{static_cast<std::uint32_t>(bound.call)}; };
        places.push_back({call(bounds[2 * i + 1]), call(bounds[2 * i])});
    }
    return places;
}

}  // namespace

bool is_collective(const model::Definitions& definitions, model::ContextId call)
{
    return call.valid() && functions::group_of(functions::semantic_class(definitions.region(call).function)) ==
                               functions::Group::Collective;
}

ByOneCall by_one_call(const Replay& replay, const std::vector<Gaps>& gaps, const Chosen& chosen, const Spans& spans,
                      const std::vector<std::size_t>& places, SpansBy by)
{
    const std::size_t entries = by == SpansBy::EachCall ? 2 : 1;  // of a place
    const Seeker seeker(gaps, chosen, spans, places);
    ByOneCall result;
    result.bounds = find_bounds(replay, seeker, places.size());
    ListNumbers numbers(replay.definitions.contexts.size());
    Chosen& found = result.spans;
    found.spans = &spans;
    found.on_path.resize(gaps.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        found.list_of.push_back(numbers.add_after(result.bounds[i].after));
        if (by == SpansBy::EachCall)
            found.list_of.push_back(numbers.add_before(result.bounds[i].before));
        found.totals.insert(found.totals.end(), entries, chosen.totals[places[i]]);
        found.parts.insert(found.parts.end(), entries, &chosen.gaps(places[i]));
    }
    found.lists.resize(numbers.size(), std::vector<std::vector<std::uint32_t>>(gaps.size()));
    std::vector<GrowingList<std::uint32_t>> lists(numbers.size());
    for (std::size_t p = 0; p < gaps.size(); ++p) {
        const auto list_span = [&](const Span& span) {
            for (const std::uint32_t list : {numbers.after(span.bounds.after), numbers.before(span.bounds.before)})
                if (list != ListNumbers::none)
                    lists[list].push_back(static_cast<std::uint32_t>(span.first));
        };
        seeker.for_each_span(p, list_span, [&](const Span& span, std::size_t i, const Chosen::OnPath& on_path) {
            const auto add = [&](std::size_t place, bool is_listed) {
                const std::size_t occurrence = lists[found.list_of[place]].size() - 1;  // the last one, if it is listed
                found.on_path[p].push_back({on_path.ns, static_cast<std::uint32_t>(place),
                                            is_listed ? static_cast<std::uint32_t>(occurrence) : Chosen::no_occurrence,
                                            on_path.stands_for, on_path.gap});
            };
            add(entries * i, span.bounds.after == result.bounds[i].after);
            if (by == SpansBy::EachCall)
                add(entries * i + 1, span.bounds.before == result.bounds[i].before);
        });
        found.take(lists, p);
    }
    return result;
}

std::vector<bool> waits_in_none(const Replay& replay, const Predecessors& predecessors, const std::vector<Gaps>& gaps,
                                const Chosen& chosen, const Spans& spans, const std::vector<std::size_t>& places)
{
    const Seeker seeker(gaps, chosen, spans, places);
    std::vector<std::int64_t> more(places.size(), 0);  // ns without a wait, less those with one
    for (std::size_t p = 0; p < gaps.size(); ++p) {
        if (predecessors.processes[p].empty())
            continue;
        const JumpList jumps(predecessors.processes[p].front().jumps, gaps[p].location());
        std::size_t near = 0;
        seeker.for_each_on_path(p, [&](const Span& span, std::size_t i, const Chosen::OnPath& on_path) {
            bool has_waited = false;
            if (span.end - span.first > 1) {
                near = jumps.before({gaps[p].call_before(span.first + 1)}, near);
                has_waited = jumps.before({gaps[p].call_before(span.end - 1) + 1}, near) > near;
            }
            more[i] += (has_waited ? -1 : 1) * on_path.ns * on_path.stands_for;
        });
    }
    MPI_Allreduce(MPI_IN_PLACE, more.data(), static_cast<int>(more.size()), MPI_INT64_T, MPI_SUM, replay.comm);
    std::vector<bool> result;
    for (const std::int64_t ns : more)
        result.push_back(ns > 0);
    return result;
}

std::optional<model::ComparedBy> choose_call(const model::Definitions& definitions, const SameCalls& same,
                                             GapPlace bounds, const model::Stretch& after, const model::Stretch& before)
{
    using model::ComparedBy;
    const bool is_after_collective = is_collective(definitions, bounds.after);
    const bool is_before_collective = is_collective(definitions, bounds.before);
    // A root and the others may all send, and do other things behind that.
    const bool by_after = has_peers(after) && (is_after_collective || !same.joins_branches(bounds.after));
    const bool by_before = has_peers(before) && (is_before_collective || !same.joins_branches(bounds.before));
    if (!by_after || !by_before)
        return by_after    ? std::optional(ComparedBy::CallAfter)
               : by_before ? std::optional(ComparedBy::CallBefore)
                           : std::nullopt;
    // All take part in the same collective operation, while a message may be any of many. But the others may do this on
    // the other side of their call; so of calls of one kind the one that makes the smaller difference, and of others,
    // too, if that is much smaller.
    constexpr double much = 4;
    const double factor = times_of_peers(after) / times_of_peers(before);
    if (is_after_collective != is_before_collective && factor < much && factor > 1 / much)
        return is_after_collective ? ComparedBy::CallAfter : ComparedBy::CallBefore;
    return factor <= 1 ? ComparedBy::CallAfter : ComparedBy::CallBefore;
}

}  // namespace critpath::replayer
