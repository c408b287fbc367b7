// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how cpreport reads a result: with the names that were not to be had when it was made.
#pragma once

#include "analysis/model/profile.hpp"

#include <filesystem>

namespace critpath::report
{

/// As result::read(), with naming::name_functions(). Says so on standard error if a later replay has failed.
model::Profile load(const std::filesystem::path& trace);

}  // namespace critpath::report
