// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/progress.hpp"

#include "replayer/order.hpp"
#include "replayer/pair/lookup.hpp"

namespace critpath::replayer
{

namespace
{

constexpr std::size_t most_without = 256;  // so many of them in a row are no work that keeps anybody waiting

}  // namespace

ProgressCalls::ProgressCalls(const model::Definitions& definitions, const model::ProcessTrace& trace,
                             LocationId location)
    : definitions_(definitions), trace_(trace), calls_(calls_of(trace, location)), location_(location)
{
}

std::size_t ProgressCalls::behind_last(std::size_t end, Posts posts) const
{
    end = calls_.behind_last_call(end);
    for (std::size_t i = 0; end > 0 && !at(end - 1, posts); ++i) {
        if (i == most_without)
            return 0;
        end = calls_.behind_last_call(end - 1);
    }
    return end;
}

std::size_t ProgressCalls::next(std::size_t begin) const
{
    begin = calls_.next_call(begin);
    for (std::size_t i = 0; begin < calls_.size() && !at(begin); ++i) {
        if (i == most_without)
            return calls_.size();
        begin = calls_.next_call(begin + 1);
    }
    return begin;
}

bool ProgressCalls::is_of_one(std::size_t call) const
{
    const auto& collectives = trace_.collectives;  // in order of enter or post
    const Ns time = calls_.enter(call);
    const std::size_t first = count_first(
        collectives.size(), [&](std::size_t i) { return time_of(trace_, collectives[i].begin()) < time; },
        collectives.size() / 2);
    for (std::size_t i = first; i < collectives.size(); ++i) {
        const CallRef begin = collectives[i].begin();
        if (time_of(trace_, begin) != time)
            break;
        if (begin.location == location_ && begin.call.value == call) {
            const model::Communicator& comm = definitions_.communicators[collectives[i].comm.value];
            return comm.is_self || (comm.members.size() == 1 && !comm.is_inter);
        }
    }
    return false;
}

}  // namespace critpath::replayer
