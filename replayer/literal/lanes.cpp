// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/literal/lanes.hpp"

#include "replayer/exchange.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>

namespace critpath::replayer::literal
{

namespace
{

/// So many messages of one channel, with consecutive numbers.
struct Announced {
    std::uint32_t comm, source, dest;
    std::int32_t tag;
    std::uint32_t lane;  // of all lanes from the announcing process of the replay to this one
    std::uint32_t number, count;
};

/// Of the messages of a lane, these have a receive.
struct Agreed {
    std::uint32_t lane;
    Outgoing::Run run;
};

Lane lane_at(std::uint32_t index, int tags)
{
    return {index / static_cast<std::uint32_t>(tags), static_cast<int>(index % static_cast<std::uint32_t>(tags))};
}

/// The sending side of the agreement.
class Announcer
{
public:
    Announcer(const Replay& replay, Lanes& lanes, int tags)
        : replay_(replay), lanes_(lanes), tags_(tags), channels_(lists_for<Outgoing*>(replay.size))
    {
    }

    std::vector<std::vector<Announced>> announce()
    {
        auto out = lists_for<Announced>(replay_.size);
        for (std::size_t p = 0; p < replay_.processes.size(); ++p)
            announce(replay_.processes[p], lanes_.outgoing[p], out);
        return out;
    }

    void take(const Received<Agreed>& answers)
    {
        for (std::size_t process = 0; process < channels_.size(); ++process)
            for (const Agreed& answer : answers.from(static_cast<int>(process)))
                channels_[process][answer.lane]->agreed.push_back(answer.run);
    }

    /// Of the process to which most of them lead.
    [[nodiscard]] std::uint64_t most_lanes() const
    {
        std::size_t most = 0;
        for (const auto& channels : channels_)
            most = std::max(most, channels.size());
        return most;
    }

private:
    void announce(const model::ProcessTrace& trace, std::unordered_map<Channel, Outgoing, ChannelHash>& outgoing,
                  std::vector<std::vector<Announced>>& out)
    {
        std::unordered_map<Channel, std::vector<Announced>, ChannelHash> runs;
        Peers peers(replay_.definitions, trace.process);
        Numbering numbering(trace, model::Skipped::What::Send);
        for (std::uint64_t i = 0; i < trace.sends.size(); ++i) {
            const model::Envelope envelope = trace.sends.envelopes()[trace.sends.envelope(i)];
            const auto dest = peers.at(envelope.comm, envelope.peer);
            if (!dest)
                continue;
            const Channel channel{envelope.comm, *dest, envelope.tag};
            const Ns post = enter_of(trace, trace.numbers.ref(trace.sends.post(i))).time;
            const std::uint32_t number = numbering.next(channel, post, peers);
            auto& list = runs[channel];
            if (!list.empty() && list.back().number + list.back().count == number)
                ++list.back().count;
            else
                list.push_back({channel.comm.value, trace.process.value, dest->value, channel.tag, 0, number, 1});
        }
        for (auto& [channel, list] : runs) {
            const int process = replay_.owner_of(channel.peer);
            auto& lanes = channels_[static_cast<std::size_t>(process)];
            const auto index = static_cast<std::uint32_t>(lanes.size());
            Outgoing& end = outgoing[channel];
            end.process = process;
            end.lane = lane_at(index, tags_);
            lanes.push_back(&end);
            for (Announced& run : list) {
                run.lane = index;
                out[static_cast<std::size_t>(process)].push_back(run);
            }
        }
    }

    const Replay& replay_;
    Lanes& lanes_;
    int tags_;
    std::vector<std::vector<Outgoing*>> channels_;  // by process of the replay and index of the lane
};

/// The receiving side: looks for the receive of each announced message.
class Answerer
{
public:
    Answerer(const Replay& replay, Lanes& lanes, int tags) : replay_(replay), lanes_(lanes), tags_(tags)
    {
        for (const model::ProcessTrace& trace : replay.processes)
            waiting_.emplace_back(replay.definitions, trace);
    }

    std::vector<std::vector<Agreed>> answer(const Received<Announced>& announced)
    {
        auto out = lists_for<Agreed>(replay_.size);
        for (int process = 0; process < replay_.size; ++process) {
            std::uint32_t message = 0;  // of its lane
            const Announced* previous = nullptr;
            for (const Announced& run : announced.from(process)) {
                if (previous == nullptr || run.lane != previous->lane)
                    message = 0;
                answer(run, process, message, out[static_cast<std::size_t>(process)]);
                message += run.count;
                previous = &run;
            }
        }
        return out;
    }

private:
    void answer(const Announced& run, int process, std::uint32_t message, std::vector<Agreed>& out)
    {
        const std::size_t p = replay_.index_of({run.dest});
        const Channel channel{{run.comm}, {run.source}, run.tag};
        bool goes_on = false;
        for (std::uint32_t i = 0; i < run.count; ++i) {
            const std::uint32_t receive = waiting_[p].take(channel, run.number + i);
            if (receive == WaitingReceives::none) {
                goes_on = false;
                continue;
            }
            Incoming& end = lanes_.incoming[p][channel];
            end.process = process;
            end.lane = lane_at(run.lane, tags_);
            end.expected.push_back({receive, run.number + i});
            if (!goes_on)
                out.push_back({run.lane, {message + i, message + i}});
            ++out.back().run.end;
            goes_on = true;
        }
    }

    std::vector<WaitingReceives> waiting_;  // by owned process
    const Replay& replay_;
    Lanes& lanes_;
    int tags_;
};

int tags_of_mpi(MPI_Comm comm)
{
    void* value = nullptr;
    int is_set = 0;
    MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &is_set);
    constexpr int least = 32767;  // MPI-3.1, 8.1.2
    return std::min(is_set != 0 ? *static_cast<int*>(value) : least, std::numeric_limits<int>::max() - 1) + 1;
}

}  // namespace

bool Outgoing::next()
{
    while (run_ < agreed.size() && agreed[run_].end <= message_)
        ++run_;
    const bool has_receive = run_ < agreed.size() && agreed[run_].begin <= message_;
    ++message_;
    return has_receive;
}

std::optional<Incoming::Message> Incoming::next(std::uint32_t receive)
{
    if (posted == expected.size() || expected[posted].receive != receive)
        return std::nullopt;
    return expected[posted++];
}

Lanes agree_on_lanes(const Replay& replay, int tags)
{
    tags = std::min(tags, tags_of_mpi(replay.comm));
    Lanes lanes;
    lanes.outgoing.resize(replay.processes.size());
    lanes.incoming.resize(replay.processes.size());
    Announcer announcer(replay, lanes, tags);
    Answerer answerer(replay, lanes, tags);
    const auto announced = replayer::exchange(replay.comm, announcer.announce());
    announcer.take(replayer::exchange(replay.comm, answerer.answer(announced)));

    std::uint64_t most = std::max<std::uint64_t>(announcer.most_lanes(), 1);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, replay.comm);
    lanes.comms.resize((most + static_cast<std::uint64_t>(tags) - 1) / static_cast<std::uint64_t>(tags));
    for (MPI_Comm& comm : lanes.comms)
        MPI_Comm_dup(replay.comm, &comm);
    return lanes;
}

void Lanes::close()
{
    for (MPI_Comm& comm : comms)
        MPI_Comm_free(&comm);
    comms.clear();
}

}  // namespace critpath::replayer::literal
