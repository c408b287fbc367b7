// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns stretches of which it is plain what must be said.
#pragma once

#include "analysis/model/profile.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace critpath::tests
{

inline constexpr std::int64_t ms = 1'000'000;  // ns

/// One stretch of 1 s on rank 3 of a path of 4 s, which takes its peers half as long, and why is not known.
model::Profile one_stretch();
/// As one_stretch, and another one that lies between the same calls by the same functions; but for two of main, far
/// from these: the first is by "forward", the second by "backward".
model::Profile two_alike();
/// As one_stretch, where other threads take so long in "loop" while the one on the path waits, of 1 s.
model::Profile threaded_stretch(std::int64_t spinning_ns, std::int64_t blocked_ns);

/// As it was given, but for its code; its functions are those of a binary.
model::Profile without_code(model::Profile profile);

/// `code`: of the stretch, by function.
void set_code(model::Profile& profile, const std::vector<std::pair<model::Row, model::StretchCode>>& code);
/// `path`: from the outermost function to the one whose code it is.
void add_code(model::Profile& profile, const std::vector<model::Row>& path, model::StretchCode amount);
model::Row sampled(const std::string& name, const std::string& module = "/bin/app");
model::Row pseudo(const std::string& name);

/// What is said of its only stretch.
std::string sentence(const model::Profile& profile);

}  // namespace critpath::tests
