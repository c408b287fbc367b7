// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a call path is written: the functions that it consists of, outermost first.
#pragma once

#include "analysis/model/profile.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace critpath::report
{

/// Where each call path of a profile is in its chain of calls. Must not outlive the profile.
class CallChains
{
public:
    explicit CallChains(const model::Profile& profile);

    /// Number of its callers.
    [[nodiscard]] std::size_t depth(std::size_t path) const { return depths_[path]; }

    /// "main;solve;apply"; of a very long one the beginning and the end: "main;[1,000 more];apply".
    [[nodiscard]] std::string full_name(std::size_t path) const;

private:
    /// Of the last few functions.
    [[nodiscard]] std::string names(std::size_t path, std::size_t functions) const;

    const model::Profile& profile_;
    std::vector<std::size_t> depths_;
    std::vector<std::uint32_t> heads_;  // the caller, or itself, that the first half of its name ends with
};

}  // namespace critpath::report
