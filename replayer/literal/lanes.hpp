// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which recorded messages are sent again, and in which lane of MPI each channel travels. Both ends agree on it
// beforehand, channel by channel, so that nobody waits for what was never sent, and so that two channels never share a
// lane.
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/pair/channels.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

namespace critpath::replayer::literal
{

/// A tag on one of the communicators of the replay. All messages of a channel, and no others between these two
/// processes of the replay, travel in it.
struct Lane {
    std::size_t comm = 0;  // index into Lanes::comms
    int tag = 0;
};

/// The sending end of a channel of an owned process.
struct Outgoing {
    struct Run {
        std::uint32_t begin, end;  // of messages, counted in posting order
    };

    int process = -1;  // of the replay, that holds the receiver
    Lane lane;
    std::vector<Run> agreed;  // ascending: the messages that have a receive

    /// Whether the next message, in posting order, has a receive to go to.
    bool next();

private:
    std::uint32_t message_ = 0;
    std::size_t run_ = 0;
};

/// The receiving end.
struct Incoming {
    struct Message {
        std::uint32_t receive;  // index into ProcessTrace::receives
        std::uint32_t number;
    };

    int process = -1;  // of the replay, that holds the sender
    Lane lane;
    std::vector<Message> expected;  // in the order in which they are sent, which is that of the receives
    std::size_t posted = 0;         // of these

    /// The message that `receive` will get, whose turn is now; nothing if nobody sends to it. Receives in matching
    /// order.
    std::optional<Message> next(std::uint32_t receive);
};

/// What all processes have agreed on; the channels are by owned process.
struct Lanes {
    std::vector<MPI_Comm> comms;
    std::vector<std::unordered_map<Channel, Outgoing, ChannelHash>> outgoing;
    std::vector<std::unordered_map<Channel, Incoming, ChannelHash>> incoming;

    /// Gives the communicators back. Collective.
    void close();
};

/// `tags`: how many each communicator has at most; MPI may have fewer. Collective over `replay.comm`; what travels is
/// one record for each channel and each gap in its numbers.
Lanes agree_on_lanes(const Replay& replay, int tags = std::numeric_limits<int>::max());

}  // namespace critpath::replayer::literal
