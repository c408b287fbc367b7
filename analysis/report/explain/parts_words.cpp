// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns by what a stretch takes longer than its peers, in words.
#include "analysis/report/explain/parts_words.hpp"

#include "analysis/report/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace critpath::report
{

bool are_parts_of_difference(const Reason& reason)
{
    constexpr double many = 9;
    return reason.excess >= many;
}

double whole_of(const Reason& reason)
{
    return are_parts_of_difference(reason) ? reason.excess : 1;
}

long rounded_percent(double part)
{
    return std::lround(part * 100);
}

namespace
{

constexpr double least_error = 0.005;     // of the time of the peers: of what samples tell
constexpr double wide_from = 0.5;         // of a part: a spread that is worth a word
constexpr double little_otherwise = 0.1;  // of what it is blocked: not for its threads

/// What adds to the time of the peers, or takes from it.
struct NamedPart {
    double part, error;
    double spread;  // 0: there is nothing to say of it
    std::string more, less;
};

/// Parts that are work, if fewer instructions are less work.
bool is_work(std::size_t factor)
{
    return Factor(factor) == Factor::Instructions || Factor(factor) == Factor::AllCycles ||
           Factor(factor) == Factor::Processor;
}

/// Who is blocked while its threads work for it works less itself, and is blocked more. Both are the same work, if what
/// it is blocked for otherwise is little.
bool is_shared_with_threads(const Explanation& e)
{
    double work = 0, error = 0;
    for (std::size_t i = 0; i < factors; ++i) {
        work += is_work(i) ? e.parts[i] : 0;
        error += is_work(i) ? e.errors[i] : 0;
    }
    const double least = least_part * whole_of(e);
    return e.parts[static_cast<std::size_t>(Factor::Blocked)] >= least && -work >= least && -work > error &&
           part(e.blocked_otherwise_ns(), e.stretch->own_blocked_ns) <= little_otherwise &&
           part(e.code.preempted_ns, e.code.blocked_ns) <= little_otherwise;
}

/// Twice the work of who is preempted is preempted for twice as long: its part is more than the time that it takes.
bool has_preempted_part(const Reason& reason)
{
    constexpr double about = 0.1;
    const double work = on_processor_part(reason), more = std::abs(work - reason.longer_on_processor);
    return more >= least_part * whole_of(reason) && more >= about * std::abs(work);
}

/// Of a factor; 0 where it says nothing, or is told by samples.
double spread_of(const Reason& reason, std::size_t factor, const Explanation& e)
{
    const bool is_of_all_work = Factor(factor) < Factor::Processor;
    const double spread = reason.spreads[factor];
    return e.has_many_times() && !is_of_all_work && spread >= wide_from * std::abs(reason.parts[factor]) ? spread : 0;
}

/// `reason`: of the stretch `e`, or of a rank in it.
std::vector<NamedPart> named_parts(const Reason& reason, const Explanation& e)
{
    const std::string in_time = e.knows_all_off() ? "time on the processor"
                                : e.knows_off     ? "time on the processor or not sampled"
                                                  : "time, with a processor or without";
    const std::string proportion = e.knows_off && has_preempted_part(reason) ? " (and preempted in proportion)" : "";
    const struct {
        std::string more, less;
    } names[factors] = {{"more instructions", "fewer instructions"},
                        {"more cycles per instruction", "fewer cycles per instruction"},
                        {"a lower frequency of the processor", "a higher frequency of the processor"},
                        {"slower instructions", "faster instructions"},
                        {"more cycles", "fewer cycles"},
                        {"more " + in_time + proportion, "less " + in_time + proportion},
                        {"more of its time preempted", "less of its time preempted"},
                        {"more of its time blocked", "less of its time blocked"}};
    std::vector<NamedPart> parts;
    NamedPart shared{0, 0, 0, "more work, its own and that of its threads",
                     "less work, its own and that of its threads"};
    const bool is_shared = is_shared_with_threads(e);
    for (std::size_t i = 0; i < factors; ++i) {
        if (is_shared && (is_work(i) || Factor(i) == Factor::Blocked)) {
            shared.part += reason.parts[i];
            shared.error += reason.errors[i];
        } else {
            parts.push_back({reason.parts[i], reason.errors[i], spread_of(reason, i, e), names[i].more, names[i].less});
        }
    }
    if (is_shared)
        parts.push_back(shared);
    return parts;
}

/// Puts those that are worth a word in front, the largest first; returns how many these are. Who adds up the figures
/// should find the difference: little ones are named, too, as far as it takes for that, and at last what has no name.
std::ptrdiff_t sort_by_worth(std::vector<NamedPart>& parts, double whole, double difference)
{
    const auto size = [](const NamedPart& p) { return std::abs(p.part); };
    std::ranges::stable_sort(parts, std::ranges::greater(), size);
    const auto is_certain = [](const NamedPart& p) { return std::abs(p.part) > p.error; };
    const auto unnamed = std::stable_partition(
        parts.begin(), parts.end(), [&](const NamedPart& p) { return size(p) >= least_part * whole && is_certain(p); });
    std::ptrdiff_t named = unnamed - parts.begin();
    if (named == 0)
        return 0;
    long rest = rounded_percent(difference / whole);
    long uncertain = 1;  // by rounding
    for (const NamedPart& p : std::span(parts.begin(), unnamed)) {
        rest -= rounded_percent(p.part / whole);
        uncertain += rounded_percent(p.error / whole);
    }
    for (auto p = unnamed; p != parts.end() && std::abs(rest) > uncertain; ++p) {
        const long more = rounded_percent(p->part / whole);
        if (!is_certain(*p) || more == 0 || (more > 0) != (rest > 0))
            continue;
        rest -= more;
        std::rotate(parts.begin() + named, p, p + 1);
        ++named;
    }
    if (std::abs(rest) > uncertain) {
        parts.insert(parts.begin() + named,
                     NamedPart{static_cast<double>(rest) / 100 * whole, 0, 0, "all else", "all else"});
        ++named;
    }
    return named;
}

}  // namespace

std::string parts_in_words(const Reason& reason, const Explanation& e)
{
    const double whole = whole_of(reason);
    std::vector<NamedPart> parts = named_parts(reason, e);
    const std::ptrdiff_t named = sort_by_worth(parts, whole, reason.excess);
    parts.erase(parts.begin() + named, parts.end());
    std::vector<std::string> words;
    words.reserve(parts.size());
    for (const NamedPart& p : parts) {
        const double error = std::max(p.error, p.spread) / whole;
        words.push_back(fmt::format("{:+} %{}{} by {}", rounded_percent(p.part / whole),
                                    error >= least_error ? fmt::format(" (± {:.0f})", error * 100) : "",
                                    are_parts_of_difference(reason) && words.empty() ? " of the difference" : "",
                                    p.part > 0 ? p.more : p.less));
    }
    return words.empty() ? "" : fmt::format(": {}", fmt::join(words, ", "));
}

}  // namespace critpath::report
