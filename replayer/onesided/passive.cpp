// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/exchange.hpp"
#include "replayer/onesided/came_back.hpp"
#include "replayer/onesided/looks.hpp"
#include "replayer/onesided/own_transfers.hpp"
#include "replayer/onesided/phase.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace critpath::replayer
{

namespace
{

using model::WindowEvent;
using model::WindowId;

/// What waited on a window, on any process. Epochs travel only where somebody may ask for them.
enum Interest : std::uint8_t {
    exclusive_waited = 1,  // for a lock of its own: any epoch may be the reason
    shared_waited = 2,     // for a lock on one target: exclusive epochs may be
    all_waited = 4,        // for a lock on all targets: exclusive epochs on any of them may be
    has_all = 8,           // there are epochs on all targets
};

/// An epoch that ended.
struct LockRecord {
    std::uint32_t window, target, origin;  // target: process or all_targets
    std::uint32_t at;                      // process to whose owner it goes
    rules::Enter unlock;
    Ns leave;               // of the unlock
    rules::Enter transfer;  // of the epoch's transfers, the one that is there last; not valid: none
    std::uint64_t bytes;    // of that
    std::uint32_t to;       // process that it goes to
    std::uint32_t exclusive;
    std::uint32_t waited;  // the unlock, for its transfers, as far as these may have been under way
    std::uint32_t looks;   // 1: it was a look in vain of a loop, and had no other purpose
};

/// A call that waited in an epoch, or for one.
struct EpochQuestion {
    std::uint32_t window, target, origin, at;
    std::uint32_t event;  // into window_events of the origin
    std::uint32_t exclusive;
    std::uint32_t by_request, padding;  // 1: it is the call that completes the event's request
    Ns enter, leave;
    Ns released_by;  // a conflicting epoch was over by then, or began later
};

struct EpochAnswer {
    std::uint32_t origin, event, target;
    std::uint32_t holder;  // process of the unlock
    rules::Enter unlock;   // that released the call; not valid: none
    Ns leave;              // of that
    rules::Enter transfer;
    std::uint64_t bytes;
    std::uint32_t to;      // process that the transfer goes to
    std::uint32_t waited;  // the unlock, for that
    std::uint32_t unsure;  // 1: within the error of the clocks, another epoch may have released it
    std::uint32_t by_request;
    rules::Enter progress;
    // Likewise, if the clock of the target were off, within its error; as that of the origin shows it.
    std::array<rules::Enter, 4> shifted;
};

/// Of one window and target, the epochs in the order in which their unlocks were entered.
struct Held {
    std::vector<LockRecord> exclusive, shared;
};
using EpochRegistry = std::map<std::pair<std::uint32_t, std::uint32_t>, Held>;

/// What one owned process has to tell and to ask.
class Holder
{
public:
    Holder(const Replay& replay, WindowProcess& process, const Looks& looks)
        : definitions_(replay.definitions), process_(process), looks_(looks)
    {
    }

    void take_interest(std::vector<std::uint8_t>& interests) const
    {
        for (std::uint32_t i = 0; i < process_.trace.window_events.size(); ++i) {
            if (!asks(i, false) && !asks(i, true))
                continue;
            const Epoch& epoch = process_.epochs.locks[process_.epochs.of_event[i].epoch];
            const WindowEvent& lock = process_.event(epoch.begin);
            interests[lock.window.value] |= lock.exclusive    ? exclusive_waited
                                            : lock.target < 0 ? all_waited
                                                              : shared_waited;
        }
        for (const Epoch& epoch : process_.epochs.locks)
            if (const WindowEvent& lock = process_.event(epoch.begin); lock.target < 0)
                interests[lock.window.value] |= has_all;
    }

    template <class Send>
    void tell(std::uint32_t number, const std::vector<std::uint8_t>& interests, Send send)
    {
        const Epoch& epoch = process_.epochs.locks[number];
        if (epoch.end == Epoch::open)
            return;
        const WindowEvent& lock = process_.event(epoch.begin);
        const std::uint8_t interest = interests[lock.window.value];
        const bool is_needed = lock.exclusive ? (interest & (exclusive_waited | shared_waited | all_waited)) != 0
                                              : (interest & exclusive_waited) != 0;
        if (!is_needed)
            return;
        const rules::Enter unlock = process_.enter(epoch.end);
        const ProcessId self = process_.trace.process;
        LockRecord record{lock.window.value,
                          all_targets,
                          self.value,
                          0,
                          unlock,
                          process_.leave(epoch.end),
                          {},
                          0,
                          0,
                          lock.exclusive ? 1U : 0U,
                          0,
                          looks_.are_all_of(number) ? 1U : 0U};
        add_transfer(number, record);
        const CallRef end = process_.event(epoch.end).call;
        if (record.transfer.valid() && process_.may_have_waited(end) &&
            process_.may_be_under_way(record.transfer.time, process_.transfer_time({record.to}, record.bytes), end))
            record.waited = 1;
        if (lock.target < 0 || (lock.exclusive && (interest & all_waited) != 0)) {
            record.at = process_.place_of_all(lock.window).value;
            send(record);
        }
        if (const auto target = process_.target(lock.window, lock.target)) {
            record.target = record.at = target->value;
            send(record);
        }
    }

    template <class Send>
    void ask(std::uint32_t i, const std::vector<std::uint8_t>& interests, Send send)
    {
        for (const bool by_request : {false, true})
            if (asks(i, by_request))
                ask(i, by_request, interests, send);
    }

    /// Of several unlocks, the rule for messages takes the one that reached the call last.
    void take(const EpochAnswer& answer)
    {
        const CallRef call = waiting_call(process_.event(answer.event), answer.by_request != 0);
        if (answer.unlock.valid()) {
            // Where the unlock had to wait for its transfers itself, these are what others wait for, too.
            const rules::Link link = link_between(definitions_, {answer.holder}, {answer.to});
            const auto is_held_by_transfer = [&](Ns shift) {
                return answer.waited != 0 && process_.is_too_early(call, answer.unlock.time + shift, {answer.holder}) &&
                       process_.explains(answer.transfer.time + shift, process_.transfer_time(link, answer.bytes),
                                         call);
            };
            if (depends_on_clocks(process_.error({answer.holder}), is_held_by_transfer))
                process_.doubt(call);
            if (!is_held_by_transfer(Ns{0}))
                process_.depend(call, answer.unlock, 0, process_.link({answer.holder}),
                                process_.lateness(call, answer.unlock, answer.leave, {answer.holder}));
            if (answer.transfer.valid())
                process_.depend(call, answer.transfer, answer.bytes, link);
        }
        if (answer.unsure != 0)
            process_.doubt(call);
        if (answer.target == all_targets)
            return;  // nobody that could enter MPI
        const auto target = moves_on(answer, answer.progress);
        TargetProgress progress{call, target, {}};
        for (std::size_t i = 0; i < answer.shifted.size(); ++i) {
            const rules::Enter& shifted = answer.shifted[i];
            const bool is_same = shifted.order() == answer.progress.order();
            progress.shifted[i] = (is_same ? target : moves_on(answer, shifted)).value_or(rules::Enter{});
        }
        if (target || std::ranges::any_of(progress.shifted, &rules::Enter::valid))
            process_.add_progress(progress);
    }

    /// What unlocks and flushes wait for at home: the transfers that they complete.
    void explain_transfers()
    {
        std::map<std::pair<WindowId, std::int32_t>, std::vector<std::uint32_t>> under_way;
        for (std::uint32_t i = 0; i < process_.trace.window_events.size(); ++i) {
            const WindowEvent& event = process_.event(i);
            if (event.what == WindowEvent::What::Transfer) {
                if (process_.epochs.of_event[i].kind == Epochs::Kind::Lock)
                    under_way[{event.window, event.target}].push_back(i);
                if (event.completion.valid() && process_.may_have_waited(event.completion))
                    depend_on(event.completion, i);
            } else if (event.what == WindowEvent::What::Unlock || event.what == WindowEvent::What::Flush) {
                const bool waited = process_.may_have_waited(event.call);
                const auto begin = under_way.lower_bound({event.window, std::max(event.target, 0)});
                const auto end = under_way.upper_bound({event.window, event.target < 0 ? INT32_MAX : event.target});
                for (auto to = begin; to != end; ++to)
                    for (const std::uint32_t transfer : to->second)
                        if (waited)
                            depend_on(event.call, transfer);
                under_way.erase(begin, end);
            }
        }
    }

private:
    /// Whether the target that entered MPI at `progress` may have moved the call on; as TargetProgress has it.
    [[nodiscard]] std::optional<rules::Enter> moves_on(const EpochAnswer& answer, const rules::Enter& progress)
    {
        const WindowEvent& event = process_.event(answer.event);
        const bool is_transfer = event.what == WindowEvent::What::Transfer;
        const rules::Waiting waiting = process_.waiting(waiting_call(event, answer.by_request != 0));
        const Ns transfer = process_.transfer_time({answer.target}, event.bytes);
        const Ns usual = 4 * transfer + waiting.threshold;
        if (is_transfer && waiting.excess <= transfer + waiting.threshold &&
            !ends_with_progress(waiting, {answer.target}, progress, transfer))
            return {};  // copying is work
        // Where no core is free, the call may end later, but so close to the enter that it is hardly by chance.
        constexpr int chance = 8;
        const Ns soon = std::max(usual, (waiting.leave - waiting.enter) / chance);
        if (progress.valid() && waiting.leave - progress.time <= soon)
            return progress;
        return is_transfer && waiting.excess > usual ? std::optional(rules::Enter{}) : std::nullopt;
    }

    /// A transfer that was over sooner than it can be copied, and one message after its target had come to MPI, waited
    /// for that.
    [[nodiscard]] bool ends_with_progress(const rules::Waiting& waiting, ProcessId target, const rules::Enter& progress,
                                          Ns transfer)
    {
        const Ns message = process_.transfer_time(target, 0);
        const auto is_about = [&](Ns time, Ns cost) {
            return std::chrono::abs(time - cost) <= std::max(waiting.threshold, cost / 8);
        };
        return progress.valid() && waiting.excess > waiting.threshold && !is_about(waiting.excess, transfer) &&
               waiting.leave - progress.time <= rules::longest(message) + waiting.threshold;
    }

    void add_transfer(std::uint32_t epoch, LockRecord& record)
    {
        if (!last_transfers_)
            last_transfers_ = find_last_transfers();
        const std::optional<std::uint32_t> last = (*last_transfers_)[epoch];
        if (!last)
            return;
        const WindowEvent& event = process_.event(*last);
        record.transfer = process_.enter(*last);
        record.bytes = event.bytes;
        record.to = process_.target(event.window, event.target)->value;
    }

    /// By lock epoch, its transfer that is there last. In one pass over all events, since many epochs may be open at a
    /// time, each for the whole run.
    [[nodiscard]] std::vector<std::optional<std::uint32_t>> find_last_transfers()
    {
        std::vector<std::optional<std::uint32_t>> result(process_.epochs.locks.size());
        for (std::uint32_t i = 0; i < process_.trace.window_events.size(); ++i) {
            const auto& place = process_.epochs.of_event[i];
            if (process_.event(i).what != WindowEvent::What::Transfer || place.kind != Epochs::Kind::Lock)
                continue;
            std::optional<std::uint32_t>& last = result[place.epoch];
            if (process_.arrival(i) > (last ? process_.arrival(*last) : Ns::min()))
                last = i;
        }
        return result;
    }

    /// Of an event, or of the request that it has.
    [[nodiscard]] static CallRef waiting_call(const WindowEvent& event, bool by_request)
    {
        return by_request ? event.completion : event.call;
    }

    /// Calls of lock epochs that somebody may have to explain.
    [[nodiscard]] bool asks(std::uint32_t i, bool by_request) const
    {
        const CallRef call = waiting_call(process_.event(i), by_request);
        return process_.epochs.of_event[i].kind == Epochs::Kind::Lock && call.valid() &&
               !(by_request && may_end_by_others(process_.function(call))) && process_.may_have_waited(call);
    }

    template <class Send>
    void ask(std::uint32_t i, bool by_request, const std::vector<std::uint8_t>& interests, Send send) const
    {
        const WindowEvent& event = process_.event(i);
        const Epoch& epoch = process_.epochs.locks[process_.epochs.of_event[i].epoch];
        const WindowEvent& lock = process_.event(epoch.begin);
        const ProcessId self = process_.trace.process;
        const CallRef call = waiting_call(event, by_request);
        const Ns leave = leave_of(process_.trace, call);
        const bool is_end = epoch.end == i || epoch.end == Epoch::open;
        const Ns released_by = is_end ? leave : std::max(leave, process_.enter(epoch.end).time);
        EpochQuestion question{lock.window.value,
                               all_targets,
                               self.value,
                               0,
                               i,
                               lock.exclusive ? 1U : 0U,
                               by_request ? 1U : 0U,
                               0,
                               enter_of(process_.trace, call).time,
                               leave,
                               released_by};
        if (lock.target < 0 || (lock.exclusive && (interests[lock.window.value] & has_all) != 0)) {
            question.at = process_.place_of_all(lock.window).value;
            send(question);
        }
        const std::int32_t rank = event.target >= 0 ? event.target : lock.target;
        if (const auto target = process_.target(lock.window, rank)) {
            question.target = question.at = target->value;
            send(question);
        }
    }

    void depend_on(CallRef call, std::uint32_t transfer)
    {
        const WindowEvent& event = process_.event(transfer);
        if (const auto target = process_.target(event.window, event.target))
            process_.depend_on_transfer(call, process_.enter(transfer), {}, event.bytes, *target, event.writes());
    }

    const model::Definitions& definitions_;
    WindowProcess& process_;
    const Looks& looks_;
    std::optional<std::vector<std::optional<std::uint32_t>>> last_transfers_;  // once they are wanted
};

/// The epoch that a call waited for.
struct FoundEpoch {
    const LockRecord* last = nullptr;  // null: there is none
    bool unsure = false;               // within the error of the clocks, it may be another one
};

/// Looks for it.
class Search
{
public:
    Search(const Replay& replay, const rules::Calibration& calibration, const EpochQuestion& question)
        : definitions_(replay.definitions), calibration_(calibration), question_(question)
    {
    }

    [[nodiscard]] FoundEpoch run(const EpochRegistry& registry)
    {
        const auto held = registry.find({question_.window, question_.target});
        if (held == registry.end())
            return {};
        // Of all targets: locks on any one target may hold up who wants all, and the other way round.
        const bool for_all = question_.target == all_targets;
        const bool by_exclusive = !for_all || question_.exclusive == 0, by_shared = question_.exclusive != 0;
        if (by_exclusive)
            look_at(held->second.exclusive);
        if (by_shared)
            look_at(held->second.shared);
        const bool unsure = may_be_later_than_call() || (by_exclusive && may_be_among(held->second.exclusive)) ||
                            (by_shared && may_be_among(held->second.shared));
        return {last_, unsure};
    }

private:
    [[nodiscard]] Ns transfer_time(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) const
    {
        return calibration_.one_sided[static_cast<std::size_t>(link_between(definitions_, {from}, {to}))].of(bytes);
    }

    /// When the call could go on as far as this epoch is concerned.
    [[nodiscard]] Ns released(const LockRecord& record) const
    {
        const Ns told = record.unlock.time + transfer_time(record.origin, question_.origin, 0);
        return record.transfer.valid()
                   ? std::max(told, record.transfer.time + transfer_time(record.origin, record.to, record.bytes))
                   : told;
    }

    /// Of the epochs that ended before the call did, the one that was over last: among the last few in the order of
    /// their unlocks, since what one of them had to transfer may outlast others. Epochs of the asker itself count among
    /// these if they were over when it came: what had ended before them does not hold it up now. So do looks in vain,
    /// of which no work of their process would have made an end sooner: it waits itself.
    void look_at(const std::vector<LockRecord>& held)
    {
        constexpr int few = 16;
        auto after =
            std::ranges::lower_bound(held, question_.leave, {}, [](const LockRecord& r) { return r.unlock.time; });
        for (int seen = 0; after != held.begin() && seen < few;) {
            --after;
            if (after->origin == question_.origin || after->looks != 0 || after->leave > question_.released_by) {
                seen += after->unlock.time < question_.enter ? 1 : 0;
                continue;
            }
            ++seen;
            if (last_ == nullptr || released(*after) > released(*last_))
                last_ = &*after;
        }
    }

    /// How far off the time is that passed between the epoch and something of the other process.
    [[nodiscard]] Ns error(const LockRecord& record, std::uint32_t other) const
    {
        return definitions_.uncertainty(ProcessId{record.origin}, ProcessId{other});
    }
    /// Likewise of its release: what a message takes was learned from such times.
    [[nodiscard]] Ns error_of_release(const LockRecord& record, std::uint32_t other) const
    {
        const Ns error_of_unlock = error(record, other);
        return error_of_unlock > Ns{0} ? error_of_unlock + calibration_.clocks.largest() : Ns{0};
    }

    /// Whether the epoch may have been there when the call came: what was over before is of no interest.
    [[nodiscard]] bool may_matter(const LockRecord& record) const
    {
        return released(record) + error_of_release(record, question_.origin) > question_.enter;
    }

    /// Whether the epoch that was found may have begun when that of the call was over.
    [[nodiscard]] bool may_be_later_than_call() const
    {
        return last_ != nullptr && may_matter(*last_) &&
               last_->leave + error(*last_, question_.origin) > question_.released_by;
    }

    /// Whether this one may have been over before the call, and later than the one that was found.
    [[nodiscard]] bool may_be_last(const LockRecord& record) const
    {
        const Ns off = error(record, question_.origin);
        if (&record == last_ || record.origin == question_.origin || record.looks != 0 || !may_matter(record) ||
            record.unlock.time - off >= question_.leave || record.leave - off > question_.released_by)
            return false;
        return last_ == nullptr || released(record) + error_of_release(record, last_->origin) > released(*last_);
    }

    /// Whether one of these may. Where there are very many within the error, it is taken for granted.
    [[nodiscard]] bool may_be_among(const std::vector<LockRecord>& held) const
    {
        constexpr int few = 16, most = 1024;
        const Ns largest = calibration_.clocks.largest();
        if (largest == Ns{0})
            return false;
        auto after = std::ranges::lower_bound(held, question_.leave + largest, {},
                                              [](const LockRecord& r) { return r.unlock.time; });
        int before = 0;
        for (int seen = 0; after != held.begin() && before < few; ++seen) {
            --after;
            if (seen == most || may_be_last(*after))
                return true;
            before += after->unlock.time + largest < question_.enter ? 1 : 0;
        }
        return false;
    }

    const model::Definitions& definitions_;
    const rules::Calibration& calibration_;
    const EpochQuestion& question_;
    const LockRecord* last_ = nullptr;
};

/// How the target may have moved the call on.
void add_progress(const Replay& replay, const rules::Calibration& calibration, const EpochQuestion& question,
                  EpochAnswer& answer)
{
    if (question.target == all_targets || question.target == question.origin)
        return;
    const ProcessId target{question.target}, origin{question.origin};
    const Ns message =
        calibration.one_sided[static_cast<std::size_t>(link_between(replay.definitions, target, origin))].of(0);
    const auto progress = [&](Ns ahead) {
        rules::Enter enter = came_back(replay, target, question.enter + ahead, question.leave + ahead, message);
        enter.time -= enter.valid() ? ahead : Ns{0};
        return enter;
    };
    answer.progress = progress(Ns{0});
    answer.shifted.fill(answer.progress);
    const Ns error = replay.definitions.uncertainty(target, origin);
    if (error == Ns{0})
        return;
    const auto errors = telling_errors(replay, target, question.leave - message, error);
    std::ranges::transform(errors, answer.shifted.begin(), progress);
}

EpochAnswer answer(const Replay& replay, const rules::Calibration& calibration, const EpochRegistry& registry,
                   const EpochQuestion& question)
{
    const FoundEpoch found = Search(replay, calibration, question).run(registry);
    EpochAnswer answer{};
    answer.origin = question.origin;
    answer.event = question.event;
    answer.by_request = question.by_request;
    answer.target = question.target;
    answer.unsure = found.unsure ? 1 : 0;
    if (found.last != nullptr) {
        answer.holder = found.last->origin;
        answer.unlock = found.last->unlock;
        answer.leave = found.last->leave;
        answer.transfer = found.last->transfer;
        answer.bytes = found.last->bytes;
        answer.to = found.last->to;
        answer.waited = found.last->waited;
    }
    add_progress(replay, calibration, question, answer);
    return answer;
}

std::vector<std::uint8_t> agree_on_interests(const Replay& replay, const std::vector<Holder>& holders)
{
    std::vector<std::uint8_t> interests(replay.definitions.windows.size(), 0);
    for (const Holder& holder : holders)
        holder.take_interest(interests);
    MPI_Allreduce(MPI_IN_PLACE, interests.data(), static_cast<int>(interests.size()), MPI_UINT8_T, MPI_BOR,
                  replay.comm);
    return interests;
}

/// The epochs that somebody asks for, where they are asked for. Exclusive ones on one target follow each other in time,
/// so that no process gets more of them than fit into the run.
EpochRegistry register_epochs(const Replay& replay, const std::vector<WindowProcess>& processes,
                              std::vector<Holder>& holders, const std::vector<std::uint8_t>& interests)
{
    std::uint64_t longest = 0;
    for (const WindowProcess& process : processes)
        longest = std::max<std::uint64_t>(longest, process.epochs.locks.size());
    EpochRegistry registry;
    const std::uint64_t rounds = exchange_rounds(replay.comm, longest, epoch_window);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        auto out = lists_for<LockRecord>(replay.size);
        for (std::size_t p = 0; p < processes.size(); ++p)
            for (std::uint64_t e = round * epoch_window;
                 e < std::min<std::uint64_t>(processes[p].epochs.locks.size(), (round + 1) * epoch_window); ++e)
                holders[p].tell(static_cast<std::uint32_t>(e), interests, [&](const LockRecord& record) {
                    out[static_cast<std::size_t>(replay.owner_of(ProcessId{record.at}))].push_back(record);
                });
        for (const LockRecord& record : replayer::exchange(replay.comm, out).items) {
            Held& held = registry[{record.window, record.target}];
            (record.exclusive != 0 ? held.exclusive : held.shared).push_back(record);
        }
    }
    for (auto& [key, held] : registry)
        for (auto* records : {&held.exclusive, &held.shared})
            std::ranges::sort(*records, {}, [](const LockRecord& r) { return r.unlock.order(); });
    return registry;
}

void ask_and_answer(const Replay& replay, const rules::Calibration& calibration,
                    const std::vector<WindowProcess>& processes, std::vector<Holder>& holders,
                    const EpochRegistry& registry, const std::vector<std::uint8_t>& interests)
{
    std::uint64_t longest = 0;
    for (const WindowProcess& process : processes)
        longest = std::max<std::uint64_t>(longest, process.trace.window_events.size());
    const std::uint64_t rounds = exchange_rounds(replay.comm, longest, epoch_window);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        auto questions = lists_for<EpochQuestion>(replay.size);
        for (std::size_t p = 0; p < processes.size(); ++p)
            for (std::uint64_t i = round * epoch_window;
                 i < std::min<std::uint64_t>(processes[p].trace.window_events.size(), (round + 1) * epoch_window); ++i)
                holders[p].ask(static_cast<std::uint32_t>(i), interests, [&](const EpochQuestion& question) {
                    questions[static_cast<std::size_t>(replay.owner_of(ProcessId{question.at}))].push_back(question);
                });
        auto answers = lists_for<EpochAnswer>(replay.size);
        for (const EpochQuestion& question : replayer::exchange(replay.comm, questions).items)
            answers[static_cast<std::size_t>(replay.owner_of(ProcessId{question.origin}))].push_back(
                answer(replay, calibration, registry, question));
        for (const EpochAnswer& a : replayer::exchange(replay.comm, answers).items)
            holders[replay.index_of({a.origin})].take(a);
    }
}

}  // namespace

void match_passive(const Replay& replay, const rules::Calibration& calibration, std::vector<WindowProcess>& processes,
                   const std::vector<Looks>& looks)
{
    std::vector<Holder> holders;
    for (std::size_t p = 0; p < processes.size(); ++p)
        holders.emplace_back(replay, processes[p], looks[p]);
    const auto interests = agree_on_interests(replay, holders);
    const EpochRegistry registry = register_epochs(replay, processes, holders, interests);
    ask_and_answer(replay, calibration, processes, holders, registry, interests);
    for (Holder& holder : holders)
        holder.explain_transfers();
}

}  // namespace critpath::replayer
