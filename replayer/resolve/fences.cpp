// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/resolve/fences.hpp"

#include "replayer/exchange.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace critpath::replayer
{

using functions::FunctionId;
using model::Ns;

namespace
{

/// Those before one fence. Many members ask, and each looks at few of them.
class Transfers
{
public:
    void add(const rules::FencedTransfer& transfer)
    {
        of_process_[transfer.origin].push_back(transfer);
        if (transfer.target != transfer.origin)
            of_process_[transfer.target].push_back(transfer);
        const auto is_behind = [&](const rules::FencedTransfer& other) { return rules::is_dominated(transfer, other); };
        if (std::ranges::any_of(best_, is_behind))
            return;
        std::erase_if(best_, [&](const rules::FencedTransfer& other) { return rules::is_dominated(other, transfer); });
        best_.push_back(transfer);
    }

    [[nodiscard]] std::span<const rules::FencedTransfer> of(const rules::FenceWait& wait) const
    {
        if (wait.together)
            return best_;
        const auto own = of_process_.find(wait.process);
        return own != of_process_.end() ? std::span(own->second) : std::span<const rules::FencedTransfer>();
    }

private:
    std::vector<rules::FencedTransfer> best_;  // of all; none of them is dominated
    std::map<model::ProcessId, std::vector<rules::FencedTransfer>> of_process_;
};

}  // namespace

bool Fences::may_wait(const rules::Member& member, const rules::Instance& instance)
{
    return member.function == FunctionId::MPI_Win_fence && instance.bytes > 0;
}

void Fences::add(const Part& part, const rules::Member& member, const rules::Instance& instance,
                 const rules::Predecessor& otherwise)
{
    const Name name{part.side.value, part.number};
    const std::vector<TransferBeforeFence>& fenced = windows_[part.process].fenced;
    for (auto before = std::ranges::lower_bound(fenced, member.enter.call, {}, &TransferBeforeFence::fence);
         before != fenced.end() && before->fence == member.enter.call; ++before)
        told_.push_back({name, before->transfer});
    const model::ProcessId process = replay_.processes[part.process].process;
    const std::vector<OpenedEpoch>& opened = windows_[part.process].opened;
    if (const auto epoch = std::ranges::lower_bound(opened, member.enter.call, {}, &OpenedEpoch::fence);
        epoch != opened.end() && epoch->fence == member.enter.call)
        opened_.push_back({name, process, epoch->opening});
    const Ns least = completion(instance.members);
    constexpr int apart = 4;  // what tells them that they may leave reaches some of them sooner
    const Ns error = calibration_.clocks.largest();
    const bool together = instance.last_leave - instance.first_leave <= (least / apart + error).count();
    asked_.push_back({part.process,
                      name,
                      {member.enter.call, process, member.leave, instance.last.time, least, together, error},
                      otherwise});
}

/// How long a fence takes of itself does not depend on what was transferred.
Ns Fences::completion(std::size_t members) const
{
    const int bucket = rules::size_bucket(members);
    Ns least = rules::usual_completion(FunctionId::MPI_Win_fence, 0, members);
    for (const auto& [key, time] : calibration_.collectives.of(FunctionId::MPI_Win_fence))
        if (key.members_bucket == bucket)
            least = std::min(least, time);
    return least;
}

std::size_t Fences::home_of(Name instance) const
{
    return (Side{instance.side}.comm().value + instance.number) % static_cast<std::size_t>(replay_.size);
}

/// What the homes get of that.
template <class OfInstance>
std::vector<OfInstance> Fences::at_home(const std::vector<OfInstance>& all) const
{
    auto out = lists_for<OfInstance>(replay_.size);
    for (const OfInstance& one : all)
        out[home_of(one.instance)].push_back(one);
    return replayer::exchange(replay_.comm, out).items;
}

std::vector<rules::Predecessor> Fences::find() const
{
    std::vector<rules::Predecessor> result(asked_.size());
    if (!on_any(replay_.comm, !told_.empty()))
        return result;
    std::map<std::pair<Name, model::ProcessId>, rules::Enter> openings;
    for (const Opened& opened : at_home(opened_))
        openings[{opened.instance, opened.process}] = opened.enter;
    std::map<Name, Transfers> transfers;
    for (Told& told : at_home(told_)) {
        const auto opening = openings.find({told.instance, told.transfer.target});
        if (opening != openings.end() && opening->second.time > told.transfer.enter.time) {
            told.transfer.enter = opening->second;
            told.transfer.begun_by_target = true;
        }
        transfers[told.instance].add(told.transfer);
    }

    constexpr std::size_t window = 65536;  // questions of one process in one round
    const std::uint64_t rounds = exchange_rounds(replay_.comm, asked_.size(), window);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        auto questions = lists_for<Question>(replay_.size);
        for (std::size_t i = round * window; i < std::min<std::size_t>(asked_.size(), (round + 1) * window); ++i)
            questions[home_of(asked_[i].instance)].push_back(
                {asked_[i].instance, static_cast<std::uint32_t>(i), asked_[i].wait});
        const auto received = replayer::exchange(replay_.comm, questions);
        auto answers = lists_for<Answer>(replay_.size);
        for (std::size_t asker = 0; asker < answers.size(); ++asker)
            for (const Question& question : received.from(static_cast<int>(asker)))
                if (const auto found = transfers.find(question.instance); found != transfers.end())
                    answers[asker].push_back(
                        {question.index, rules::fence_predecessor(question.wait, found->second.of(question.wait))});
        for (const Answer& answer : replayer::exchange(replay_.comm, answers).items)
            result[answer.index] = answer.predecessor;
    }
    return result;
}

}  // namespace critpath::replayer
