// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the re-execution of all messages, one by one: the sends of the trace carry what their receivers want to know,
// and MPI does the pairing. (Seed, section 4, step 1)
//
// Each traced process is replayed in the order of its times. Every send that has a receive in the trace becomes an
// MPI_Isend of a small record, every receive that has a send an MPI_Irecv from the recorded source with the recorded
// tag (as one lane, lanes.hpp), in the order in which they match, so that MPI's own order gives the k-th to the k-th.
// A process of the replay goes on with whichever of its traced processes can go on; one that has to wait is passed by.
//
// *When it waits* (the Seed's wait-all, corrected): where more than so many receives are open, and a receive was
// completed in the trace, at time f, after everything posted until f was posted, it waits for those that were completed
// until f, and for nothing else. Waiting for all that is pending instead stands still where the application did not: of
// two processes that post their receive, complete something else, and then post the send that the other one waits for,
// neither would come to its send. Waiting at each completion would be as right, but then neighbours go in step, and
// each step costs a switch of processes where they share processors.
//
// *Why that ends.* Take the waits that are not over and, of these, one whose receive was completed first in the run
// that was recorded: at time f. Its message was sent before f. The traced process that sent it has posted that send, or
// stands at a wait before it, whose receive was completed before that send and so before f, against the choice. So the
// message is on its way, and as it is small, it arrives without the help of its receiver. It does not matter who
// replays whom, since nothing but the own wait keeps a traced process.
//
// That holds for what was really recorded. A trace in which times or numbers are wrong can make a receive wait for a
// message that is sent because of it; and room (outbox.hpp) is a wait that the application did not have. Therefore
// processes that stand still find out about it together (standstill.hpp) and pass by some waits, each time twice as
// many. What they passed by is waited for at the end, when everything has been posted, so that it arrives for certain.
#pragma once

#include "replayer/pair/pair.hpp"
#include "replayer/rules/calibration.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace critpath::replayer::literal
{

/// How far the replay of messages may go. The results are the same for all of them.
struct Limits {
    int tags = std::numeric_limits<int>::max();  // on one communicator; at most as many as MPI has
    std::size_t receives = 256;                  // of one traced process that are open without a wait
    std::uint32_t window = 1024;                 // messages from one process to another (outbox.hpp)
    double patience = 0.1;                       // s, before a process that waits asks the others (standstill.hpp)
};

struct Messages {
    std::vector<ProcessPairs> pairs;       // as Replay::processes
    std::uint64_t unmatched_sends = 0;     // of owned processes
    std::uint64_t standstills = 0;         // of the whole replay
    std::size_t most_receives_posted = 0;  // of any owned process at a time
};

/// Pairs all messages and brings the answers back. Of `calibration`, the costs of calls and the clocks must be there.
/// Collective over `replay.comm`.
Messages replay_messages(const Replay& replay, const rules::Calibration& calibration, const Limits& limits = {});

}  // namespace critpath::replayer::literal
