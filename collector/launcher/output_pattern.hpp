// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the patterns that --output may hold: %app, %jobid, %host, %date, and %% for a percent sign.
#pragma once

#include <string>

namespace critpath::launcher
{

/// `pattern` with every pattern replaced; what is put in has only characters that suit a file name. %host is the host
/// of the calling process, %jobid "nojob" outside of jobs. Throws Failure(Usage) for a word that is no pattern.
std::string expand_output(const std::string& pattern, const std::string& application);

/// Local time as 20261121-143501.
std::string date_and_time();

}  // namespace critpath::launcher
