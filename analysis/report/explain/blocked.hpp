// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns where a stretch's own thread is blocked for something else than other threads of its process, and where it is so
// for longer than its peers. (docs/ALGORITHM, "Explanations")
#pragma once

#include "analysis/report/explain/callers.hpp"
#include "analysis/report/explain/explain.hpp"

#include <cstddef>

namespace critpath::report
{

/// Of all of that time on the path, in the stretch with this index.
BlockedAt blocked_at(const model::Profile& profile, std::size_t stretch, const Callers& callers);

/// Of what is more than the peers'. Nothing, if that is not known, or is not about what the split says of it
/// (Stretch::blocked_ns, of geometric means; here, they are those of times).
BlockedAt blocked_longer_at(const model::Profile& profile, std::size_t stretch, const Callers& callers);

}  // namespace critpath::report
