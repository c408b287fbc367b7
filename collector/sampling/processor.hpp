// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the kernel says about the processors of this machine.
#pragma once

#include <cstdint>

namespace critpath::sampling
{

/// Nominal frequency of the processors in Hz; a plausible guess if nothing tells it.
std::uint64_t nominal_frequency();

}  // namespace critpath::sampling
