// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/bad_input/judge.hpp"

#include "formats/otf2/reader.hpp"
#include "formats/support/last_words.hpp"
#include "replayer/clocks/clocks.hpp"
#include "replayer/clocks/tighten.hpp"
#include "replayer/load/load.hpp"
#include "tests/builder/replayed.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace critpath::bad_input
{

namespace fs = std::filesystem;

namespace
{

void replay(const fs::path& directory, Depth depth)
{
    replayer::Replay replay;
    const replayer::load::Summary summary = replayer::load::load(otf2::find_anchor(directory), replay);
    if (depth == Depth::Load) {
        return;
    }
    replay.comm = MPI_COMM_SELF;
    replay.trace = directory;
    replayer::load::refuse_times_far_apart(replay);
    replayer::clocks::Findings found = replayer::clocks::compare(replay, summary.clock_domains_known);
    replayer::clocks::tighten(replay, found);
    replayer::load::complete(replay);
    tests::replay(replay);
}

bool is_complete(const std::string& message)
{
    return message.find(": ") != std::string::npos && message.find("; ") != std::string::npos &&
           message.find('\n') == std::string::npos;
}

}  // namespace

Judgement judge(const fs::path& directory, Depth depth)
{
    try {
        replay(directory, depth);
        return {Verdict::Accepted, {}};
    } catch (const Failure& failure) {
        const std::string words = failure.what();
        const bool is_verdict = failure.code() == ExitCode::BadTrace && is_complete(words);
        return {is_verdict ? Verdict::Refused : Verdict::Wrong, words};
    } catch (const std::bad_alloc&) {
        return {Verdict::Wrong, "not enough memory"};
    } catch (const std::exception& error) {
        return {Verdict::Wrong, error.what()};
    }
}

namespace
{

/// What a child says of one case: a line "number verdict words".
std::string to_line(std::uint64_t number, const Judgement& judgement)
{
    std::string words = judgement.words;
    std::ranges::replace(words, '\n', ' ');
    return fmt::format("{} {} {}\n", number, static_cast<int>(judgement.verdict), words);
}

void write_all(int fd, const std::string& text)
{
    if (::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        ::_exit(99);
    }
}

std::string read_all(int fd)
{
    std::string text(1 << 20, '\0');
    const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
}

constexpr unsigned seconds_each = 20;

/// Judges cases until they are through, or one of them ends this process.
[[noreturn]] void run_child(std::uint64_t first, std::uint64_t end, Depth depth, std::uint64_t memory, int results,
                            int errors, const MakeCase& make)
{
    ::dup2(errors, STDERR_FILENO);
    if (depth == Depth::Replay) {
        MPI_Init(nullptr, nullptr);
    }
    if (memory != 0) {
        const rlimit limit = {memory, memory};
        ::setrlimit(RLIMIT_AS, &limit);
    }
    const rlimit no_core = {0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    catch_crashes("cpreplay", false);
    {
        Workshop workshop;
        write_all(results, fmt::format("{} ? {}\n", first, workshop.path().string()));
        for (std::uint64_t number = first; number < end; ++number) {
            [[maybe_unused]] const int cut = ::ftruncate(errors, 0);
            ::lseek(errors, 0, SEEK_SET);
            const fs::path directory = workshop.lay_out(make(number).archive);
            ::alarm(seconds_each);
            const Judgement judgement = judge(directory, depth);
            ::alarm(0);
            write_all(results, to_line(number, judgement));
        }
    }
    ::_exit(0);
}

/// Without what differs from case to case.
std::string kind_of(const std::string& message)
{
    std::string kind;
    for (std::size_t i = message.find(": "); i < message.size(); ++i) {
        const bool is_digit = std::isdigit(static_cast<unsigned char>(message[i])) != 0;
        if (!is_digit) {
            kind += message[i];
        } else if (kind.empty() || kind.back() != '#') {
            kind += '#';
        }
    }
    return kind;
}

class Collector
{
public:
    explicit Collector(const MakeCase& make) : make_(make) {}

    void add(std::uint64_t number, const Judgement& judgement)
    {
        constexpr std::size_t most = 20;
        ++report_.count[static_cast<std::size_t>(judgement.verdict)];
        if (judgement.verdict == Verdict::Wrong && report_.wrong.size() < most) {
            report_.wrong.push_back(fmt::format("{} ({}): {}", number, make_(number).words, judgement.words));
        }
        if (judgement.verdict == Verdict::Refused || judgement.verdict == Verdict::Contained) {
            ++report_.messages[kind_of(judgement.words)];
        }
    }

    Report report() { return std::move(report_); }

private:
    const MakeCase& make_;
    Report report_;
};

/// Of the case that ended its process.
Judgement judge_end(int status, const std::string& said)
{
    const bool is_verdict = said.starts_with("cpreplay: ") || said.find("\ncpreplay: ") != std::string::npos;
    if (WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::BadTrace) && is_verdict) {
        return {Verdict::Contained, said.substr(said.find("cpreplay: ") + std::strlen("cpreplay: "))};
    }
    const std::string how = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                                : fmt::format("exit code {}", WEXITSTATUS(status));
    return {Verdict::Wrong, how + " " + said};
}

/// A file without a name.
int open_scratch()
{
    const int fd = ::open(fs::temp_directory_path().c_str(), O_TMPFILE | O_RDWR | O_APPEND, 0600);
    if (fd < 0) {
        throw std::system_error(errno, std::generic_category(), "a file in " + fs::temp_directory_path().string());
    }
    return fd;
}

/// Adds the cases of one process; the number of the first that it did not come to.
std::uint64_t run_process(std::uint64_t first, std::uint64_t end, Depth depth, std::uint64_t memory,
                          const MakeCase& make, Collector& collector)
{
    const int results = open_scratch();
    const int errors = open_scratch();
    const pid_t child = ::fork();
    if (child == 0) {
        run_child(first, end, depth, memory, results, errors, make);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    const std::string said = read_all(errors);
    std::uint64_t next = first;
    std::string workshop;
    const std::string text = read_all(results);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t eol = text.find('\n', begin);
        const std::string line = text.substr(begin, eol - begin);
        begin = eol + 1;
        const std::size_t blank = line.find(' ');
        const char verdict = line[blank + 1];
        const std::string words = line.substr(blank + 3);
        if (verdict == '?') {
            workshop = words;
        } else {
            collector.add(std::stoull(line), {static_cast<Verdict>(verdict - '0'), words});
            next = std::stoull(line) + 1;
        }
    }
    if (next < end) {
        collector.add(next, judge_end(status, said));
        ++next;
        std::error_code ignored;
        fs::remove_all(workshop, ignored);
    }
    ::close(results);
    ::close(errors);
    return next;
}

}  // namespace

Report judge_all(std::uint64_t first, std::uint64_t count, Depth depth, std::uint64_t memory, const MakeCase& make)
{
    constexpr std::uint64_t most_a_process = 2000;
    Collector collector(make);
    for (std::uint64_t next = first; next < first + count;) {
        next = run_process(next, std::min(next + most_a_process, first + count), depth, memory, make, collector);
    }
    return collector.report();
}

}  // namespace critpath::bad_input
