// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a phase of the replay ends: with one verdict that all processes agree on. Whatever fails on whichever
// process, each distinct message is printed once, and all processes leave with the same exit code.
#pragma once

#include "formats/support/error.hpp"
#include "replayer/timings.hpp"

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace critpath::replayer
{

/// Thrown by Phases::run on all processes once a phase has failed somewhere and its messages are printed.
class Stopped : public std::exception
{
public:
    Stopped(ExitCode code, std::string words) : code_(code), words_(std::move(words)) {}
    [[nodiscard]] ExitCode code() const noexcept { return code_; }

    /// The first of the messages, on process 0; empty elsewhere.
    [[nodiscard]] const std::string& words() const noexcept { return words_; }
    [[nodiscard]] const char* what() const noexcept override { return "stopped: the cause has been printed"; }

private:
    ExitCode code_;
    std::string words_;
};

enum class Progress : std::uint8_t {
    Auto,  // if stderr of rank 0 is a terminal
    Always,
    Never,
};

/// Whether the body of a phase talks to other processes.
enum class Scope : std::uint8_t {
    Local,       // it does not: a failed process waits for the others as long as they need
    Collective,  // it does, so that others may wait inside it for the one that failed: if they do not come to the
                 // verdict soon, the failed process prints its message and aborts the job
};

/// Runs the phases of a replay one after the other. Collective over its communicator, like every function that it runs.
class Phases
{
public:
    /// `comm` is duplicated: verdicts never meet the messages of a phase.
    Phases(MPI_Comm comm, Progress progress);
    Phases(const Phases&) = delete;
    Phases& operator=(const Phases&) = delete;
    ~Phases() = default;

    /// Gives the communicator back. Collective; a destructor could not be (a failed process may not wait there).
    void close();

    /// Runs `body` on this process and agrees on the verdict. Returns if all succeeded, otherwise throws Stopped on
    /// all. `body` may throw Failure, std::bad_alloc or any std::exception.
    void run(std::string_view name, Scope scope, const std::function<void()>& body);

    /// Words behind the time of the running phase on its progress line, e.g. "163296 events". Those of rank 0 count.
    void remark(std::string words) { remark_ = std::move(words); }

    /// A remark of rank 0 on stderr that is no failure: "cpreplay: <words>".
    void note(std::string_view words) const;

    /// Prints what the phases so far have cost, on stderr of rank 0. Collective.
    void print_timings(TimingsFormat format) const;

    /// How long a process that failed in a collective phase waits for the others. For tests.
    void set_patience(double seconds) { patience_ = seconds; }

private:
    struct Outcome {
        ExitCode code = ExitCode::Done;
        std::string message;
    };
    static Outcome attempt(std::string_view name, const std::function<void()>& body);
    ExitCode agree(const Outcome& outcome, Scope scope) const;
    std::string print_messages(const Outcome& outcome) const;

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 1;
    bool show_ = false;
    double patience_ = 10;  // s
    std::string remark_;
    Timings timings_;  // starts with this
};

}  // namespace critpath::replayer
