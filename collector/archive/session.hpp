// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the way from the spool to an archive: phases that each end in a verdict of all processes that take part. In
// MPI_Finalize these are the ranks themselves; afterwards it is one process, for all ranks.
#pragma once

#include "collector/archive/communication.hpp"
#include "collector/archive/own_ranks.hpp"
#include "collector/archive/process.hpp"
#include "collector/archive/rank_writer.hpp"
#include "formats/otf2/archive.hpp"
#include "formats/otf2/definitions.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace critpath::archive
{

/// A failure that all processes know about.
class Agreed : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

/// Sums over all ranks.
struct Totals {
    std::uint64_t calls = 0, samples = 0, events = 0, bytes = 0, lost_records = 0, lost_samples = 0;
    std::uint64_t damaged_records = 0;             // of those lost
    std::uint64_t sampled_ns = 0, respite_ns = 0;  // of all threads, as in ThreadData,
    std::uint64_t cut_samples = 0;                 // and this
};

struct SessionRequest {
    std::string trace;       // directory of the trace; exists
    std::vector<int> ranks;  // of this process, ascending; those of all processes, in their order, are all ranks
    /// Reads the spool of a rank; nothing if there is nothing to be read of it. Called more than once for a rank, and
    /// by several threads, if the process has several ranks; each time it must be the same.
    std::function<std::optional<ProcessSpool>(int rank)> read;
};

class Session
{
public:
    /// `communication` must outlive the session.
    Session(SessionRequest request, const Communication& communication);

    /// Collective. Throws Agreed; then nothing of the archive is left.
    Totals run();

    /// What is incomplete, in words; empty if nothing is. Known on process 0.
    [[nodiscard]] const std::string& incomplete() const { return definitions_.incomplete; }

    /// About which communicators the ranks disagree, in words; empty if about none. Known on process 0.
    [[nodiscard]] const std::string& inconsistent() const { return definitions_.inconsistent; }

    /// Of the ranks of this process: binaries whose functions have no names, since their files are others by now.
    [[nodiscard]] std::set<std::string> unreadable_files() const;

private:
    /// A rank between its two passes.
    struct Rank {
        int number = 0;
        std::vector<std::string> unreadable_files;
        std::vector<OTF2_LocationRef> locations;
        Hash128 content;  // of what is defined, if it is read again
        std::unique_ptr<ProcessSpool> spool;
        std::unique_ptr<ProcessData> data;  // refers to `spool`
        WrittenRank written;
    };

    void phase(const std::function<void()>& step);
    void for_each_rank(const std::function<void(std::size_t)>& step) const;

    void write();
    void read(Rank& rank) const;
    void read_again(Rank& rank) const;
    static Hash128 content_of(const Rank& rank);
    [[nodiscard]] std::vector<ProcessSummary> summaries() const;
    void read_definitions();
    void open();
    void check_target() const;
    void write_events();
    void write_local_definitions();
    void write_global_definitions();
    void check_files();
    void remove_files() noexcept;
    [[nodiscard]] Totals sum() const;

    const SessionRequest request_;
    const Communication& communication_;
    const otf2::ArchiveFiles files_;
    std::vector<Rank> ranks_;
    std::optional<OwnRanks> tables_;      // until the ranks agree
    std::vector<Numbers> numbers_;        // of the entries of each rank of this process
    otf2::TraceDefinitions definitions_;  // on process 0, as what follows
    std::vector<Disagreement> disagreements_;
    std::optional<otf2::Archive> archive_;
    bool has_created_ = false;
    std::uint64_t bytes_ = 0;
};

}  // namespace critpath::archive
