// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain/causes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace critpath::report
{

namespace
{

/// Which factors that cannot be divided further are in this one.
unsigned inside(Factor factor)
{
    constexpr unsigned instructions = 1, cycles = 2, frequency = 4, preempted = 8, blocked = 16;
    constexpr unsigned of[] = {instructions,
                               cycles,
                               frequency,
                               cycles | frequency,
                               instructions | cycles,
                               instructions | cycles | frequency,
                               preempted,
                               blocked,
                               instructions | cycles | frequency,
                               blocked,
                               instructions | cycles | frequency | preempted | blocked};
    return of[static_cast<std::size_t>(factor)];
}

double part_by(const Reason& reason, Factor cause)
{
    double sum = 0;
    for (std::size_t i = 0; i < factors; ++i)
        sum += (inside(Factor(i)) & inside(cause)) != 0 ? reason.parts[i] : 0;
    return sum;
}

/// Work, to lack a processor, and to be blocked.
Factor kind_of(Factor factor)
{
    return factor < Factor::Preempted || factor == Factor::PageFaults ? Factor::Processor : factor;
}

}  // namespace

double part_of_kind(const Reason& reason, Factor factor)
{
    return kind_of(factor) == Factor::Processor ? on_processor_part(reason)
                                                : reason.parts[static_cast<std::size_t>(factor)];
}

bool Reason::is_typical(Factor factor) const
{
    return std::abs(part_of_kind(*this, factor)) > spreads[static_cast<std::size_t>(factor)];
}

std::optional<Factor> largest_part(const Reason& reason, CauseOf of)
{
    std::optional<Factor> largest;
    double most = 0;
    for (std::size_t i = 0; i < factors; ++i) {
        const bool may_be =
            !of.is_by_rank || (reason.is_typical(Factor(i)) && !(of.not_preempted && Factor(i) == Factor::Preempted));
        if (!may_be || !reason.is_certain(i) || reason.parts[i] <= most)
            continue;
        most = reason.parts[i];
        largest = Factor(i);
    }
    return largest;
}

bool has_another_reason(const Reason& one, const Reason& other)
{
    if (!one.cause || !other.cause || one.cause == other.cause)
        return false;
    if (one.cause == Factor::PageFaults || other.cause == Factor::PageFaults)
        return true;
    return (inside(*one.cause) & inside(*other.cause)) == 0 &&
           2 * part_by(other, *one.cause) < part_by(other, *other.cause);
}

std::optional<Factor> second_cause(const Explanation& e)
{
    constexpr double nearly_as_large = 0.5;
    if (!e.cause || e.other || *e.cause == Factor::Threads || *e.cause == Factor::Time || e.is_blocked_for_threads())
        return std::nullopt;
    const Reason& reason = e.reason();
    const auto part_of = [&](Factor kind) { return part_of_kind(reason, kind); };
    const bool must_be_typical = e.is_by_rank() || e.has_many_times();
    const auto may_be = [&](Factor kind) { return !must_be_typical || reason.is_typical(kind); };
    const Factor first = kind_of(*e.cause);
    std::optional<Factor> second;
    for (const Factor kind : {Factor::Processor, Factor::Preempted, Factor::Blocked})
        if (kind != first && may_be(kind) &&
            part_of(kind) >= std::max(balanced_within, nearly_as_large * part_of(first)) &&
            (!second || part_of(kind) > part_of(*second)))
            second = kind;
    if (second != Factor::Processor)
        return second;
    const auto largest = std::max_element(reason.parts.begin(), reason.parts.begin() + std::size_t(Factor::Preempted));
    const auto factor = static_cast<std::size_t>(largest - reason.parts.begin());
    return reason.is_certain(factor) ? std::optional(Factor(factor)) : std::nullopt;
}

}  // namespace critpath::report
