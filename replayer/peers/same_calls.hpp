// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which calls of MPI are the same place of the program. Calls by the same functions are one place where members of
// one collective have made them (met_calls.hpp). Else they are different places where all ranks that come there make
// both, such as the barriers behind two phases, whether these are made at two sites or in a function that is called at
// two sites; those that only some make, such as the two branches of `if (rank == 0)`, are one if these make them about
// as often: not those of a master and of workers.
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/resolve/answers.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// A function of a call path, and where it is called; 0: at several sites, or it is not known.
struct PathStep {
    model::RegionId function;
    std::uint64_t site;
};

class SameCalls
{
public:
    /// Each is one of its own.
    SameCalls() = default;
    /// Of first threads. Collective over `replay.comm`.
    SameCalls(const Replay& replay, const Predecessors& predecessors);

    /// The call that stands for all that are the same.
    [[nodiscard]] model::ContextId operator()(model::ContextId call) const
    {
        return first_.empty() ? call : first_[call.value];
    }
    /// The call path of a call that stands for others, from the outermost function on.
    [[nodiscard]] std::vector<PathStep> way(const model::Definitions& definitions, model::ContextId call) const;
    /// It stands for branches that ranks take by themselves: what they have to do there may differ.
    [[nodiscard]] bool joins_branches(model::ContextId call) const
    {
        return call.valid() && call.value < joins_branches_.size() && joins_branches_[call.value];
    }

private:
    std::vector<bool> joins_branches_;     // by ContextId
    std::vector<model::ContextId> first_;  // likewise
};

}  // namespace critpath::replayer
