// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/windows/check.hpp"

namespace critpath::oracle::windows
{

namespace
{

using replayer::rules::Calibration;

/// The truth about the machine, where collectives of windows cannot be left before their end.
void tell_windows(const Machine& machine, Calibration& calibration)
{
    tell(machine, calibration);
    calibration.one_sided = calibration.transfer;
    replayer::rules::Durations durations;
    durations.add(model::Ns{machine.collective * machine.tick_ns});
    for (const FunctionId function : {FunctionId::MPI_Win_create, FunctionId::MPI_Win_fence, FunctionId::MPI_Win_free})
        for (int bucket = 0; bucket < replayer::rules::size_buckets; ++bucket)
            calibration.calls.set({function, bucket}, durations);
}

}  // namespace

replayer::Replay load(const Program& program, const Machine& machine, const WindowExecution& execution, MPI_Comm comm)
{
    return oracle::load(comm,
                        [&](const std::string& directory) { write_archive(directory, program, machine, execution); });
}

Judged check(std::uint32_t seed, const Machine& machine, Weights weights, replayer::Rules rules)
{
    const Program program = random_program(seed);
    const WindowExecution execution = simulate(program, machine);
    replayer::Replay replay = load(program, machine, execution);
    replay.rules = rules;
    const tests::Replayed replayed =
        weights == Weights::Learned ? tests::replay(replay) : tests::replay(replay, [&](Calibration& calibration) {
            tell_windows(as_told(machine, weights), calibration);
        });
    std::int64_t ignored = 0;
    for (const char* key : {"ignored_rma_records", "ignored_records", "incomplete_collectives",
                            "mismatched_collectives", "clock_violations", "unfinished_requests"})
        ignored += replayed.fact(key);
    return {oracle::judge(execution.execution, machine, replayed.segments), ignored, text(execution) + replayed.path()};
}

}  // namespace critpath::oracle::windows
