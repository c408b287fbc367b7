// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a program that says how the replay pairs the operations of a trace: pairs_probe [--forget] <anchor file>. On one
// process. With --forget, as if nobody had counted what was not recorded.
//
//     message <sender> <bytes sent> <receiver> <bytes received>
//     unmatched <sends> <receives>
//     part <side of a communicator> <number of the instance> <process> <bytes> <function>
#include "replayer/collect/collect.hpp"
#include "replayer/load/common_point.hpp"
#include "replayer/load/load.hpp"
#include "replayer/pair/call_costs.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/pair/pair.hpp"

#include <fmt/format.h>

#include <map>

namespace
{

using namespace critpath;

using PlaceOfCall = std::pair<std::uint32_t, std::uint32_t>;

/// How often a call posts: MPI_Startall and its kin may post several, which a pair does not tell apart.
std::map<PlaceOfCall, std::vector<std::uint64_t>> bytes_by_call(const replayer::Replay& replay)
{
    std::map<PlaceOfCall, std::vector<std::uint64_t>> bytes;
    for (const auto& process : replay.processes)
        for (const auto& send : process.sends)
            bytes[{send.post.location.value, send.post.call.value}].push_back(send.bytes);
    return bytes;
}

void print_messages(const replayer::Replay& replay, const replayer::Pairs& pairs)
{
    const auto bytes = bytes_by_call(replay);
    for (std::size_t p = 0; p < replay.processes.size(); ++p)
        for (std::size_t i = 0; i < replay.processes[p].receives.size(); ++i) {
            const auto& send = pairs.processes[p].of_receive[i];
            if (!send.post.valid())
                continue;
            const auto& sent = bytes.at({send.post.call.location.value, send.post.call.call.value});
            const auto sender = replay.definitions.locations[send.post.call.location.value].process;
            fmt::print("message {} {} {} {}\n", sender.value, sent.front(), p, replay.processes[p].receives[i].bytes);
        }
    fmt::print("unmatched {} {}\n", pairs.unmatched_sends, pairs.unmatched_receives);
}

void print_parts(const replayer::Replay& replay, const replayer::Collectives& collectives)
{
    for (std::size_t p = 0; p < replay.processes.size(); ++p) {
        const auto& trace = replay.processes[p];
        for (std::size_t i = 0; i < trace.collectives.size(); ++i) {
            const auto& part = collectives.members.part(p, i);
            const auto function = replayer::function_of(replay.definitions, trace, trace.collectives[i].begin());
            fmt::print("part {} {} {} {} {}\n", part.side.value, part.number, p, trace.collectives[i].received,
                       functions::info(function).name);
        }
    }
}

}  // namespace

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    replayer::Replay replay;
    replay.comm = MPI_COMM_WORLD;
    replayer::load::load(argv[argc - 1], replay);
    replayer::load::cut_at_common_point(replay);
    if (argc > 2)
        for (auto& process : replay.processes)
            process.skipped.clear();
    replayer::rules::Calibration calibration;
    calibration.clocks = replayer::rules::ClockUncertainty(replay.definitions);
    calibration.calls = replayer::calibrate_calls(replay);
    const auto pairs = replayer::pair(replay, calibration);
    print_messages(replay, pairs);
    print_parts(replay, replayer::collect(replay, calibration));
    MPI_Finalize();
    return 0;
}
