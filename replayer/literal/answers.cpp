// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/literal/answers.hpp"

#include "replayer/literal/outbox.hpp"

#include <algorithm>
#include <cstddef>

namespace critpath::replayer::literal
{

namespace
{

constexpr int answers_tag = 0;
constexpr std::uint64_t receives_open = 16;  // from one process

/// Receives so many answers from each process, a few at a time.
class Inbox
{
public:
    Inbox(MPI_Comm comm, const std::vector<std::uint64_t>& wanted) : comm_(comm), wanted_(wanted)
    {
        for (std::size_t process = 0; process < wanted.size(); ++process)
            for (std::uint64_t i = 0; i < std::min(wanted[process], receives_open); ++i)
                from_.push_back(static_cast<int>(process));
        records_.resize(from_.size());
        requests_.resize(from_.size(), MPI_REQUEST_NULL);
        completed_.resize(from_.size());
        for (std::size_t slot = 0; slot < from_.size(); ++slot)
            post(slot);
    }

    /// Gives what has come to `visit`; false if that was the last.
    template <class Visit>
    bool look(Visit visit)
    {
        int count = 0;
        MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, completed_.data(),
                     MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; ++i) {
            const auto slot = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
            visit(records_[slot]);
            post(slot);
        }
        return count != MPI_UNDEFINED;
    }

private:
    void post(std::size_t slot)
    {
        auto& wanted = wanted_[static_cast<std::size_t>(from_[slot])];
        if (wanted == 0)
            return;
        --wanted;
        MPI_Irecv(&records_[slot], sizeof records_[slot], MPI_BYTE, from_[slot], answers_tag, comm_, &requests_[slot]);
    }

    MPI_Comm comm_;
    std::vector<std::uint64_t> wanted_;  // by process: not posted yet
    std::vector<int> from_;              // by slot
    std::vector<ReplyRecord> records_;
    std::vector<MPI_Request> requests_;
    std::vector<int> completed_;
};

}  // namespace

void bring_back(const Replay& replay, MPI_Comm comm, std::uint32_t window, const Answers& answers,
                std::vector<ProcessPairs>& pairs)
{
    Outbox<ReplyRecord> outbox(replay.size, window);
    Inbox inbox(comm, answers.wanted);
    std::size_t next = 0;
    const auto owner = [&](const ReplyRecord& answer) { return replay.owner_of(model::ProcessId{answer.source}); };
    for (bool is_more_to_come = true; is_more_to_come || next < answers.outgoing.size();) {
        for (; next < answers.outgoing.size() && outbox.has_room(owner(answers.outgoing[next])); ++next)
            outbox.send(answers.outgoing[next], owner(answers.outgoing[next]), answers_tag, comm);
        is_more_to_come = inbox.look([&](const ReplyRecord& answer) {
            pairs[replay.index_of({answer.source})].of_send.push_back(matched_receive(replay, answer));
        });
    }
    outbox.finish();
    for (ProcessPairs& process : pairs)
        std::ranges::sort(process.of_send, {}, &MatchedReceive::send);
}

}  // namespace critpath::replayer::literal
