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
    model::Ns busy{0};    // where nobody recorded what it did, all of the time
    model::Ns slept{0};   // for a while, or nobody knows for what
    model::Ns helped{0};  // it was blocked until something was done for it: a file, another thread, a child

    void add(const Activity& other)
    {
        busy += other.busy;
        slept += other.slept;
        helped += other.helped;
    }

    [[nodiscard]] model::Ns worked() const { return busy + helped; }
    /// Whether it slept, but for what it takes to go to sleep and to come back: 8 to 9 us, of 40 or 60.
    [[nodiscard]] bool is_sleep() const { return worked() < slept / 2; }
    /// Nothing was done but for `most` of the time.
    [[nodiscard]] bool is_idle(model::Ns most) const { return worked() < most || is_sleep(); }
    /// Where what is done for it counts as sleep.
    [[nodiscard]] Activity by_itself() const { return {busy, slept + helped, model::Ns{0}}; }
};

Activity activity(const model::LocationTrace& location, model::Ns begin, model::Ns end);

/// Whether nothing was done from `begin` to `end` but for `busy` of the time: the thread had no processor, or slept.
/// False where nobody recorded that.
bool is_idle(const model::LocationTrace& location, model::Ns begin, model::Ns end, model::Ns busy);

/// Whether the thread did nothing itself, likewise: what is done for it counts as sleep.
bool is_off(const model::LocationTrace& location, model::Ns begin, model::Ns end, model::Ns busy);

/// From when on, but not before `least`, the thread has used no more than `work` until `end`; in which time it may have
/// been preempted, or in the collector, for longer.
model::Ns work_since(const model::LocationTrace& location, model::Ns end, model::Ns work, model::Ns least);

/// Likewise, until when from `begin` on, but not behind `most`.
model::Ns work_until(const model::LocationTrace& location, model::Ns begin, model::Ns work, model::Ns most);

/// Of [begin, end), how long it slept for `longest` at a time at most, and is known to have slept for a while.
model::Ns short_sleeps(const model::LocationTrace& location, model::Ns begin, model::Ns end, model::Ns longest);

}  // namespace critpath::replayer
