// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns hidden waits: a loop around MPI_Test or MPI_Iprobe is a wait that is spelled as polling. (docs/ALGORITHM,
// "Polling")
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/analysis.hpp"
#include "replayer/pair/polling.hpp"
#include "replayer/rules/calibration.hpp"
#include "replayer/rules/predecessor.hpp"

#include <vector>

namespace critpath::replayer
{

/// A poll as the end of the wait that it ended.
struct PollWait {
    rules::Waiting waiting;
    // Most of it is time between polls, or a gap was taken for time without a processor; or it is none, and may be one.
    bool guessed = false;
    model::Ns missed{0};  // the time before the last poll, in which nobody could see what came
};

/// The poll runs of one process.
class PollRuns
{
public:
    PollRuns(const Replay& replay, const model::ProcessTrace& trace, const rules::CallCosts& costs);

    /// The poll `call`, which found something, as the end of the wait that it ended: from the first poll of its run.
    /// Where it was polled fewer than three times in close succession, the call itself, which never waited.
    [[nodiscard]] PollWait waiting(model::CallRef call) const;

private:
    /// A thread that polls, and whether what is done for it between polls is its work.
    struct Thread {
        std::size_t location;
        bool is_help_work;
    };

    [[nodiscard]] bool is_in_vain(std::size_t location, std::size_t call) const;
    [[nodiscard]] Activity between(const Thread& thread, std::size_t poll, std::size_t next) const;
    [[nodiscard]] bool works_on(std::size_t location, std::size_t poll) const;
    [[nodiscard]] bool may_wait(const Thread& thread, std::size_t poll) const;
    [[nodiscard]] bool is_idle_between(const Thread& thread, std::size_t poll, std::size_t next) const;
    [[nodiscard]] bool seems_idle_between(const Thread& thread, std::size_t poll, std::size_t next) const;
    [[nodiscard]] model::Ns time_between(std::size_t location, std::size_t poll) const;
    [[nodiscard]] model::Ns time_unknown(const Thread& thread, std::size_t poll, std::size_t next) const;
    [[nodiscard]] bool is_disturbed_sleep(const Thread& thread, std::size_t poll, std::size_t next) const;

    const Replay& replay_;
    const model::ProcessTrace& trace_;
    const rules::CallCosts& costs_;
    std::vector<std::vector<bool>> found_;  // by location and call: the call completed or found something
};

}  // namespace critpath::replayer
