// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a list of ranks is written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace critpath::archive
{

/// "0-3,7"; `ranks` ascend. Cut where it gets long.
std::string list_ranks(const std::vector<std::int32_t>& ranks);

}  // namespace critpath::archive
