// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which collectives of a process are fences, and of which windows.
#pragma once

#include "replayer/analysis.hpp"

#include <vector>

namespace critpath::replayer
{

struct Fence {
    model::CallRef call;
    model::Ns enter;
    model::WindowId window;
    bool may_pass;  // MPI_MODE_NOPRECEDE: before others have come
};

/// In their order.
std::vector<Fence> fences_of(const model::Definitions& definitions, const model::ProcessTrace& trace);

}  // namespace critpath::replayer
