// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// oracle [--learned | --faster | --slower] [--noise] [--lazy [--idle-posts]] [--held] [--by-groups] [--synchronous]
// [--slow-files] [--windows | --mixed] [--short-of-cores] [--alike | --standing | --exchange] [--enter | --paper]
// [--keep DIRECTORY] [FIRST [COUNT]]: so many random programs (of one-sided communication with --windows, of that and
// all else in turn with --mixed; with --alike, each repeats one pattern, in which ranks compute for another time; with
// --standing, one in which the same rank always computes beside large messages; with --exchange, one in which all wait
// for large messages), from that seed on, through the whole analysis, which knows what the simulated machine costs (or
// learns it from the trace, or is told that messages and collectives take half as long as they do, or twice as long).
// With noise, each program runs on a machine of its own, whose messages and collectives are late by some ticks, at
// random. A lazy machine moves what meets its receiver only while both are in calls, and non-blocking all-to-all
// collectives when all have been (with --idle-posts, in other calls than those that only post something); one that is
// held has buffered sends of more than 1024 bytes end when the receiver's rank is in a call; one that goes by groups
// has blocking collectives between groups wait for the own group, too; on a synchronous one, a root waits for all that
// it gives something, and whoever gives something to a root waits for that (if lazy, until they are in calls; if held,
// in blocking ones, until they are in any call, and for no more than 1024 bytes not at all). With --slow-files,
// collective calls on files that do not wait for all may take as long as those that do. With --short-of-cores, calls
// that end epochs of one-sided communication are late at random, and so is what they release. What a simulation does
// not know is refused: it would have no effect, or stop each program. Says which of them have false-critical time, and
// the smallest program that shows it. With --keep, DIRECTORY/SEED has the archive of each program, and the truth about
// it.
#include "tests/oracle/archive.hpp"
#include "tests/oracle/check.hpp"
#include "tests/oracle/mixed/mixed.hpp"
#include "tests/oracle/truth.hpp"
#include "tests/oracle/windows/check.hpp"
#include "tests/oracle/windows/program.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

using namespace critpath::oracle;

namespace
{

constexpr int most_explained = 10;
constexpr std::uint64_t held_from = 1024;

bool is_wrong(const Outcome& outcome)
{
    return outcome.verdict.false_critical > 0 || !outcome.broken.empty();
}

struct Options {
    Weights weights = Weights::Known;
    critpath::replayer::Rules rules = critpath::replayer::Rules::Arrival;
    bool noise = false;
    bool short_of_cores = false;
    bool lazy = false;
    bool idle_posts = false;
    bool held = false;
    bool by_groups = false;
    bool synchronous = false;
    bool slow_files = false;
    bool windows = false;
    bool mixed = false;
    bool alike = false;
    bool standing = false;
    bool exchange = false;
    std::filesystem::path keep;  // empty: nothing is kept
};

Recipe recipe_of(std::uint32_t seed, const Options& options)
{
    if (options.standing)
        return standing_recipe(seed);
    if (options.exchange)
        return exchange_recipe(seed);
    return options.alike ? alike_recipe(seed) : random_recipe(seed);
}

/// What came of one program.
Outcome outcome_of(std::uint32_t seed, const Machine& machine, const Options& options)
{
    if (options.mixed)
        return mixed::check(mixed::random_recipe(seed), machine, options.weights, options.rules);
    if (!options.windows)
        return check(recipe_of(seed, options), machine, options.weights, options.rules);
    return windows::check(windows::random_recipe(seed), machine, options.weights, options.rules);
}

void keep(std::uint32_t seed, const Machine& machine, const Options& options)
{
    const std::filesystem::path directory = options.keep / std::to_string(seed);
    if (!std::filesystem::create_directories(directory))
        throw std::runtime_error(directory.string() + ": is there already; give another directory");
    if (options.mixed) {
        const mixed::MixedExecution execution = mixed::simulate(mixed::random_recipe(seed), machine);
        mixed::write_archive(directory, execution, machine);
        write_truth(directory, machine, execution.whole.graph, mixed::functions(execution));
        return;
    }
    if (options.windows) {
        const windows::Program program = windows::random_program(seed);
        const windows::WindowExecution execution = windows::simulate(program, machine);
        windows::write_archive(directory, program, machine, execution);
        write_truth(directory, machine, execution.execution.graph, functions_of(execution.calls));
        return;
    }
    const Program program = expand(recipe_of(seed, options));
    const Execution execution = simulate(program, machine);
    write_archive(directory, program, machine, execution);
    write_truth(directory, machine, execution.graph, functions_of(execution.calls));
}

void print_faults(const Outcome& outcome)
{
    if (!outcome.broken.empty())
        fmt::print("    {}\n", outcome.broken);
    for (const std::string& fault : outcome.verdict.faults)
        fmt::print("    {}\n", fault);
}

/// `check`, of a recipe, has words for what happened.
template <class AnyRecipe, class Check>
void explain_words(std::uint32_t seed, const AnyRecipe& recipe, const Check& check)
{
    const AnyRecipe smallest = shrink(recipe, [&](const AnyRecipe& smaller) { return is_wrong(check(smaller)); });
    const windows::Judged judged = check(smallest);
    fmt::print("seed {}: {}\n", seed, text(smallest));
    print_faults(judged);
    fmt::print("{}\n", judged.words);
}

void explain(std::uint32_t seed, const Machine& machine, const Options& options)
{
    const Weights weights = options.weights;
    if (options.windows)
        return explain_words(seed, windows::random_recipe(seed),
                             [&](const windows::Recipe& recipe) { return windows::check(recipe, machine, weights); });
    if (options.mixed)
        return explain_words(seed, mixed::random_recipe(seed),
                             [&](const mixed::Recipe& recipe) { return mixed::check(recipe, machine, weights); });
    const Recipe smallest = shrink(recipe_of(seed, options),
                                   [&](const Recipe& recipe) { return is_wrong(check(recipe, machine, weights)); });
    const Outcome outcome = check(smallest, machine, weights);
    fmt::print("seed {}: {}\n", seed, text(smallest));
    print_faults(outcome);
    try {
        fmt::print("{}", text(simulate(expand(smallest), machine)));
    } catch (const std::logic_error&) {  // has been said
    }
}

int run(std::uint32_t first, std::uint32_t count, const Options& options)
{
    int wrong = 0, misled = 0, warned = 0;  // programs
    std::int64_t path = 0, false_critical = 0, misleading = 0, led_by_doubt = 0;
    for (std::uint32_t seed = first; seed < first + count; ++seed) {
        Machine machine = options.noise ? random_machine(seed) : Machine{};
        machine.progress = !options.lazy;
        machine.posts_look = !options.idle_posts;
        machine.short_of_cores = options.short_of_cores;
        if (options.short_of_cores)
            machine.seed = seed;
        if (options.slow_files)
            machine.file_system = longest_in_file_system;
        if (options.synchronous)
            go_synchronous(machine);
        if (options.by_groups)
            go_by_groups(machine);
        if (options.held)
            machine.local_limit = held_from;
        if (!options.keep.empty())
            keep(seed, machine, options);
        const Outcome outcome = outcome_of(seed, machine, options);
        path += outcome.verdict.makespan;
        false_critical += outcome.verdict.false_critical;
        misleading += outcome.verdict.misleading;
        led_by_doubt += outcome.verdict.led_by_doubt;
        if (outcome.verdict.misleading > outcome.verdict.makespan / 50) {
            ++misled;
            warned += outcome.verdict.led_by_doubt >= outcome.verdict.misleading ? 1 : 0;
        }
        if (is_wrong(outcome) && ++wrong <= most_explained && options.rules == critpath::replayer::Rules::Arrival)
            explain(seed, machine, options);
    }
    const auto percent = [&](std::int64_t ns) {
        return 100.0 * static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(1, path));
    };
    fmt::print(
        "{} programs, {} of them wrong; {:.4f} % of the path is false-critical, {:.4f} % by more than 2 % of the "
        "run; doubt leads {:.1f} % of it, and as much as that in {} of {} programs where that is more than 2 %\n",
        count, wrong, percent(false_critical), percent(misleading), percent(led_by_doubt), warned, misled);
    return wrong == 0 ? 0 : 1;
}

constexpr const char* usage =
    "oracle [--learned | --faster | --slower] [--noise] [--lazy [--idle-posts]] [--held] [--by-groups] "
    "[--synchronous] [--slow-files] [--windows | --mixed] [--short-of-cores] [--alike | --standing | --exchange] "
    "[--enter | --paper] [--keep DIRECTORY] [FIRST [COUNT]]";

struct Option {
    const char* name;
    bool Options::*given;
};

constexpr Option switches[] = {{"--noise", &Options::noise},           {"--lazy", &Options::lazy},
                               {"--idle-posts", &Options::idle_posts}, {"--held", &Options::held},
                               {"--by-groups", &Options::by_groups},   {"--synchronous", &Options::synchronous},
                               {"--slow-files", &Options::slow_files}, {"--windows", &Options::windows},
                               {"--mixed", &Options::mixed},           {"--short-of-cores", &Options::short_of_cores},
                               {"--alike", &Options::alike},           {"--standing", &Options::standing},
                               {"--exchange", &Options::exchange}};

/// One of several.
template <class Value>
struct Choice {
    const char* name;
    Value value;
};

constexpr Choice<Weights> choices_of_weights[] = {
    {"--learned", Weights::Learned}, {"--faster", Weights::TwiceAsFast}, {"--slower", Weights::HalfAsFast}};
constexpr Choice<critpath::replayer::Rules> choices_of_rules[] = {{"--enter", critpath::replayer::Rules::Enter},
                                                                  {"--paper", critpath::replayer::Rules::Paper}};

/// What the simulation of windows does not know. That of both sorts in turn is made of the parts' own, and none of them
/// can wait for what comes behind it.
constexpr Option not_of_windows[] = {{"--noise", &Options::noise},
                                     {"--held", &Options::held},
                                     {"--idle-posts", &Options::idle_posts},
                                     {"--by-groups", &Options::by_groups},
                                     {"--synchronous", &Options::synchronous},
                                     {"--slow-files", &Options::slow_files},
                                     {"--alike", &Options::alike},
                                     {"--standing", &Options::standing},
                                     {"--exchange", &Options::exchange}};
constexpr Option not_of_mixed[] = {{"--noise", &Options::noise},       {"--lazy", &Options::lazy},
                                   {"--held", &Options::held},         {"--alike", &Options::alike},
                                   {"--standing", &Options::standing}, {"--exchange", &Options::exchange},
                                   {"--windows", &Options::windows}};

/// Programs that are all of one kind.
constexpr Option not_of_alike[] = {{"--standing", &Options::standing}, {"--exchange", &Options::exchange}};
constexpr Option not_of_standing[] = {{"--exchange", &Options::exchange}};

[[noreturn]] void refuse(std::string_view one, std::string_view other)
{
    throw std::invalid_argument(fmt::format("{} does not go with {}\n{}", one, other, usage));
}

void refuse(const Options& options, const Option& kind, std::span<const Option> others)
{
    for (const Option& other : others)
        if (options.*kind.given && options.*other.given)
            refuse(other.name, kind.name);
}

void refuse_what_is_not_known(const Options& options)
{
    refuse(options, {"--windows", &Options::windows}, not_of_windows);
    refuse(options, {"--mixed", &Options::mixed}, not_of_mixed);
    refuse(options, {"--alike", &Options::alike}, not_of_alike);
    refuse(options, {"--standing", &Options::standing}, not_of_standing);
    if (options.idle_posts && !options.lazy)
        refuse("--idle-posts", "machines that are not lazy");
    if (options.short_of_cores && !options.windows && !options.mixed)
        refuse("--short-of-cores", "programs without windows");
}

/// Whether the word is one of the choices; then `value` is.
template <class Value, std::size_t count>
bool choose(std::string_view word, const Choice<Value> (&choices)[count], Value& value)
{
    const auto named = [&](const auto& choice) { return choice.name == word; };
    const auto* chosen = std::ranges::find_if(choices, named);
    if (chosen == std::ranges::end(choices))
        return false;
    for (const auto& other : choices)
        if (other.value == value && other.name != word)
            refuse(word, other.name);
    value = chosen->value;
    return true;
}

/// Takes options from the words in front; those behind remain.
Options take_options(std::span<char*>& words)
{
    Options options;
    for (; !words.empty() && words[0][0] == '-'; words = words.subspan(1)) {
        const std::string_view word = words[0];
        const auto* given = std::ranges::find_if(switches, [&](const Option& o) { return o.name == word; });
        if (given != std::ranges::end(switches)) {
            options.*given->given = true;
        } else if (word == "--keep" && words.size() > 1) {
            options.keep = words[1];
            words = words.subspan(1);
        } else if (!choose(word, choices_of_weights, options.weights) &&
                   !choose(word, choices_of_rules, options.rules)) {
            throw std::invalid_argument(usage);
        }
    }
    refuse_what_is_not_known(options);
    return options;
}

std::uint32_t number(std::span<char*> words, std::size_t place, std::uint32_t otherwise)
{
    if (place >= words.size())
        return otherwise;
    const std::string_view word = words[place];
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || value == 0)
        throw std::invalid_argument(fmt::format("{}: not a number from 1 on\n{}", word, usage));
    return value;
}

}  // namespace

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    std::span<char*> words(argv + 1, static_cast<std::size_t>(argc - 1));
    int result = 2;
    try {
        const Options options = take_options(words);
        if (words.size() > 2)
            throw std::invalid_argument(usage);
        result = run(number(words, 0, 1), number(words, 1, 100), options);
    } catch (const std::exception& error) {
        fmt::print(stderr, "oracle: {}\n", error.what());
    }
    MPI_Finalize();
    return result;
}
