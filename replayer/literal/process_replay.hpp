// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the replay of the messages of one traced process: where it stands, what it has posted, what it has to wait for.
#pragma once

#include "replayer/literal/answers.hpp"
#include "replayer/literal/lanes.hpp"
#include "replayer/literal/outbox.hpp"
#include "replayer/pair/records.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

namespace critpath::replayer::literal
{

/// What the traced processes that one process replays have in common.
struct Traffic {
    const Replay& replay;
    Lanes& lanes;
    Outbox<SendRecord>& outbox;
    std::size_t most_receives_open;  // without waiting
    Answers answers;                 // to what has arrived here, and wanted for what was sent
    std::uint64_t unmatched_sends = 0;
};

class ProcessReplay
{
public:
    /// `process`: index into Replay::processes. `pairs` is filled; all must outlive this.
    ProcessReplay(Traffic& traffic, std::size_t process, const rules::Calibration& calibration, ProcessPairs& pairs);

    /// Goes on until it has to wait; it never waits itself.
    void advance();

    /// Everything is posted and has arrived.
    [[nodiscard]] bool at_end() const { return is_posted() && open() == 0; }
    /// Grows with each step.
    [[nodiscard]] std::uint64_t progress() const { return progress_; }
    /// Passes by the next waits, twice as many each time.
    void give_way();
    [[nodiscard]] std::size_t most_receives_posted() const { return slots_.size(); }

private:
    static constexpr std::uint32_t none = UINT32_MAX;

    /// A posted receive.
    struct Slot {
        SendRecord record{};
        MPI_Request request = MPI_REQUEST_NULL;
        const Channel* channel = nullptr;
        Incoming::Message message{};
    };

    /// Receives that are posted and have not been seen to arrive.
    [[nodiscard]] std::size_t open() const { return slots_.size() - free_.size(); }
    [[nodiscard]] bool is_posted() const
    {
        return next_wait_ == waits_.size() && next_receive_ == trace_.receives.size() && !held_back_ &&
               records_.position() == trace_.sends.size();
    }
    void post_receives(model::Ns until);
    void post(const Channel& channel, const Incoming& end, Incoming::Message message);
    /// False if a receiver does not keep up.
    bool post_sends(model::Ns until);
    bool post_send(const SendRecord& record);
    bool has_arrived(std::uint32_t receive);
    bool look(std::uint32_t slot);
    void take(Slot& slot);
    bool pass_by();

    Traffic& traffic_;
    const model::ProcessTrace& trace_;
    std::unordered_map<Channel, Outgoing, ChannelHash>& outgoing_;
    std::unordered_map<Channel, Incoming, ChannelHash>& incoming_;
    const rules::ClockUncertainty& clocks_;
    ProcessPairs& pairs_;
    Peers peers_;
    SendRecords records_;

    std::vector<std::uint32_t> receives_;  // in matching order; empty: as they are
    std::vector<std::uint32_t> waits_;     // receives, in the order in which they were completed
    std::size_t next_receive_ = 0;
    std::size_t next_wait_ = 0;
    std::size_t waited_ = 0;               // for these, of waits_
    std::optional<SendRecord> held_back_;  // the record of a send for which there was no room

    std::deque<Slot> slots_;  // they stay where they are
    std::vector<std::uint32_t> free_;
    std::vector<std::uint32_t> slot_of_;  // by receive, while it is posted
    std::uint64_t progress_ = 0;
    std::uint64_t passes_ = 0;  // waits that may be passed by
    std::uint64_t next_passes_ = 1;
};

}  // namespace critpath::replayer::literal
