// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which binaries are the application's.
#pragma once

#include "analysis/model/profile.hpp"

#include <set>
#include <string_view>

namespace critpath::report
{

/// Those that have a `main`; none if it has no name.
std::set<std::string_view> modules_with_main(const model::Profile& profile);

/// These, which may leave all that is MPI to a library, and those whose functions call MPI.
std::set<std::string_view> modules_of_application(const model::Profile& profile);

}  // namespace critpath::report
