// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/blocked_note.hpp"

#include "analysis/model/pseudo_rows.hpp"
#include "analysis/report/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace critpath::report
{

namespace
{

using model::CallPathId;
using model::RowId;

/// The function that was blocked, and the first of its callers that lies in another binary: that of the application,
/// where it was blocked in a library's.
using Place = std::pair<RowId, RowId>;

/// What calls main(), or the function of a thread.
bool starts_code(const std::string& function)
{
    constexpr std::string_view starts[] = {
        "__libc_start_call_main", "__libc_start_main", "_start", "start_thread", "clone", "clone3"};
    return std::ranges::find(starts, function) != std::end(starts);
}

Place place_of(const model::Profile& profile, CallPathId blocked)
{
    CallPathId at = profile.call_paths[blocked.value].parent;
    const RowId own = profile.row_of(at);
    while (at.valid() && profile.row(at).module == profile.rows[own.value].module)
        at = profile.call_paths[at.value].parent;
    return {own, at.valid() && !starts_code(profile.row(at).name) ? profile.row_of(at) : RowId::none()};
}

struct SeenPlace {
    Place place;
    bool is_sure;           // most of what is taken to be there was seen there
    std::int64_t ns;        // that was seen; where it is sure, whole_ns
    std::int64_t whole_ns;  // that is taken to be there
};

}  // namespace

std::optional<std::string> blocked_note(const model::Profile& profile, const Selection& selection)
{
    constexpr double least = 0.01;
    constexpr double much = 0.05;  // too much for its place to be a guess without a word
    constexpr double sure = 0.9;
    constexpr std::size_t most = 3;
    struct Blocked {
        std::int64_t ns = 0, found_ns = 0;
    };
    std::map<CallPathId, Blocked> by_path;
    std::int64_t path_ns = 0;
    for (const model::CallPathTime& time : profile.path) {
        if (!selection.has_rank(time.process))
            continue;
        path_ns += time.ns;
        by_path[time.call_path].ns += time.ns;
        by_path[time.call_path].found_ns += time.found_ns;
    }
    std::map<Place, Blocked> sums;
    std::int64_t unseen_ns = 0;
    for (const auto& [call_path, time] : by_path) {
        if (profile.row(call_path).name != model::pseudo::blocked)
            continue;
        // In which call of MPI that was is exact.
        const CallPathId in = profile.call_paths[call_path.value].parent;
        const bool is_in_call = in.valid() && profile.row(in).kind == model::RowKind::Mpi;
        const std::int64_t found_ns = is_in_call ? time.ns : time.found_ns;
        if (found_ns == 0) {
            unseen_ns += time.ns;
            continue;
        }
        Blocked& sum = sums[place_of(profile, call_path)];
        sum.ns += time.ns;
        sum.found_ns += found_ns;
    }
    std::vector<SeenPlace> places;
    for (const auto& [place, time] : sums) {
        const bool is_sure = part(time.found_ns, time.ns) >= sure;
        unseen_ns += is_sure ? 0 : time.ns - time.found_ns;
        if (part(time.ns, path_ns) >= least)
            places.push_back({place, is_sure, is_sure ? time.ns : time.found_ns, time.ns});
    }
    std::ranges::stable_sort(places, std::ranges::greater(), &SeenPlace::whole_ns);
    places.resize(std::min(places.size(), most));
    std::ranges::stable_sort(places, std::ranges::greater(), &SeenPlace::is_sure);
    std::vector<std::string> words;
    bool says_seen = false;
    for (const SeenPlace& at : places) {
        const bool is_first_seen = !at.is_sure && !std::exchange(says_seen, true);
        const std::string caller =
            at.place.second.valid() ? fmt::format(", called by {}", profile.rows[at.place.second.value].name) : "";
        words.push_back(fmt::format("{}{}{} in {}{}", is_first_seen ? "seen " : "", at.is_sure ? "" : "for ",
                                    duration_text(at.ns), profile.rows[at.place.first.value].name, caller));
    }
    if (says_seen || part(unseen_ns, path_ns) >= much)
        words.push_back(
            fmt::format("where {}, nobody looked: threads are looked at now and then, seldom in short waits",
                        says_seen ? fmt::format("the other {} were", duration_text(unseen_ns))
                                  : fmt::format("it was for {}", duration_text(unseen_ns))));
    return words.empty() ? std::nullopt
                         : std::optional(fmt::format("{}: {}.", model::pseudo::blocked, fmt::join(words, "; ")));
}

}  // namespace critpath::report
