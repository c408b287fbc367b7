// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// cpreport: looks at the result of a replay. Owns the command line; what there is to see is in command_*.cpp, how it is
// printed in writer_*.cpp.
#include "analysis/report/command.hpp"
#include "analysis/report/locate.hpp"
#include "analysis/report/output.hpp"
#include "analysis/report/text.hpp"
#include "analysis/report/writer.hpp"
#include "formats/support/error.hpp"
#include "formats/support/parser_words.hpp"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <sys/ioctl.h>
#include <unistd.h>

namespace
{

using namespace critpath;
using namespace critpath::report;

std::vector<Option> all_options(const Command& command)
{
    std::vector<Option> options = command.options;
    options.insert(options.end(), common_options().begin(), common_options().end());
    return options;
}

std::string footer(const std::vector<std::string>& examples)
{
    std::string text = "Examples:";
    for (const std::string& example : examples)
        text += "\n  cpreport " + example;
    return text;
}

/// What CLI11 fills in.
struct Parsed {
    std::map<std::string, std::string> values;
    std::set<std::string> given;
    std::string trace;
};

std::string option_help(const Option& option)
{
    std::string text = option.help;
    std::vector<std::string> choices = option.choices;
    const auto fallback = std::find(choices.begin(), choices.end(), option.fallback);
    const bool is_marked = fallback != choices.end();
    if (is_marked)
        *fallback += " (default)";
    if (!choices.empty())
        text +=
            text.empty() ? fmt::format("{}", fmt::join(choices, ",")) : fmt::format(": {}", fmt::join(choices, ", "));
    return option.fallback.empty() || is_marked ? text : fmt::format("{} (default {})", text, option.fallback);
}

void add_options(CLI::App& app, const Command& command, Parsed& parsed)
{
    if (!command.operand.name.empty())
        app.add_option(command.operand.name, parsed.values[command.operand.name], command.operand.help)
            ->type_name("")
            ->required();
    app.add_option("TRACE", parsed.trace, "directory that cpcollect made, or its .otf2 file (default: the newest here)")
        ->type_name("");
    const auto add = [&](const Option& option, const char* group) {
        std::string& value = parsed.values[option.name];
        value = option.fallback;
        if (option.value.empty())
            app.add_flag_callback(
                   option.name, [&value] { value = "yes"; }, option_help(option))
                ->group(group);
        else
            app.add_option(option.name, value, option_help(option))->type_name(option.value)->group(group);
    };
    for (const Option& option : command.options)
        add(option, "Selection");
    for (const Option& option : common_options())
        add(option, "Output");
    app.set_help_flag("-h,--help", "print this help")->group("Output");
    app.footer(footer(command.examples));
    // Unknown arguments are reported by reject_extras(), which can say what is valid.
    app.allow_extras();
}

/// The option of `command` that has `word` among its values, with it: "--by node"; empty if none has.
std::string option_with_value(const std::string& word, const Command& command)
{
    for (const Option& option : all_options(command))
        if (std::ranges::find(option.choices, word) != option.choices.end())
            return option.name + " " + word;
    return {};
}

/// What the user may have meant by `name`, which is no option of `command`; empty if nothing tells.
std::string advice_on(const std::string& name, const Command& command)
{
    const auto has_option = [&](const Command& c) {
        return std::ranges::find(c.options, name, &Option::name) != c.options.end();
    };
    std::vector<std::string> owners;
    for (const Command& other : commands())
        if (has_option(other))
            owners.push_back(other.name);
    if (!owners.empty())
        return fmt::format("it is one of {}", fmt::join(owners, ", "));
    std::vector<std::string> words = {"help"};  // without the dashes, which all have alike
    for (const Option& option : all_options(command))
        words.push_back(option.name.substr(option.name.find_first_not_of('-')));
    const std::string word = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    const std::string near = nearest_word(word, words);
    const std::string meant = near.empty() ? option_with_value(word, command) : "--" + near;
    return meant.empty() ? "" : fmt::format("did you mean {}?", meant);
}

void reject_extras(const CLI::App& app, const Command& command)
{
    const std::vector<std::string> extras = app.remaining();
    if (extras.empty())
        return;
    const auto dashed = std::find_if(extras.begin(), extras.end(),
                                     [](const std::string& word) { return word.size() > 1 && word[0] == '-'; });
    if (dashed == extras.end())
        fail(ExitCode::Usage, "{}: one trace at a time; see: cpreport {} --help", extras.front(), command.name);
    const std::string name = dashed->substr(0, dashed->find('='));
    const std::string advice = advice_on(name, command);
    fail(ExitCode::Usage, "{}: unknown option{}; see: cpreport {} --help", name, advice.empty() ? "" : ", " + advice,
         command.name);
}

/// Throws a Failure that lists the commands if the first word of the command line is none of them.
void check_command(int argc, char** argv)
{
    std::vector<std::string> names;
    for (const Command& command : commands())
        names.push_back(command.name);
    if (argc < 2)
        fail(ExitCode::Usage, "no command; give one of {}, or --help", fmt::join(names, ", "));
    const std::string word = argv[1];
    if (word == "-h" || word == "--help" || word == "--version" ||
        std::find(names.begin(), names.end(), word) != names.end())
        return;
    if (!word.empty() && word[0] == '-')
        fail(ExitCode::Usage, "{}: options follow the command; give one of {}, or --help", word,
             fmt::join(names, ", "));
    fail_choice("command", word, names);
}

/// "--rank=" has an empty value, of a variable of a script mostly; CLI11 would take the next word for it, which is the
/// trace.
void check_empty_values(int argc, char** argv)
{
    const auto command = std::ranges::find(commands(), std::string(argv[1]), &Command::name);
    if (command == commands().end())
        return;
    const std::vector<Option> options = all_options(*command);
    for (int i = 2; i < argc; ++i)
        for (const Option& option : options)
            if (!option.value.empty() && argv[i] == option.name + "=")
                fail_empty(option);
}

std::size_t terminal_width()
{
    constexpr std::size_t usual = 100;
    winsize size{};
    if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return usual;
    return size.ws_col;
}

/// https://no-color.org: set and not empty.
bool wants_colour()
{
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') && term != nullptr &&
           std::string_view(term) != "dumb";
}

/// A trace in the place of what should stand before it: then that was left out.
void check_operand(const Command& command, const Parsed& parsed)
{
    const Operand& operand = command.operand;
    if (operand.name.empty() || operand.is_trace || !parsed.trace.empty())
        return;
    const std::string& given = parsed.values.at(operand.name);
    if (is_trace(given))
        fail(ExitCode::Usage, "{}: this is a trace, and the {} before it is missing; give both: cpreport {} {} {}",
             given, operand.name, command.name, operand.name, shell_quoted(given));
}

/// A trace in the place of an option's value: then that was left out, and the option has taken the trace.
void check_values(const Command& command, const Parsed& parsed)
{
    for (const Option& option : command.options) {
        const std::string& given = parsed.values.at(option.name);
        if (option.values_in == nullptr || !parsed.trace.empty() || !is_trace(given))
            continue;
        const std::vector<std::string> values = option.values_in(find_trace(given));
        if (values.empty())
            fail(ExitCode::Usage,
                 "{} {}: this is a trace, and the {} before it is missing; the trace has none: leave out {}",
                 option.name, given, option.value, option.name);
        fail(ExitCode::Usage,
             "{} {}: this is a trace, and the {} before it is missing; the trace has {}: cpreport {} {} {} {}",
             option.name, given, option.value, fmt::join(values, ", "), command.name, option.name, values.front(),
             shell_quoted(given));
    }
}

void run(const Command& command, const Parsed& parsed)
{
    check_operand(command, parsed);
    check_values(command, parsed);
    Request request;
    request.arguments = Arguments(parsed.values, parsed.given);
    request.arguments.check(all_options(command));
    request.arguments.check(command.conflicts);
    request.arguments.check(common_conflicts());
    request.trace = parsed.trace.empty() ? newest_trace(".") : find_trace(parsed.trace);
    request.trace_name = request.trace.string();
    const std::string& format = request.arguments.text("--format");
    Document document = command.run(request);
    document.trace = request.trace_name;
    const Style style{terminal_width(), wants_colour(), !request.arguments.flag("--no-header"), CRITPATH_VERSION};
    Output output(STDOUT_FILENO);
    find_writer(format)(document, style, output);
    output.flush();
}

void print(const std::string& text)
{
    Output output(STDOUT_FILENO);
    output.write(text);
    output.flush();
}

/// CLI11 puts two empty lines between its groups.
std::string without_double_gaps(std::string text)
{
    for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;)
        text.erase(at, 1);
    return text;
}

void parse_and_run(int argc, char** argv)
{
    check_command(argc, argv);
    check_empty_values(argc, argv);
    CLI::App app("Shows which code an MPI program's run time depends on: the result of cpreplay.", "cpreport");
    app.set_version_flag("--version", std::string("cpreport ") + CRITPATH_VERSION, "print the version");
    app.set_help_flag("-h,--help", "print this help");
    app.get_formatter()->column_width(24);
    app.get_formatter()->label("SUBCOMMAND", "COMMAND");
    app.require_subcommand(1);
    app.footer(footer({"hotspots", "path --top 10 cp-app-1"}) + "\n\nOptions of a command: cpreport COMMAND --help");
    std::vector<Parsed> parsed(commands().size());
    std::vector<CLI::App*> parsers;
    for (std::size_t i = 0; i < commands().size(); ++i) {
        parsers.push_back(app.add_subcommand(commands()[i].name, commands()[i].summary)->group("Commands"));
        add_options(*parsers.back(), commands()[i], parsed[i]);
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        print(without_double_gaps(app.help()));
        return;
    } catch (const CLI::CallForVersion& version) {
        print(std::string(version.what()) + "\n");
        return;
    } catch (const CLI::ParseError& error) {
        const std::string command = argv[1][0] == '-' ? "" : fmt::format("{} ", argv[1]);
        fail(ExitCode::Usage, "{}; see: cpreport {}--help", in_our_words(error.what()), command);
    }
    for (std::size_t i = 0; i < parsers.size(); ++i) {
        if (!parsers[i]->parsed())
            continue;
        reject_extras(*parsers[i], commands()[i]);
        if (parsed[i].trace.empty() && parsers[i]->get_option("TRACE")->count() > 0)
            fail(ExitCode::Usage, "TRACE: the name is empty; leave it out for the newest trace here");
        for (const Option& option : all_options(commands()[i]))
            if (parsers[i]->get_option(option.name)->count() > 0)
                parsed[i].given.insert(option.name);
        run(commands()[i], parsed[i]);
    }
}

}  // namespace

int main(int argc, char** argv)
{
    // A closed pipe is then an error of write(), which Output understands.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        parse_and_run(argc, argv);
        return static_cast<int>(ExitCode::Done);
    } catch (const ReaderGone&) {
        return static_cast<int>(ExitCode::Done);
    } catch (const Failure& failure) {
        fmt::print(stderr, "cpreport: {}\n", printable(failure.what()));
        return static_cast<int>(failure.code());
    } catch (const std::exception& error) {
        fmt::print(stderr, "cpreport: {}; please report this\n", printable(error.what()));
        return static_cast<int>(ExitCode::Failed);
    }
}
