// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the rounds in which processes ask each other about gaps: in each of them all get a fair part of so many
// questions as memory has room for, whatever the number of processes is, and all answer all of them.
#pragma once

#include "replayer/analysis.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace critpath::replayer
{

inline constexpr std::size_t questions_a_round = 2048;  // of all processes together

/// How the questions of one round are divided among the processes.
struct Round {
    std::vector<int> counts;  // by process
    std::vector<int> begins;
    std::size_t all = 0;  // 0: nobody has any

    /// Of this process: it asks the first ones that it has.
    [[nodiscard]] std::size_t own(const Replay& replay) const
    {
        return static_cast<std::size_t>(counts[static_cast<std::size_t>(replay.rank)]);
    }
};

/// `ready`: so many questions has this process. Collective over `replay.comm`, as below.
Round agree_on_round(const Replay& replay, std::size_t ready);

/// Those of all processes, by rank, of `size` bytes each.
void gather_questions(const Replay& replay, const Round& round, std::size_t size, const void* own, void* all);

/// The questions of all processes, by rank. `ready`: those of this one, or more.
template <class Question>
std::vector<Question> ask(const Replay& replay, const std::vector<Question>& ready, const Round& round)
{
    static_assert(std::is_trivially_copyable_v<Question>);
    std::vector<Question> all(round.all);
    gather_questions(replay, round, sizeof(Question), ready.data(), all.data());
    return all;
}

/// The sums of what all processes answer, each of which gets those of its own questions. `answers`: `fields` numbers
/// for each question.
std::vector<std::int64_t> sum_answers(const Replay& replay, const std::vector<std::int64_t>& answers,
                                      const Round& round, int fields);

}  // namespace critpath::replayer
