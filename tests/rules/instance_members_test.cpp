// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Questions to the members of an instance look at few of them: the answers are those of somebody who looks at each.
#include "replayer/rules/member_query.hpp"
#include "replayer/rules/member_rules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace critpath::tests
{
namespace
{

using functions::CollectiveShape;
using model::Ns;
using replayer::rules::ClockUncertainty;
using replayer::rules::Enter;
using replayer::rules::MemberInfo;
using replayer::rules::MemberQuery;
using replayer::rules::MemberRules;
using replayer::rules::Predecessor;
using replayer::rules::Route;
using replayer::rules::take_later;

/// The rules, applied to each member.
class OneByOne
{
public:
    OneByOne(const MemberQuery& query, std::span<const MemberInfo> members, const ClockUncertainty& clocks,
             std::span<const std::uint32_t> sources)
        : query_(query), members_(members), rules_(query, clocks, sources)
    {
    }

    [[nodiscard]] Predecessor find() const
    {
        if (query_.returns)
            return mover();
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
    /// The rule for transfers that stood still (rules/late_progress), for an operation of many: of those who were
    /// outside of MPI for most of the time that is to be explained, whoever came back as long before the end as the
    /// operation takes; or else whoever came back so shortly before the end, compared with the time outside, that it is
    /// hardly there by chance, or alone. Several may have held up the operation, one after the other: then the last one
    /// did.
    [[nodiscard]] Predecessor mover() const
    {
        const auto held_up = [&](const MemberInfo& m) { return rules_.held_up(m); };
        const auto several = std::ranges::count_if(members_, held_up);
        Enter tight, loose;
        for (const MemberInfo& member : members_) {
            const bool mostly = rules_.was_mostly_away(member);
            if (mostly && rules_.fits(member))
                take_later(tight, member.enter);
            const bool is_alone = several == 1 && held_up(member) && 2 * rules_.away_in_call(member) >= rules_.waited();
            if ((mostly && rules_.unexplained() > query_.limit && rules_.took(member) <= query_.limit) || is_alone ||
                rules_.stands_out(member, several))
                take_later(loose, member.enter);
        }
        return rules_.moved_by(tight.valid() ? tight : loose);
    }

    /// Of those that the call depends on; the call itself, if that was the last one. Not valid: it waited for nobody.
    [[nodiscard]] Enter last_needed() const
    {
        if (query_.some_give)
            return best_fit();
        Enter last{query_.call, query_.since};
        for (const MemberInfo& member : members_)
            if (rules_.needs(member) && member.enter.time <= query_.leave)
                take_later(last, member.enter);
        return last.call == query_.call && last.time == query_.since ? Enter{} : last;
    }

    /// Of those that the call may depend on, the one whose part came when the call ended, as nearly as can be: not so
    /// shortly before the end that the operation would have taken less than half its least time, which may be
    /// estimated too long by as much. Of several that came at one moment, the own one.
    [[nodiscard]] Enter best_fit() const
    {
        const Ns expected = query_.leave - query_.completion;
        Enter best;
        for (const MemberInfo& member : members_) {
            const Ns time = member.enter.time;
            if (!rules_.needs(member) || time <= query_.since || query_.leave - time < query_.completion / 2)
                continue;
            const Ns distance = std::chrono::abs(time - expected);
            const Ns of_best = std::chrono::abs(best.time - expected);
            const bool is_own = best.time == time && member.enter.call == query_.call;
            const bool is_behind =
                best.time < time || (best.call != query_.call && member.enter.order() > best.order());
            if (!best.valid() || distance < of_best || (distance == of_best && (is_own || is_behind)))
                best = member.enter;
        }
        return best;
    }

    /// Strictly before the end of the call, so that the path goes back in time, and not so shortly before that no
    /// message can have come from there.
    [[nodiscard]] bool came_after(Ns since, const MemberInfo& member) const
    {
        return member.enter.call != query_.call && member.enter.time > since && member.enter.time < query_.leave &&
               query_.leave - member.enter.time >= query_.least;
    }

    [[nodiscard]] Ns unexplained_since(const Enter& explained) const
    {
        return explained.valid() ? std::max(query_.enter, explained.time) : query_.enter;
    }

    /// Whoever came while the call was inside and shortly enough before its end.
    [[nodiscard]] Enter blocker_within_limit(const Enter& explained) const
    {
        Enter blocker;
        for (const MemberInfo& member : members_) {
            if (!came_after(unexplained_since(explained), member) || query_.leave - member.enter.time > query_.limit)
                continue;
            if (member.is_root && query_.shape == CollectiveShape::OneToAll)
                return member.enter;
            take_later(blocker, member.enter);
        }
        return blocker;
    }

    /// The completion took longer than it should (no core free, slow progress), but the last one to come came so
    /// shortly before the end, compared with the time that is to be explained, that it is hardly there by chance: if
    /// the n members that came in this time had come at random, one of them would be so close to its end in 1 of 8
    /// cases at most. Thus in a dense stream of arrivals nobody is the blocker only for being the latest.
    [[nodiscard]] Enter outstanding_blocker(const Enter& explained) const
    {
        Ns since = unexplained_since(explained);  // a root explains the time until it came
        for (const MemberInfo& member : members_)
            if (member.is_root && query_.shape == CollectiveShape::OneToAll && came_after(since, member))
                since = member.enter.time;
        Enter last;
        std::int64_t came = 0;
        for (const MemberInfo& member : members_)
            if (came_after(since, member)) {
                take_later(last, member.enter);
                ++came;
            }
        const bool stands_out =
            came > 0 && query_.leave - last.time <= (query_.leave - since) / (MemberRules::chance * came);
        return stands_out ? last : Enter{};
    }

    [[nodiscard]] Predecessor doubted(Predecessor predecessor, const Enter& found) const
    {
        predecessor.doubt_clocks(
            std::ranges::any_of(members_, [&](const MemberInfo& m) { return rules_.may_be_it(m, found); }));
        return predecessor;
    }

    const MemberQuery& query_;
    std::span<const MemberInfo> members_;
    MemberRules rules_;
};

/// Ranks on nodes of two each, whose clocks differ by `error` at most.
model::Definitions definitions(std::uint32_t ranks, Ns error)
{
    model::Definitions result;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        model::Process process;
        process.locations = {{rank}};
        process.clock_domain = {rank / 2};
        result.processes.push_back(process);
        result.locations.push_back({"", {rank}, 0, 0});
    }
    if (error > Ns{0})
        result.clock_uncertainty.assign((ranks + 1) / 2, error);
    return result;
}

/// What it asks about, and how.
class MembersCase
{
public:
    explicit MembersCase(std::uint32_t seed) : random_(seed) {}

    int draw(int below) { return static_cast<int>(random_() % static_cast<std::uint32_t>(below)); }
    bool either() { return draw(2) == 0; }

    std::vector<MemberInfo> members(std::uint32_t ranks, int times, bool returns)
    {
        const int root = draw(static_cast<int>(ranks));
        const bool all_give = either();
        std::vector<MemberInfo> result;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            const int enter = draw(times);
            MemberInfo member{{{{rank}, {7}}, Ns{enter}},
                              Ns{enter - 1 - draw(times)},
                              rank,
                              rank == std::uint32_t(root),
                              all_give || either()};
            if (returns && draw(4) == 0)
                member.enter = {};
            result.push_back(member);
        }
        std::ranges::shuffle(result, random_);
        return result;
    }

    MemberQuery query(const std::vector<MemberInfo>& members, int times, bool returns)
    {
        constexpr std::array shapes = {CollectiveShape::AllToAll,  CollectiveShape::OneToAll,
                                       CollectiveShape::AllToOne,  CollectiveShape::Prefix,
                                       CollectiveShape::Neighbour, CollectiveShape::DataDriven};
        const MemberInfo& asker = members[static_cast<std::size_t>(draw(static_cast<int>(members.size())))];
        MemberQuery query{};
        const bool is_its_enter = !returns && either();  // or the call completes what another one has begun
        query.call = is_its_enter ? asker.enter.call : model::CallRef{{asker.rank}, {9}};
        query.enter = is_its_enter ? asker.enter.time : std::max(asker.enter.time, Ns{draw(times)});
        query.leave = query.enter + Ns{1 + draw(times)};
        query.rank = asker.rank;
        query.shape = shapes[static_cast<std::size_t>(draw(shapes.size()))];
        query.exclusive_prefix = either();
        query.some_give = either();
        query.may_release = !returns && either();
        query.may_depend = either();
        query.since = !returns && !query.may_release && draw(4) == 0 ? Ns::min() : query.enter - Ns{draw(times)};
        query.completion = query.some_give || returns ? Ns{draw(times)} : Ns{0};
        query.limit = Ns{draw(times)};
        query.least = Ns{draw(4)};
        query.returns = returns;
        query.tolerance = Ns{draw(4)};
        return query;
    }

    std::vector<std::uint32_t> sources(std::uint32_t ranks)
    {
        std::vector<std::uint32_t> result;
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
            if (draw(3) == 0)
                result.push_back(rank);
        return result;
    }

private:
    std::mt19937 random_;
};

TEST(InstanceMembers, AnswersAreThoseOfSomebodyWhoLooksAtEach)
{
#ifdef CRITPATH_SANITIZED
    constexpr std::uint32_t seeds = 20'000;  // sanitizers take several times as long
#else
    constexpr std::uint32_t seeds = 60'000;
#endif
    std::size_t jumps = 0, doubts = 0, itself = 0;
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        MembersCase c(seed);
        const auto ranks = static_cast<std::uint32_t>(1 + c.draw(seed % 8 == 0 ? 60 : 9));
        const int times = c.either() ? 12 : 300;  // many at one time, or few
        const bool returns = c.draw(3) == 0;
        const std::vector<MemberInfo> members = c.members(ranks, times, returns);
        const replayer::rules::InstanceMembers instance(members);
        const model::Definitions known = definitions(ranks, Ns{c.either() ? 0 : c.draw(6)});
        const ClockUncertainty clocks(known);
        for (int i = 0; i < 3; ++i) {
            const MemberQuery query = c.query(members, times, returns);
            const std::vector<std::uint32_t> sources = c.sources(ranks);
            const Predecessor expected = OneByOne(query, members, clocks, sources).find();
            const Predecessor found = replayer::rules::answer(query, instance, clocks, sources);
            ASSERT_EQ(found.route, expected.route) << "seed " << seed;
            ASSERT_EQ(found.from.order(), expected.from.order()) << "seed " << seed;
            ASSERT_EQ(found.low_confidence, expected.low_confidence) << "seed " << seed;
            ASSERT_EQ(found.within_clocks, expected.within_clocks) << "seed " << seed;
            jumps += found.is_jump() ? 1 : 0;
            doubts += found.within_clocks ? 1 : 0;
            itself += found.route == Route::Completion || found.route == Route::Work ? 1 : 0;
        }
    }
    EXPECT_GT(jumps, seeds / 3);
    EXPECT_GT(doubts, seeds / 60);
    EXPECT_GT(itself, seeds / 60);
}

}  // namespace
}  // namespace critpath::tests
