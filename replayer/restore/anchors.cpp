// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/anchors.hpp"

#include "replayer/exchange.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

namespace critpath::replayer
{

namespace
{

/// The enter that released a meeting of all processes. The meetings are in one order on all locations, which is that of
/// these enters, as each of them is after everybody's leave of the meeting before.
struct Meeting {
    std::int64_t enter;
    std::uint32_t location, call;

    [[nodiscard]] CallRef ref() const { return {{location}, {call}}; }
    auto operator<=>(const Meeting&) const = default;
};

/// What a location has of the meetings.
struct Visits {
    model::LocationId location;
    std::vector<Meeting> meetings;     // ascending
    std::vector<std::uint32_t> calls;  // by position in `meetings`; ascending
};

bool is_last_arriver(const Through& through)
{
    return through.kind == model::SegmentKind::Collective && through.confidence == model::Confidence::Meeting;
}

/// The meetings that a location takes part in: as one of those that were released, or as the one that released them.
Visits visits_of(const model::LocationTrace& location, const LocationPredecessors& predecessors)
{
    Visits visits{location.location, {}, {}};
    const JumpTable& jumps = predecessors.jumps;
    std::size_t next = 0;
    for (std::uint32_t call = 0; call < predecessors.through.size(); ++call) {
        while (next < jumps.size() && jumps.call(next) < call)
            ++next;
        const bool does_jump = next < jumps.size() && jumps.call(next) == call;
        if (const KnownJump jump = does_jump ? jumps.known(next, location) : KnownJump{};
            does_jump && jump.confidence == model::Confidence::Meeting)
            visits.meetings.push_back({jump.to_enter.count(), jump.to.location.value, jump.to.call.value});
        else if (!does_jump && is_last_arriver(predecessors.through[call]))
            visits.meetings.push_back({location.calls.enter(call).count(), location.location.value, call});
        else
            continue;
        visits.calls.push_back(call);
    }
    return visits;
}

class AnchorFinder
{
public:
    AnchorFinder(const Replay& replay, const Predecessors& predecessors, const JumpsByLocation& jumps)
        : replay_(replay), predecessors_(predecessors), jumps_(jumps), can_tell_(replay.is_single_threaded)
    {
    }

    Anchors find()
    {
        collect_visits();
        if (on_any(replay_.comm, !can_tell_) || !keep_complete_ones())
            return {};
        keep_clean_ones();
        Anchors anchors;
        anchors.count = meetings_.size();
        anchors.most_jumps = most_jumps_between();
        for (const Meeting& m : meetings_)
            if (replay_.owner_of(LocationId{m.location}) == replay_.rank)
                anchors.own.push_back({m.ref(), Ns{m.enter}});
        std::ranges::sort(anchors.own, {}, &Stop::call);
        return anchors;
    }

private:
    void collect_visits();
    bool keep_complete_ones();
    void keep_clean_ones();
    void keep(const std::vector<bool>& kept);
    [[nodiscard]] std::uint64_t most_jumps_between() const;
    [[nodiscard]] const Visits& visits_at(LocationId location) const
    {
        return *std::ranges::lower_bound(visits_, location, {}, &Visits::location);
    }
    [[nodiscard]] std::uint32_t meetings_left_before(const Jump& jump) const;
    [[nodiscard]] std::uint32_t meetings_reached_before(CallRef to) const;
    template <class Visit>
    void for_each_target(Visit visit) const;
    template <class Visit>
    void for_each_jump(Visit visit) const
    {
        for (const JumpList& here : jumps_)
            for (std::size_t i = 0; i < here.size(); ++i)
                visit(here[i]);
    }

    const Replay& replay_;
    const Predecessors& predecessors_;
    const JumpsByLocation& jumps_;
    bool can_tell_;
    std::vector<Visits> visits_;     // by owned location
    std::vector<Meeting> meetings_;  // candidates, the same on all processes
};

void AnchorFinder::collect_visits()
{
    for (std::size_t p = 0; p < replay_.processes.size(); ++p)
        for (std::size_t l = 0; l < replay_.processes[p].locations.size(); ++l) {
            const model::LocationTrace& location = replay_.processes[p].locations[l];
            if (l == 0)
                visits_.push_back(visits_of(location, predecessors_.processes[p][l]));
        }
    for (const Visits& v : visits_)
        can_tell_ = can_tell_ && std::ranges::is_sorted(v.meetings);
}

/// Of the meetings that the first process has seen, those that everyone has. False if there are none.
bool AnchorFinder::keep_complete_ones()
{
    const int holder = replay_.owner.empty() ? 0 : replay_.owner.front();
    if (replay_.rank == holder && !visits_.empty())
        meetings_ = visits_.front().meetings;
    std::uint64_t count = meetings_.size();
    MPI_Bcast(&count, 1, MPI_UINT64_T, holder, replay_.comm);
    if (count == 0 || count > std::numeric_limits<int>::max())
        return false;
    meetings_.resize(count);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(sizeof(Meeting), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(meetings_.data(), static_cast<int>(count), type, holder, replay_.comm);
    MPI_Type_free(&type);

    std::vector<std::uint32_t> members(count);
    for (const Visits& v : visits_)
        for (const Meeting& m : v.meetings) {
            const auto found = std::ranges::lower_bound(meetings_, m);
            if (found != meetings_.end() && *found == m)
                ++members[static_cast<std::size_t>(found - meetings_.begin())];
        }
    MPI_Allreduce(MPI_IN_PLACE, members.data(), static_cast<int>(count), MPI_UINT32_T, MPI_SUM, replay_.comm);
    std::vector<bool> complete(count);
    for (std::size_t i = 0; i < count; ++i)
        complete[i] = members[i] == replay_.definitions.processes.size();
    keep(complete);
    return !meetings_.empty();
}

/// After that, each location has exactly the meetings that are left.
void AnchorFinder::keep(const std::vector<bool>& kept)
{
    std::vector<Meeting> left;
    for (std::size_t i = 0; i < meetings_.size(); ++i)
        if (kept[i])
            left.push_back(meetings_[i]);
    meetings_ = std::move(left);
    for (Visits& v : visits_) {
        std::size_t size = 0;
        for (std::size_t i = 0; i < v.meetings.size(); ++i)
            if (std::ranges::binary_search(meetings_, v.meetings[i])) {
                v.meetings[size] = v.meetings[i];
                v.calls[size] = v.calls[i];
                ++size;
            }
        v.meetings.resize(size);
        v.calls.resize(size);
    }
}

std::uint32_t AnchorFinder::meetings_left_before(const Jump& jump) const
{
    const auto& calls = visits_at(jump.call.location).calls;
    return static_cast<std::uint32_t>(std::ranges::upper_bound(calls, jump.call.call.value) - calls.begin());
}

/// A walk that comes to the enter of a call has passed these meetings' enters on its way, looking forward; the enter
/// that releases a meeting is one of them, the enters of the others are not.
std::uint32_t AnchorFinder::meetings_reached_before(CallRef to) const
{
    const Visits& v = visits_at(to.location);
    const auto found = std::ranges::lower_bound(v.calls, to.call.value);
    const auto before = static_cast<std::uint32_t>(found - v.calls.begin());
    const bool releases = found != v.calls.end() && v.meetings[before].ref() == to;
    return before + (releases ? 1 : 0);
}

/// visit(how many meetings are left before it, how many are reached before its target), for all owned jumps.
/// Collective.
template <class Visit>
void AnchorFinder::for_each_target(Visit visit) const
{
    constexpr std::size_t window = std::size_t{1} << 20;  // jumps a round
    const auto size = static_cast<std::size_t>(replay_.size);
    std::vector<std::vector<CallRef>> questions(size);
    std::vector<std::vector<std::uint32_t>> left(size);  // by question
    const auto round = [&] {
        const auto received = replayer::exchange(replay_.comm, questions);
        std::vector<std::vector<std::uint32_t>> answers(size);
        for (int p = 0; p < replay_.size; ++p)
            for (const CallRef to : received.from(p))
                answers[static_cast<std::size_t>(p)].push_back(meetings_reached_before(to));
        const auto answered = replayer::exchange(replay_.comm, answers);
        for (int p = 0; p < replay_.size; ++p) {
            auto& mine = left[static_cast<std::size_t>(p)];
            for (std::size_t i = 0; i < mine.size(); ++i)
                visit(mine[i], answered.from(p)[i]);
            mine.clear();
            questions[static_cast<std::size_t>(p)].clear();
        }
    };
    std::uint64_t remote = 0;
    const auto is_remote = [&](const Jump& jump) { return replay_.owner_of(jump.to.location) != replay_.rank; };
    for_each_jump([&](const Jump& jump) { remote += is_remote(jump) ? 1 : 0; });
    std::uint64_t rounds = exchange_rounds(replay_.comm, remote, window);
    std::size_t pending = 0;
    for_each_jump([&](const Jump& jump) {
        if (!is_remote(jump)) {
            visit(meetings_left_before(jump), meetings_reached_before(jump.to));
            return;
        }
        const auto owner = static_cast<std::size_t>(replay_.owner_of(jump.to.location));
        questions[owner].push_back(jump.to);
        left[owner].push_back(meetings_left_before(jump));
        if (++pending == window) {
            round();
            --rounds;
            pending = 0;
        }
    });
    for (; rounds > 0; --rounds)
        round();
}

/// Those that no jump passes by: none leads from behind to before them.
void AnchorFinder::keep_clean_ones()
{
    std::vector<std::int64_t> passing(meetings_.size() + 1);  // differences
    for_each_target([&](std::uint32_t left, std::uint32_t reached) {
        if (reached < left) {
            ++passing[reached];
            --passing[left];
        }
    });
    MPI_Allreduce(MPI_IN_PLACE, passing.data(), static_cast<int>(passing.size()), MPI_INT64_T, MPI_SUM, replay_.comm);
    std::vector<bool> clean(meetings_.size());
    std::int64_t now = 0;
    for (std::size_t i = 0; i < clean.size(); ++i) {
        now += passing[i];
        clean[i] = now == 0;
    }
    keep(clean);
}

std::uint64_t AnchorFinder::most_jumps_between() const
{
    std::vector<std::uint64_t> jumps(meetings_.size() + 1);
    for_each_jump([&](const Jump& jump) { ++jumps[meetings_left_before(jump)]; });
    MPI_Allreduce(MPI_IN_PLACE, jumps.data(), static_cast<int>(jumps.size()), MPI_UINT64_T, MPI_SUM, replay_.comm);
    return std::ranges::max(jumps);
}

}  // namespace

Anchors find_anchors(const Replay& replay, const Predecessors& predecessors, const JumpsByLocation& jumps)
{
    return AnchorFinder(replay, predecessors, jumps).find();
}

}  // namespace critpath::replayer
