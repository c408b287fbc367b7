// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/phase.hpp"

#include "formats/support/last_words.hpp"
#include "formats/support/terminal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <thread>

#include <unistd.h>

namespace critpath::replayer
{

namespace
{

constexpr const char* tool = "cpreplay";

/// The distinct messages of some processes, as they travel to rank 0. Bounded, so that a phase that fails on every
/// process, each with a message of its own, costs rank 0 no more than one that fails on two.
struct Messages {
    static constexpr int capacity = 8;
    static constexpr int length = 1000;
    struct Entry {
        std::int32_t first_rank;
        std::int32_t processes;
        std::array<char, length> text;
    };
    std::int32_t count;
    std::int32_t others;                  // processes whose messages found no room
    std::array<Entry, capacity> entries;  // ascending by first_rank
};

void merge(const Messages::Entry& entry, Messages& into)
{
    auto* begin = into.entries.begin();
    auto* end = begin + into.count;
    auto* same = std::find_if(begin, end, [&](const auto& known) { return known.text == entry.text; });
    if (same != end) {
        same->processes += entry.processes;
        same->first_rank = std::min(same->first_rank, entry.first_rank);
    } else if (into.count < Messages::capacity) {
        *end = entry;
        ++into.count;
    } else {
        // Keep the messages of the lowest ranks, so that the choice does not depend on the shape of the tree.
        auto* last = end - 1;
        const Messages::Entry displaced = entry.first_rank < last->first_rank ? *last : entry;
        if (entry.first_rank < last->first_rank) {
            *last = entry;
        }
        into.others += displaced.processes;
    }
    std::sort(begin, begin + into.count, [](const auto& a, const auto& b) { return a.first_rank < b.first_rank; });
}

void merge_all(void* in, void* inout, int* count, MPI_Datatype*)
{
    const auto* from = static_cast<const Messages*>(in);
    auto* into = static_cast<Messages*>(inout);
    for (int i = 0; i < *count; ++i) {
        for (int k = 0; k < from[i].count; ++k) {
            merge(from[i].entries[k], into[i]);
        }
        into[i].others += from[i].others;
    }
}

void print(const Messages& messages, int size)
{
    for (int k = 0; k < messages.count; ++k) {
        const auto& entry = messages.entries[k];
        fmt::print(stderr, "{}: {}", tool, printable(entry.text.data()));
        if (entry.processes > 1 && entry.processes < size) {
            fmt::print(stderr, " ({} of {} processes)", entry.processes, size);
        }
        fmt::print(stderr, "\n");
    }
    if (messages.others > 0) {
        fmt::print(stderr, "{}: {} more processes failed, with other messages\n", tool, messages.others);
    }
    std::fflush(stderr);
}

}  // namespace

Phases::Phases(MPI_Comm comm, Progress progress)
{
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    show_ = rank_ == 0 && (progress == Progress::Always || (progress == Progress::Auto && isatty(STDERR_FILENO) == 1));
}

void Phases::close()
{
    MPI_Comm_free(&comm_);
}

void Phases::run(std::string_view name, Scope scope, const std::function<void()>& body)
{
    remark_.clear();
    const double start = MPI_Wtime();
    const LastWords words(ExitCode::Failed,
                          fmt::format("phase {}: crashed on process {} of {}; this is a defect of cpreplay, please "
                                      "report it",
                                      name, rank_, size_));
    const Outcome outcome = attempt(name, body);
    const ExitCode verdict = agree(outcome, scope);
    if (verdict != ExitCode::Done) {
        throw Stopped(verdict, print_messages(outcome));
    }
    timings_.phase_ended(name);
    if (show_) {
        fmt::print(stderr, "{}: {:<10} {:9.3f} s  {}\n", tool, name, MPI_Wtime() - start, remark_);
        std::fflush(stderr);
    }
}

void Phases::note(std::string_view words) const
{
    if (rank_ == 0) {
        fmt::print(stderr, "{}: {}\n", tool, printable(words));
        std::fflush(stderr);
    }
}

void Phases::print_timings(TimingsFormat format) const
{
    fmt::print(stderr, "{}", timings_.text(format, comm_));
    std::fflush(stderr);
}

Phases::Outcome Phases::attempt(std::string_view name, const std::function<void()>& body)
{
    try {
        body();
        return {};
    } catch (const Failure& failure) {
        return {failure.code(), failure.what()};
    } catch (const std::bad_alloc&) {
        return {ExitCode::Failed,
                fmt::format("phase {}: not enough memory; replay on more processes or more nodes", name)};
    } catch (const std::exception& exception) {
        return {ExitCode::Failed,
                fmt::format("phase {}: {}; this is a defect of cpreplay, please report it", name, exception.what())};
    }
}

/// The worst exit code of all processes.
ExitCode Phases::agree(const Outcome& outcome, Scope scope) const
{
    const int mine = static_cast<int>(outcome.code);
    int worst = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, comm_, &request);
    if (scope == Scope::Local || outcome.code == ExitCode::Done) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return static_cast<ExitCode>(worst);
    }
    const double deadline = MPI_Wtime() + patience_;
    int done = 0;
    while (done == 0) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done == 0) {
            if (MPI_Wtime() > deadline) {
                fmt::print(stderr, "{}: {}\n", tool, printable(outcome.message));
                std::fflush(stderr);
                MPI_Abort(comm_, mine);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    return static_cast<ExitCode>(worst);
}

/// Returns the first on process 0.
std::string Phases::print_messages(const Outcome& outcome) const
{
    Messages mine{};
    if (outcome.code != ExitCode::Done) {
        auto& entry = mine.entries[0];
        mine.count = 1;
        entry.first_rank = rank_;
        entry.processes = 1;
        outcome.message.copy(entry.text.data(), entry.text.size() - 1);
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(sizeof(Messages), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(merge_all, 1, &op);
    Messages all{};
    MPI_Reduce(&mine, &all, 1, type, op, 0, comm_);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    if (rank_ != 0) {
        return {};
    }
    print(all, size_);
    return all.count > 0 ? all.entries[0].text.data() : "";
}

}  // namespace critpath::replayer
