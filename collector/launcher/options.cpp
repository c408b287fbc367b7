// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/launcher/options.hpp"

#include "collector/sampling/event_names.hpp"
#include "formats/functions/functions.hpp"
#include "formats/spool/record.hpp"
#include "formats/spool/stack_image.hpp"
#include "formats/support/error.hpp"
#include "formats/support/parser_words.hpp"
#include "formats/support/standard_output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <tuple>

namespace critpath::launcher
{
namespace
{

constexpr unsigned highest_frequency = 20'000;
constexpr unsigned longest_clock_period = 86'400;
constexpr unsigned long largest_buffer = 1UL << 20;  // KiB
constexpr unsigned long least_stack = 512;           // bytes: hardly more than one frame

constexpr const char* help = R"(usage: mpirun -n N cpcollect [options] [--] application [arguments]
Records MPI calls and samples of a run. If it died: cpcollect recover TRACE

Output
  -o, --output DIR     directory of the trace; may hold %app %jobid %host %date
      --force          overwrite the trace that is there     -q, --quiet  no summary
Recording
  -F, --frequency HZ   samples a second and thread, 0 to 20000 (default 149); --no-samples: 0
      --sampler WHICH  auto (default: perf, or timer where that is refused), perf or timer
      --call-graph HOW callers of a sample: dwarf (default; or dwarf,BYTES of stack), fp or none
      --callpath HOW   the way to each MPI call: full (default), site or none
      --counters LIST  PAPI events to count at each MPI call; --events LIST: perf's, with samples
      --include LIST   only these of p2p, collective, rma, io, local; --exclude LIST: not these
      --range A:B      from the A-th to the B-th collective of all ranks; or pcontrol
      --buffer KB      memory for one thread's records, packed when full (default 128)
      --clock-period S  time between comparisons of clocks in long runs (default 60)
      --timer WHICH    tsc (default, where the kernel trusts it) or kernel, for time stamps
Other
      --config         print what would be done as JSON     -h, --help  this text     --version
Each option has an environment variable: CPCOLLECT_FREQUENCY for --frequency ...

Examples
  mpirun -n 4 cpcollect ./app input.txt
  srun -n 64 cpcollect -o run1 -F 997 -- ./app -v
)";

struct Parsed {
    Options options;
    std::vector<std::string> include;
    std::vector<std::string> exclude;
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

CLI::Validator one_of(const std::vector<std::string>& words)
{
    return CLI::Validator(
        [words](std::string& text) -> std::string {
            const bool known = std::find(words.begin(), words.end(), text) != words.end();
            return known ? std::string() : fmt::format("'{}' is none of {}", text, fmt::join(words, ", "));
        },
        "");
}

CLI::Validator counter_list()
{
    return CLI::Validator(
        [](std::string& text) -> std::string {
            const auto commas = static_cast<std::size_t>(std::count(text.begin(), text.end(), ','));
            if (("," + text + ",").find(",,") != std::string::npos) {
                return fmt::format("'{}' has an empty name", text);
            }
            return commas < spool::max_counters
                       ? std::string()
                       : fmt::format("{} counters, but at most {} fit", commas + 1, spool::max_counters);
        },
        "");
}

/// What stands between commas; empty words, too.
std::vector<std::string_view> words_of(std::string_view list)
{
    std::vector<std::string_view> words;
    for (std::size_t end = 0; (end = list.find(',')) != std::string_view::npos; list.remove_prefix(end + 1)) {
        words.push_back(list.substr(0, end));
    }
    words.push_back(list);
    return words;
}

std::vector<std::string_view> known_events()
{
    std::vector<std::string_view> names;
    for (const sampling::EventName& event : sampling::event_names) {
        names.emplace_back(event.name);
    }
    return names;
}

/// dwarf, dwarf,BYTES, fp or none.
CLI::Validator call_graph()
{
    return CLI::Validator(
        [](std::string& text) -> std::string {
            constexpr std::string_view sized = "dwarf,";
            if (text.compare(0, sized.size(), sized) != 0) {
                return one_of({"dwarf", "fp", "none"})(text);
            }
            std::string bytes = text.substr(sized.size());
            return whole_number(least_stack, spool::StackImage::largest_copy)(bytes);
        },
        "");
}

/// Names of sampling::event_names, which become those that reports know them by; or the word none.
CLI::Validator event_list()
{
    return CLI::Validator(
        [](std::string& text) -> std::string {
            if (text == "none") {
                return {};
            }
            std::vector<std::string_view> names;
            for (const std::string_view word : words_of(text)) {
                const std::uint32_t found = sampling::find_event_name(word.data(), word.size());
                if (found == sampling::event_name_count) {
                    return fmt::format("'{}' is none of {}; nor is the list none", word,
                                       fmt::join(known_events(), ", "));
                }
                if (std::ranges::find(names, sampling::event_names[found].name) == names.end()) {
                    names.emplace_back(sampling::event_names[found].name);
                }
            }
            // Page faults are always among them.
            const auto others = static_cast<std::size_t>(
                std::ranges::count_if(names, [](std::string_view name) { return name != "page-faults"; }));
            if (others >= spool::max_events) {
                return fmt::format("{} events, but beside page-faults at most {} fit", others, spool::max_events - 1);
            }
            text = fmt::format("{}", fmt::join(names, ","));
            return {};
        },
        "");
}

/// A:B with A < B, either of which may be missing, or the word pcontrol.
CLI::Validator range()
{
    return CLI::Validator(
        [](std::string& text) -> std::string {
            const std::size_t colon = text.find(':');
            const auto number = [](std::string_view part, unsigned long missing, unsigned long& value) {
                value = missing;
                const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
                return part.empty() || (error == std::errc{} && end == part.data() + part.size());
            };
            unsigned long from = 0;
            unsigned long to = 0;
            const std::string_view view = text;
            const bool good = colon != std::string::npos && text != ":" && number(view.substr(0, colon), 0, from) &&
                              number(view.substr(colon + 1), ~0UL, to) && from < to;
            return good || text == "pcontrol"
                       ? std::string()
                       : fmt::format("'{}' is not a range: give A:B with A less than B, or pcontrol", text);
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
    app.add_option("--buffer", parsed.options.buffer_kb)
        ->envname("CPCOLLECT_BUFFER")
        ->check(whole_number(4, largest_buffer));
    app.add_option("--clock-period", parsed.options.clock_period)
        ->envname("CPCOLLECT_CLOCK_PERIOD")
        ->check(whole_number(0, longest_clock_period));
    app.add_option("--timer", parsed.options.timer)->envname("CPCOLLECT_TIMER")->check(one_of({"tsc", "kernel"}));
    app.add_option("--callpath", parsed.options.callpath)
        ->envname("CPCOLLECT_CALLPATH")
        ->check(one_of({"full", "site", "none"}));
    app.add_option("--sampler", parsed.options.sampler)
        ->envname("CPCOLLECT_SAMPLER")
        ->check(one_of({"auto", "perf", "timer"}));
    app.add_option("--call-graph", parsed.options.call_graph)->envname("CPCOLLECT_CALL_GRAPH")->check(call_graph());
    app.add_option("--events", parsed.options.events)->envname("CPCOLLECT_EVENTS")->transform(event_list());
    app.add_option("--counters", parsed.options.counters)->envname("CPCOLLECT_COUNTERS")->check(counter_list());
    app.add_option("--range", parsed.options.range)->envname("CPCOLLECT_RANGE")->check(range());
    for (auto [name, variable, groups] : {std::tuple{"--include", "CPCOLLECT_INCLUDE", &parsed.include},
                                          std::tuple{"--exclude", "CPCOLLECT_EXCLUDE", &parsed.exclude}}) {
        app.add_option(name, *groups)->envname(variable)->delimiter(',')->expected(1, -1)->check(one_of(all_groups()));
    }
    app.add_flag("-q,--quiet", parsed.options.quiet)->envname("CPCOLLECT_QUIET");
    app.add_flag("--config", parsed.options.config)->envname("CPCOLLECT_CONFIG");
}

bool takes_value(const CLI::App& app, const std::string& name)
{
    const CLI::Option* option = app.get_option_no_throw(name);
    return option != nullptr && option->get_expected_min() > 0;
}

/// CLI11 would take the next word for a value that is empty, and "=x" for the value of -o=x.
void refuse_odd_value(std::string_view word)
{
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    if (equals != std::string_view::npos && (equals + 1 == word.size() || (name.size() == 2 && name != "--"))) {
        fail(ExitCode::Usage, "{}: {}; see cpcollect --help", word,
             equals + 1 == word.size() ? "the value is empty"
                                       : fmt::format("write {} {}", name, word.substr(equals + 1)));
    }
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
        refuse_odd_value(words[i]);
        if (wants_next_word(app, words[i])) {
            ++i;
            if (i < words.size() && (words[i] == "--" || app.get_option_no_throw(words[i]) != nullptr)) {
                fail(ExitCode::Usage, "{}: the value is missing; see cpcollect --help", words[i - 1]);
            }
        }
    }
    end_of_ours = words.size();
    return words.size();
}

[[noreturn]] void print_and_exit(std::string_view text)
{
    print_checked(text);
    std::exit(static_cast<int>(ExitCode::Done));
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
        fail(ExitCode::Usage, "{}; see cpcollect --help", in_our_words(error.what()));
    }
}

}  // namespace

const std::vector<std::string>& all_groups()
{
    static const std::vector<std::string> groups(functions::group_names + 1, std::end(functions::group_names));
    return groups;
}

namespace
{

std::vector<std::string> choose_groups(const Parsed& parsed)
{
    const auto holds = [](const std::vector<std::string>& groups, const std::string& group) {
        return std::find(groups.begin(), groups.end(), group) != groups.end();
    };
    std::vector<std::string> chosen;
    for (const std::string& group : all_groups()) {
        if ((parsed.include.empty() || holds(parsed.include, group)) && !holds(parsed.exclude, group)) {
            chosen.push_back(group);
        }
    }
    return chosen;
}

}  // namespace

unsigned usual_frequency(int ranks)
{
    constexpr int many = 10'000;
    return ranks < many ? 149 : 97;  // primes, so as not to march in step with programs
}

Options parse_options(int argc, const char* const* argv, int ranks)
{
    CLI::App app;
    Parsed parsed;
    parsed.options.frequency = usual_frequency(ranks);
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
    options.groups = choose_groups(parsed);
    if (parsed.no_samples) {
        options.frequency = 0;
    }
    if (options.frequency == 0 && !options.events.empty() && options.events != "none") {
        fail(ExitCode::Usage, "--events: they are counted with samples; record some, or leave out --events {}",
             options.events);
    }
    const bool output_given = app.count("--output") > 0;
    if (output_given && options.output.empty()) {
        fail(ExitCode::Usage, "--output: the name is empty; give the directory for the trace");
    }
    options.application.assign(words.begin() + static_cast<Offset>(application), words.end());
    return options;
}

}  // namespace critpath::launcher
