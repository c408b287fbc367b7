// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the rows that counts on the path are added up in: by function, source line, rank, phase, and so on.
#pragma once

#include "analysis/model/counts.hpp"
#include "analysis/model/profile.hpp"
#include "analysis/report/call_chains.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/table.hpp"
#include "formats/binary/source_lines.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace critpath::report
{

/// What was counted at one place of the path, by ranks or by threads.
struct CountedPlace {
    model::CallPathId call_path;
    model::ProcessId process;
    std::uint32_t location = 0;              // LocationId, if it is by threads
    std::uint64_t address = 0;               // of a sample, if it is by addresses and known
    std::vector<model::EventAmount> events;  // by Profile::events
};

/// What the rows of a view have in common.
struct EventGrouping {
    struct Label {
        std::string key;                         // of what is one row
        std::string name;                        // by which they are sorted,
        std::int64_t number = 0;                 // and by this where that is the same
        Row cells;                               // as the columns
        std::optional<std::string> module = {};  // by which --module selects it, if not by that of its function
    };
    struct Context {
        const model::Profile& profile;
        const CallChains& chains;
        binary::SourceLines& lines;
    };

    const char* by;
    std::vector<Column> columns;
    Label (*label)(Context& context, const CountedPlace& place);
    bool needs_records;  // the tables of the result do not have it
    bool is_sampled;     // samples have found what is one row; others are known exactly
};

/// One for each value of --by that counts are known by, but for phases. Throws Failure(Usage) if they are not.
EventGrouping event_grouping(const std::string& by);

/// What was counted in each window, or, if there is none, in the whole run by the tables of the result. Throws as
/// parts_of().
std::vector<std::vector<CountedPlace>> counted_places(const HotspotRequest& request,
                                                      const std::vector<Window>& windows);

}  // namespace critpath::report
