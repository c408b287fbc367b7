// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/generate/options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace critpath::bench
{

namespace
{

constexpr const char* examples = R"(
Patterns:
  halo        a grid of ranks: Irecv, Isend and Waitall with the neighbours, an Allreduce now and then
  wavefront   sweeps over the grid from its corners in turn: Recv, work, Send
  collective  Allreduce, Bcast, Reduce, Alltoall and others of the world, of rows and of columns
  irregular   a sparse random graph: wildcard receives, Waitany, Waitsome, large and small messages

Examples:
  mpirun -n 2 generate_trace --pattern halo --locations 4096 --events 1e8 cp-halo
  generate_trace --pattern wavefront --rows 1 --allreduce-every 0 --locations 4 --events 6e6 cp-hops)";

/// The largest divisor of `n` that is not above its root.
int squarest(int n)
{
    int rows = 1;
    for (int i = 1; i * i <= n; ++i)
        if (n % i == 0)
            rows = i;
    return rows;
}

void complete(Options& options)
{
    if (options.rows == 0)
        options.rows = squarest(options.locations);
    if (options.locations % options.rows != 0)
        throw CLI::ValidationError("--rows",
                                   fmt::format("{} ranks do not make {} equal rows", options.locations, options.rows));
    if (options.pattern == "wavefront" && options.locations == 1)
        throw CLI::ValidationError("--locations", "a wavefront needs two ranks");
    if (options.slow_rank >= options.locations)
        throw CLI::ValidationError("--slow-rank", fmt::format("there is no rank {}", options.slow_rank));
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv)
{
    CommandLine result;
    Options& o = result.options;
    CLI::App app("Writes the trace that a large run of a made-up program would have left, and prints what is in it, as "
                 "JSON. The trace depends on the options only, not on the number of processes.",
                 "generate_trace");
    app.footer(examples);
    app.option_defaults()->always_capture_default();
    app.add_option("DIRECTORY", o.directory, "Where the trace goes; must be empty or not be there")
        ->required()
        ->default_str("");
    app.add_option("--pattern", o.pattern, "Which program")
        ->check(CLI::IsMember({"halo", "wavefront", "collective", "irregular"}));
    app.add_option("--locations", o.locations, "Ranks")->check(CLI::Range(1, 1 << 20));
    app.add_option("--events", o.events, "About how many, of all ranks")->check(CLI::PositiveNumber);
    app.add_option("--rows", o.rows, "Of the grid of ranks; 0: as square as it gets")->check(CLI::NonNegativeNumber);
    app.add_option("--ranks-a-node", o.ranks_a_node, "Nodes have clocks of their own")->check(CLI::PositiveNumber);
    app.add_option("--work", o.work, "ns that a rank computes in a step")->check(CLI::NonNegativeNumber);
    app.add_option("--noise", o.noise, "A step's work takes up to so much longer; 0: nothing varies")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--imbalance", o.imbalance, "The slow rank's work takes so much longer")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--slow-rank", o.slow_rank, "Which one that is")->check(CLI::NonNegativeNumber);
    app.add_option("--allreduce-every", o.allreduce_every, "Steps; 0: never (not for collective)")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--samples", o.samples, "A second, on each location")->check(CLI::NonNegativeNumber);
    app.add_option("--seed", o.seed, "Of all that is random");
    try {
        app.parse(argc, argv);
        complete(o);
    } catch (const CLI::CallForHelp&) {
        return {{}, true, 0, app.help()};
    } catch (const CLI::ParseError& error) {
        return {{}, true, 2, fmt::format("generate_trace: {}; see generate_trace --help\n", error.what())};
    }
    return result;
}

}  // namespace critpath::bench
