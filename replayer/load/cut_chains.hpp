// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what call chains of samples are continued by that end in the code that starts a program or thread: a recording
// that follows frame pointers does not see what is around it, nor does one that copies less of the stack than `main`
// has on it. Chains that are cut off elsewhere begin with a region that says so, and stay as they are.
#pragma once

#include "analysis/model/trace.hpp"

#include <vector>

namespace critpath::replayer::load
{

/// Gives contexts of sampled functions without a parent the one that all other contexts of their function have, if they
/// have but one and that leads to a chain that is not continued itself, nor cut off: so far as anybody has seen, the
/// function is called from there only. The result does not depend on the order of contexts. They must not be their own
/// ancestors. Contexts may be alike then: returns, for each, the one that stands for all that are like it.
[[nodiscard]] std::vector<model::ContextId> continue_cut_chains(model::Definitions& definitions);

}  // namespace critpath::replayer::load
