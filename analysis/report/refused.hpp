// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what every report says of what the machine refused to count when the run was recorded: hardware counters, and
// how long threads wait for a processor.
#pragma once

#include "analysis/model/profile.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::report
{

struct RefusedEvent {
    std::string name;
    std::string reason;  // one of spool::refusal_names
    std::int64_t ranks;
};

/// What was to be counted and was not, by name.
std::vector<RefusedEvent> refused_events(const model::Profile& profile);

/// "cycles, instructions: not supported; PAPI_TOT_INS: not permitted (2 of 4 ranks)"; empty if nothing was refused.
std::string refused_text(const model::Profile& profile);

/// Of one event, "not supported" or "not supported on 2 of 4 ranks"; empty if it was not refused.
std::string refusal_of(const model::Profile& profile, std::string_view event);

/// Why nothing counts instructions and cycles, and what to do about it: where they were refused, only what helps
/// against that.
std::string uncounted_note(const model::Profile& profile);

/// Whether slow instructions miss caches is not known: likewise.
std::string unknown_misses_note(const model::Profile& profile);

/// Where threads may have waited for a processor and nobody counted that, as far as the path has time of which it is
/// not known therefore; else empty.
std::string no_run_delay_note(const model::Profile& profile);

}  // namespace critpath::report
