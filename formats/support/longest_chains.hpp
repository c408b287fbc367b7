// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how many functions of a chain of calls are recorded, innermost first. What is further out is not known.
#pragma once

#include <cstdint>

namespace critpath
{

inline constexpr std::uint32_t longest_sampled_chain = 127;  // of a sample: as the kernel's own (perf_event_max_stack)
inline constexpr std::uint32_t longest_chain_to_call = 64;   // of a call of MPI, without that itself

}  // namespace critpath
