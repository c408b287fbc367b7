// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/thread_waits.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace critpath::replayer::load
{

using namespace model;

namespace
{

using What = ThreadRecord::What;

/// Threads of a process have one clock, so that their times can be compared as they are.
struct Point {
    CallRef ref;
    Ns time{};

    [[nodiscard]] auto order() const { return std::tuple(time, ref.location); }
};

void take_later(Point& mine, const Point& other)
{
    if (!mine.ref.valid() || other.order() > mine.order())
        mine = other;
}

/// One execution of a parallel region.
struct Team {
    Point fork;
    Point join{};                             // invalid: it was not recorded
    Ns master_end{};                          // when its master left it
    Point last_end{};                         // of the others, until the join
    std::vector<Point> last_arrivals{};       // by barrier
    std::optional<std::uint32_t> barriers{};  // of each member
    bool agrees = true;                       // about their number
};

/// The team that a thread is in.
struct Membership {
    static constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();
    std::size_t team = unknown;
    std::uint32_t barriers = 0;  // arrived at so far
    Ns arrived{};                // at the last one
};

class Waits
{
public:
    explicit Waits(const std::vector<ThreadLogOf>& locations) : locations_(locations) {}

    ThreadWaits run()
    {
        for (const ThreadLogOf& location : locations_)
            find_teams(location);
        for (auto& [object, teams] : by_object_)
            std::ranges::sort(teams, {}, [&](std::size_t team) { return teams_[team].fork.order(); });
        for (const ThreadLogOf& location : locations_)
            for_each(location, [&](const auto&... what) { take_note(what...); });
        for (const ThreadLogOf& location : locations_)
            for_each(location, [&](const auto&... what) { conclude(what...); });
        for (const Team& team : teams_)
            if (team.join.ref.valid())
                wait_for(team.last_end, team.master_end, team.join);
        return std::move(result_);
    }

private:
    using Key = std::pair<std::uint32_t, std::uint64_t>;  // object and number

    static Point point_of(const ThreadLogOf& location, const ThreadRecord& record)
    {
        return {{location.trace->location, record.point}, location.trace->calls.enter(record.point.value)};
    }

    /// The teams that the location is the master of: it begins in the team right after it forked.
    void find_teams(const ThreadLogOf& location)
    {
        struct Forked {
            Point point;
            std::size_t team = Membership::unknown;
        };
        std::vector<Forked> open;
        for (const ThreadRecord& record : location.log->records) {
            const Point point = point_of(location, record);
            if (record.what == What::Fork) {
                open.push_back({point});
            } else if (record.what == What::TeamBegin && !open.empty() && open.back().team == Membership::unknown) {
                open.back().team = teams_.size();
                by_object_[record.object].push_back(teams_.size());
                begun_by_masters_.emplace_back(point.ref, teams_.size());
                teams_.push_back({open.back().point});
            } else if (record.what == What::Join && !open.empty()) {
                if (open.back().team != Membership::unknown)
                    teams_[open.back().team].join = point;
                open.pop_back();
            }
        }
    }

    /// A team may be used again and again, so a thread begins in the one that was forked last and is not joined yet.
    [[nodiscard]] std::size_t team_at(const Point& begin, std::uint32_t object) const
    {
        const auto own =
            std::ranges::lower_bound(begun_by_masters_, begin.ref, {}, [](const auto& b) { return b.first; });
        if (own != begun_by_masters_.end() && own->first == begin.ref)
            return own->second;
        const auto found = by_object_.find(object);
        if (found == by_object_.end())
            return Membership::unknown;
        const auto behind = std::ranges::upper_bound(found->second, begin.time, {},
                                                     [&](std::size_t team) { return teams_[team].fork.time; });
        if (behind == found->second.begin())
            return Membership::unknown;
        const Team& team = teams_[*(behind - 1)];
        return team.join.ref.valid() && team.join.time < begin.time ? Membership::unknown : *(behind - 1);
    }

    /// Calls `visit(record, point, detail, in)` for the records of a location; `in`: the team that the thread is in,
    /// at its end included; null outside of teams.
    template <class Visit>
    void for_each(const ThreadLogOf& location, Visit visit) const
    {
        std::vector<Membership> open;
        auto detail = location.log->details.begin();
        for (const ThreadRecord& record : location.log->records) {
            const Point point = point_of(location, record);
            if (record.what == What::TeamBegin)
                open.push_back({team_at(point, record.object)});
            Membership* in = open.empty() || open.back().team == Membership::unknown ? nullptr : &open.back();
            if (record.what == What::Arrive && in != nullptr) {
                ++in->barriers;
                in->arrived = point.time;
            }
            visit(record, point, record.has_detail() ? *detail++ : ThreadDetail{}, in);
            if (record.what == What::TeamEnd && !open.empty())
                open.pop_back();
        }
    }

    /// What others may have waited for.
    void take_note(const ThreadRecord& record, const Point& point, const ThreadDetail& detail, const Membership* in)
    {
        const Key key{record.object, detail.number};
        Team* team = in == nullptr ? nullptr : &teams_[in->team];
        if (record.what == What::Create)
            created_.insert_or_assign(key, point);
        else if (record.what == What::End)
            ended_.insert_or_assign(key, point);
        else if (record.what == What::Release)
            released_.insert_or_assign(key, point);
        else if (record.what == What::Arrive && team != nullptr) {
            team->last_arrivals.resize(std::max<std::size_t>(team->last_arrivals.size(), in->barriers));
            take_later(team->last_arrivals[in->barriers - 1], point);
        } else if (record.what == What::TeamEnd && team != nullptr) {
            team->agrees = team->agrees && in->barriers == team->barriers.value_or(in->barriers);
            team->barriers = in->barriers;
            // Some tools let workers leave the team only when they are needed again: nobody waited for that.
            if (point.ref.location == team->fork.ref.location)
                team->master_end = point.time;
            else if (!team->join.ref.valid() || point.time <= team->join.time)
                take_later(team->last_end, point);
        }
    }

    /// Who waited, and for whom.
    void conclude(const ThreadRecord& record, const Point& point, const ThreadDetail& detail, const Membership* in)
    {
        const Team* team = in == nullptr ? nullptr : &teams_[in->team];
        switch (record.what) {
        case What::TeamBegin:
            if (team != nullptr && team->fork.ref.location != point.ref.location)
                result_.waits.push_back({point.ref, team->fork.ref});
            [[fallthrough]];
        case What::TeamEnd:
            result_.ignored += team == nullptr ? 1 : 0;
            break;
        case What::Depart:
            if (is_clear(team) && in->barriers > 0)
                wait_for(team->last_arrivals[in->barriers - 1], in->arrived, point);
            [[fallthrough]];
        case What::Arrive:
            result_.ignored += is_clear(team) ? 0 : 1;
            break;
        case What::Begin:
            look_up(created_, {record.object, detail.number}, Ns::min(), point);
            break;
        case What::Wait:
            look_up(ended_, {record.object, detail.number}, detail.since, point);
            break;
        case What::Acquire:
            if (detail.number > 0)
                look_up(released_, {record.object, detail.number - 1}, detail.since, point);
            break;
        case What::Fork:
        case What::Join:
        case What::Create:
        case What::End:
        case What::Release:
            break;
        }
    }

    /// Whether the n-th barrier of one member is the n-th of all others.
    static bool is_clear(const Team* team) { return team != nullptr && (team->agrees || !team->join.ref.valid()); }

    /// `waiter` went on at a point, for which it had waited since `since`, if it did.
    void wait_for(const Point& last, Ns since, const Point& waiter)
    {
        if (last.ref.valid() && last.time > since && last.time <= waiter.time &&
            last.ref.location != waiter.ref.location)
            result_.waits.push_back({waiter.ref, last.ref});
    }

    void look_up(const std::map<Key, Point>& causes, const Key& key, Ns since, const Point& waiter)
    {
        if (const auto cause = causes.find(key); cause != causes.end())
            wait_for(cause->second, since, waiter);
    }

    const std::vector<ThreadLogOf>& locations_;
    std::vector<Team> teams_;
    std::map<std::uint32_t, std::vector<std::size_t>> by_object_;    // teams, by time
    std::vector<std::pair<CallRef, std::size_t>> begun_by_masters_;  // ascending
    std::map<Key, Point> created_, ended_, released_;
    ThreadWaits result_;
};

}  // namespace

ThreadWaits thread_waits(const std::vector<ThreadLogOf>& locations)
{
    return Waits(locations).run();
}

}  // namespace critpath::replayer::load
