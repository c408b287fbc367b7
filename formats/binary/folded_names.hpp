// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the names of functions of which one was made, since they do the same: "set_boundary [= solve_momentum]".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::binary
{

/// Followed by its twins, in the order given, if there are any; no more of them than a reader wants to see.
std::string with_twins(std::string name, std::span<const std::string> twins);

/// The part of such a name, or of any other, that is before its twins.
std::string_view without_twins(std::string_view name);

/// All functions that such a name stands for, that before the twins first; of any other name, itself.
std::vector<std::string_view> folded_functions(std::string_view name);

}  // namespace critpath::binary
