// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/windows/check.hpp"

#include <array>
#include <exception>
#include <map>

namespace critpath::oracle::windows
{

namespace
{

using replayer::rules::Calibration;

constexpr const char* all_used[] = {"ignored_rma_records",    "ignored_records",   "incomplete_collectives",
                                    "mismatched_collectives", "clock_violations",  "unfinished_requests",
                                    "unmatched_sends",        "unmatched_receives"};

/// What a machine tells, where collectives of windows cannot be left before their end. Made once a machine.
const Calibration& windows_of(const Machine& machine)
{
    static std::map<std::array<std::int64_t, 4>, Calibration> made;
    const auto [found, is_new] = made.try_emplace(
        {machine.tick_ns, machine.call, machine.collective, static_cast<std::int64_t>(machine.bytes_a_tick)});
    Calibration& told = found->second;
    if (!is_new)
        return told;
    constexpr int most_members_bucket = 8;
    tell(machine, told);
    replayer::rules::Durations durations;
    durations.add(model::Ns{machine.collective * machine.tick_ns});
    for (const FunctionId function : {FunctionId::MPI_Win_create, FunctionId::MPI_Win_fence, FunctionId::MPI_Win_free})
        for (int bucket = 0; bucket < replayer::rules::size_buckets; ++bucket) {
            told.calls.set({function, bucket}, durations);
            for (int members = 0; members <= most_members_bucket; ++members)
                told.collectives.set({function, bucket, members}, model::Ns{machine.collective * machine.tick_ns});
        }
    return told;
}

void tell_windows(const Machine& machine, Calibration& calibration)
{
    tell(machine, calibration);
    calibration.one_sided = calibration.transfer;
    const Calibration& of_windows = windows_of(machine);
    calibration.calls = of_windows.calls;
    calibration.collectives = of_windows.collectives;
}

}  // namespace

replayer::Replay load(const Program& program, const Machine& machine, const WindowExecution& execution, MPI_Comm comm,
                      const Clocks& clocks)
{
    return oracle::load(
        comm, [&](const std::string& directory) { write_archive(directory, program, machine, execution, clocks); });
}

Judged judge(replayer::Replay replay, const Execution& execution, const Machine& machine, Weights weights,
             replayer::Rules rules)
{
    replay.rules = rules;
    const tests::Replayed replayed =
        weights == Weights::Learned ? tests::replay(replay) : tests::replay(replay, [&](Calibration& calibration) {
            tell_windows(as_told(machine, weights), calibration);
        });
    Judged judged;
    judged.verdict = oracle::judge(execution, machine, replayed.segments);
    judged.verdict.led_by_doubt = replayed.fact("led_by_doubt_ns");
    judged.broken = broken(replayed, judged.verdict.makespan, all_used);
    judged.words = replayed.path();
    return judged;
}

Judged check(const Recipe& recipe, const Machine& machine, Weights weights, replayer::Rules rules)
{
    Judged judged;
    try {
        const Program program = expand(recipe);
        const WindowExecution execution = simulate(program, machine);
        judged = judge(load(program, machine, execution), execution.execution, machine, weights, rules);
        judged.words = text(execution) + judged.words;
    } catch (const std::exception& error) {
        judged.broken = error.what();
    }
    return judged;
}

}  // namespace critpath::oracle::windows
