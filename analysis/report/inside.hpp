// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns --inside: the parts that a row of MPI, or of transfers, is divided into. (docs/ALGORITHM, "Inside MPI")
#pragma once

#include "analysis/division/inside.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/hotspots.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace critpath::report
{

/// One function that worked there, or what is left: "[in flight]", "[not sampled]", "[spinning]", "[others]".
struct InsidePart {
    Hotspot item;
    const char* side;  // of a transfer: "from" which rank it went, or "to" which
};

/// What samples have found inside of MPI, of the selected ranks and of the window; empty without --inside. Throws
/// Failure(Usage) if there are no samples, Failure(BadTrace) if the files of the result do not fit.
std::vector<division::InsideTime> inside_of(const HotspotRequest& request);

/// By the rows that a view has.
template <class KeyOf>
auto group_by(const std::vector<division::InsideTime>& times, KeyOf key_of)
{
    std::map<decltype(key_of(times.front())), std::vector<division::InsideTime>> groups;
    for (const division::InsideTime& time : times)
        groups[key_of(time)].push_back(time);
    return groups;
}

/// Those of one row.
template <class Groups>
const std::vector<division::InsideTime>& times_in_row(const Groups& groups, const typename Groups::key_type& row)
{
    static const std::vector<division::InsideTime> none;
    const auto found = groups.find(row);
    return found == groups.end() ? none : found->second;
}

/// Divides `row_ns` of the path, of which all is of transfers or nothing, by what `times` have found in it. The parts
/// sum to it; the largest is first.
std::vector<InsidePart> parts_of(const model::Profile& profile, const std::vector<division::InsideTime>& times,
                                 std::int64_t row_ns, bool is_transfer);

/// "├ from: memcpy", for a table: part `i` of so many.
std::string drawn(const std::vector<InsidePart>& parts, std::size_t i, const std::string& stem = {},
                  bool has_more = false);

/// A sentence on what these parts are.
std::string inside_note();

}  // namespace critpath::report
