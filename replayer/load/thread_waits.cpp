// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/thread_waits.hpp"

#include <algorithm>
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

void take_later(std::optional<Point>& mine, const Point& other)
{
    if (!mine || other.order() > mine->order())
        mine = other;
}

/// One execution of a parallel region.
struct Team {
    Point fork;
    LocationId master;
    Ns master_end{};
    std::optional<Point> join;
    std::vector<Point> ends;
    std::vector<std::optional<Point>> last_arrivals;  // by barrier
};

class Waits
{
public:
    explicit Waits(std::span<const ThreadRecords> locations) : locations_(locations) {}

    std::vector<ThreadWait> run()
    {
        for (const ThreadRecords& location : locations_)
            find_teams(location);
        for (auto& [object, teams] : by_object_)
            std::ranges::sort(teams, {}, [&](std::size_t team) { return teams_[team].fork.order(); });
        for (const ThreadRecords& location : locations_)
            take_part(location);
        for (const auto& [depart, team, barrier, arrived] : departures_)
            wait_for(teams_[team].last_arrivals[barrier], arrived, depart);
        for (const Team& team : teams_)
            if (team.join)
                join(team);
        for (const Departure& begin : begins_)
            add(begin.point, created_, begin.key);
        for (const Blocked& wait : waits_)
            add(wait, ended_);
        for (const Blocked& acquire : acquires_)
            add(acquire, released_);
        return std::move(result_);
    }

private:
    using Key = std::pair<std::uint32_t, std::uint64_t>;  // object and number
    struct Departure {
        Point point;
        Key key;
    };
    struct Blocked {
        Point point;
        Key key;
        Ns since;
    };
    struct AtBarrier {
        Point depart;
        std::size_t team;
        std::size_t barrier;
        Ns arrived;
    };

    static Point point_of(const ThreadRecords& location, const ThreadRecord& record)
    {
        return {{location.trace->location, record.point}, location.trace->calls.enter(record.point.value)};
    }

    /// The teams that the location is the master of: it begins in the team right after it forked.
    void find_teams(const ThreadRecords& location)
    {
        struct Forked {
            Point point;
            std::optional<std::size_t> team;
        };
        std::vector<Forked> open;
        for (const ThreadRecord& record : location.records) {
            const Point point = point_of(location, record);
            if (record.what == What::Fork) {
                open.push_back({point, {}});
            } else if (record.what == What::TeamBegin && !open.empty() && !open.back().team) {
                open.back().team = teams_.size();
                by_object_[record.object].push_back(teams_.size());
                begun_by_master_[point.ref] = teams_.size();
                teams_.push_back({open.back().point, location.trace->location, {}, {}, {}, {}});
            } else if (record.what == What::Join && !open.empty()) {
                if (open.back().team)
                    teams_[*open.back().team].join = point;
                open.pop_back();
            }
        }
    }

    /// A team may be used again and again, so a thread begins in the one that was forked last.
    [[nodiscard]] std::optional<std::size_t> team_at(const Point& begin, std::uint32_t object) const
    {
        if (const auto own = begun_by_master_.find(begin.ref); own != begun_by_master_.end())
            return own->second;
        const auto found = by_object_.find(object);
        if (found == by_object_.end())
            return std::nullopt;
        const auto behind = std::ranges::upper_bound(found->second, begin.time, {},
                                                     [&](std::size_t team) { return teams_[team].fork.time; });
        return behind == found->second.begin() ? std::nullopt : std::optional(*(behind - 1));
    }

    void take_part(const ThreadRecords& location)
    {
        struct Membership {
            std::optional<std::size_t> team;
            std::size_t barriers = 0;
            Ns arrived{};
        };
        std::vector<Membership> in;
        for (const ThreadRecord& record : location.records) {
            const Point point = point_of(location, record);
            const Key key{record.object, record.number};
            Team* team = in.empty() || !in.back().team ? nullptr : &teams_[*in.back().team];
            switch (record.what) {
            case What::TeamBegin:
                in.push_back({team_at(point, record.object)});
                if (in.back().team && teams_[*in.back().team].master != location.trace->location)
                    result_.push_back({point.ref, teams_[*in.back().team].fork.ref});
                break;
            case What::TeamEnd:
                if (team != nullptr)
                    end(*team, point);
                if (!in.empty())
                    in.pop_back();
                break;
            case What::Arrive:
                if (team != nullptr) {
                    team->last_arrivals.resize(std::max(team->last_arrivals.size(), in.back().barriers + 1));
                    take_later(team->last_arrivals[in.back().barriers], point);
                    in.back().arrived = point.time;
                    ++in.back().barriers;
                }
                break;
            case What::Depart:
                if (team != nullptr && in.back().barriers > 0)
                    departures_.push_back({point, *in.back().team, in.back().barriers - 1, in.back().arrived});
                break;
            case What::Create:
                created_.insert_or_assign(key, point);
                break;
            case What::Begin:
                begins_.push_back({point, key});
                break;
            case What::End:
                ended_.insert_or_assign(key, point);
                break;
            case What::Wait:
                waits_.push_back({point, key, record.since});
                break;
            case What::Release:
                released_.insert_or_assign(key, point);
                break;
            case What::Acquire:
                if (record.number > 0)
                    acquires_.push_back({point, {record.object, record.number - 1}, record.since});
                break;
            case What::Fork:
            case What::Join:
                break;
            }
        }
    }

    static void end(Team& team, const Point& point)
    {
        if (point.ref.location == team.master)
            team.master_end = point.time;
        else
            team.ends.push_back(point);
    }

    /// Workers may say much later that they have left the team: who did after the join was not waited for.
    void join(const Team& team)
    {
        std::optional<Point> last;
        for (const Point& end : team.ends)
            if (end.time <= team.join->time)
                take_later(last, end);
        wait_for(last, team.master_end, *team.join);
    }

    /// `waiter` went on at a point, for which it had waited since `since`, if it did.
    void wait_for(const std::optional<Point>& last, Ns since, const Point& waiter)
    {
        if (last && last->time > since && last->time <= waiter.time && last->ref.location != waiter.ref.location)
            result_.push_back({waiter.ref, last->ref});
    }

    void add(const Point& waiter, const std::map<Key, Point>& causes, const Key& key)
    {
        if (const auto cause = causes.find(key); cause != causes.end())
            wait_for(cause->second, Ns::min(), waiter);
    }
    void add(const Blocked& blocked, const std::map<Key, Point>& causes)
    {
        if (const auto cause = causes.find(blocked.key); cause != causes.end())
            wait_for(cause->second, blocked.since, blocked.point);
    }

    std::span<const ThreadRecords> locations_;
    std::vector<Team> teams_;
    std::map<std::uint32_t, std::vector<std::size_t>> by_object_;  // teams, by time
    std::map<CallRef, std::size_t> begun_by_master_;
    std::vector<AtBarrier> departures_;
    std::map<Key, Point> created_, ended_, released_;
    std::vector<Departure> begins_;
    std::vector<Blocked> waits_, acquires_;
    std::vector<ThreadWait> result_;
};

}  // namespace

std::vector<ThreadWait> thread_waits(std::span<const ThreadRecords> locations)
{
    return Waits(locations).run();
}

}  // namespace critpath::replayer::load
