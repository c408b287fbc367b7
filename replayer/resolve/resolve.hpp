// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the phase "resolve": every leave of a call gets its critical predecessor, which is the call itself or, for a
// call that waited, the enter of another. Applies replayer/rules to what pair and collect found out.
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/collect/collect.hpp"
#include "replayer/onesided/onesided.hpp"
#include "replayer/pair/pair.hpp"
#include "replayer/resolve/answers.hpp"
#include "replayer/rules/calibration.hpp"

#include <functional>
#include <vector>

namespace critpath::replayer
{

/// What is known before any collective is: long calls are delays, as long as nothing explains them. By owned process.
std::vector<ProcessAnswers> first_answers(const Replay& replay, const rules::CallCosts& costs);

/// Concludes calls of collectives that need neither what is learned from all of them nor a question to the members:
/// most of them. The instances of the others are kept in memory. All must outlive the result.
Conclude conclude_at_once(const Replay& replay, const rules::Calibration& calibration,
                          std::vector<ProcessAnswers>& answers);

/// `answers`: what `collectives` have been concluded into. Of `pairs`, only the counts are left: what is known of the
/// messages of a process goes when its calls are resolved. `forget` is called when all answers are there: `windows`,
/// `collectives` and all operations of the trace may go, and the answers are put in order in the room of these.
/// Collective over `replay.comm`, and so may `forget` be.
Predecessors resolve(
    const Replay& replay, Pairs& pairs, const std::vector<ProcessWindows>& windows, const Collectives& collectives,
    const rules::Calibration& calibration, std::vector<ProcessAnswers> answers,
    const std::function<void()>& forget = [] {});

}  // namespace critpath::replayer
