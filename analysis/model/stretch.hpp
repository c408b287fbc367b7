// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is known of the costliest computation on the path, by the two MPI calls that it lies between: how much
// longer it takes than on the other ranks, and by what. (docs/ALGORITHM, "Explanations")
#pragma once

#include "analysis/model/ids.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace critpath::model
{

/// So many samples of each process are enough to tell how fast it computes there.
inline constexpr std::int64_t enough_samples = 20;

/// The places with the most of the path are explained, so many at most,
inline constexpr std::size_t most_stretches = 20;
/// and with one part of so many of it at least: less needs no explanation.
inline constexpr std::int64_t least_stretch_parts = 200;

/// Whose gaps are compared with those of a stretch: those of other processes
enum class ComparedBy : std::int64_t {
    BothCalls,   // between the same two calls
    CallAfter,   // in spans (replayer/peers/spans.hpp) in front of the same call, whatever call they come from
    CallBefore,  // in spans behind the same call, whatever call they lead to
    Lap,         // from one call at the same place to the next, whatever calls are between
    Meetings,    // between the same two collectives, whatever calls are between: the path waits in none of these
};

/// A rank with one of so many parts of what takes longer in a stretch, or more, is worth a word of its own.
inline constexpr std::int64_t notable_parts = 16;

/// Gaps on the path beside those of other processes. Times are ns; those of gaps that lie on the path in part count in
/// that part.
struct Difference {
    std::int64_t looked_at_ns = 0;      // of all that are looked at
    std::int64_t own_preempted_ns = 0;  // of these, without a processor
    std::int64_t own_blocked_ns = 0;

    // Of those that other processes have too, as ComparedBy says:
    std::int64_t compared = 0;  // gaps
    std::int64_t compared_ns = 0;
    std::int64_t peers_ns = 0;  // what the others took, by their geometric mean
    // The difference of the last two, by what makes it:
    std::int64_t instructions_ns = 0;
    std::int64_t cycles_ns = 0;            // for each instruction
    std::int64_t frequency_ns = 0;         // of the processor
    std::int64_t instruction_time_ns = 0;  // the two before, where cycles are not known
    std::int64_t all_cycles_ns = 0;        // the first two, where instructions are not known
    std::int64_t processor_ns = 0;         // the first three, where neither is
    std::int64_t preempted_ns = 0;
    std::int64_t blocked_ns = 0;
    // The errors of some of them, as far as they rest on samples; 95 %:
    std::int64_t instructions_error_ns = 0;
    std::int64_t cycles_error_ns = 0;
    std::int64_t frequency_error_ns = 0;
    std::int64_t instruction_time_error_ns = 0;
    std::int64_t all_cycles_error_ns = 0;
    // Likewise, of the parts that are work together, and of the others, by how these differ from one gap to the next:
    // what one gap of many makes may be nothing another time.
    std::int64_t work_spread_ns = 0;
    std::int64_t preempted_spread_ns = 0;
    std::int64_t blocked_spread_ns = 0;
    std::int64_t page_faults = 0;  // seen by samples
    std::int64_t peers_page_faults = 0;

    [[nodiscard]] std::int64_t longer_ns() const { return compared_ns - peers_ns; }
    /// What of it is work, whatever makes that longer.
    [[nodiscard]] std::int64_t work_ns() const { return longer_ns() - preempted_ns - blocked_ns; }
    /// Of other gaps, which vary by themselves.
    void add(const Difference& more);
};

/// The numbers of a Difference by the names of their columns in the result.
struct DifferenceNumber {
    const char* name;
    std::int64_t Difference::*member;
};
inline constexpr DifferenceNumber difference_numbers[] = {
    {"looked_at_ns", &Difference::looked_at_ns},
    {"own_preempted_ns", &Difference::own_preempted_ns},
    {"own_blocked_ns", &Difference::own_blocked_ns},
    {"compared", &Difference::compared},
    {"compared_ns", &Difference::compared_ns},
    {"peers_ns", &Difference::peers_ns},
    {"instructions_ns", &Difference::instructions_ns},
    {"cycles_ns", &Difference::cycles_ns},
    {"frequency_ns", &Difference::frequency_ns},
    {"instruction_time_ns", &Difference::instruction_time_ns},
    {"all_cycles_ns", &Difference::all_cycles_ns},
    {"processor_ns", &Difference::processor_ns},
    {"preempted_ns", &Difference::preempted_ns},
    {"blocked_ns", &Difference::blocked_ns},
    {"instructions_error_ns", &Difference::instructions_error_ns},
    {"cycles_error_ns", &Difference::cycles_error_ns},
    {"frequency_error_ns", &Difference::frequency_error_ns},
    {"instruction_time_error_ns", &Difference::instruction_time_error_ns},
    {"all_cycles_error_ns", &Difference::all_cycles_error_ns},
    {"work_spread_ns", &Difference::work_spread_ns},
    {"preempted_spread_ns", &Difference::preempted_spread_ns},
    {"blocked_spread_ns", &Difference::blocked_spread_ns},
    {"page_faults", &Difference::page_faults},
    {"peers_page_faults", &Difference::peers_page_faults},
};

/// Those that are no sums.
inline constexpr std::int64_t Difference::*spreads[] = {&Difference::work_spread_ns, &Difference::preempted_spread_ns,
                                                        &Difference::blocked_spread_ns};

inline void Difference::add(const Difference& more)
{
    const Difference before = *this;
    for (const DifferenceNumber& number : difference_numbers)
        this->*number.member += more.*number.member;
    for (std::int64_t Difference::*spread : spreads)
        this->*spread =
            std::llround(std::hypot(static_cast<double>(before.*spread), static_cast<double>(more.*spread)));
}

/// All gaps between two calls at the same place of the program. Times are ns; those of gaps that lie on the path in
/// part count in that part.
struct Stretch : Difference {
    CallPathId before, after;  // the calls; before: none() from the start of the processes to their first call
    // Where their callers make them, addresses in the binaries of these; 0: not known.
    std::int64_t before_site = 0;
    std::int64_t after_site = 0;

    // On the path, on all processes:
    std::int64_t path_ns = 0;
    std::int64_t gaps = 0;

    // Of many short gaps only some are looked at, and stand for the others in all numbers from here on but one, and in
    // those of the Difference:
    std::int64_t looked_at = 0;  // gaps, themselves

    // For so long of looked_at_ns the other processes that come to the place work meanwhile, wherever they are in the
    // program, in the mean; all others if none comes. Nothing if there is one process.
    std::int64_t others_at_work_ns = 0;

    // Gaps at the place, on the path or not: of the process with the most, of several the first; and of all that come
    // there.
    std::int64_t most_times = 0;
    std::int64_t most_times_rank = -1;
    std::int64_t second_times = 0;  // of the process with the most of all others, of several the first; 0 and -1: none
    std::int64_t second_times_rank = -1;
    std::int64_t all_times = 0;
    std::int64_t ranks_there = 0;

    // Of those that other processes have too:
    std::int64_t compared_by = 0;  // a ComparedBy
    // Of these, gaps that are more than next to nothing, on the path or on the others: all others say nothing of how
    // often something is so.
    std::int64_t telling = 0;
    std::int64_t slowest = 0;      // of these: no other process took longer
    std::int64_t much_longer = 0;  // of these: by half of what the others took, or more
    // Of those that are compared, gaps of which it is known on all processes, between the same calls:
    std::int64_t counted = 0;               // instructions and cycles,
    std::int64_t counted_instructions = 0;  // instructions,
    std::int64_t counted_cycles = 0;        // cycles;
    std::int64_t own_instructions = 0;      // and of which the process on the path has counted instructions,
    std::int64_t own_cycles = 0;            // cycles
    std::int64_t sampled = 0;               // gaps where nobody knows that, but samples tell what they are like
    std::int64_t migrations = 0;            // to other processors, in the gaps, and of the call before each the last
    std::int64_t peers_migrations = 0;
    // How often instructions at the place miss the caches, and how often branches among them were predicted wrongly: of
    // 1e9 instructions, as samples count them, by the geometric mean of the processes on the path, and of the others.
    std::int64_t cache_misses_ns = 0;  // of the path, so much is of processes where that is known; 0: it is not
    std::int64_t cache_misses = 0;
    std::int64_t peers_cache_misses = 0;
    std::int64_t cache_misses_error = 0;  // of the logarithm of their quotient, 95 %, in 1e-9
    std::int64_t branch_misses_ns = 0;
    std::int64_t branch_misses = 0;
    std::int64_t peers_branch_misses = 0;
    std::int64_t branch_misses_error = 0;
    // What as many gaps at the place that are not on the path waited for other threads of their processes, looking all
    // the time whether these are done.
    std::int64_t peers_spinning_ns = 0;
    // And for how long they were blocked because these lacked a processor.
    std::int64_t peers_threads_preempted_ns = 0;
    // Gaps that StretchCode::peers_ns is of, or as many as tell as much with all of their samples, where the path has
    // drawn some; 1: those that it has left are not like the others; 0: what peers do is not known.
    std::int64_t code_gaps = 0;
    // Of the processes that come here: who has the fewest samples that count what is done here; -1: nobody was asked.
    std::int64_t fewest_samples = 0;
    std::int64_t fewest_samples_rank = -1;

    // Of the gaps of all processes at the place, on the path or not, of as many as most of them have. Variances of
    // the logarithm of time, in 1e-9:
    std::int64_t ranks = 0;
    std::int64_t nodes = 0;
    std::int64_t occurrences = 0;    // that were looked at
    std::int64_t not_preempted = 0;  // 1: all of these are of the time without what is preempted, which is chance
    std::int64_t rank_variance = 0;  // between ranks, the same in all occurrences
    std::int64_t noise_variance = 0;
    std::int64_t carrier_variance = 0;    // between the ranks that are slower on the path and all others
    std::int64_t node_variance = 0;       // of what is between ranks, what is between nodes
    std::int64_t node_rest_variance = 0;  // and what is between the ranks of a node
    // Of the same gaps, what rank takes how long in the mean of the occurrences:
    std::int64_t slow_ranks = 0;     // ranks that take nearly as long as the slowest one, that among them
    std::int64_t slowest_rank = -1;  // of several, the first
    std::int64_t fastest_rank = -1;  // likewise
    std::int64_t fastest_time = 0;   // what it takes, in 1e-9 of what the slowest one takes

    // The gap on the path, of those that are compared, that takes most longer than its peers; where none has peers, the
    // one that takes longest:
    std::int64_t costliest_ns = 0;        // longer, or all of it; 0: none does
    std::int64_t costliest_rank = -1;     // of several, the first, and the first there; -1: none
    std::int64_t costliest_begin_ns = 0;  // since the run began
    std::int64_t costliest_length_ns = 0;

    /// Compared gaps that count where it is told how often something is so: all, if all of them are next to nothing.
    [[nodiscard]] std::int64_t told_times() const { return telling > 0 ? telling : compared; }
    /// Whether persistent differences of ranks can be told from others.
    [[nodiscard]] bool has_model() const { return ranks >= 2 && occurrences >= 2; }
    /// Whether those of nodes can be told from those of ranks.
    [[nodiscard]] bool has_node_model() const { return has_model() && nodes >= 2 && ranks > nodes; }
};

/// The numbers of a Stretch by the names of their columns in the result.
struct StretchNumber {
    const char* name;
    std::int64_t Stretch::*member;
};
inline constexpr StretchNumber stretch_numbers[] = {
    {"before_site", &Stretch::before_site},
    {"after_site", &Stretch::after_site},
    {"path_ns", &Stretch::path_ns},
    {"gaps", &Stretch::gaps},
    {"looked_at", &Stretch::looked_at},
    {"looked_at_ns", &Stretch::looked_at_ns},
    {"own_preempted_ns", &Stretch::own_preempted_ns},
    {"own_blocked_ns", &Stretch::own_blocked_ns},
    {"others_at_work_ns", &Stretch::others_at_work_ns},
    {"most_times", &Stretch::most_times},
    {"most_times_rank", &Stretch::most_times_rank},
    {"second_times", &Stretch::second_times},
    {"second_times_rank", &Stretch::second_times_rank},
    {"all_times", &Stretch::all_times},
    {"ranks_there", &Stretch::ranks_there},
    {"compared_by", &Stretch::compared_by},
    {"compared", &Stretch::compared},
    {"telling", &Stretch::telling},
    {"slowest", &Stretch::slowest},
    {"much_longer", &Stretch::much_longer},
    {"counted", &Stretch::counted},
    {"counted_instructions", &Stretch::counted_instructions},
    {"counted_cycles", &Stretch::counted_cycles},
    {"own_instructions", &Stretch::own_instructions},
    {"own_cycles", &Stretch::own_cycles},
    {"sampled", &Stretch::sampled},
    {"compared_ns", &Stretch::compared_ns},
    {"peers_ns", &Stretch::peers_ns},
    {"instructions_ns", &Stretch::instructions_ns},
    {"cycles_ns", &Stretch::cycles_ns},
    {"frequency_ns", &Stretch::frequency_ns},
    {"instruction_time_ns", &Stretch::instruction_time_ns},
    {"all_cycles_ns", &Stretch::all_cycles_ns},
    {"processor_ns", &Stretch::processor_ns},
    {"preempted_ns", &Stretch::preempted_ns},
    {"blocked_ns", &Stretch::blocked_ns},
    {"instructions_error_ns", &Stretch::instructions_error_ns},
    {"cycles_error_ns", &Stretch::cycles_error_ns},
    {"frequency_error_ns", &Stretch::frequency_error_ns},
    {"instruction_time_error_ns", &Stretch::instruction_time_error_ns},
    {"all_cycles_error_ns", &Stretch::all_cycles_error_ns},
    {"work_spread_ns", &Stretch::work_spread_ns},
    {"preempted_spread_ns", &Stretch::preempted_spread_ns},
    {"blocked_spread_ns", &Stretch::blocked_spread_ns},
    {"page_faults", &Stretch::page_faults},
    {"peers_page_faults", &Stretch::peers_page_faults},
    {"migrations", &Stretch::migrations},
    {"peers_migrations", &Stretch::peers_migrations},
    {"cache_misses_ns", &Stretch::cache_misses_ns},
    {"cache_misses", &Stretch::cache_misses},
    {"peers_cache_misses", &Stretch::peers_cache_misses},
    {"cache_misses_error", &Stretch::cache_misses_error},
    {"branch_misses_ns", &Stretch::branch_misses_ns},
    {"branch_misses", &Stretch::branch_misses},
    {"peers_branch_misses", &Stretch::peers_branch_misses},
    {"branch_misses_error", &Stretch::branch_misses_error},
    {"peers_spinning_ns", &Stretch::peers_spinning_ns},
    {"peers_threads_preempted_ns", &Stretch::peers_threads_preempted_ns},
    {"code_gaps", &Stretch::code_gaps},
    {"fewest_samples", &Stretch::fewest_samples},
    {"fewest_samples_rank", &Stretch::fewest_samples_rank},
    {"ranks", &Stretch::ranks},
    {"nodes", &Stretch::nodes},
    {"occurrences", &Stretch::occurrences},
    {"not_preempted", &Stretch::not_preempted},
    {"rank_variance", &Stretch::rank_variance},
    {"noise_variance", &Stretch::noise_variance},
    {"carrier_variance", &Stretch::carrier_variance},
    {"node_variance", &Stretch::node_variance},
    {"node_rest_variance", &Stretch::node_rest_variance},
    {"slow_ranks", &Stretch::slow_ranks},
    {"slowest_rank", &Stretch::slowest_rank},
    {"fastest_rank", &Stretch::fastest_rank},
    {"fastest_time", &Stretch::fastest_time},
    {"costliest_ns", &Stretch::costliest_ns},
    {"costliest_rank", &Stretch::costliest_rank},
    {"costliest_begin_ns", &Stretch::costliest_begin_ns},
    {"costliest_length_ns", &Stretch::costliest_length_ns},
};

/// Whose gaps they are.
struct StretchShare {
    std::uint32_t stretch = 0;  // index
    ProcessId process;
    std::int64_t ns = 0;
    std::int64_t gaps = 0;
    std::int64_t longer_ns = 0;  // than the others; less than 0 where they take longer
};

/// The part of one process of a stretch, where it is a notable one of what takes longer there.
struct StretchRank : Difference {
    std::uint32_t stretch = 0;  // index
    ProcessId process;
};

/// What the path's time in a stretch is attributed to: a function as it is called there, or what stands for none
/// ("[blocked]").
struct StretchCode {
    std::uint32_t stretch = 0;  // index
    CallPathId call_path;
    std::int64_t ns = 0;
    std::uint64_t samples = 0;  // independent ones; 0 where the time is exact
    // Of that, while the thread on the path waited for other threads of its process:
    std::int64_t spinning_ns = 0;  // and looked all the time whether these are done
    std::int64_t blocked_ns = 0;
    // What as many gaps at the place have of it, in the mean, that are not on the path but of the same occurrences, by
    // their own threads; of what stands for no function, 0, but for what is blocked for something else than threads.
    // Functions that the path is not in at all are left out.
    std::int64_t peers_ns = 0;

    /// The times and samples of `more`.
    void add(const StretchCode& more)
    {
        ns += more.ns;
        samples += more.samples;
        spinning_ns += more.spinning_ns;
        blocked_ns += more.blocked_ns;
        peers_ns += more.peers_ns;
    }
};

/// Of that, what samples have found at one instruction, of what the thread on the path did itself.
struct StretchAddress {
    std::uint32_t stretch = 0;  // index
    RowId row;                  // the function, also where it is called from elsewhere
    std::uint64_t address = 0;  // in its binary
    std::int64_t ns = 0;
    std::uint64_t samples = 0;  // independent ones
    std::int64_t peers_ns = 0;  // as StretchCode
};

}  // namespace critpath::model
