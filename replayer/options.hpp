// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the command line of cpreplay.
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/engine.hpp"
#include "replayer/phase.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace critpath::replayer
{

struct Options {
    std::optional<std::filesystem::path> trace;  // as given
    Rules rules = Rules::Arrival;
    Engine engine = aggregated_engine;
    Progress progress = Progress::Auto;
    TimingsFormat timings = TimingsFormat::None;
    std::optional<std::uint64_t> memory;  // bytes of the large arrays of a process; all if not given
    bool quiet = false;                   // no summary
};

/// What the command line asks for: a replay, or words to print and an exit code.
struct CommandLine {
    Options options;
    bool stop = false;
    ExitCode code = ExitCode::Done;
    std::string words;  // for stdout if code is Done, for stderr otherwise
};

/// Prints nothing, so that of many processes only one speaks.
CommandLine parse_command_line(int argc, char** argv);

/// `directory` if it is a trace, else the newest trace in it, by its traces.otf2; also one that has only raw records,
/// of an application that has ended. Throws Failure(Usage) if there is none.
std::filesystem::path newest_trace(const std::filesystem::path& directory);

}  // namespace critpath::replayer
