// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/rounds.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>

namespace critpath::replayer
{

Round agree_on_round(const Replay& replay, std::size_t ready)
{
    const int mine = static_cast<int>(ready);
    Round round;
    round.counts.resize(static_cast<std::size_t>(replay.size));
    MPI_Allgather(&mine, 1, MPI_INT, round.counts.data(), 1, MPI_INT, replay.comm);
    // The same for each, and what some do not need for the first that do.
    const auto all = static_cast<int>(questions_a_round);
    const int fair = std::max(1, all / replay.size);
    int left = all;
    for (const int count : round.counts)
        left -= std::min({count, fair, left});
    for (int& count : round.counts) {
        const int more = std::clamp(count - fair, 0, left);
        count = std::min({count, fair, all - static_cast<int>(round.all)}) + more;
        left -= more;
        round.begins.push_back(static_cast<int>(round.all));
        round.all += static_cast<std::size_t>(count);
    }
    return round;
}

void gather_questions(const Replay& replay, const Round& round, std::size_t size, const void* own, void* all)
{
    if (replay.size == 1) {
        std::memcpy(all, own, round.all * size);
        return;
    }
    Round bytes = round;
    for (std::size_t p = 0; p < bytes.counts.size(); ++p) {
        bytes.counts[p] *= static_cast<int>(size);
        bytes.begins[p] *= static_cast<int>(size);
    }
    MPI_Allgatherv(own, static_cast<int>(round.own(replay) * size), MPI_BYTE, all, bytes.counts.data(),
                   bytes.begins.data(), MPI_BYTE, replay.comm);
}

std::vector<std::int64_t> sum_answers(const Replay& replay, const std::vector<std::int64_t>& answers,
                                      const Round& round, int fields)
{
    if (replay.size == 1)
        return answers;
    std::vector<int> counts = round.counts;
    for (int& count : counts)
        count *= fields;
    std::vector<std::int64_t> sums(round.own(replay) * static_cast<std::size_t>(fields));
    MPI_Reduce_scatter(answers.data(), sums.data(), counts.data(), MPI_INT64_T, MPI_SUM, replay.comm);
    return sums;
}

}  // namespace critpath::replayer
