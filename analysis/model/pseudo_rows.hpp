// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the names of rows of time that belongs to no function (RowKind::Pseudo; formats/FORMAT.md).
#pragma once

#include <string_view>

namespace critpath::model::pseudo
{

inline constexpr std::string_view blocked = "[blocked]";
inline constexpr std::string_view compute = "[compute]";
inline constexpr std::string_view measurement = "[measurement]";
inline constexpr std::string_view not_recorded = "[not recorded]";
inline constexpr std::string_view not_sampled = "[not sampled]";
inline constexpr std::string_view preempted = "[preempted]";
inline constexpr std::string_view start_delay = "[start delay]";
inline constexpr std::string_view team_wait = "[waiting for threads]";
inline constexpr std::string_view threads = "[threads]";
inline constexpr std::string_view transfer = "[transfer]";

}  // namespace critpath::model::pseudo
