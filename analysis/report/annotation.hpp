// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the path time of one function by source line and by instruction.
#pragma once

#include "analysis/report/hotspots.hpp"
#include "formats/binary/source_lines.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace critpath::report
{

struct SampledTime {
    std::int64_t ns = 0;
    std::uint64_t samples = 0;
};

struct LineTime {
    SampledTime own;
    std::int64_t mpi_ns = 0;  // of the MPI calls that it makes
};

/// A function that is inlined into another one, and where its own code is, or what is inlined into it is called.
struct InlinedTime {
    SampledTime time;
    std::string file;
    int first_line = 0, last_line = 0;  // with time; 0: not known
};

/// Without a processor.
struct TimeOff {
    std::int64_t preempted_ns = 0;
    std::int64_t blocked_ns = 0;
};

/// Where a function is on the path. What is inlined into it counts where it is called from, as its source shows it.
struct Annotation {
    std::string function;
    SampledTime time;
    std::int64_t mpi_ns = 0;  // of the MPI calls that it makes
    /// In itself; not in `time`. Nothing if that is not known: by timers, and of what is only inlined.
    std::optional<TimeOff> off;
    std::map<std::string, InlinedTime> inlined;  // into it, by name
    /// By binary, file and line: functions of one name in several libraries have nothing to do with each other.
    std::map<std::tuple<std::string, std::string, int>, LineTime> lines;
    std::map<std::string, SampledTime> modules;  // by binary
    /// By the row (a binary and a function that is not inlined) that the function's code lies in, and address.
    std::map<std::pair<model::RowId, std::uint64_t>, SampledTime> addresses;
    std::set<std::string> outlined;  // functions on the path that its parallel regions were made
};

/// Of the function that the user means by `name` (meant_function.hpp). If ranks are selected, the addresses of the
/// profile must be theirs (window.hpp). `trace`: as the user may type it.
Annotation annotate(const model::Profile& profile, const Selection& selection, const std::string& name,
                    std::string_view trace, binary::SourceLines& lines);

}  // namespace critpath::report
