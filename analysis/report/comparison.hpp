// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the hotspots of two runs are matched, and how sure their difference is.
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace critpath::report
{

/// What makes rows of two runs the same one, beside kind, binary, name, and what it is inlined into.
enum class MatchBy : std::uint8_t {
    Name,
    Line,  // file and line, too: of rows that are lines
};

/// The same function, module, line or rank in two runs; in one of them it may have no time.
struct Difference {
    std::string name;
    std::string module;  // as in the second run, or else in the first
    std::string kind;
    std::string file;        // likewise
    std::string short_file;  // of both runs: without directories if it can do without
    std::int64_t line = 0;
    std::string inlined_into;     // of several that are told apart by where they call it: "main._omp_fn.* at loop.c:12"
    std::int64_t before_ns = 0;   // on the path of the first run
    std::int64_t after_ns = 0;    // and of the second
    bool is_estimate = false;     // samples have found either
    std::string of_several = {};  // its name that stands for all which differ by the number of a compiler only
    bool could_be_missed = false;  // one run has none of it, and the other only what it could have none of, too
    Interval change{0, 0};         // ns: the 95 % interval of their difference, as far as samples are concerned

    [[nodiscard]] std::int64_t change_ns() const { return after_ns - before_ns; }
    /// True if samples cannot tell the change from none.
    [[nodiscard]] bool is_below_error() const;
};

/// The program of a run under two names, without directories.
struct Renamed {
    std::string before, after;
};

/// None if it has the same name in both runs, or if a run does not tell which of its binaries is the program.
std::optional<Renamed> renamed_program(const model::Profile& before, const model::Profile& after);

/// What one run has in common with another one, of binaries.
struct Builds {
    std::optional<Renamed> program;
    std::set<std::string>
        same;  // that were not built anew in between: as the second run calls them, without directories
};

/// Largest change first. Binaries are the same if their names are, wherever they lie, or if both are the program;
/// source files if their names are, with the directories that tell those apart that are called alike in one of the
/// runs. Functions that compilers have numbered (numbered_names.hpp) are one row, unless their binary is the same build
/// or the runs have the same of them.
std::vector<Difference> compare(const Hotspots& before, const Hotspots& after, const Builds& builds = {},
                                MatchBy by = MatchBy::Name);

/// What is exact is off by some microseconds in each run, and no two runs are alike: less than this part of the path is
/// no news.
inline constexpr double least_change = 0.001;

struct Changed {
    std::vector<Difference> rows;
    std::size_t little = 0;  // that changed by less
};

/// Of rows with the largest change first, those that changed by more than samples can explain. `path_ns`: of the longer
/// run.
Changed changed_rows(std::vector<Difference> all, std::int64_t path_ns);

/// What the runs cannot be compared in, since one was recorded without it: "" or a sentence. What is not known stands
/// as 0 in the rows.
std::string kinds_note(const model::Profile& before, const model::Profile& after);

}  // namespace critpath::report
