// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the grouping of a Profile into hotspots: time on the critical path beside time on all ranks, of which the
// profile is to have each once (divide_calls).
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/report/calls_divided.hpp"
#include "analysis/report/table.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace critpath::report
{

/// One function, one module, one source line, or a function as one call path reaches it.
struct Hotspot {
    std::string name;
    std::string module;  // path of the binary
    std::string kind;    // "sampled", "region", "mpi", "pseudo"; "module"
    std::string file;
    std::int64_t line = 0;
    std::string inlined_into;   // of a line, or of what is inlined: the function that its own is inlined into, if it is
    std::string called_at;      // "loop.c:12": where that calls it, if such rows are apart
    std::uint64_t address = 0;  // one of its instructions, where samples found one
    std::int64_t path_ns = 0;
    std::int64_t sampled_ns = 0;  // of that, what samples have found; the rest is exact
    std::uint64_t path_samples = 0;
    std::optional<std::int64_t> total_ns;  // on all ranks, if that is known
    std::uint64_t total_samples = 0;
    bool has_waits = false;                    // on all ranks, but not on the path
    bool has_other_threads = false;            // and of other threads than the first of a process
    std::optional<std::int64_t> off_path_ns;   // on all ranks, but not on the path
    std::optional<std::int64_t> imbalance_ns;  // path_ns less the mean of all ranks, where these compare
    std::int64_t functions = 0;                // that have time on the path
    bool is_estimate = false;                  // found by samples
    Estimate share{0, 0, 0, true};             // of the critical path
    bool could_be_missed = false;              // as many samples could have found nothing of it
    bool may_be_sampled = false;               // with what it calls; where no sample is, one could have been
    bool is_inlined = false;                   // with what it calls: wherever it has time on the path
    std::int64_t inlined_ns = 0;               // of path_ns, with what it calls: where it is inlined
    std::int64_t guessed_ns = 0;               // of path_ns, with what it calls: blocked, in which function is a guess
    std::int64_t may_have_ns = 0;  // path time that may belong here, to this or what it calls, and stands elsewhere
    std::int64_t may_lack_ns = 0;  // of path_ns, what stands here and may belong elsewhere
    // Where samples divide a time that is exact by itself, as that of all that is preempted: that, and by how many. 0:
    // that of all segments in which samples count, by all that are there.
    std::int64_t divided_ns = 0;
    double divided_by = 0;

    /// Where it is defined, as far as that is known: the binary, or else the source file.
    [[nodiscard]] const std::string& place() const { return module.empty() ? file : module; }

    /// True if nothing but a few samples says that it is on the path at all: another run could have had none.
    [[nodiscard]] bool is_below_error() const { return is_estimate && sampled_ns == path_ns && could_be_missed; }
};

struct Hotspots {
    std::vector<Hotspot> items;             // in the order of the profile's rows
    std::int64_t path_ns = 0;               // the whole path
    std::int64_t total_ns = 0;              // of all ranks
    std::uint64_t path_samples = 0;         // in the compute segments of the path
    std::int64_t domain_ns = 0;             // path time of these segments
    std::uint64_t independent_samples = 0;  // of these; samples of several threads at one time are not
    double evenness = 1;                    // so many of equal weight, for each of these, say as much
    bool is_sampled = false;                // the run
    std::int64_t not_sampled_ns = 0;        // of that, what samples leave over
    std::int64_t not_by_timers_ns = 0;      // likewise, if they are of timers: that is no matter of chance
    std::int64_t anyones_ns = 0;            // of that, what any sampled function may have and has not yet
    // Of inclusive items only:
    std::int64_t unknown_callers_ns = 0;  // path time of call chains that are cut off, or were not recorded
    std::int64_t guessed_ns = 0;          // path time that threads were blocked, in functions that are guessed

    /// Fills in the share of an item whose times are known.
    void add_share(Hotspot& item) const;

    /// So many samples of equal weight say as much as these.
    [[nodiscard]] double equal_samples() const;
    /// The path time that so many samples divide.
    [[nodiscard]] std::int64_t sampled_domain_ns() const { return domain_ns - not_by_timers_ns; }
    /// What a function without samples may have of the path, within 95 %; 0 if there are no samples at all.
    [[nodiscard]] double most_unseen() const;
};

/// Which part of the profile is looked at.
struct Selection {
    std::vector<std::uint32_t> ranks;  // whose path time, ascending; empty: all
    std::string module;                // only functions of binaries that have this in their path; empty: all

    [[nodiscard]] bool has_rank(model::ProcessId process) const;
    [[nodiscard]] bool has_row(const model::Row& row) const { return has_module(row.module); }
    [[nodiscard]] bool has_module(const std::string& path) const
    {
        return module.empty() || path.find(module) != std::string::npos;
    }
};

/// An item a function, by RowId. (With what they call: inclusive.hpp)
Hotspots by_function(const model::Profile& profile, const Selection& selection = {});
Hotspots by_module(const model::Profile& profile, const Selection& selection = {});

/// The sums of the profile that shares are about, without items.
Hotspots sums(const model::Profile& profile);

/// Whether path time was divided by samples, or is what these have left.
bool is_found_by_samples(const model::Profile& profile, const model::CallPathTime& time);

/// Messages on their way. Of those that are not on the path nothing is known; what the totals have of the others, from
/// before calls that waited for them, is no time of any thread, but these calls with what is below them have it.
bool is_transfer(const model::Row& row);

// What hotspots are filled with, whatever they group by.
Hotspot item_of(const model::Row& row);
void add_path(Hotspot& item, const model::CallPathTime& time, bool is_sampled);
void add_total(Hotspot& item, const model::CallPathTime& time);
void add(Hotspot& sum, const Hotspot& item);
/// Hotspot::address of items by RowId.
void add_addresses(const model::Profile& profile, std::vector<Hotspot>& items);
/// Once all times are known: shares, and what compares them with the times of all ranks.
void finish(const model::Profile& profile, const Selection& selection, Hotspots& hotspots);

/// Whether what the path computes compares with the mean of the ranks: threads of a rank may wait for each other
/// outside of MPI, and of ranks that are missing nothing is known.
bool ranks_compare(const model::Profile& profile);

/// A sentence on samples that ranks took with them that died; empty if none did.
std::string lost_samples_note(const model::Profile& profile);

/// On the row [not sampled] where it is a large part of the path; empty otherwise.
std::string unsampled_note(const model::Profile& profile, const Hotspots& hotspots);

/// A sentence on what the times of all ranks lack, because threads switched too often to be sampled; empty if nothing.
std::string respite_note(const model::Profile& profile, InsideOfCalls inside);

/// A sentence on how much of the whole path is in doubt, whatever the sampling error, and where to look, or that its
/// rules do not tell; empty if that is next to nothing. `trace`: as the user may type it.
std::string doubt_note(const model::Profile& profile, std::string_view trace);

/// The rules by which the path was found, if they are there to compare (cpreplay --rules); else empty.
std::string other_rules(const model::Profile& profile);

/// Most time on the path first; equal ones keep their order.
void sort_by_path(std::vector<Hotspot>& items);

/// The value of a fact; 0 if the result does not have it.
std::int64_t fact(const model::Profile& profile, const std::string& key);

/// Of the sampled event, in its unit; 0 if nothing was sampled.
std::int64_t period_of(const model::Profile& profile);

/// The value of a property; empty if the result does not have it.
std::string property(const model::Profile& profile, const std::string& key);

/// Whether the run was sampled.
bool has_samples(const model::Profile& profile);

/// False where samples came from timers, which know nothing of the time without a processor, or there were none.
bool knows_time_off_processor(const model::Profile& profile);

/// Of computation that no sample covers, so much at most may have been without a processor: where the kernel has
/// recorded all switches, that is what threads computed or waited in respites, in which it does not.
std::int64_t most_unsampled_off_processor_ns(const model::Profile& profile);

}  // namespace critpath::report
