// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what reading a damaged archive came to, and the processes in which that is tried.
#pragma once

#include "tests/bad_input/archive.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace critpath::bad_input
{

enum class Verdict : std::uint8_t {
    Accepted,   // nothing contradicts what a trace may be
    Refused,    // a Failure(BadTrace) with object, cause and next action
    Contained,  // libotf2 crashed, and the process ended with such a message and its exit code
    Wrong,      // all else: another exception, a crash, more than the time or the memory that it may take
};
inline constexpr int verdicts = 4;

struct Judgement {
    Verdict verdict = Verdict::Wrong;
    std::string words;  // the message, or what went wrong
};

/// Which part of a replay.
enum class Depth : std::uint8_t {
    Load,    // the reader and the loader
    Replay,  // all phases, on one process; MPI must have been started
};

/// Replays the archive in `directory` in this process.
Judgement judge(const std::filesystem::path& directory, Depth depth);

/// The archive of a number, and what is wrong with it.
struct Case {
    Archive archive;
    std::string words;
};
using MakeCase = std::function<Case(std::uint64_t number)>;

struct Report {
    std::array<std::uint64_t, verdicts> count{};
    std::vector<std::string> wrong;                 // what was wrong, in words; the first few
    std::map<std::string, std::uint64_t> messages;  // of those refused or contained, without names and numbers
    [[nodiscard]] std::uint64_t of(Verdict verdict) const { return count[static_cast<std::size_t>(verdict)]; }
};

/// Judges the cases from `first` on in processes of their own, in a directory in memory where there is one. Each case
/// has a few seconds and `memory` bytes of address space (0: as much as there is).
Report judge_all(std::uint64_t first, std::uint64_t count, Depth depth, std::uint64_t memory, const MakeCase& make);

}  // namespace critpath::bad_input
