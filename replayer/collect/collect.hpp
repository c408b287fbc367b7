// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the phase "collect": all collectives of the trace, re-executed, and the times of collectives learned from them.
#pragma once

#include "replayer/collect/instances.hpp"
#include "replayer/collect/members.hpp"
#include "replayer/rules/calibration.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace critpath::replayer
{

/// What is known of the collectives, for those that it takes.
class Collectives
{
public:
    explicit Collectives(const Replay& replay) : members(replay) {}

    /// visit(part, member, case), for each part of an owned process in an instance that was not concluded for all of
    /// them; those for which it was come to the same conclusion again.
    template <class Visit>
    void for_each_open(Visit visit) const
    {
        for (const auto& entry : open) {
            const Side side{entry.first};
            const std::vector<Open>& instances = entry.second;
            members.for_each_part(
                side.partner(members.is_inter(side)), instances.size(),
                [&](std::size_t i) { return instances[i].number; },
                [&](const Part& part, std::size_t i) {
                    const rules::Member member = members.describe(part);
                    visit(part, member, case_of(part, member, instances[i].instance));
                });
        }
    }

    /// What the rules decide about a part from. `instance`: of the partner side.
    [[nodiscard]] rules::CollectiveCase case_of(const Part& part, const rules::Member& member,
                                                const rules::Instance& instance) const;

    struct Open {
        std::uint32_t number;
        rules::Instance instance;
    };
    static_assert(sizeof(Open) == 160);  // docs/ALGORITHM says so

    Members members;
    InstanceCounts counts;
    std::map<std::uint32_t, std::vector<Open>> open;  // by side; ascending by number
    // Of operations of owned processes that came last to them:
    std::uint64_t left_too_early = 0;          // somebody left before, by more than clocks are off, though nobody can
    std::vector<std::uint64_t> last_arrivals;  // by clock domain; of operations that several clocks took part in
};

/// Re-executes the collectives of all sides; as reduce_instances.
using ReduceInstances = InstanceCounts (*)(const Replay& replay, const Members& members, const VisitInstances& visit);

/// Gets each part of an owned process while its instance is there; all members are known and in the same operation.
/// False: it is wanted again, when everything has been learned.
using Conclude =
    std::function<bool(const Part& part, const rules::Member& member, const rules::CollectiveCase& instance)>;
inline const Conclude later = [](const Part&, const rules::Member&, const rules::CollectiveCase&) { return false; };

/// Reduces all instances, and puts the completion times of collectives into `calibration`. Collective over
/// `replay.comm`; `conclude` must not be.
Collectives collect(const Replay& replay, rules::Calibration& calibration, ReduceInstances reduce = reduce_instances,
                    const Conclude& conclude = later);

}  // namespace critpath::replayer
