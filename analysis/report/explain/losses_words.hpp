// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what of a stretch is no work of its thread, in words.
#pragma once

#include "analysis/report/explain/explain.hpp"

#include <string>

namespace critpath::report
{

/// Time without a processor, waiting for threads, page faults, other processors.
std::string losses_in_words(const Explanation& e);

}  // namespace critpath::report
