// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which contexts are alike: those of the same functions in the same order.
#pragma once

#include "analysis/model/trace.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

enum class SitesCount : std::uint8_t {
    All,         // contexts that were called elsewhere are not alike
    OfMpiCalls,  // nor are MPI calls that are made elsewhere; wherever their callers were called
    None         // wherever any of them was called
};

/// By ContextId: the first one that is like it. They must not be their own ancestors.
std::vector<model::ContextId> first_alike(const model::Definitions& definitions, SitesCount sites);

}  // namespace critpath::replayer
