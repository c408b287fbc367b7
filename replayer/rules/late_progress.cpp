// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/rules/late_progress.hpp"

#include <algorithm>

namespace critpath::replayer::rules
{

namespace
{

/// What the transfer does not explain, of the time from `begin` on.
Ns unexplained(const Standstill& s, Ns begin)
{
    return s.leave - begin - s.transfer;
}

/// Whether the process had been outside of MPI for most of the time that is to be explained of that from `begin` on.
/// Several returns are seldom the reason by chance where it was outside for nearly all of it.
bool was_mostly_outside(const Standstill& s, Ns begin, std::span<const Outside> outside)
{
    Ns sum{0};
    for (const Outside& span : outside)
        sum += std::max(span.until - std::max(begin, span.since), Ns{0});
    const int parts = outside.size() > 1 ? 8 : 2;
    return sum > Ns{0} && parts * sum >= (parts - 1) * unexplained(s, begin);
}

/// A transfer may take by so much more or less than the least time, and be the usual one.
Ns tolerance(Ns transfer, Ns threshold)
{
    return std::max(threshold, transfer / 8);
}

}  // namespace

bool is_much(const Standstill& s)
{
    return unexplained(s, s.start) > 4 * s.transfer + s.threshold;
}

Ns soon(const Standstill& s)
{
    constexpr int chance = 8;  // where no core is free, it may be later, but so close to the enter hardly by chance
    return std::max(4 * s.transfer + s.threshold, unexplained(s, s.start) / chance);
}

bool was_mostly_outside(const Standstill& s, std::span<const Outside> outside)
{
    return was_mostly_outside(s, s.start, outside) || was_mostly_outside(s, std::max(s.start, s.enter), outside);
}

namespace
{

Fit fit_to_end(const Standstill& s, Ns enter, std::span<const Outside> outside)
{
    const Ns usual = tolerance(s.transfer, s.threshold);
    const Ns took = s.leave - enter;
    if (enter - s.start <= usual || took <= Ns{0})
        return Fit::None;
    if (!was_mostly_outside(s, outside))
        return Fit::None;
    if (!s.held && std::chrono::abs(took - s.transfer) <= usual)
        return took + s.threshold < s.transfer ? Fit::Close : Fit::Tight;
    if (took > s.leave - s.explained + s.transfer)
        return Fit::None;  // others explain more
    // Transfers scatter, and few of them are as fast as the fastest.
    if (!s.held && took >= s.transfer && took <= longest(s.transfer) && unexplained(s, s.start) > s.transfer)
        return Fit::Loose;
    const bool is_soon = (s.held || 8 * took >= s.transfer) && took <= soon(s);
    return is_much(s) && is_soon ? Fit::Loose : Fit::None;
}

}  // namespace

Fit fit(const Standstill& s, Ns enter, std::span<const Outside> outside)
{
    const Fit to_end = fit_to_end(s, enter, outside);
    if (to_end != Fit::None || s.lacked <= Ns{0})
        return to_end;
    Standstill earlier = s;
    earlier.leave = std::clamp(enter + s.transfer, s.leave - s.lacked, s.leave);
    return std::min(fit_to_end(earlier, enter, outside), Fit::Loose);
}

bool is_certain(const Standstill& s, Ns enter, const Outside& before)
{
    const Ns usual = tolerance(s.transfer, s.threshold);
    const Ns took = s.leave - enter;
    return s.sends && !s.held && before.since <= s.start && enter - s.start > took && took >= s.transfer - usual &&
           took <= longest(s.transfer) + s.threshold;
}

std::optional<Standstill> standstill(const Waiting& call, Ns explained, const Message& message,
                                     const Calibration& calibration)
{
    if (!message.may_stand_still())
        return std::nullopt;
    const Ns transfer = calibration.transfer[static_cast<std::size_t>(message.link)].of(message.bytes);
    const Ns start = message.held ? message.own.time : std::max(message.own.time, message.remote.time);
    if (call.leave - explained <= tolerance(transfer, call.threshold))
        return std::nullopt;
    Standstill result{start, call.enter, call.leave, explained, transfer, call.threshold, message.held};
    result.sends = message.sends();
    if (!message.receiving || message.protocol != Protocol::Eager)
        return result;
    // What was sent at once mostly is there at once: only what the call itself saw of the sender tells otherwise. And
    // that one alone is seldom the reason: of small delays, some end as long after one of its enters by chance.
    result.start = std::max(start, call.enter);
    result.by_partner = true;
    return is_much(result) ? std::optional(result) : std::nullopt;
}

std::optional<MemberQuery> standstill(const Waiting& call, Ns explained, const Gathered& gathered, Ns limit)
{
    const Ns usual = tolerance(gathered.least, call.threshold);
    // Who needs nobody has its own work to do, as long as the operation takes.
    const Ns asks_from = gathered.needs_nobody ? gathered.least + std::max(call.threshold, release_excess) : usual;
    if (gathered.is_unknown() || call.leave - explained <= asks_from)
        return std::nullopt;
    MemberQuery query{};
    query.call = call.call;
    query.enter = call.enter;
    query.leave = call.leave;
    query.returns = true;
    query.since = gathered.needs_nobody ? call.enter : gathered.last.time;
    query.completion = gathered.least;
    query.tolerance = usual;
    query.limit = limit + call.threshold;
    return query;
}

MemberQuery release(const MemberQuery& standstill, const Calibration& calibration)
{
    MemberQuery query{};
    query.call = standstill.call;
    query.enter = query.since = std::max(standstill.enter, standstill.since);
    query.leave = standstill.leave;
    query.may_release = true;
    query.least = calibration.least_message();
    query.limit = standstill.limit;
    return query;
}

}  // namespace critpath::replayer::rules
