// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/options.hpp"

#include "collector/archive/recover.hpp"
#include "formats/support/parser_words.hpp"
#include "formats/support/terminal.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace fs = std::filesystem;

namespace
{

constexpr const char* examples = R"(
Run it with as many processes as the trace has ranks, or fewer; the result is the same.

Examples:
  mpirun -n 4 cpreplay cp-app-20260131-120000
  cpreplay --rules=enter traces.otf2)";

/// The value that `word` stands for; CLI::ValidationError with all words if it is none of them.
template <class T>
T choice(const char* option, const std::string& word, const std::vector<std::pair<std::string, T>>& choices)
{
    std::vector<std::string> words;
    for (const auto& [name, value] : choices) {
        if (name == word) {
            return value;
        }
        words.push_back(name);
    }
    throw CLI::ValidationError(option, fmt::format("'{}' is not one of {}", word, fmt::join(words, ", ")));
}

/// "500M", "2GiB", "1048576": bytes, in powers of 1024; nothing if it is no such number.
std::optional<std::uint64_t> parse_size(std::string_view text)
{
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) {
        return std::nullopt;
    }
    std::string unit(end, text.data() + text.size());
    std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return std::tolower(c); });
    const std::size_t power = unit.empty() ? 0 : std::string_view("bkmgtpe").find(unit.front());
    const std::string_view rest = std::string_view(unit).substr(unit.empty() ? 0 : 1);
    const bool is_rest_known = rest.empty() || (power > 0 && (rest == "b" || rest == "i" || rest == "ib"));
    if (power == std::string_view::npos || !is_rest_known ||
        number > std::numeric_limits<std::uint64_t>::max() >> 10 * power) {
        return std::nullopt;
    }
    return number << 10 * power;
}

std::uint64_t size(const char* option, const std::string& word)
{
    const auto bytes = parse_size(word);
    if (!bytes) {
        throw CLI::ValidationError(option,
                                   fmt::format("'{}' is not a size; give bytes, or a unit, for example: {}=500M, {}=2G",
                                               word, option, option));
    }
    return *bytes;
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv)
{
    CommandLine result;
    Options& options = result.options;
    CLI::App app("Replays a recorded MPI application and writes its critical path into TRACE/critpath/, for cpreport.",
                 "cpreplay");
    app.footer(examples);
    app.get_formatter()->column_width(26);
    app.set_version_flag("--version", "cpreplay " CRITPATH_VERSION, "Print the version");
    std::string trace;
    const CLI::Option* named =
        app.add_option("TRACE", trace, "Directory of the trace, or its .otf2 file [the newest here]");

    std::string rules = "arrival";
    app.add_option("--rules", rules, "Who released a waiting call: arrival, or to compare: enter, paper [arrival]")
        ->option_text("RULES");
    std::string engine = "aggregated";
    app.add_option("--engine", engine, "How processes exchange: aggregated, or to compare: literal [aggregated]")
        ->option_text("ENGINE");
    std::string walk = "auto";
    app.add_option("--walk", walk, "How the path is walked: auto, gather, token, segments, lifting [auto]")
        ->option_text("WAY");
    std::string memory;
    const CLI::Option* limit =
        app.add_option("--memory", memory,
                       "Arrays of a process in memory, about, the rest in a file in TRACE: 500M [all]")
            ->option_text("SIZE");
    std::string progress = "auto";
    app.add_option("--progress", progress, "One line a phase on stderr: auto (on a terminal), always, never [auto]")
        ->option_text("WHEN");
    std::string timings = "none";
    app.add_option("--timings", timings, "What each phase has cost, on stderr: table, json, none [none]")
        ->option_text("FORMAT");
    app.add_flag("-q,--quiet", options.quiet, "Print no summary");

    try {
        app.parse(argc, argv);
        options.rules = choice<Rules>("--rules", rules,
                                      {{"arrival", Rules::Arrival}, {"enter", Rules::Enter}, {"paper", Rules::Paper}});
        options.engine =
            choice<Engine>("--engine", engine, {{"aggregated", aggregated_engine}, {"literal", literal_engine}});
        options.engine.walk_path = choice<WalkPath>("--walk", walk,
                                                    {{"auto", options.engine.walk_path},
                                                     {"gather", gather_and_walk},
                                                     {"token", pass_token},
                                                     {"segments", walk_segments},
                                                     {"lifting", lift}});
        options.progress =
            choice<Progress>("--progress", progress,
                             {{"auto", Progress::Auto}, {"always", Progress::Always}, {"never", Progress::Never}});
        options.timings = choice<TimingsFormat>(
            "--timings", timings,
            {{"table", TimingsFormat::Table}, {"json", TimingsFormat::Json}, {"none", TimingsFormat::None}});
        if (named->count() > 0 && trace.empty()) {
            throw CLI::ValidationError("TRACE", "the name is empty; leave it out for the newest trace here");
        }
        if (limit->count() > 0 && memory != "all") {
            options.memory = size("--memory", memory);
        }
    } catch (const CLI::CallForHelp&) {
        return {{}, true, ExitCode::Done, app.help()};
    } catch (const CLI::CallForVersion& version) {
        return {{}, true, ExitCode::Done, fmt::format("{}\n", version.what())};
    } catch (const CLI::ParseError& error) {
        return {{},
                true,
                ExitCode::Usage,
                fmt::format("cpreplay: {}; see cpreplay --help\n", printable(in_our_words(error.what())))};
    }
    if (!trace.empty()) {
        options.trace = trace;
    }
    return result;
}

fs::path newest_trace(const fs::path& directory)
{
    std::error_code error;
    if (fs::exists(directory / "traces.otf2", error) || archive::is_abandoned(directory)) {
        return directory;
    }
    fs::path newest;
    fs::file_time_type newest_time;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
        std::error_code none;
        const bool is_abandoned = archive::is_abandoned(entry->path());
        const auto time = fs::last_write_time(entry->path() / (is_abandoned ? "spool" : "traces.otf2"), none);
        // The name decides between equal times, so that the choice does not depend on the order of the directory.
        if (!none && (newest.empty() || std::pair(time, entry->path()) > std::pair(newest_time, newest))) {
            newest = entry->path();
            newest_time = time;
        }
    }
    if (newest.empty()) {
        fail(ExitCode::Usage, "no trace given, and none in this directory; name it: cpreplay TRACE");
    }
    return directory == "." ? newest.filename() : newest;
}

}  // namespace critpath::replayer
