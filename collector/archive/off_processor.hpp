// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the context switches of a thread become the intervals in which it had no processor.
#pragma once

#include "collector/archive/sample_reader.hpp"
#include "formats/otf2/waits_for.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace critpath::archive
{

using otf2::WaitsFor;

struct OffInterval {
    std::uint64_t begin = 0, end = 0;        // ns
    bool preempted = false;                  // it was able to run; else it was blocked
    std::uint32_t processor = 0;             // on which it came back
    bool migrated = false;                   // that is another one than before
    std::uint32_t found_in = nowhere;        // the context in which it was found blocked,
    WaitsFor waits_for = WaitsFor::Unknown;  // and what for
    bool woken = false;                      // preempted, one says, but it was blocked before (run_delays.hpp)

    static constexpr std::uint32_t nowhere = 0xffffffff;  // it was not looked for
};

/// A thread that comes back behind a respite that was not a wait's, without having gone before, was away since the end
/// of the respite at least. Where threads only give way to each other nobody is away for so long: it was blocked.
inline constexpr std::uint64_t too_long_for_a_turn = 20'000'000;  // ns

/// Takes switches and samples in the order of their records. An out whose in is missing ends with the next record that
/// shows the thread at work.
class OffProcessor
{
public:
    void on(const RawSwitch& change);
    void on(const RawSample& sample);
    void on(const RawRespite& change);
    void on_gap();

    /// In order of time; an interval that is still open ends at `end`, or is left out if `end` is 0.
    std::vector<OffInterval> finish(std::uint64_t end);

private:
    struct Seen {
        std::uint64_t time;
        std::uint32_t processor;
    };
    struct Out {
        RawSwitch change;
        bool gap = false;                // the in may be among the records that the kernel dropped
        std::optional<Seen> first_seen;  // a sample afterwards
    };

    void close(std::uint64_t time, std::uint32_t processor);

    std::optional<Out> out_;
    bool in_wait_ = false;                      // the respite that has begun is in a wait, behind which a thread runs
    std::optional<std::uint64_t> respite_end_;  // of another one; nothing was recorded since
    std::vector<OffInterval> intervals_;
};

}  // namespace critpath::archive
