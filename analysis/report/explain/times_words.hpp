// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns where else to look, as commands: at the time when a stretch took longer, at its lines.
#pragma once

#include "analysis/report/explain/explain.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace critpath::report
{

/// The bounds of windows of time, in seconds, as other commands want them: rounded to microseconds, outwards.
std::string down_to(std::int64_t ns);
std::string up_to(std::int64_t ns);

/// When what takes longer now and then did so, or did so most. `trace`: as the user may type it.
std::string costliest_in_words(const Explanation& e, std::string_view trace);
/// Of a function that makes the calls itself, and so is named as their place already: what can be changed are lines of
/// it. These are known where those of the calls are.
std::string lines_in_words(const Explanation& e, std::string_view trace);

}  // namespace critpath::report
