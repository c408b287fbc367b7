// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns generate_trace: traces of large runs for measurements, written by as many processes as mpirun starts.
#include "bench/generate/pattern.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <exception>

namespace critpath::bench
{

namespace
{

std::unique_ptr<Pattern> make_pattern(Program& program)
{
    const std::string& name = program.options().pattern;
    if (name == "halo")
        return make_halo(program);
    if (name == "wavefront")
        return make_wavefront(program);
    if (name == "collective")
        return make_collective(program);
    return make_irregular(program);
}

/// The number of steps.
std::uint64_t run(Program& program)
{
    program.start();
    const std::unique_ptr<Pattern> pattern = make_pattern(program);
    const auto every = static_cast<std::uint64_t>(pattern->synchronises() ? 0 : program.options().allreduce_every);
    const double allreduces =
        every == 0 ? 0 : static_cast<double>(events_a_collective) * program.ranks() / double(every);
    const auto steps = static_cast<std::uint64_t>(
        std::max(1.0, std::round(program.options().events / (pattern->events_a_step() + allreduces))));
    for (std::uint64_t step = 0; step < steps; ++step) {
        pattern->step(step);
        if (every != 0 && step % every == every - 1)
            program.all_to_all(FunctionId::MPI_Allreduce, program.world(), 8);
    }
    program.finish();
    return steps;
}

void generate(const Options& options, int process)
{
    const double begin = MPI_Wtime();
    const Dice dice(options.seed);
    Vocabulary vocabulary(options);
    Trace trace(options, dice, vocabulary, MPI_COMM_WORLD);
    Program program(options, dice, vocabulary, trace);
    const std::uint64_t steps = run(program);
    const Written written = trace.close(program.begin(), program.end());
    if (process == 0)
        fmt::print("{{\"pattern\": \"{}\", \"locations\": {}, \"steps\": {}, \"events\": {}, \"messages\": {}, "
                   "\"collectives\": {}, \"makespan_ns\": {}, \"seconds\": {:.3f}}}\n",
                   options.pattern, options.locations, steps, written.events, written.messages, program.collectives(),
                   program.end() - program.begin(), MPI_Wtime() - begin);
}

}  // namespace

}  // namespace critpath::bench

int main(int argc, char** argv)
{
    using namespace critpath::bench;
    const CommandLine command_line = parse_command_line(argc, argv);
    MPI_Init(&argc, &argv);
    int process = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    int code = command_line.code;
    try {
        if (!command_line.stop)
            generate(command_line.options, process);
        else if (process == 0)
            fmt::print(code == 0 ? stdout : stderr, "{}", command_line.words);
    } catch (const Refused& refused) {
        if (process == 0)
            fmt::print(stderr, "generate_trace: {}\n", refused.what());
        code = 1;
    } catch (const std::exception& error) {
        fmt::print(stderr, "generate_trace: {}\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);  // many launchers end the other processes as soon as one ends badly
    MPI_Finalize();
    return code;
}
