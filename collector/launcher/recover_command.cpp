// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/launcher/recover_command.hpp"

#include "collector/archive/recover.hpp"
#include "formats/support/error.hpp"
#include "formats/support/standard_output.hpp"
#include "formats/support/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::launcher
{
namespace
{

namespace fs = std::filesystem;

constexpr const char* recover_help = R"(usage: cpcollect recover [options] TRACE
Makes the trace of a recording that ended without MPI_Finalize: everything that was recorded until then.

      --force     even if the application seems to be running still, or to replace
                  the archive that an earlier recovery made
      --keep      do not remove TRACE/spool, the raw records, afterwards
  -q, --quiet     no summary
  -h, --help      print this text

Examples
  cpcollect recover cp-app-20250101-120000
  cpcollect recover --keep run1
)";

struct Command {
    fs::path trace;
    archive::RecoverOptions options;
    bool quiet = false;
    bool help = false;
};

Command parse(int argc, const char* const* argv)
{
    Command command;
    bool only_names = false;
    for (int i = 2; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (only_names || word.empty() || word.front() != '-') {
            if (!command.trace.empty()) {
                fail(ExitCode::Usage, "{}: one trace at a time; see cpcollect recover --help", word);
            }
            command.trace = word;
        } else if (word == "--") {
            only_names = true;
        } else if (word == "--force") {
            command.options.force = true;
        } else if (word == "--keep") {
            command.options.keep = true;
        } else if (word == "-q" || word == "--quiet") {
            command.quiet = true;
        } else if (word == "-h" || word == "--help") {
            command.help = true;
        } else {
            fail(ExitCode::Usage, "{}: no such option; see cpcollect recover --help", word);
        }
    }
    return command;
}

/// The directory of the trace, if the user named something in it.
fs::path trace_directory(const fs::path& name)
{
    std::error_code error;
    fs::path path = name.lexically_normal();
    if (!path.has_filename()) {
        path = path.parent_path();
    }
    const bool is_inside = path.filename() == "spool" || path.filename() == "traces.otf2";
    if (is_inside && !fs::exists(path / "spool", error)) {
        return path.has_parent_path() ? path.parent_path() : fs::path(".");
    }
    return path;
}

std::string size_text(std::uint64_t bytes)
{
    constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
    auto size = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; size >= 1024 && unit + 1 < units.size(); ++unit) {
        size /= 1024;
    }
    return fmt::format("{:.{}f} {}", size, unit == 0 ? 0 : 1, units[unit]);
}

void check(const fs::path& trace)
{
    std::error_code error;
    if (!fs::is_directory(trace, error)) {
        fail(ExitCode::Usage, "{}: no such directory; give the directory that cpcollect made", trace.native());
    }
    if (!fs::is_directory(trace / "spool", error) && !archive::is_archive(trace)) {
        fail(ExitCode::BadTrace, "{}: holds no records; give the directory that cpcollect made", trace.native());
    }
}

void print_notes(const std::vector<std::string>& notes)
{
    for (const std::string& note : notes) {
        fmt::print(stderr, "cpcollect: {}\n", printable(note));
    }
}

void print(const archive::Recovered& recovered, const fs::path& trace, bool quiet)
{
    print_notes(recovered.notes);
    if (quiet) {
        return;
    }
    const archive::Totals& totals = recovered.totals;
    std::string text = fmt::format("cpcollect: {} ranks, {} calls, {} samples, {} in {}\n", recovered.ranks,
                                   totals.calls, totals.samples, size_text(totals.bytes), printable(trace.native()));
    if (!recovered.incomplete.empty()) {
        text += fmt::format("cpcollect: the recording is incomplete: {}\n", recovered.incomplete);
    }
    if (recovered.is_spool_kept) {
        text += fmt::format("cpcollect: the raw records are kept in {}\n", printable((trace / "spool").native()));
    }
    text += fmt::format("cpcollect: next: mpirun -n {} cpreplay {}\n", recovered.ranks, shell_word(trace.native()));
    print_checked(text);
}

void leave(const fs::path& trace, const Command& command)
{
    std::vector<std::string> notes;
    const bool was_left = archive::remove_leftovers(trace, command.options, notes);
    print_notes(notes);
    if (!command.quiet) {
        print_checked(fmt::format("cpcollect: {}: the archive is there already, {}\ncpcollect: next: cpreplay {}\n",
                                  printable(trace.native()),
                                  was_left ? "the raw records beside it were removed" : "nothing to do",
                                  shell_word(trace.native())));
    }
}

int run(const Command& command)
{
    if (command.help) {
        print_checked(recover_help);
        return static_cast<int>(ExitCode::Done);
    }
    if (command.trace.empty()) {
        fail(ExitCode::Usage, "no trace given; usage: cpcollect recover TRACE");
    }
    const fs::path trace = trace_directory(command.trace);
    check(trace);
    std::error_code error;
    const bool has_spool = fs::is_directory(trace / "spool", error);
    if (archive::is_archive(trace) && !(command.options.force && has_spool)) {
        leave(trace, command);
        return static_cast<int>(ExitCode::Done);
    }
    const archive::Recovered recovered = archive::recover(trace, command.options);
    if (recovered.is_made_already) {
        leave(trace, command);
    } else {
        print(recovered, trace, command.quiet);
    }
    return static_cast<int>(ExitCode::Done);
}

}  // namespace

bool is_recover_command(int argc, const char* const* argv)
{
    return argc >= 2 && std::string_view(argv[1]) == "recover";
}

int recover_command(int argc, const char* const* argv, int rank)
{
    if (rank > 0) {
        return static_cast<int>(ExitCode::Done);
    }
    try {
        return run(parse(argc, argv));
    } catch (const Failure& failure) {
        fmt::print(stderr, "cpcollect: {}\n", printable(failure.what()));
        return static_cast<int>(failure.code());
    } catch (const std::exception& error) {
        fmt::print(stderr, "cpcollect: {}\n", printable(error.what()));
        return static_cast<int>(ExitCode::Failed);
    }
}

}  // namespace critpath::launcher
