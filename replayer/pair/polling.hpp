// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what makes a loop of polls a wait: that nothing is done between them. (docs/ALGORITHM, "Polling")
#pragma once

#include "analysis/model/trace.hpp"

namespace critpath::replayer
{

/// Polls that follow each other faster than this leave no time for work.
inline constexpr model::Ns close_polls = std::chrono::microseconds{5};
/// So many are a loop.
inline constexpr int least_polls = 3;

/// Whether the thread had no processor, or slept, from `begin` to `end`, but for `busy` of the time or a quarter of
/// that which it slept. False where nobody recorded that.
bool is_idle(const model::LocationTrace& location, model::Ns begin, model::Ns end, model::Ns busy);

}  // namespace critpath::replayer
