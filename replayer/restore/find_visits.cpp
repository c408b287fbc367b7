// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/find_visits.hpp"

#include "replayer/exchange.hpp"
#include "replayer/pair/lack.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace critpath::replayer
{

namespace
{

/// What is asked of a partner, or of all members of a collective.
struct Question {
    Ns begin, until, end, moment;
    std::uint32_t location;  // who waits
    std::uint32_t partner;   // as ProcessId
    CallRef last;            // or the call of the last member to come
    std::uint32_t index;     // of the wait, in the process that asks
};

struct Answer {
    std::uint32_t index;
    Visit visit;
};

bool comes_before(const Visit& a, const Visit& b)
{
    return a.order() < b.order();
}

Question question_of(const LongWait& wait, std::uint32_t index, const Path& path)
{
    return {wait.begin, wait.until, wait.end, wait.moment(), path.pieces[wait.piece].location, 0, wait.last, index};
}

/// What a call has to do with the end of a wait.
enum class Role : std::uint8_t {
    None,
    Needed,   // nothing ends before it has done its part
    Perhaps,  // it may have done its part before
};

/// The last time that explains the wait: the wait ended soon after it, or who is needed had done nothing before, since
/// it came. Who had a processor for long before it had none could have done its part.
template <class RoleOf>
Visit last_visit(const model::LocationTrace& location, const Question& question, RoleOf role_of)
{
    Ns until = question.end;
    while (const auto preempted = last_preempted(location, question.begin, until, question.moment)) {
        until = preempted->begin;
        const CallRef call{location.location, {preempted->call}};
        const Role role = role_of(call);
        const bool is_end = question.until - preempted->end <= question.moment;
        const bool did_nothing = preempted->begin - preempted->since <= question.moment;
        if ((role != Role::None && is_end) || (role == Role::Needed && did_nothing))
            return {preempted->begin, preempted->end, call, role == Role::Needed};
    }
    return {};
}

/// Whom messages are to, or from.
Visit visit_to_partner(const Replay& replay, const Question& question)
{
    Visit best;
    for (const model::LocationTrace& location : replay.trace_of(ProcessId{question.partner}).locations) {
        best = std::max(best, last_visit(location, question, [](CallRef) { return Role::Needed; }), comes_before);
    }
    return best;
}

/// Whether a call jumps to this one.
bool waited_for(const LocationPredecessors& predecessors, const model::LocationTrace& location, CallRef call,
                CallRef other)
{
    const JumpList jumps(predecessors.jumps, location);
    const std::size_t behind = jumps.before({call.call.value + 1}, jumps.size() / 2);
    return behind > 0 && jumps.call(behind - 1) == call.call.value && jumps[behind - 1].to == other;
}

/// Of the members of a collective that this process holds. Others than the last one may have done their part before.
Visit visit_to_member(const Replay& replay, const Predecessors& predecessors, const Question& question)
{
    Visit best;
    for (std::size_t p = 0; p < replay.processes.size(); ++p)
        for (std::size_t l = 0; l < replay.processes[p].locations.size(); ++l) {
            const model::LocationTrace& location = replay.processes[p].locations[l];
            if (location.location.value == question.location)
                continue;
            const auto role_of = [&](CallRef call) {
                if (call == question.last)
                    return Role::Needed;
                return waited_for(predecessors.processes[p][l], location, call, question.last) ? Role::Perhaps
                                                                                               : Role::None;
            };
            best = std::max(best, last_visit(location, question, role_of), comes_before);
        }
    return best;
}

/// Asks the partners of the messages of some waits: into `visits`, by wait.
void ask_partners(const Replay& replay, const Path& path, std::span<const LongWait> waits, std::span<Visit> visits)
{
    auto to = lists_for<Question>(replay.size);
    for (std::uint32_t i = 0; i < waits.size(); ++i)
        for (const ProcessId partner : waits[i].partners) {
            Question question = question_of(waits[i], i, path);
            question.partner = partner.value;
            to[static_cast<std::size_t>(replay.owner_of(partner))].push_back(question);
        }
    const auto questions = replayer::exchange(replay.comm, to);
    auto back = lists_for<Answer>(replay.size);
    for (std::size_t asker = 0; asker < back.size(); ++asker)
        for (const Question& question : questions.from(static_cast<int>(asker)))
            if (const Visit visit = visit_to_partner(replay, question); visit.call.valid())
                back[asker].push_back({question.index, visit});
    for (const Answer& answer : replayer::exchange(replay.comm, back).items)
        visits[answer.index] = std::max(visits[answer.index], answer.visit, comes_before);
}

/// The questions of all processes about collectives, a part of them at a time: who is a member of what is known to the
/// members only.
class SharedQuestions
{
public:
    SharedQuestions(const Replay& replay, std::vector<Question> own)
        : replay_(replay), own_(std::move(own)), counts_(static_cast<std::size_t>(replay.size))
    {
        const std::uint64_t mine = own_.size();
        MPI_Allgather(&mine, 1, MPI_UINT64_T, counts_.data(), 1, MPI_UINT64_T, replay.comm);
        for (const std::uint64_t count : counts_)
            all_ += count;
    }

    /// Calls `visit(questions, own, first)` with the next ones of all processes, and which of these are own: those from
    /// `first` on.
    template <class VisitAll>
    void for_each_part(VisitAll visit)
    {
        constexpr std::uint64_t part = 16'384;
        for (std::uint64_t begin = 0; begin < all_; begin += part) {
            const std::uint64_t end = std::min(all_, begin + part);
            std::vector<Question> questions(end - begin);
            std::vector<int> bytes(counts_.size()), offsets(counts_.size());
            std::uint64_t before = 0;
            for (std::size_t p = 0; p < counts_.size(); before += counts_[p], ++p) {
                const std::uint64_t from = std::clamp(before, begin, end),
                                    to = std::clamp(before + counts_[p], begin, end);
                bytes[p] = static_cast<int>((to - from) * sizeof(Question));
                offsets[p] = static_cast<int>((from - begin) * sizeof(Question));
            }
            const auto rank = static_cast<std::size_t>(replay_.rank);
            const std::size_t own = static_cast<std::size_t>(bytes[rank]) / sizeof(Question);
            MPI_Allgatherv(own_.data() + next_, bytes[rank], MPI_BYTE, questions.data(), bytes.data(), offsets.data(),
                           MPI_BYTE, replay_.comm);
            next_ += own;
            const std::size_t first = static_cast<std::size_t>(offsets[rank]) / sizeof(Question);
            visit(std::span<const Question>(questions), std::span<const Question>(questions).subspan(first, own),
                  first);
        }
    }

private:
    const Replay& replay_;
    std::vector<Question> own_;
    std::vector<std::uint64_t> counts_;  // by process
    std::uint64_t all_ = 0;
    std::size_t next_ = 0;  // of own_
};

/// The best of what all processes have found: on every process.
void agree(const Replay& replay, std::vector<Visit>& visits)
{
    const auto count = static_cast<int>(visits.size());
    const auto find = [&](auto value, std::int64_t none) {
        std::vector<std::int64_t> best;
        for (const Visit& visit : visits)
            best.push_back(visit.call.valid() ? value(visit) : none);
        MPI_Allreduce(MPI_IN_PLACE, best.data(), count, MPI_INT64_T, MPI_MAX, replay.comm);
        for (std::size_t i = 0; i < visits.size(); ++i)
            if (visits[i].call.valid() && value(visits[i]) != best[i])
                visits[i].call = {};
        return best;
    };
    constexpr std::int64_t none = Ns::min().count();
    const auto ends = find([](const Visit& visit) { return visit.end.count(); }, none);
    const auto sure = find([](const Visit& visit) { return std::int64_t{visit.is_sure}; }, none);
    const auto locations = find([](const Visit& visit) { return std::int64_t{visit.call.location.value}; }, none);
    const auto calls = find([](const Visit& visit) { return std::int64_t{visit.call.call.value}; }, none);
    const auto begins = find([](const Visit& visit) { return visit.begin.count(); }, none);
    for (std::size_t i = 0; i < visits.size(); ++i)
        if (ends[i] != none)
            visits[i] = {Ns{begins[i]},
                         Ns{ends[i]},
                         {{static_cast<std::uint32_t>(locations[i])}, {static_cast<std::uint32_t>(calls[i])}},
                         sure[i] != 0};
}

/// Asks all members of the collectives of some waits: into `visits`, by wait.
void ask_members(const Replay& replay, const Predecessors& predecessors, const Path& path,
                 std::span<const LongWait> waits, std::span<Visit> visits)
{
    std::vector<Question> own;
    for (std::uint32_t i = 0; i < waits.size(); ++i)
        if (waits[i].last.valid())
            own.push_back(question_of(waits[i], i, path));
    SharedQuestions shared(replay, std::move(own));
    shared.for_each_part([&](std::span<const Question> all, std::span<const Question> mine, std::size_t first) {
        std::vector<Visit> found;
        for (const Question& question : all)
            found.push_back(visit_to_member(replay, predecessors, question));
        agree(replay, found);
        for (std::size_t i = 0; i < mine.size(); ++i)
            visits[mine[i].index] = found[first + i];
    });
}

}  // namespace

std::vector<Visit> find_visits(const Replay& replay, const Predecessors& predecessors, const Path& path,
                               const std::vector<LongWait>& waits)
{
    std::vector<Visit> visits(waits.size());
    constexpr std::uint64_t window = 16'384;  // waits of one process in one round
    std::uint64_t next = 0;
    for (std::uint64_t rounds = exchange_rounds(replay.comm, waits.size(), window); rounds > 0; --rounds) {
        const std::uint64_t count = std::min<std::uint64_t>(window, waits.size() - next);
        ask_partners(replay, path, std::span(waits).subspan(next, count), std::span(visits).subspan(next, count));
        next += count;
    }
    ask_members(replay, predecessors, path, waits, visits);
    return visits;
}

}  // namespace critpath::replayer
