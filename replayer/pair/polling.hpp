// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what makes a loop of polls a wait: that nothing is done between them. (docs/ALGORITHM, "Polling")
#pragma once

#include "analysis/model/trace.hpp"

namespace critpath::replayer
{

/// Polls that follow each other faster than this leave no time for work.
inline constexpr model::Ns close_polls = std::chrono::microseconds{5};
/// So many are a loop.
inline constexpr int least_polls = 3;

/// What a thread did for a while, but for the time in which it had no processor or was in the collector.
struct Activity {
    model::Ns busy{0};   // where nobody recorded what it did, all of the time
    model::Ns slept{0};  // or waited for something else

    void add(const Activity& other)
    {
        busy += other.busy;
        slept += other.slept;
    }

    /// Whether it slept, but for what it takes to go to sleep and to come back: 8 to 9 us, of 40 or 60.
    [[nodiscard]] bool is_sleep() const { return busy < slept / 2; }
};

Activity activity(const model::LocationTrace& location, model::Ns begin, model::Ns end);

/// Whether the thread had no processor, or slept, from `begin` to `end`, but for `busy` of the time. False where nobody
/// recorded that.
bool is_idle(const model::LocationTrace& location, model::Ns begin, model::Ns end, model::Ns busy);

}  // namespace critpath::replayer
