// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the number by which a reader knows that the tables are still those that were written.
#pragma once

#include "analysis/model/profile.hpp"

#include <cstdint>
#include <string_view>

namespace critpath::result
{

/// The fact that holds the checksum in the database; no part of a Profile.
inline constexpr std::string_view checksum_fact = "checksum";

/// Over all content of `profile` but the fact `checksum`.
std::int64_t checksum(const model::Profile& profile);

}  // namespace critpath::result
