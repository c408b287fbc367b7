// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the phase "one-sided": what calls on windows waited for at other processes (posts, ends of epochs, locks), in
// the terms of messages. Fences and the life of windows are collectives and, but for what is transferred between
// fences, none of its business. (docs/ALGORITHM, "One-sided communication"; MPI-3.1, 11.5)
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/pair/waited_messages.hpp"
#include "replayer/rules/calibration.hpp"
#include "replayer/rules/fence_rule.hpp"
#include "replayer/rules/message_rule.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace critpath::replayer
{

/// Something that the leave of `call` may have waited for.
struct WindowDependency {
    model::CallRef call;
    rules::Message message;
};

/// While `call` was inside, its target was outside of MPI, and it ended soon after the target had entered `target`:
/// that may have moved on what stood still. A guess. Not valid: of a transfer that took much longer than it should, and
/// the target does not explain it. None: it is worth a word only if clocks are off.
struct TargetProgress {
    model::CallRef call;
    std::optional<rules::Enter> target;
    // What it would be if the clock of the target were off, within its error; not valid: no enter.
    std::array<rules::Enter, 4> shifted;
};

/// From `since` to the leave of `call`, the process looked into a window again and again until it found what `message`
/// had brought there. A guess: nothing says what was found.
struct FoundInWindow {
    model::CallRef call;
    model::Ns since;
    rules::Message message;
    bool within_clocks = false;  // somebody else may have brought it, within the error of the clocks
};

/// A transfer that was to be over at the end of `fence`.
struct TransferBeforeFence {
    model::CallRef fence;
    rules::FencedTransfer transfer;
};

/// A fence that ends an epoch which one with MPI_MODE_NOPRECEDE has opened: until that was entered, `opening`, nobody
/// could begin a transfer to or from its memory.
struct OpenedEpoch {
    model::CallRef fence;
    rules::Enter opening;
};

/// What is known of one owned process; ascending by call, one TargetProgress and one FoundInWindow a call at most.
struct ProcessWindows {
    std::vector<WindowDependency> dependencies;
    std::vector<TargetProgress> progress;
    std::vector<FoundInWindow> found;
    std::vector<TransferBeforeFence> fenced;
    std::vector<OpenedEpoch> opened;
    std::vector<model::CallRef> unsure;  // within the error of the clocks, they may have waited for another epoch
};

/// Learns from each transfer and the call that completed it how long transfers between windows take; the examples.
/// Collective over `replay.comm`; a trace without windows costs nothing, here and below.
ExamplesByLink learn_one_sided(const Replay& replay, rules::Calibration& calibration);

/// By owned process. `calibration` must know the costs of calls and the times of transfers; from what belongs together,
/// beside the `examples`, it learns how long it takes that somebody is told something. Collective over `replay.comm`.
std::vector<ProcessWindows> one_sided(const Replay& replay, rules::Calibration& calibration, ExamplesByLink examples);

inline constexpr std::uint64_t epoch_window = 65536;  // epochs of one traced process in one round

}  // namespace critpath::replayer
