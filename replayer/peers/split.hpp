// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the time that a gap takes longer than on other processes is split among what makes it longer, without a
// rest. (docs/ALGORITHM, "Explanations")
#pragma once

#include "analysis/model/trace.hpp"

#include <algorithm>
#include <cstdint>

namespace critpath::replayer
{

/// Page faults are counted in so many parts of one: most gaps have a small part of those between two samples.
constexpr std::int64_t parts_of_a_fault = 1'000'000;
/// Likewise migrations: the mean of the peers has parts of one.
constexpr std::int64_t parts_of_a_migration = 1'000'000;

/// What a thread did between two calls. Times are ns, without the collector's own.
struct Gap {
    std::int64_t ns = 0;
    std::int64_t preempted = 0;
    std::int64_t blocked = 0;
    std::int64_t page_faults = 0;  // by parts_of_a_fault
    model::Counted counted;
    std::int64_t migrations = 0;  // in it, and one for those in the call before it; by parts_of_a_migration

    [[nodiscard]] bool has_instructions() const { return counted.instructions != model::Counted::unknown; }
    [[nodiscard]] bool has_cycles() const { return counted.cycles != model::Counted::unknown; }
    /// What enters a logarithm: a gap takes 1 ns at least, and the part of it on the processor is a microsecond at
    /// least, or all of it: what is shorter is not measured that well, and would say that a factor is infinite.
    [[nodiscard]] std::int64_t time() const { return std::max<std::int64_t>(ns, 1); }
    [[nodiscard]] std::int64_t on_processor() const;
    /// On the processor, or waiting for one.
    [[nodiscard]] std::int64_t runnable() const;
    [[nodiscard]] bool is_off() const { return preempted + blocked > 0; }
    /// What comes behind it, as if both were one. What one has not counted is not known of them.
    void add(const Gap& next)
    {
        const auto count = [](std::int64_t& sum, std::int64_t more) {
            const bool is_known = sum != model::Counted::unknown && more != model::Counted::unknown;
            sum = is_known ? sum + more : model::Counted::unknown;
        };
        ns += next.ns;
        preempted += next.preempted;
        blocked += next.blocked;
        page_faults += next.page_faults;
        migrations += next.migrations;
        count(counted.instructions, next.counted.instructions);
        count(counted.cycles, next.counted.cycles);
    }
};

/// The natural logarithm in units of 2^-32, in which sums are exact; that of 1 for what is smaller.
inline constexpr double fixed_one = 4294967296.0;
std::int64_t fixed_log(std::int64_t x);

/// To the nearest integer.
inline std::int64_t rounded(double x)
{
    return static_cast<std::int64_t>(x < 0 ? x - 0.5 : x + 0.5);
}

/// Sums over the same gap of other processes. Travels as an array of 64-bit integers, of which the first few are all
/// that there is to say where nobody knows more than times.
struct PeerSums {
    static constexpr int fields = 11, fields_of_times = 3;

    std::int64_t processes = 0;
    std::int64_t slower = 0;                // processes that took longer
    std::int64_t time = 0;                  // of logarithms
    std::int64_t blocked_factor = 0;        // likewise: of the time against that in which it was not blocked
    std::int64_t preempted_factor = 0;      // likewise: of that against the time on the processor
    std::int64_t counted_instructions = 0;  // processes that have counted them; of these, of logarithms:
    std::int64_t instructions = 0;
    std::int64_t counted_cycles = 0;  // likewise
    std::int64_t cycles = 0;
    std::int64_t page_faults = 0;  // from here: of the values themselves
    std::int64_t migrations = 0;

    /// One more process; `ns`: what the gap takes on the process that is compared with it.
    void add(const Gap& gap, std::int64_t ns);
};

/// Of a gap, as far as it is on the path, ns.
struct Split {
    std::int64_t peers = 0;  // the geometric mean of the others
    // What it takes longer, these together. Which of the first six there are follows from what all processes have
    // counted: instructions and cycles,
    std::int64_t instructions = 0;
    std::int64_t cycles = 0;  // for each instruction
    std::int64_t frequency = 0;
    std::int64_t instruction_time = 0;  // instructions only: the two before
    std::int64_t all_cycles = 0;        // cycles only: the first two
    std::int64_t processor = 0;         // nothing: the first three
    std::int64_t preempted = 0;
    std::int64_t blocked = 0;
    bool has_instructions = false;  // all have counted them
    bool has_cycles = false;
};

/// `others`: of at least one process; `path_ns`: of `own`, what is on the path. The sum of all parts is path_ns.
Split split(const Gap& own, const PeerSums& others, std::int64_t path_ns);

/// How much longer a gap takes, as far as it is on the path, for each unit of the logarithm of a factor, ns: the
/// logarithmic mean of what it takes and what it takes the others, but for what is blocked.
double per_log(const Gap& own, const PeerSums& others, std::int64_t path_ns);

}  // namespace critpath::replayer
