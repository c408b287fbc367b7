// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the names of the rule sets: how the replay decides what a waiting call waited for.
#pragma once

#include <cstdint>
#include <string_view>

namespace critpath::replayer::rules
{

enum class RuleSet : std::uint8_t {
    Arrival,  // by the estimated arrival of the data: the default
    Enter,    // by comparing enters ("late sender iff it entered later"), for comparison with other analyzers
    Paper,    // by the duration of calls, as the published method does
};

constexpr std::string_view name(RuleSet rules)
{
    constexpr std::string_view names[] = {"arrival", "enter", "paper"};
    return names[static_cast<int>(rules)];
}

}  // namespace critpath::replayer::rules
