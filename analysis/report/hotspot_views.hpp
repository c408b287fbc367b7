// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the list of what `cpreport hotspots --by` can show. To add one: write it in a file of its own, and add it to the
// list in command_hotspots.cpp.
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/report/command.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/window.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace critpath::report
{

/// What one of them is made from.
struct HotspotRequest {
    const model::Profile& profile;
    const model::Profile& whole;  // of the whole run; rows have the same numbers
    const Request& request;
    Selection selection;
    bool inclusive = false;
    std::optional<Window> window{};                  // that `profile` is of; of the whole run if there is none
    InsideOfCalls calls = InsideOfCalls::OfTheCall;  // how they are divided
};

Document function_view(const HotspotRequest& request);
Document module_view(const HotspotRequest& request);
Document line_view(const HotspotRequest& request);
Document call_path_view(const HotspotRequest& request);
Document phase_view(const HotspotRequest& request);
Document rank_view(const HotspotRequest& request);
Document node_view(const HotspotRequest& request);
Document thread_view(const HotspotRequest& request);
/// Of these four, with --module.
Document module_phase_view(const HotspotRequest& request);
Document module_rank_view(const HotspotRequest& request);
Document module_node_view(const HotspotRequest& request);
Document module_thread_view(const HotspotRequest& request);
Document transfer_view(const HotspotRequest& request);

/// With --event, in place of these.
Document event_view(const HotspotRequest& request);

// What views of phases share.

/// Of the selected functions that have path time, and of what is in no function, the one with most.
Hotspot costliest(const model::Profile& profile, const Selection& selection);

/// That of so many phases it is a guess.
std::string guesses_note(std::uint64_t phases);

}  // namespace critpath::report
