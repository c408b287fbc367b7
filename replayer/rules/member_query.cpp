// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/rules/member_query.hpp"

#include "replayer/rules/member_rules.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace critpath::replayer::rules
{

namespace
{

/// One question, and those who may know.
class Answer
{
public:
    Answer(const MemberQuery& query, const InstanceMembers& members, const ClockUncertainty& clocks,
           std::span<const std::uint32_t> sources)
        : query_(query), members_(members), clocks_(clocks), sources_(sources), rules_(query, clocks, sources)
    {
    }

    [[nodiscard]] Predecessor find() const
    {
        if (query_.returns)
            return query_.may_release ? rules_.moved_by(returned_shortly_before()) : mover();
        const Enter last = query_.may_depend ? last_needed() : Enter{};
        const bool explains = last.valid() && (query_.limit <= Ns{0} || query_.leave - last.time <= query_.limit);
        if (explains && last.call == query_.call)
            return doubted({Route::Completion, {}, 0, query_.some_give}, last);
        if (explains)
            return doubted({Route::Collective, last, 0, query_.some_give}, last);
        // What explains only the beginning of a long call is not what released it: look for a better answer first.
        if (query_.may_release)
            for (const Enter& blocker : {blocker_within_limit(last), outstanding_blocker(last)})
                if (blocker.valid())
                    return doubted({Route::Collective, blocker, 0, true}, blocker);
        if (last.valid() && last.call != query_.call)
            return doubted({Route::Collective, last, 0, true}, last);
        return doubted({Route::Ask, {}, 0, true}, {});
    }

private:
    using Ranks = std::set<std::uint32_t>;  // a member may have several times outside

    /// The rule for transfers that stood still (rules/late_progress), for an operation of many: of those who were
    /// outside of MPI for most of the time that is to be explained, whoever came back as long before the end as the
    /// operation takes; or else whoever came back so shortly before the end, compared with the time outside, that it is
    /// hardly there by chance, or alone. Several may have held up the operation, one after the other: then the last one
    /// did.
    [[nodiscard]] Predecessor mover() const
    {
        const Ns expected = query_.leave - query_.completion;
        const Enter tight = last_of(members_.came(expected - query_.tolerance - Ns{1},
                                                  std::min(query_.leave - Ns{1}, expected + query_.tolerance)),
                                    [&](const MemberInfo& m) { return rules_.was_mostly_away(m); });
        return rules_.moved_by(tight.valid() ? tight : loose_mover());
    }

    /// Whoever was outside of MPI for most of what is to be explained, and came back so long before the end that a
    /// message can have come from there: within the limit, or so shortly before, compared with the time that is to be
    /// explained, that it is hardly there by chance, of as many as were outside like that.
    [[nodiscard]] Enter returned_shortly_before() const
    {
        const auto came = came_after(query_.since);
        const MemberInfo* last = nullptr;
        Ranks several;
        for (auto member = came.rbegin(); member != came.rend(); ++member) {
            if (member->enter.call.location == query_.call.location || !rules_.was_mostly_away(*member))
                continue;
            if (last == nullptr || member->last_part == Ns{0})
                several.insert(member->rank);
            last = last == nullptr ? &*member : last;
            const Ns took = rules_.took(*last);
            if (several.size() == 1 && took <= query_.limit && rules_.unexplained() > query_.limit)
                return last->enter;
            if (MemberRules::chance * std::ssize(several) * took > rules_.unexplained())
                return {};
        }
        return last != nullptr ? last->enter : Enter{};
    }

    [[nodiscard]] Enter loose_mover() const
    {
        const auto [several, last] = holders();
        const Ns in_call = rules_.waited() + query_.completion;
        const bool may_be_soon = rules_.unexplained() > query_.limit;
        // Nobody stands out who came longer before the end.
        const Ns longest = std::max(may_be_soon ? query_.limit : Ns{0},
                                    several > 0 ? in_call / (MemberRules::chance * several) : Ns{0});
        const Ns since = query_.leave - std::min(longest, query_.leave - query_.since) - Ns{1};
        Enter result = last_of(members_.came(since, query_.leave - Ns{1}), [&, of = several](const MemberInfo& m) {
            return (may_be_soon && rules_.took(m) <= query_.limit && rules_.was_mostly_away(m)) ||
                   rules_.stands_out(m, of);
        });
        const bool is_alone = several == 1 && 2 * rules_.away_in_call(*last) >= rules_.waited();
        if (is_alone || (several == 1 && rules_.stands_out(*last, 1)))
            take_later(result, last->enter);
        return result;
    }

    /// Those who held up the call.
    struct Holders {
        std::int64_t several = 0;          // or so many that nobody stands out
        const MemberInfo* last = nullptr;  // null: nobody did
    };

    [[nodiscard]] Holders holders() const
    {
        const Ns waited = rules_.waited();
        // Nobody else was away for long enough.
        const Ns least = std::min(rules_.unexplained() / 2,
                                  std::max(query_.enter - query_.since, Ns{0}) + waited / MemberRules::chance);
        const auto candidates = members_.came(query_.since + std::max(least - Ns{1}, Ns{0}), query_.leave - Ns{1});
        // They may be nearly all members, of whom nobody stands out if so many came so late as the last one.
        Holders result;
        Ranks several;
        for (auto member = candidates.rbegin(); member != candidates.rend(); ++member) {
            if (!rules_.held_up(*member))
                continue;
            if (result.last == nullptr || member->last_part == Ns{0})
                several.insert(member->rank);
            result.several = std::ssize(several);
            result.last = result.last == nullptr ? &*member : result.last;
            if (result.several > 1 &&
                MemberRules::chance * result.several * rules_.took(*result.last) > waited + query_.completion)
                break;
        }
        return result;
    }

    template <class Fits>
    [[nodiscard]] static Enter last_of(std::span<const MemberInfo> members, Fits fits)
    {
        const auto last = std::find_if(members.rbegin(), members.rend(), fits);
        return last == members.rend() ? Enter{} : last->enter;
    }

    /// Of those that the call depends on; the call itself, if that was the last one. Not valid: it waited for nobody.
    [[nodiscard]] Enter last_needed() const
    {
        if (query_.some_give)
            return best_fit();
        Enter last{query_.call, query_.since};
        take_later(last, last_giver());
        return last.call == query_.call && last.time == query_.since ? Enter{} : last;
    }

    /// Of those that it needs, until its end.
    [[nodiscard]] Enter last_giver() const
    {
        if (query_.shape == CollectiveShape::Neighbour) {
            Enter last;
            for (const std::uint32_t source : sources_)
                if (const MemberInfo* member = members_.giver(source); member && member->enter.time <= query_.leave)
                    take_later(last, member->enter);
            return last;
        }
        if (query_.shape == CollectiveShape::Prefix) {
            if (query_.exclusive_prefix && query_.rank == 0)
                return {};
            const Enter last = members_.last_giver_up_to(query_.exclusive_prefix ? query_.rank - 1 : query_.rank);
            if (!last.valid() || last.time <= query_.leave)
                return last;
        }
        const Ns since = query_.since == Ns::min() ? query_.since : query_.since - Ns{1};
        return last_of(members_.givers(since, query_.leave), [&](const MemberInfo& m) { return rules_.needs(m); });
    }

    /// Of those that the call may depend on, the one whose part came when the call ended, as nearly as can be: not so
    /// shortly before the end that the operation would have taken less than half its least time, which may be
    /// estimated too long by as much. Of several that came at one moment, the own one, as it is there without a
    /// message.
    [[nodiscard]] Enter best_fit() const
    {
        const Ns expected = query_.leave - query_.completion, latest = query_.leave - query_.completion / 2;
        Enter best;
        const auto fit = [&](const Enter& enter) {
            return std::tuple(-std::chrono::abs(enter.time - expected), enter.time, enter.call == query_.call,
                              enter.order());
        };
        const auto consider = [&](const Enter& enter) {
            if (!best.valid() || fit(enter) > fit(best))
                best = enter;
        };
        if (query_.shape == CollectiveShape::Neighbour) {
            for (const std::uint32_t source : sources_)
                if (const MemberInfo* member = members_.giver(source);
                    member && member->enter.time > query_.since && member->enter.time <= latest)
                    consider(member->enter);
            return best;
        }
        // The last of those that came until then, and those that came at the next moment.
        const auto before = members_.givers(query_.since, std::min(expected, latest));
        const auto behind = members_.givers(std::max(expected, query_.since), latest);
        const auto needed = [&](const MemberInfo& m) { return rules_.needs(m); };
        const auto last = std::find_if(before.rbegin(), before.rend(), needed);
        for (auto member = last; member != before.rend() && member->enter.time == last->enter.time; ++member)
            if (needed(*member))
                consider(member->enter);
        const auto next = std::ranges::find_if(behind, needed);
        for (auto member = next; member != behind.end() && member->enter.time == next->enter.time; ++member)
            if (needed(*member))
                consider(member->enter);
        return best;
    }

    /// Others that came while the call was inside; strictly before its end, so that the path goes back in time, and not
    /// so shortly before that no message can have come from there.
    [[nodiscard]] std::span<const MemberInfo> came_after(Ns since) const
    {
        return members_.came(since, query_.leave - std::max(query_.least, Ns{1}));
    }

    [[nodiscard]] Ns unexplained_since(const Enter& explained) const
    {
        return explained.valid() ? std::max(query_.enter, explained.time) : query_.enter;
    }

    /// The root that all wait for, if it is one of those that came. Not valid: it is not.
    [[nodiscard]] Enter root_of_all(std::span<const MemberInfo> came) const
    {
        const MemberInfo* root = members_.root();
        const bool is_among = query_.shape == CollectiveShape::OneToAll && root != nullptr && !came.empty() &&
                              root->enter.time >= came.front().enter.time && root->enter.time <= came.back().enter.time;
        return is_among ? root->enter : Enter{};
    }

    /// Whoever came shortly enough before the end of the call.
    [[nodiscard]] Enter blocker_within_limit(const Enter& explained) const
    {
        const auto came = came_after(unexplained_since(explained));
        const auto is_within = [&](const Enter& enter) { return query_.leave - enter.time <= query_.limit; };
        if (const Enter root = root_of_all(came); root.valid() && is_within(root))
            return root;
        return !came.empty() && is_within(came.back().enter) ? came.back().enter : Enter{};
    }

    /// The completion took longer than it should (no core free, slow progress), but the last one to come came so
    /// shortly before the end, compared with the time that is to be explained, that it is hardly there by chance: if
    /// the n members that came in this time had come at random, one of them would be so close to its end in 1 of 8
    /// cases at most. Thus in a dense stream of arrivals nobody is the blocker only for being the latest.
    [[nodiscard]] Enter outstanding_blocker(const Enter& explained) const
    {
        Ns since = unexplained_since(explained);
        if (const Enter root = root_of_all(came_after(since)); root.valid())
            since = root.time;  // it explains the time until it came
        const auto came = came_after(since);
        if (came.empty())
            return {};
        const Enter& last = came.back().enter;
        const bool stands_out = query_.leave - last.time <=
                                (query_.leave - since) / (MemberRules::chance * static_cast<std::int64_t>(came.size()));
        return stands_out ? last : Enter{};
    }

    [[nodiscard]] Predecessor doubted(Predecessor predecessor, const Enter& found) const
    {
        const Ns error = 2 * clocks_.largest();
        const auto is_doubt = [&](Ns time) {
            const bool is_known = error > Ns{0} && time != Ns::min();
            return is_known && std::ranges::any_of(members_.came(time - error, time + error),
                                                   [&](const MemberInfo& m) { return rules_.may_be_it(m, found); });
        };
        predecessor.doubt_clocks(
            is_doubt(query_.enter) || is_doubt(query_.leave) ||
            (query_.may_depend && (is_doubt(query_.since) || is_doubt(query_.leave - query_.completion))) ||
            (found.valid() && is_doubt(found.time)));
        return predecessor;
    }

    const MemberQuery& query_;
    const InstanceMembers& members_;
    const ClockUncertainty& clocks_;
    std::span<const std::uint32_t> sources_;
    MemberRules rules_;
};

}  // namespace

Predecessor answer(const MemberQuery& query, const InstanceMembers& members, const ClockUncertainty& clocks,
                   std::span<const std::uint32_t> sources)
{
    return Answer(query, members, clocks, sources).find();
}

}  // namespace critpath::replayer::rules
