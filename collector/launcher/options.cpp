// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/launcher/options.hpp"

#include "formats/support/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace critpath::launcher
{
namespace
{

constexpr unsigned highest_frequency = 20'000;
constexpr unsigned long largest_buffer = 1UL << 20;  // MB

constexpr const char* help = R"(usage: mpirun -n N cpcollect [options] [--] application [arguments]
Records a run of an MPI application: its MPI calls, and samples of where it computes.

Output
  -o, --output DIR     directory of the trace (default cp-<application>-<job or time>)
      --force          overwrite the trace that is there
  -q, --quiet          no summary at the end
Recording
  -F, --frequency HZ   samples a second and thread, 0 to 20000 (default 997)
      --no-samples     the same as --frequency 0
      --buffer MB      bound of the records of one thread (default 4096)
Other
      --print-config   print what would be done as JSON, and do nothing
  -h, --help           print this text
      --version        print the version
An environment variable gives a default: CPCOLLECT_OUTPUT, CPCOLLECT_FORCE, CPCOLLECT_QUIET,
CPCOLLECT_FREQUENCY, CPCOLLECT_NO_SAMPLES, CPCOLLECT_BUFFER.

Examples
  mpirun -n 4 cpcollect ./app input.txt
  srun -n 64 cpcollect -o run1 -F 199 -- ./app -v
)";

struct Parsed {
    Options options;
    bool no_samples = false;
    bool help = false;
    bool version = false;
};

/// A whole number from 0 (or `lowest`) to `highest`, in words of ours.
CLI::Validator whole_number(unsigned long lowest, unsigned long highest)
{
    return CLI::Validator(
        [lowest, highest](std::string& text) -> std::string {
            unsigned long value = 0;
            const char* end = text.data() + text.size();
            const auto result = std::from_chars(text.data(), end, value);
            if (result.ec == std::errc{} && result.ptr == end && value >= lowest && value <= highest) {
                return {};
            }
            return fmt::format("'{}' is not a whole number from {} to {}", text, lowest, highest);
        },
        "");
}

void declare(CLI::App& app, Parsed& parsed)
{
    app.set_help_flag();
    app.add_flag("-h,--help", parsed.help);
    app.add_flag("--version", parsed.version);
    app.add_option("-o,--output", parsed.options.output)->envname("CPCOLLECT_OUTPUT");
    app.add_flag("--force", parsed.options.force)->envname("CPCOLLECT_FORCE");
    app.add_option("-F,--frequency", parsed.options.frequency)
        ->envname("CPCOLLECT_FREQUENCY")
        ->check(whole_number(0, highest_frequency));
    app.add_flag("--no-samples", parsed.no_samples)->envname("CPCOLLECT_NO_SAMPLES");
    app.add_option("--buffer", parsed.options.buffer_mb)
        ->envname("CPCOLLECT_BUFFER")
        ->check(whole_number(1, largest_buffer));
    app.add_flag("-q,--quiet", parsed.options.quiet)->envname("CPCOLLECT_QUIET");
    app.add_flag("--print-config", parsed.options.print_config);
}

bool takes_value(const CLI::App& app, const std::string& name)
{
    const CLI::Option* option = app.get_option_no_throw(name);
    return option != nullptr && option->get_expected_min() > 0;
}

/// True if `word` is an option of ours whose value is the next word.
bool wants_next_word(const CLI::App& app, std::string_view word)
{
    if (word.substr(0, 2) == "--") {
        return word.find('=') == std::string_view::npos && takes_value(app, std::string(word));
    }
    for (std::size_t i = 1; i < word.size(); ++i) {  // -qF 100, -F100
        if (takes_value(app, std::string("-") + word[i])) {
            return i + 1 == word.size();
        }
    }
    return false;
}

/// Index in `words` at which the application begins. Done here, not by the parser: nothing that belongs to the
/// application may be taken for ours, nor the other way round.
std::size_t find_application(const CLI::App& app, const std::vector<std::string>& words, std::size_t& end_of_ours)
{
    for (std::size_t i = 0; i < words.size(); ++i) {
        end_of_ours = i;
        if (words[i] == "--") {
            return i + 1;
        }
        if (words[i].size() < 2 || words[i][0] != '-') {
            return i;
        }
        i += wants_next_word(app, words[i]) ? 1 : 0;
    }
    end_of_ours = words.size();
    return words.size();
}

[[noreturn]] void print_and_exit(std::string_view text)
{
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    std::exit(static_cast<int>(written ? ExitCode::Done : ExitCode::Failed));
}

void parse_ours(CLI::App& app, const std::vector<std::string>& words)
{
    try {
        std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants it
        app.parse(reversed);
    } catch (const CLI::ExtrasError&) {
        for (const std::string& word : app.remaining()) {
            fail(ExitCode::Usage, "{}: no such option; see cpcollect --help", word);
        }
        throw;
    } catch (const CLI::ParseError& error) {
        fail(ExitCode::Usage, "{}; see cpcollect --help", error.what());
    }
}

}  // namespace

Options parse_options(int argc, const char* const* argv)
{
    CLI::App app;
    Parsed parsed;
    declare(app, parsed);
    const std::vector<std::string> words(argv + 1, argv + argc);
    std::size_t end_of_ours = 0;
    const std::size_t application = find_application(app, words, end_of_ours);
    using Offset = std::vector<std::string>::difference_type;
    parse_ours(app, {words.begin(), words.begin() + static_cast<Offset>(end_of_ours)});
    if (parsed.help) {
        print_and_exit(help);
    }
    if (parsed.version) {
        print_and_exit("cpcollect " CRITPATH_VERSION "\n");
    }
    Options options = parsed.options;
    if (parsed.no_samples) {
        options.frequency = 0;
    }
    const bool output_given = app.count("--output") > 0;
    if (output_given && options.output.empty()) {
        fail(ExitCode::Usage, "--output: the name is empty; give the directory for the trace");
    }
    options.application.assign(words.begin() + static_cast<Offset>(application), words.end());
    return options;
}

}  // namespace critpath::launcher
