// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/resolve/late_progress.hpp"

#include "replayer/exchange.hpp"
#include "replayer/order.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/pair/progress.hpp"

#include <algorithm>
#include <optional>
#include <span>

namespace critpath::replayer
{

namespace
{

using rules::Enter;
using rules::Fit;

struct Question {
    ProcessId partner;
    std::uint32_t index;
    rules::Standstill standstill;
};

struct Moved {
    Fit fit = Fit::None;
    Enter enter;
    bool is_certain = false;
};

struct Answer {
    std::uint32_t index;
    Moved moved;
};

bool is_better(const Moved& a, const Moved& b)
{
    return a.fit != b.fit ? a.fit > b.fit : a.enter.valid() && (!b.enter.valid() || a.enter.order() > b.enter.order());
}

/// Finds what moved the transfers of a process on. Questions come mostly in the order of time.
class Search
{
public:
    Search(const model::Definitions& definitions, const model::ProcessTrace& trace)
        : trace_(trace), near_(trace.locations.size())
    {
        for (const model::LocationTrace& location : trace.locations) {
            calls_.emplace_back(location.calls);
            looks_.emplace_back(definitions, trace, location.location);
        }
    }

    /// The first enter of the process that explains the end, of those that do so best. If there is none and the call
    /// was much too late, posts have not moved on anything, or it took several returns.
    [[nodiscard]] Moved operator()(const rules::Standstill& standstill)
    {
        met_posts_ = false;
        Moved best = find(standstill, Posts::Look);
        if (best.fit == Fit::None && met_posts_ && rules::is_much(standstill))
            best = find(standstill, Posts::DoNotLook);
        if (best.fit == Fit::None && rules::is_much(standstill))
            best = find_together(standstill);
        return best;
    }

private:
    using Posts = ProgressCalls::Posts;

    static constexpr std::size_t most_calls = 256;  // whoever enters MPI so often does not keep anything waiting

    [[nodiscard]] Moved find(const rules::Standstill& standstill, Posts posts)
    {
        Moved best;
        const Ns begin = begin_of_search(standstill);
        for (std::size_t l = 0; l < calls_.size(); ++l) {
            const model::CallsAlone& calls = calls_[l];
            const std::size_t first = first_call(l, begin);
            const std::size_t end = std::min(calls.size(), first + most_calls);
            for (std::size_t i = first; i < end && calls.enter(i) <= standstill.leave; ++i) {
                if (!looks_[l].at(calls.number(i)))
                    continue;
                const Ns time = calls.enter(i);
                const rules::Outside outside{last_visit(time, posts).leave, time};
                if (take_better(best, rules::fit(standstill, time, {&outside, 1}), l, i))
                    best.is_certain = posts == Posts::Look && rules::is_certain(standstill, time, outside);
            }
        }
        return best;
    }

    /// Before each return, those before it count, too. Posts do not.
    [[nodiscard]] Moved find_together(const rules::Standstill& standstill)
    {
        const Ns begin = begin_of_search(standstill);
        visits_.clear();
        outside_.clear();
        for (Ns time = standstill.leave + Ns{1}; visits_.size() < most_calls && time > standstill.start;) {
            const Visit visit = last_visit(time, Posts::DoNotLook);
            if (visit.enter == Ns::min() || (visits_.empty() && visit.enter < begin))
                break;
            if (!visits_.empty())
                outside_.push_back({visit.leave, time});
            visits_.push_back(visit);
            time = visit.enter;
        }
        Moved best;
        if (!rules::was_mostly_outside(standstill, outside_))
            return best;
        for (std::size_t i = 0; i < outside_.size() && visits_[i].enter >= begin; ++i) {
            const std::span<const rules::Outside> outside = std::span(outside_).subspan(i);
            if (outside.front().since < outside.front().until)  // else another thread is in MPI
                take_better(best, rules::fit(standstill, visits_[i].enter, outside), visits_[i].location,
                            visits_[i].call);
        }
        return best;
    }

    static Ns begin_of_search(const rules::Standstill& standstill)
    {
        return std::max(standstill.start, standstill.leave - standstill.lacked - rules::soon(standstill));
    }

    bool take_better(Moved& best, Fit found, std::size_t location, std::size_t call) const
    {
        const Ns time = calls_[location].enter(call);
        const bool is_earlier = found == best.fit && time < best.enter.time;
        if (found == Fit::None || (found <= best.fit && !is_earlier))
            return false;
        best = {found, {{trace_.locations[location].location, {calls_[location].number(call)}}, time}};
        return true;
    }

    /// The first call of a location that is entered at `time` or later.
    std::size_t first_call(std::size_t location, Ns time)
    {
        const model::CallsAlone& calls = calls_[location];
        std::size_t& near = near_[location];
        near = count_first(
            calls.size(), [&](std::size_t i) { return calls.enter(i) < time; }, near);
        return near;
    }

    struct Visit {
        Ns enter = Ns::min(), leave = Ns::min();
        std::size_t location = 0, call = 0;
    };

    /// Of the calls that the threads of the process entered last before `time` (but to post, if that does not count)
    /// the one that ended last: the process was outside since, or is in MPI.
    Visit last_visit(Ns time, Posts posts)
    {
        Visit last;
        for (std::size_t l = 0; l < calls_.size(); ++l)
            if (const std::size_t next = first_call(l, time); next > 0) {
                const std::size_t call = last_look(l, next - 1, posts);
                if (posts == Posts::Look && !met_posts_)
                    met_posts_ = !looks_[l].at(calls_[l].number(call), Posts::DoNotLook);
                if (calls_[l].leave(call) > last.leave)
                    last = {calls_[l].enter(call), calls_[l].leave(call), l, call};
            }
        return last;
    }

    /// The last call until `call` in which the process looks; `call` if there is none among some.
    [[nodiscard]] std::size_t last_look(std::size_t location, std::size_t call, Posts posts) const
    {
        for (std::size_t i = call; i + most_calls > call; --i) {
            if (looks_[location].at(calls_[location].number(i), posts))
                return i;
            if (i == 0)
                break;
        }
        return call;
    }

    const model::ProcessTrace& trace_;
    std::vector<model::CallsAlone> calls_;  // by location
    std::vector<ProgressCalls> looks_;      // likewise
    std::vector<std::size_t> near_;         // by location, where the last answer was
    bool met_posts_ = false;                // a visit is to post, or there is none that looks: else posts do not matter
    std::vector<Visit> visits_;             // the latest first
    std::vector<rules::Outside> outside_;   // before each of them but the first of all
};

/// One for each owned process, made when it is wanted.
class Searches
{
public:
    explicit Searches(const Replay& replay) : replay_(replay), of_process_(replay.processes.size()) {}

    [[nodiscard]] Moved operator()(std::size_t process, const rules::Standstill& standstill)
    {
        std::optional<Search>& search = of_process_[process];
        if (!search)
            search.emplace(replay_.definitions, replay_.processes[process]);
        return (*search)(standstill);
    }

private:
    const Replay& replay_;
    std::vector<std::optional<Search>> of_process_;
};

/// Of the partners, by transfer.
std::vector<Moved> ask_partners(const Replay& replay, const std::vector<StoodStill>& transfers, Searches& searches)
{
    auto out = lists_for<Question>(replay.size);
    for (std::uint32_t i = 0; i < transfers.size(); ++i)
        out[static_cast<std::size_t>(replay.owner_of(transfers[i].partner))].push_back(
            {transfers[i].partner, i, transfers[i].standstill});
    const auto questions = replayer::exchange(replay.comm, out);
    auto back = lists_for<Answer>(replay.size);
    for (std::size_t asker = 0; asker < back.size(); ++asker)
        for (const Question& q : questions.from(static_cast<int>(asker)))
            back[asker].push_back({q.index, searches(replay.index_of(q.partner), q.standstill)});
    std::vector<Moved> result(transfers.size());
    for (const Answer& answer : replayer::exchange(replay.comm, back).items)
        result[answer.index] = answer.moved;
    return result;
}

/// The later side has moved it on, if both fit as well.
rules::Predecessor predecessor(const Replay& replay, const StoodStill& transfer, const Moved& moved)
{
    const bool is_same_clock =
        replay.definitions.uncertainty(moved.enter.call.location, transfer.call.location) == Ns{0};
    if (moved.enter.call == transfer.call)  // nothing moved before the call itself was there
        return {rules::Route::Work, {}, 0, true};
    return {rules::Route::Message, moved.enter, transfer.bytes, !moved.is_certain,
            !is_same_clock,        false,       transfer.peer,  transfer.sends};
}

/// Of the members of collectives; where several explain the end of a call, who came last.
void ask_members(const Replay& replay, const Members& members, const LateCalls& late,
                 std::vector<rules::Predecessor>& result)
{
    std::vector<InstanceQuery> queries;
    for (const LateCollective& collective : late.collectives)
        queries.push_back(collective.query);
    const auto answers = ask(replay, members, queries);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const LateCollective& asked = late.collectives[i];
        rules::Predecessor& known = result[asked.call];
        const bool is_known = known.is_jump() && known.from.time > asked.query.question.since;
        if (answers[i].route == rules::Route::Ask) {
            known.low_confidence = known.low_confidence || asked.is_long;
        } else if (!is_known || (answers[i].is_jump() && answers[i].from.order() > known.from.order())) {
            const bool within_clocks = known.within_clocks && !answers[i].is_jump();
            known = answers[i];
            known.bytes = asked.bytes;
            known.doubt_clocks(within_clocks);
        }
    }
}

}  // namespace

std::vector<rules::Predecessor> late_progress(const Replay& replay, const Members& members, const LateCalls& late)
{
    Searches searches(replay);
    const std::vector<Moved> by_partner = ask_partners(replay, late.transfers, searches);
    std::vector<rules::Predecessor> result;
    std::size_t next = 0;
    for (const LateCall& call : late.calls) {
        Moved best;
        result.push_back(call.otherwise);
        for (; next < late.transfers.size() && late.transfers[next].process == call.process &&
               late.transfers[next].call == call.call;
             ++next) {
            const StoodStill& transfer = late.transfers[next];
            const auto consider = [&](const Moved& moved) {
                if (is_better(moved, best)) {
                    best = moved;
                    result.back() = predecessor(replay, transfer, moved);
                }
            };
            consider(by_partner[next]);
            if (!transfer.standstill.by_partner)
                consider(searches(call.process, transfer.standstill));
        }
    }
    ask_members(replay, members, late, result);
    return result;
}

}  // namespace critpath::replayer
