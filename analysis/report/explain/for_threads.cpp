// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what of a stretch's time is waiting: for its own threads, and for processors that it or these lack.
#include "analysis/report/explain/explain.hpp"
#include "analysis/report/numbers.hpp"

#include <algorithm>
#include <cmath>

namespace critpath::report
{

std::int64_t Explanation::blocked_otherwise_ns() const
{
    const std::int64_t threads = scaled(code.blocked_ns, stretch->looked_at_ns, stretch->path_ns);
    return std::max<std::int64_t>(stretch->own_blocked_ns - threads, 0);
}

Losses Explanation::losses() const
{
    const auto of_path = [&](std::int64_t ns) { return scaled(ns, stretch->path_ns, stretch->looked_at_ns); };
    std::int64_t left = stretch->path_ns;
    const auto take = [&](std::int64_t ns) {
        ns = std::clamp<std::int64_t>(ns, 0, left);
        left -= ns;
        return ns;
    };
    Losses losses;
    losses.preempted_ns = take(of_path(stretch->own_preempted_ns));
    losses.threads_ns = take(code.blocked_ns);
    losses.blocked_ns = take(of_path(stretch->own_blocked_ns) - code.blocked_ns);
    losses.threads_ns += take(code.spinning_ns);
    losses.threads_preempted_ns = std::min(code.preempted_ns, losses.threads_ns);
    losses.measurement_ns = take(code.measurement_ns);
    losses.not_sampled_ns = take(code.not_sampled_ns);
    return losses;
}

bool Explanation::is_mostly_measurement() const
{
    const Losses all = losses();
    const std::int64_t no_work = all.preempted_ns + all.threads_ns + all.blocked_ns + all.not_sampled_ns;
    return all.measurement_ns > 0 && part(all.measurement_ns, stretch->path_ns - no_work) >= mostly_from;
}

/// The terms of the split (replayer/peers/split.hpp), for the sums of all compared gaps: what spinning makes of the
/// time on the processor, and what is blocked for them.
std::int64_t Explanation::longer_for_threads_ns() const
{
    const model::Stretch& s = *stretch;
    const std::int64_t off = scaled(s.own_preempted_ns + s.own_blocked_ns, s.compared_ns, s.looked_at_ns);
    const double on = std::max(static_cast<double>(s.compared_ns - off), 1.0);
    if (s.compared_ns <= s.peers_ns)
        return 0;
    const auto compared = [&](std::int64_t ns) { return static_cast<double>(scaled(ns, s.compared_ns, s.path_ns)); };

    const double more_spinning = std::clamp(compared(code.sampled_spinning_ns - s.peers_spinning_ns), 0.0, on - 1);
    const double by_processor = std::max(ns_of(on_processor_part(*this)), 0.0);
    const double spinning = std::min(per_log_ns() * std::log(on / (on - more_spinning)), by_processor);

    // Peers may be blocked for their threads as well, so that all of what is blocked otherwise may be what they lack.
    const auto otherwise = static_cast<double>(scaled(blocked_otherwise_ns(), s.compared_ns, s.looked_at_ns));
    const double blocked =
        std::clamp(static_cast<double>(s.blocked_ns) - otherwise, 0.0, std::max(compared(code.blocked_ns), 0.0));
    return static_cast<std::int64_t>(blocked + spinning);
}

bool Explanation::is_blocked_for_threads() const
{
    return code.blocked_ns > 0 &&
           2 * scaled(blocked_otherwise_ns(), stretch->compared_ns, stretch->looked_at_ns) <= stretch->blocked_ns;
}

/// A factor of the time, as one more of the split: what it is to the time without what threads lack a processor for. On
/// a busy node peers whose threads have as much to do hardly wait for these, but lack a processor themselves for as
/// much of their time: so it is no more than with that on both sides.
std::int64_t Explanation::longer_for_processors_ns() const
{
    const model::Stretch& s = *stretch;
    const auto time = static_cast<double>(s.compared_ns);
    const auto peers = static_cast<double>(std::max<std::int64_t>(s.peers_ns, 1));
    if (time <= peers)
        return 0;
    const auto log_factor = [&](std::int64_t threads_ns, std::int64_t itself_ns, double of) {
        const auto lacked = static_cast<double>(scaled(threads_ns, s.compared_ns, s.path_ns) + itself_ns);
        return -std::log1p(-std::clamp(lacked / of, 0.0, at_most_lacked));
    };
    // What peers spin is known, but not for whom: theirs is of blocked ones, too.
    const auto log = [&](std::int64_t itself_ns, std::int64_t peers_themselves_ns) {
        return log_factor(code.preempted_while_blocked_ns, itself_ns, time) -
               log_factor(s.peers_threads_preempted_ns, peers_themselves_ns, peers);
    };
    const std::int64_t itself_ns = scaled(s.own_preempted_ns, s.compared_ns, s.looked_at_ns);
    return std::llround((time - peers) / std::log(time / peers) *
                        std::min(log(0, 0), log(itself_ns, peers_preempted_ns())));
}

}  // namespace critpath::report
