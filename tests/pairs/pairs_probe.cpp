// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a program that says how the replay pairs the operations of a trace: pairs_probe [--forget] <anchor file>. On one
// process. With --forget, as if nobody had counted what was not recorded.
//
//     message <sender> <bytes sent> <receiver> <bytes received>
//     unmatched <sends> <receives>
//     part <side of a communicator> <number of the instance> <process> <bytes> <function>
#include "replayer/collect/members.hpp"
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

void print_parts(const replayer::Replay& replay)
{
    const replayer::Members members(replay);
    for (const auto& [side, of_side] : members.sides())
        for (const replayer::MemberCalls& member : of_side)
            for (std::size_t number = 0; number < member.calls.size(); ++number) {
                if (member.calls[number] == replayer::MemberCalls::none)
                    continue;
                const auto& trace = replay.processes[member.process];
                const model::CollectiveCall call = trace.collectives[member.calls[number]];
                const auto function = replayer::function_of(replay.definitions, trace, call.begin());
                fmt::print("part {} {} {} {} {}\n", side, number, member.process, call.received,
                           functions::info(function).name);
            }
}

}  // namespace

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    replayer::Replay replay;
    replay.comm = MPI_COMM_WORLD;
    replayer::load::load(argv[argc - 1], replay);
    replayer::load::complete(replay);
    if (argc > 2)
        for (auto& process : replay.processes)
            process.skipped.clear();
    replayer::rules::Calibration calibration;
    calibration.clocks = replayer::rules::ClockUncertainty(replay.definitions);
    calibration.calls = replayer::calibrate_calls(replay);
    const auto pairs = replayer::pair(replay, calibration);
    print_messages(replay, pairs);
    print_parts(replay);
    MPI_Finalize();
    return 0;
}
