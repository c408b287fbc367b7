// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the question how far this process' clock is from the kernel's own (time_namespaces(7)). The kernel stamps
// samples with its own clock, whatever namespace the sampled thread lives in.
#pragma once

#include <cstdint>

namespace critpath::sampling
{

/// Ns that the time namespace of this process adds to the kernel's CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW; 0 where
/// there are no such namespaces, and in a process that made one for its children but is not in it.
std::int64_t time_offset();

/// The same from the text of /proc/<pid>/timens_offsets.
std::int64_t parse_time_offset(const char* text);

}  // namespace critpath::sampling
