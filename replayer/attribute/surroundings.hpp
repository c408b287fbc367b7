// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the guess in which function a thread was while it had no processor, and so no samples. (docs/ALGORITHM,
// "Samples")
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/attribute/context_tree.hpp"

#include <map>
#include <utility>
#include <vector>

namespace critpath::replayer
{

/// Must not outlive the contexts.
class Surroundings
{
public:
    explicit Surroundings(const std::vector<model::CallingContext>& contexts) : tree_(contexts) {}

    /// Where a thread is from `begin` to `end`, in `off`: in a call, or else where it was found, or else in the last
    /// function that its samples before and after it in the same computation have both, or the calls that these have
    /// none to; none() if that is not known. A thread that calls no MPI has one computation.
    /// Preemption comes at any time (but for who was woken): then in the function of the nearest of these samples,
    /// since they, too, are where the thread was at any time; if there is none, of those between two such calls at
    /// other times.
    [[nodiscard]] model::ContextId of(const model::LocationTrace& location, const model::OffProcessor& off,
                                      model::Ns begin, model::Ns end);

private:
    /// The contexts of two calls.
    using Gap = std::pair<model::ContextId, model::ContextId>;

    /// Of the samples that a thread has between two such calls.
    struct Usual {
        model::ContextId common = model::ContextId::none();
        std::vector<const model::Sample*> samples;  // in their order
    };

    [[nodiscard]] const Usual& usual_between(const model::LocationTrace& location, const Gap& gap);
    [[nodiscard]] std::map<Gap, Usual> learn(const model::LocationTrace& location) const;

    ContextTree tree_;
    std::map<model::LocationId, std::map<Gap, Usual>> usual_;
};

}  // namespace critpath::replayer
