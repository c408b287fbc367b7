// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/rules/fence_rule.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace critpath::replayer::rules
{

namespace
{

constexpr double not_at_all = std::numeric_limits<double>::infinity();

double ratio(Ns larger, Ns smaller)
{
    return static_cast<double>(larger.count()) / static_cast<double>(std::max(smaller, Ns{1}).count());
}

/// By which factor the last member must have been waited for longer than that takes.
double excess_of_last(const FenceWait& wait)
{
    const Ns elapsed = wait.leave - wait.last;
    return elapsed <= Ns{0} ? not_at_all : std::max(1.0, ratio(elapsed, wait.completion));
}

/// By which factor the transfer must have taken longer than is known to have held up the call. Implementations have
/// transfers done before the members meet, or while they do.
double factor(const FencedTransfer& transfer, const FenceWait& wait)
{
    const Ns elapsed = wait.leave - transfer.enter.time;
    const Ns most = transfer.takes + wait.completion;
    return elapsed > most ? ratio(elapsed - wait.completion, transfer.takes)
                          : std::min(1.0, ratio(elapsed, transfer.takes));
}

/// Where members leave by themselves, each has waited for its own transfers and for those to its own memory alone.
bool concerns(const FencedTransfer& transfer, const FenceWait& wait)
{
    return transfer.enter.time < wait.leave &&
           (wait.together || transfer.origin == wait.process || transfer.target == wait.process);
}

/// The one that can have held up the call if all took as much longer than is known, or shorter: none of the others may
/// have taken so long. Null: there is none.
const FencedTransfer* last_of(const FenceWait& wait, std::span<const FencedTransfer> transfers)
{
    const FencedTransfer* last = nullptr;
    // Several may begin with one call of their target; of these, the own one says most.
    const auto order = [&](const FencedTransfer& t) {
        return std::tuple(-factor(t, wait), t.enter.time + t.takes, t.enter.order(), t.origin == wait.process,
                          t.origin);
    };
    for (const FencedTransfer& transfer : transfers)
        if (concerns(transfer, wait) && (last == nullptr || order(transfer) > order(*last)))
            last = &transfer;
    return last;
}

Predecessor choose(const FenceWait& wait, std::span<const FencedTransfer> transfers)
{
    // Where costs are off by no more than this, the last member may have been the reason as well.
    constexpr double doubtful = 2.25;
    const FencedTransfer* transfer = last_of(wait, transfers);
    if (transfer == nullptr)
        return {};
    const double off = factor(*transfer, wait), excess = excess_of_last(wait);
    if (std::max(off, 1 / off) >= excess)
        return {};
    const bool is_own = transfer->origin == wait.process;
    const bool began_here = transfer->begun_by_target && transfer->target == wait.process;
    const bool is_unsure = excess <= doubtful || std::max(off, 1 / off) > doubtful;
    Predecessor result{Route::Message, transfer->enter, transfer->bytes, is_unsure};
    if (is_own || began_here) {
        result.peer = is_own ? transfer->target_location : transfer->origin_location;
        result.sends = transfer->puts == is_own;
    }
    return result;
}

}  // namespace

bool is_dominated(const FencedTransfer& transfer, const FencedTransfer& other)
{
    const auto reach = [](const FencedTransfer& t) { return std::tuple(t.enter.time, t.takes); };
    const auto tie = [](const FencedTransfer& t) { return std::tuple(t.enter.order(), t.origin); };
    return other.enter.time >= transfer.enter.time && other.takes >= transfer.takes &&
           (reach(other) != reach(transfer) || tie(other) > tie(transfer));
}

Predecessor fence_predecessor(const FenceWait& wait, std::span<const FencedTransfer> transfers)
{
    Predecessor found = choose(wait, transfers);
    if (wait.error == Ns{0})
        return found;
    // The call, the last member and the origins may have three clocks. The last member explains the end best if it came
    // just in time.
    for (const Ns leave : {-wait.error, Ns{0}, wait.error}) {
        FenceWait shifted = wait;
        shifted.leave += leave;
        const Ns in_time = shifted.leave - wait.completion - wait.last;
        for (const Ns last : {-wait.error, Ns{0}, wait.error, std::clamp(in_time, -wait.error, wait.error)}) {
            shifted.last = wait.last + last;
            found.doubt_clocks(choose(shifted, transfers).from.call != found.from.call);
        }
    }
    return found;
}

}  // namespace critpath::replayer::rules
