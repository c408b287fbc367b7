// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Who put into a window what a process looked for in a loop: questions go to where the writes to that target meet.
#include "replayer/exchange.hpp"
#include "replayer/onesided/looks.hpp"
#include "replayer/pair/polling.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace critpath::replayer
{

namespace
{

using model::WindowEvent;
using What = model::WindowEvent::What;

/// So much work may be between a store and MPI_Win_sync: the first time, even the call itself has to be found.
constexpr Ns near_store = std::chrono::microseconds{50};
/// If a loop is long, a page fault or an interrupt may come in between, which is a small part of it.
constexpr Ns disturbed_store = std::chrono::microseconds{250};
constexpr int disturbed_part = 8;

/// What may have changed the memory of a target. A store has no call: it is taken to be near MPI_Win_sync, on either
/// side of it, since others may see it as soon as it is made.
struct Write {
    std::uint32_t window, target;  // process, or all_targets
    std::uint32_t origin;
    std::uint32_t at;  // process to whose owner it goes
    std::uint64_t bytes;
    rules::Enter enter;
    Ns end;                 // it was there by then, or was made behind the call
    Ns since = enter.time;  // between these two it was made
    Ns until = end;
    Ns earliest = since, latest = until;  // or, if it was disturbed, between these
    CallRef behind = enter.call;          // the next call, if it may have been made before that
    bool begins_loop = false;             // it looks itself, but something may have been stored before

    /// Whether it may have ended a loop that had found nothing yet at `in_vain`, and ended at `loop_end`.
    [[nodiscard]] bool may_end(Ns in_vain, Ns loop_end, bool is_long) const
    {
        return (is_long ? earliest : since) < loop_end && (is_long ? latest : until) >= in_vain;
    }
    /// The less, the more likely: by how much the call misses that time.
    [[nodiscard]] std::pair<bool, Ns> distance(Ns in_vain, Ns loop_end) const
    {
        return {begins_loop, std::max({Ns{0}, enter.time - loop_end, in_vain - end})};
    }
    /// What was on the way to the memory, at the time when the loop ended at the latest.
    [[nodiscard]] rules::Enter made(Ns in_vain, Ns loop_end) const
    {
        const bool is_behind = end < in_vain;
        const Ns behind_it = until >= in_vain ? until : latest;
        return {is_behind ? behind : enter.call, std::min(is_behind ? behind_it : enter.time, loop_end)};
    }
};

struct LookQuestion {
    std::uint32_t window, target, asker, at;
    Ns in_vain, end;  // between these two it was found
    Ns known;         // from here on, the path may lead elsewhere
    std::uint64_t search;
    std::uint64_t is_long;  // 1: the loop, beside a disturbance
};

struct LookAnswer {
    std::uint64_t search;
    std::uint32_t asker, origin;
    rules::Enter enter;  // not valid: none
    std::uint64_t bytes;
    std::uint64_t unsure;  // 1: within the error of the clocks, it may be another one
};

/// By window and target, in the order in which they were entered.
using WriteRegistry = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Write>>;

/// By transfer, when its origin knew that it was there: the leave of the call that completed it; none: never.
class Ends
{
public:
    explicit Ends(const WindowProcess& process) : ends_(process.trace.window_events.size(), Ns::max())
    {
        std::map<std::pair<model::WindowId, std::int32_t>, std::vector<std::uint32_t>> under_way;
        for (std::uint32_t i = 0; i < ends_.size(); ++i) {
            const WindowEvent& event = process.event(i);
            if (event.what == What::Transfer)
                under_way[{event.window, event.target}].push_back(i);
            if (event.what != What::Flush && event.what != What::Unlock && event.what != What::Complete)
                continue;
            const auto begin = under_way.lower_bound({event.window, std::max(event.target, 0)});
            const auto end = under_way.upper_bound({event.window, event.target < 0 ? INT32_MAX : event.target});
            for (auto to = begin; to != end; ++to)
                for (const std::uint32_t transfer : to->second)
                    ends_[transfer] = process.leave(i);
            under_way.erase(begin, end);
        }
    }

    [[nodiscard]] std::optional<Ns> of(std::uint32_t transfer) const
    {
        return ends_[transfer] == Ns::max() ? std::nullopt : std::optional(ends_[transfer]);
    }

private:
    std::vector<Ns> ends_;
};

/// What one owned process has to tell and to ask.
class Looker
{
public:
    Looker(WindowProcess& process, const Looks& looks)
        : process_(process), looks_(looks), found_(2 * looks.loops().size())
    {
    }

    [[nodiscard]] const std::vector<Looking>& loops() const { return looks_.loops(); }

    void take_interest(std::vector<std::uint8_t>& interests) const
    {
        for (const Looking& loop : looks_.loops())
            interests[loop.window.value] = 1;
    }

    template <class Send>
    void tell(std::uint32_t index, const std::vector<std::uint8_t>& interests, Send send)
    {
        const WindowEvent& event = process_.event(index);
        if (interests[event.window.value] == 0 || looks_.role(index) == LookRole::OnlyLooks)
            return;
        const ProcessId self = process_.trace.process;
        const bool is_sync = event.what == What::Sync;
        const auto target = is_sync ? std::optional(self) : process_.target(event.window, event.target);
        const bool is_own_store = is_sync || (event.what == What::Unlock && target == self && stores(index));
        const bool is_write = event.what == What::Transfer && event.writes();
        if (!target || (!is_own_store && !is_write))
            return;
        Write write{event.window.value,
                    target->value,
                    self.value,
                    target->value,
                    is_write ? event.bytes : 0,
                    process_.enter(index),
                    is_write ? end_of(index, *target) : process_.leave(index)};
        if (is_sync)
            take_stores_around(write);
        write.begins_loop = looks_.role(index) == LookRole::BeginsLoop;
        send(write);
        if (is_sync) {  // it may have stored into the memory of any other, if they share it
            write.target = all_targets;
            write.at = process_.place_of_all(event.window).value;
            send(write);
        }
    }

    template <class Send>
    void ask(std::size_t number, Send send)
    {
        const Looking& loop = looks_.loops()[number];
        const ProcessId self = process_.trace.process;
        const Ns end = leave_of(process_.trace, loop.end);
        for (const LookedAt& place : loop.places) {
            const bool is_own = place.target == LookedAt::own_memory;
            const auto target = is_own ? std::optional(self) : process_.target(loop.window, place.target);
            if (!target)
                continue;
            LookQuestion question{loop.window.value,
                                  target->value,
                                  self.value,
                                  target->value,
                                  place.in_vain,
                                  end +
                                      (is_own ? loop.pause : Ns{0}),  // what was stored is loaded behind a pause, maybe
                                  end,
                                  2 * number,
                                  end - loop.since >= disturbed_part * disturbed_store ? 1U : 0U};
            ask(question, is_own, send);
            if (is_own && !loop.returns.empty()) {
                question.end = question.known = loop.returns.back().time;
                ++question.search;
                ask(question, is_own, send);
            }
        }
    }

    void take(const LookAnswer& answer) { found_[answer.search].push_back(answer); }

    void finish()
    {
        for (std::size_t i = 0; i < loops().size(); ++i) {
            const Looking& loop = loops()[i];
            const LookAnswer at_once = last_of(found_[2 * i]), later = last_of(found_[2 * i + 1]);
            // What was there before the last call ended has been found behind that, whatever came later.
            const bool is_later = later.enter.valid() &&
                                  !(at_once.enter.valid() && at_once.enter.time < leave_of(process_.trace, loop.end));
            conclude(loop, is_later ? later : at_once);
        }
    }

private:
    template <class Send>
    void ask(LookQuestion question, bool is_own, Send send) const
    {
        send(question);
        if (is_own) {
            question.target = all_targets;
            question.at = process_.place_of_all({question.window}).value;
            send(question);
        }
    }

    /// Of several places; not valid, and sure, if there is none.
    [[nodiscard]] LookAnswer last_of(const std::vector<LookAnswer>& answers) const
    {
        if (answers.empty())
            return {};
        LookAnswer last = *std::ranges::max_element(
            answers, {}, [](const LookAnswer& a) { return std::tuple(a.enter.valid(), a.enter.order()); });
        const bool unsure = std::ranges::any_of(answers, [&](const LookAnswer& a) { return may_be_instead(a, last); });
        last.unsure = unsure ? 1 : 0;
        return last;
    }

    void conclude(const Looking& loop, const LookAnswer& found)
    {
        if (found.enter.valid()) {
            const CallRef end = end_of(loop, found.enter.time);
            const rules::Enter enter = {found.enter.call, std::min(found.enter.time, leave_of(process_.trace, end))};
            process_.found(end, loop.since, enter, found.bytes, {found.origin}, found.unsure != 0);
        } else if (found.unsure != 0) {
            process_.doubt(loop.end);
        }
    }

    /// Where the loop went on with what was written then: behind its last call, unless the thread had stopped before
    /// that.
    [[nodiscard]] static CallRef end_of(const Looking& loop, Ns written)
    {
        CallRef end = loop.end;
        for (const LookReturn& stop : loop.returns)
            if (stop.since < written)
                end = stop.point;
        return end;
    }

    /// Of several places, each may have ended the loop.
    [[nodiscard]] bool may_be_instead(const LookAnswer& answer, const LookAnswer& last) const
    {
        return answer.unsure != 0 ||
               (answer.enter.valid() &&
                last.enter.time - answer.enter.time < process_.error_between({answer.origin}, {last.origin}));
    }

    /// Whether an epoch on the own memory may be there for what is stored without a call.
    [[nodiscard]] bool stores(std::uint32_t unlock) const
    {
        const auto& place = process_.epochs.of_event[unlock];
        if (place.kind != Epochs::Kind::Lock)
            return false;
        for (std::uint32_t i = process_.epochs.locks[place.epoch].begin; i < unlock; ++i)
            if (const auto& other = process_.epochs.of_event[i]; other.kind == Epochs::Kind::Lock &&
                                                                 other.epoch == place.epoch &&
                                                                 process_.event(i).what == What::Transfer)
                return false;
        return true;
    }

    /// Between the calls before and behind MPI_Win_sync, as far as there was hardly any work between. That a thread was
    /// preempted, or in the collector, is none.
    void take_stores_around(Write& write) const
    {
        const model::LocationTrace& location =
            process_.trace.locations[local_index(process_.trace, write.enter.call.location)];
        const model::Calls& calls = location.calls;
        const std::size_t call = write.enter.call.call.value;
        const std::size_t before = calls.behind_last_call(call), behind = calls.next_call(call + 1);
        const Ns least = before > 0 ? calls.leave(before - 1) : location.begin;
        const auto since = [&](Ns near) {
            return is_off(location, least, write.enter.time, near)
                       ? least
                       : std::min(write.enter.time - near, work_since(location, write.enter.time, near, least));
        };
        write.since = since(near_store);
        write.earliest = since(disturbed_store);
        if (behind == calls.size())
            return;
        write.behind.call = {static_cast<std::uint32_t>(behind)};
        const Ns most = calls.enter(behind);
        const auto until = [&](Ns near) {
            return is_off(location, write.end, most, near)
                       ? most
                       : std::max(write.end + near, work_until(location, write.end, near, most));
        };
        write.until = until(near_store);
        write.latest = until(disturbed_store);
    }

    [[nodiscard]] Ns end_of(std::uint32_t transfer, ProcessId target)
    {
        if (!ends_)
            ends_.emplace(process_);
        const Ns usual = process_.leave(transfer) + 4 * process_.transfer_time(target, process_.event(transfer).bytes);
        return ends_->of(transfer).value_or(usual);
    }

    WindowProcess& process_;
    const Looks& looks_;
    std::vector<std::vector<LookAnswer>> found_;  // by loop
    std::optional<Ends> ends_;                    // once they are wanted
};

/// The write that was not there when the last but one look was made, and was before the loop ended. Of several, the one
/// nearest to that time; of these, the last one. Among a few that began before it, since what is there first may be
/// known late, and more behind it: all who saw the same store may begin new loops before the call behind that store.
const Write* search(const WriteRegistry& registry, const LookQuestion& question)
{
    constexpr std::ptrdiff_t few_before = 16, few_behind = 256;
    const auto writes = registry.find({question.window, question.target});
    if (writes == registry.end())
        return nullptr;
    const auto behind =
        std::ranges::lower_bound(writes->second, question.end, {}, [](const Write& w) { return w.enter.time; });
    const auto first = behind - std::min(few_before, behind - writes->second.begin());
    const auto last = behind + std::min(few_behind, writes->second.end() - behind);
    const Write* nearest = nullptr;
    const auto distance = [&](const Write& write) { return write.distance(question.in_vain, question.end); };
    for (auto write = first; write != last; ++write)
        if (write->origin != question.asker && write->may_end(question.in_vain, question.end, question.is_long != 0) &&
            (nearest == nullptr || distance(*write) <= distance(*nearest)))
            nearest = &*write;
    return nearest;
}

/// Whether, within the error of the clocks, another write may have ended the loop than the one that was found, if any.
class OtherWrites
{
public:
    OtherWrites(const model::Definitions& definitions, const LookQuestion& question, const Write* found)
        : definitions_(definitions), question_(question), found_(found)
    {
    }

    /// Where there are very many within the error, it is taken for granted.
    [[nodiscard]] bool are_possible(const WriteRegistry& registry) const
    {
        constexpr int few = 16, most = 1024;
        const Ns largest = definitions_.largest_uncertainty();
        const auto writes = registry.find({question_.window, question_.target});
        if (largest == Ns{0} || writes == registry.end())
            return false;
        auto after = std::ranges::lower_bound(writes->second, question_.end + largest, {},
                                              [](const Write& w) { return w.enter.time; });
        int before = 0;
        for (int seen = 0; after != writes->second.begin() && before < few; ++seen) {
            --after;
            if (seen == most || is_possible(*after))
                return true;
            before += after->enter.time + largest < question_.in_vain ? 1 : 0;
        }
        return false;
    }

private:
    [[nodiscard]] Ns error(const Write& write, std::uint32_t other) const
    {
        return definitions_.uncertainty(ProcessId{write.origin}, ProcessId{other});
    }

    [[nodiscard]] bool is_possible(const Write& write) const
    {
        const Ns off = error(write, question_.asker);
        if (&write == found_ || write.origin == question_.asker ||
            !write.may_end(question_.in_vain - off, question_.end + off, question_.is_long != 0))
            return false;
        return found_ == nullptr || may_be_none(*found_) ||
               write.enter.time + error(write, found_->origin) > found_->enter.time;
    }

    /// Whether it may have been entered when the loop was over, or have been there before it.
    [[nodiscard]] bool may_be_none(const Write& write) const
    {
        const Ns off = error(write, question_.asker);
        return !write.may_end(question_.in_vain + off, question_.end - off, question_.is_long != 0);
    }

    const model::Definitions& definitions_;
    const LookQuestion& question_;
    const Write* found_;
};

WriteRegistry register_writes(const Replay& replay, const std::vector<WindowProcess>& processes,
                              std::vector<Looker>& lookers, const std::vector<std::uint8_t>& interests)
{
    std::uint64_t longest = 0;
    for (const WindowProcess& process : processes)
        longest = std::max<std::uint64_t>(longest, process.trace.window_events.size());
    WriteRegistry registry;
    const std::uint64_t rounds = exchange_rounds(replay.comm, longest, epoch_window);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        auto out = lists_for<Write>(replay.size);
        for (std::size_t p = 0; p < processes.size(); ++p)
            for (std::uint64_t i = round * epoch_window;
                 i < std::min<std::uint64_t>(processes[p].trace.window_events.size(), (round + 1) * epoch_window); ++i)
                lookers[p].tell(static_cast<std::uint32_t>(i), interests, [&](const Write& write) {
                    out[static_cast<std::size_t>(replay.owner_of(ProcessId{write.at}))].push_back(write);
                });
        for (const Write& write : replayer::exchange(replay.comm, out).items)
            registry[{write.window, write.target}].push_back(write);
    }
    for (auto& [key, writes] : registry)
        std::ranges::sort(writes, {}, [](const Write& w) { return std::tuple(w.enter.order(), w.end, w.bytes); });
    return registry;
}

void ask_and_answer(const Replay& replay, std::vector<Looker>& lookers, const WriteRegistry& registry)
{
    std::uint64_t longest = 0;
    for (const Looker& looker : lookers)
        longest = std::max<std::uint64_t>(longest, looker.loops().size());
    const std::uint64_t rounds = exchange_rounds(replay.comm, longest, epoch_window);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        auto questions = lists_for<LookQuestion>(replay.size);
        for (Looker& looker : lookers)
            for (std::size_t i = round * epoch_window;
                 i < std::min<std::size_t>(looker.loops().size(), (round + 1) * epoch_window); ++i)
                looker.ask(i, [&](const LookQuestion& question) {
                    questions[static_cast<std::size_t>(replay.owner_of(ProcessId{question.at}))].push_back(question);
                });
        auto answers = lists_for<LookAnswer>(replay.size);
        for (const LookQuestion& question : replayer::exchange(replay.comm, questions).items) {
            const Write* write = search(registry, question);
            const bool unsure = OtherWrites(replay.definitions, question, write).are_possible(registry);
            if (write == nullptr && !unsure)
                continue;
            LookAnswer answer{question.search, question.asker, 0, {}, 0, unsure ? 1U : 0U};
            if (write != nullptr) {
                answer.origin = write->origin;
                answer.enter = write->made(question.in_vain, question.known);
                answer.bytes = write->bytes;
            }
            answers[static_cast<std::size_t>(replay.owner_of(ProcessId{question.asker}))].push_back(answer);
        }
        for (const LookAnswer& answer : replayer::exchange(replay.comm, answers).items)
            lookers[replay.index_of(ProcessId{answer.asker})].take(answer);
    }
}

}  // namespace

void match_looking(const Replay& replay, std::vector<WindowProcess>& processes, const std::vector<Looks>& looks)
{
    std::vector<Looker> lookers;
    for (std::size_t p = 0; p < processes.size(); ++p)
        lookers.emplace_back(processes[p], looks[p]);
    std::vector<std::uint8_t> interests(replay.definitions.windows.size(), 0);
    for (const Looker& looker : lookers)
        looker.take_interest(interests);
    MPI_Allreduce(MPI_IN_PLACE, interests.data(), static_cast<int>(interests.size()), MPI_UINT8_T, MPI_BOR,
                  replay.comm);
    if (std::ranges::count(interests, 1) == 0)
        return;
    const WriteRegistry registry = register_writes(replay, processes, lookers, interests);
    ask_and_answer(replay, lookers, registry);
    for (Looker& looker : lookers)
        looker.finish();
}

}  // namespace critpath::replayer
