// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns results made by hand, for the tests of their format and of cpreport.
#pragma once

#include "analysis/model/attribution.hpp"
#include "analysis/model/counts.hpp"
#include "analysis/model/profile.hpp"
#include "analysis/model/totals.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace critpath::samples
{

/// A directory that goes away with this.
class TemporaryDirectory
{
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

struct Sample {
    model::Profile profile;
    std::vector<model::Segment> segments;
    std::vector<model::Attribution> attributions{};
    model::CountTable counts{};  // with as many events as the profile, or without records
    std::vector<model::TotalPart> totals{};
    std::vector<model::ComputedParts> computed{};
};

/// Four ranks on two nodes, 10 s, samples of 1 ms: 8.5 s of the path are compute and mpi segments, of which 8.202 s
/// are sampled. One function is below its sampling error, the one that is first on all ranks is off the path.
Sample sampled_run();

/// Two ranks without samples: a trace of another measurement system, with user regions; some things went wrong.
Sample traced_run();

/// Two ranks, 10 s, samples of 10 ms: one computes "setup", the other then "solve", and who does what and counts what
/// when is known to the ms (samples.cpp).
Sample phased_run();

/// As sampled_run(), by timers of which one stopped, on nodes of which the clocks are off, and a long command line.
Sample timed_run();

/// One rank, 1 s, samples of 10 ms: "walk" calls itself to 12 levels, on each of which it calls "visit".
Sample recursive_run();

/// Names that are long, wide, not UTF-8, or full of what CSV, JSON and a terminal take for their own.
Sample awkward_run();

/// One rank, no time: an application that did nothing.
Sample empty_run();

/// `ranks` ranks, all of whose `functions` functions are on the path.
Sample large_run(std::uint32_t ranks, std::uint32_t functions, std::uint64_t segments);

std::vector<unsigned char> read_bytes(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, const std::vector<unsigned char>& bytes);

/// As cpreplay does: all files of the result, in TRACE/critpath.
void write_result(const std::filesystem::path& trace, const Sample& sample);

}  // namespace critpath::samples
