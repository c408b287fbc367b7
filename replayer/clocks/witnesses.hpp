// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which events prove an order between clocks: a message was sent before it was received, and nobody leaves a
// collective that needs all before all have come.
#pragma once

#include "replayer/clocks/evidence.hpp"

namespace critpath::replayer::clocks
{

/// Messages between clocks, and synchronous sends, whose end proves that the receive was posted. Collective.
void hear_messages(const Replay& replay, Evidence& evidence);

/// On each communicator over several clocks, one of them is compared with all others: that whose processes wait least,
/// which tells most, since they come last most often. Collective.
void hear_collectives(const Replay& replay, Evidence& evidence);

}  // namespace critpath::replayer::clocks
