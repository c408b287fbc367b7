// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns in which of its calls a process looks at what the others want of it, so that what stood still goes on.
// (docs/ALGORITHM, "Late progress")
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/rules/operation.hpp"

#include <cstddef>

namespace critpath::replayer
{

/// Of one location of `trace`. Must not outlive what it is made from.
class ProgressCalls
{
public:
    ProgressCalls(const model::Definitions& definitions, const model::ProcessTrace& trace, model::LocationId location);

    /// Calls that only post look in some libraries.
    enum class Posts : bool { DoNotLook, Look };

    /// Whether the library looks in this call; not in one that only does its own work (MPI_Pack), not even an operation
    /// that is collective on a communicator of this process alone. Points are no calls.
    [[nodiscard]] bool at(std::size_t call, Posts posts = Posts::Look) const
    {
        if (calls_.is_point(call))
            return false;
        const rules::Operation& operation = rules::operation(definitions_.region(calls_.context(call)).function);
        if (operation.looks == rules::Looks::Never ||
            (operation.looks == rules::Looks::Perhaps && posts == Posts::DoNotLook))
            return false;
        const bool is_collective = operation.dependence == rules::Dependence::Members && operation.blocking;
        return !(is_collective && is_of_one(call));
    }

    /// One more than the last call among the first `end` in which it looks; 0 if there is none among some.
    [[nodiscard]] std::size_t behind_last(std::size_t end, Posts posts = Posts::Look) const;
    /// The first call from `begin` on in which it looks; the number of calls if there is none among some.
    [[nodiscard]] std::size_t next(std::size_t begin) const;

private:
    [[nodiscard]] bool is_of_one(std::size_t call) const;

    const model::Definitions& definitions_;
    const model::ProcessTrace& trace_;
    const model::Calls& calls_;
    model::LocationId location_;
};

}  // namespace critpath::replayer
