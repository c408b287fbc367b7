// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns lengthened: performs the random program of a seed by real MPI calls, on as many ranks as mpirun starts, as it is
// and with one of its computations lengthened, in turn. Prints how long each run took, or with --steps writes when
// each step was, of one run that is recorded.
#include "bench/lengthened/collectives.hpp"
#include "bench/lengthened/perform.hpp"
#include "tests/oracle/grammar.hpp"
#include "tests/oracle/grammar/sketch.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/os.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/prctl.h>
#include <unistd.h>

namespace critpath::lengthened
{

namespace
{

using oracle::at;

struct Options {
    std::uint32_t seed = 1;
    std::string recipe = "random";
    std::size_t blocks = 6;
    std::vector<std::string> only;  // kinds of blocks
    std::int64_t tick_us = 10;
    std::int64_t poll_tick_ns = 1000;
    bool is_busy = false;
    int rounds = 3;
    unsigned watchdog_seconds = 60;
    std::vector<std::string> lengthen;
    std::string steps;
    bool describe = false;
};

constexpr std::int64_t us_ns = 1'000, ms_ns = 1'000'000;
constexpr std::size_t buffered_bytes = 64U << 20U;

Pace pace_of(const Options& options)
{
    return {options.tick_us * us_ns, options.poll_tick_ns, options.is_busy};
}

bool is_performed(const oracle::Recipe& recipe)
{
    for (const std::vector<oracle::Step>& steps : oracle::expand(recipe).steps)
        for (const oracle::Step& step : steps)
            if (!lengthened::is_performed(step))
                return false;
    return true;
}

/// Without blocks that there is no way to perform, and those of other kinds than the user wants.
oracle::Recipe recipe_of(const Options& options, int ranks)
{
    oracle::Recipe drawn = options.recipe == "alike"      ? oracle::alike_recipe(options.seed)
                           : options.recipe == "standing" ? oracle::standing_recipe(options.seed)
                                                          : oracle::random_recipe(options.seed);
    oracle::Recipe kept{ranks, {}};
    for (const oracle::Block& block : drawn.blocks) {
        const bool is_wanted =
            options.only.empty() || std::ranges::find(options.only, oracle::name(block.kind)) != options.only.end();
        if (kept.blocks.size() < options.blocks && is_wanted && is_performed({ranks, {block}}))
            kept.blocks.push_back(block);
    }
    return kept;
}

Lengthening parse(const std::string& words)
{
    Lengthening result{};
    double ms = 0;
    char colon = 0, other = 0;
    std::istringstream stream(words);
    if (!(stream >> result.rank >> colon >> result.step >> other >> ms) || colon != ':' || other != ':')
        throw std::invalid_argument(words + ": not RANK:STEP:MS");
    result.ns = static_cast<std::int64_t>(ms * static_cast<double>(ms_ns));
    return result;
}

/// From the first begin to the last end.
double seconds(const std::vector<StepTime>& times)
{
    const std::int64_t begin = times.front().begin, end = times.back().end;
    std::int64_t first = 0, last = 0;
    MPI_Reduce(&begin, &first, 1, MPI_INT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&end, &last, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    return static_cast<double>(last - first) / 1e9;
}

void print(const std::vector<std::vector<double>>& runs)
{
    std::vector<std::string> lists;
    for (const std::vector<double>& times : runs)
        lists.push_back(fmt::format("[{:.6f}]", fmt::join(times, ", ")));
    fmt::print("{{\"seconds\": [{}]}}\n", fmt::join(lists, ", "));
}

/// The program as it is, and each lengthening, alternately. One run before does not count.
void compare(const Options& options, const oracle::Program& program, const Communicators& communicators, int rank)
{
    std::vector<std::optional<Lengthening>> ways{std::nullopt};
    for (const std::string& words : options.lengthen)
        ways.emplace_back(parse(words));
    const Pace pace = pace_of(options);
    perform(program, communicators, rank, pace, std::nullopt);
    std::vector<std::vector<double>> runs(ways.size());
    for (int round = 0; round < options.rounds; ++round)
        for (std::size_t i = 0; i < ways.size(); ++i) {
            const std::size_t way = round % 2 == 0 ? i : ways.size() - 1 - i;
            alarm(options.watchdog_seconds);
            runs[way].push_back(seconds(perform(program, communicators, rank, pace, ways[way])));
        }
    if (rank == 0)
        print(runs);
}

void write(const std::string& path, const std::vector<oracle::Step>& steps, const std::vector<StepTime>& times)
{
    auto file = fmt::output_file(path);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool computes = steps[i].kind == oracle::Kind::Compute;
        file.print("{} {} {} {}\n", i, computes ? "compute" : functions::info(steps[i].function).name, times[i].begin,
                   times[i].end);
    }
}

void describe(const oracle::Recipe& recipe, const oracle::Program& program)
{
    fmt::print("{}\n", oracle::text(recipe));
    for (int rank = 0; rank < program.ranks; ++rank)
        for (std::size_t i = 0; i < program.steps[at(rank)].size(); ++i) {
            const oracle::Step& step = program.steps[at(rank)][i];
            if (step.kind == oracle::Kind::Compute)
                fmt::print("{}:{} compute {}\n", rank, i, step.ticks);
            else
                fmt::print("{}:{} {} ticks {} peer {} tag {} comm {} bytes {} root {} request {} of {}{}\n", rank, i,
                           functions::info(step.function).name, step.ticks, step.peer, step.tag, step.comm, step.bytes,
                           step.root, step.request, fmt::join(step.requests, ","),
                           step.part ? fmt::format(" from {}", fmt::join(step.part->sources, ",")) : "");
        }
}

void run(const Options& options)
{
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const oracle::Recipe recipe = recipe_of(options, ranks);
    const oracle::Program program = oracle::expand(recipe);
    if (options.describe) {
        if (rank == 0)
            describe(recipe, program);
        MPI_Finalize();
        return;
    }
    std::vector<char> buffered(buffered_bytes);
    MPI_Buffer_attach(buffered.data(), static_cast<int>(buffered.size()));
    const Communicators communicators(program);
    if (options.steps.empty()) {
        compare(options, program, communicators, rank);
        MPI_Finalize();
        return;
    }
    const std::vector<StepTime> times = perform(program, communicators, rank, pace_of(options), std::nullopt);
    MPI_Finalize();  // what is written behind it is not of the run
    write(fmt::format("{}.{}", options.steps, rank), program.steps[at(rank)], times);
}

}  // namespace

}  // namespace critpath::lengthened

int main(int argc, char** argv)
{
    using namespace critpath::lengthened;
    Options options;
    CLI::App app("performs a random program, and again with a computation lengthened");
    app.add_option("seed", options.seed)->required();
    app.add_option("--recipe", options.recipe, "random, alike or standing")
        ->check(CLI::IsMember({"random", "alike", "standing"}));
    app.add_option("--blocks", options.blocks, "at most so many");
    app.add_option("--only", options.only, "blocks of this kind");
    app.add_option("--tick-us", options.tick_us, "what a tick of the program lasts");
    app.add_option("--poll-tick-ns", options.poll_tick_ns, "the same between two polls of a loop");
    app.add_flag("--busy", options.is_busy, "compute, in place of sleeping");
    app.add_option("--rounds", options.rounds, "how often each way runs");
    app.add_option("--watchdog", options.watchdog_seconds, "seconds that no run takes");
    app.add_option("--lengthen", options.lengthen, "RANK:STEP:MS, any number of times");
    app.add_option("--steps", options.steps, "one run; writes PREFIX.RANK");
    app.add_flag("--describe", options.describe, "prints the program");
    CLI11_PARSE(app, argc, argv);
    alarm(options.watchdog_seconds);  // ends the process, and so the job
    prctl(PR_SET_TIMERSLACK, 1UL);
    MPI_Init(&argc, &argv);
    try {
        run(options);
    } catch (const std::exception& error) {
        fmt::print(stderr, "lengthened: {}\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return 0;
}
