// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/same_calls.hpp"

#include "formats/support/mixed.hpp"
#include "replayer/context_names.hpp"
#include "replayer/peers/met_calls.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

namespace critpath::replayer
{

namespace
{

using model::ContextId;

constexpr std::uint32_t no_group = UINT32_MAX;
/// Of a call path by functions, so many places are told apart by where functions are called that call MPI: those of
/// generated code, or of ways through a recursion, could be thousands, each with next to nothing.
constexpr std::size_t most_places = 64;

/// How often an owned process makes which calls.
struct OwnCalls {
    struct Times {
        ContextId call;
        std::uint64_t times;
    };
    model::ProcessId process;
    std::vector<Times> calls;
};

/// By ContextId: of calls of MPI, the first one that the same functions have led to; no_group: of what is no such call,
/// or the only one.
std::vector<std::uint32_t> groups_by_functions(const model::Definitions& definitions)
{
    const std::vector<ContextId> plain = first_alike(definitions, SitesCount::None);
    std::vector<std::uint32_t> groups(plain.size(), no_group), size(plain.size(), 0);
    for (std::uint32_t i = 0; i < plain.size(); ++i)
        if (definitions.region({i}).role == model::RegionRole::Mpi)
            size[groups[i] = plain[i].value] += 1;
    for (std::uint32_t& group : groups)
        if (group != no_group && size[group] == 1)
            group = no_group;
    return groups;
}

std::vector<OwnCalls> count_calls(const Replay& replay, const std::vector<std::uint32_t>& groups)
{
    std::vector<OwnCalls> result;
    std::vector<std::uint64_t> times(groups.size(), 0);
    for (const model::ProcessTrace& trace : replay.processes) {
        OwnCalls& own = result.emplace_back(OwnCalls{trace.process, {}});
        if (trace.locations.empty())
            continue;
        const model::LocationTrace& location = trace.locations.front();
        const model::Calls& calls = location.calls;
        for (std::size_t i = 0; i < calls.size() && calls.enter(i) <= location.end; ++i) {
            if (calls.is_point(i))
                continue;
            const ContextId call = calls.context(i);
            if (groups[call.value] != no_group && times[call.value]++ == 0)
                own.calls.push_back({call, 0});
        }
        for (OwnCalls::Times& of_call : own.calls)
            of_call.times = std::exchange(times[of_call.call.value], 0);
    }
    return result;
}

/// A call that other ones may be the same place as.
struct Call {
    std::uint32_t group;  // of those by the same functions
    ContextId context;
    ContextId caller;    // the function, or call, whose site is looked at: each is one further out
    std::uint32_t part;  // of its group: those that are one place, as far as it is known
};

/// By where the outermost functions are called, first.
bool is_called_before(const std::vector<model::CallingContext>& contexts, ContextId a, ContextId b)
{
    bool is_before = false;
    for (; a.valid() && b.valid(); a = contexts[a.value].parent, b = contexts[b.value].parent)
        if (contexts[a.value].site != contexts[b.value].site)
            is_before = contexts[a.value].site < contexts[b.value].site;
    return is_before;
}

/// Those that any rank makes, group by group, of one group in the order of their sites. Collective over `replay.comm`.
std::vector<Call> find_calls(const Replay& replay, const std::vector<std::uint32_t>& groups,
                             const std::vector<OwnCalls>& own)
{
    const std::vector<model::CallingContext>& contexts = replay.definitions.contexts;
    std::vector<std::uint8_t> is_made(contexts.size(), 0);
    for (const OwnCalls& process : own)
        for (const OwnCalls::Times& of_call : process.calls)
            is_made[of_call.call.value] = 1;
    MPI_Allreduce(MPI_IN_PLACE, is_made.data(), static_cast<int>(is_made.size()), MPI_UINT8_T, MPI_MAX, replay.comm);
    std::vector<Call> calls;
    for (std::uint32_t i = 0; i < contexts.size(); ++i)
        if (is_made[i] != 0)
            calls.push_back({groups[i], {i}, {i}, 0});
    std::ranges::sort(calls, [&](const Call& a, const Call& b) {
        return a.group != b.group ? a.group < b.group : is_called_before(contexts, a.context, b.context);
    });
    return calls;
}

/// Who makes some calls.
struct Use {
    std::uint64_t users = 0;  // as a number that is the same for the same ranks
    std::uint64_t ranks = 0;
    std::uint64_t calls = 0;  // of all of them
};

/// None of the two is made nearly twice as often by those that make it, or more: then the one has no counterpart in the
/// other. A master of two workers receives twice as many messages as each of them, but for the last ones.
bool are_as_frequent(const Use& a, const Use& b)
{
    const double of_a = static_cast<double>(a.calls) / static_cast<double>(a.ranks);
    const double of_b = static_cast<double>(b.calls) / static_cast<double>(b.ranks);
    constexpr double nearly_twice = 1.75;
    return of_a < nearly_twice * of_b && of_b < nearly_twice * of_a;
}

/// Divides groups of calls into places: first by where MPI is called, then by where the functions are called that do
/// so, and so on.
class Division
{
public:
    /// Collective over `replay.comm`, as all of it. `groups`: as groups_by_functions(); `own`: of these.
    Division(const Replay& replay, const Predecessors& predecessors, const std::vector<std::uint32_t>& groups,
             std::vector<OwnCalls> own)
        : replay_(replay), calls_(find_calls(replay, groups, own)), index_(groups.size(), no_group),
          is_closed_(groups.size(), false), own_(std::move(own))
    {
        for (std::uint32_t i = 0; i < calls_.size(); ++i) {
            index_[calls_[i].context.value] = i;
            if (i == 0 || calls_[i].group != calls_[i - 1].group)
                joins_branches_.push_back(false);
            calls_[i].part = static_cast<std::uint32_t>(joins_branches_.size() - 1);
        }
        std::vector<ContextId> itself;
        for (std::uint32_t i = 0; i < groups.size(); ++i)
            itself.push_back({i});
        met_ = find_met_calls(replay, predecessors, itself, groups, no_group);
    }

    void divide()
    {
        bool is_of_mpi = true;
        while (!calls_.empty()) {
            divide_by_site(std::exchange(is_of_mpi, false));
            bool has_caller = false;
            for (Call& call : calls_) {
                if (call.caller.valid())
                    call.caller = replay_.definitions.contexts[call.caller.value].parent;
                has_caller = has_caller || call.caller.valid();
            }
            if (!has_caller)
                return;
        }
    }

    [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
    [[nodiscard]] bool joins_branches(const Call& call) const { return joins_branches_[call.part]; }

private:
    void divide_by_site(bool is_of_mpi)
    {
        const std::vector<std::uint32_t> firsts = first_of_site();
        bool is_divided = false;
        for (std::uint32_t i = 1; i < calls_.size() && !is_divided; ++i)
            is_divided = calls_[i].part == calls_[i - 1].part && firsts[i] != firsts[i - 1];
        if (!is_divided)
            return;
        std::vector<std::uint32_t> parts = join(firsts, find_uses(firsts));
        if (!is_of_mpi)
            close_large_groups(parts);
        for (std::uint32_t i = 0; i < calls_.size(); ++i)
            if (!is_closed_[calls_[i].group])
                calls_[i].part = parts[i];
    }

    /// By call: the first one of its part that is made at the same site, or that is connected with it by such, and by
    /// calls that have met.
    [[nodiscard]] std::vector<std::uint32_t> first_of_site() const
    {
        std::vector<std::uint32_t> firsts(calls_.size());
        std::iota(firsts.begin(), firsts.end(), 0U);
        const auto first = [&](std::uint32_t i) {
            while (firsts[i] != i)
                i = firsts[i] = firsts[firsts[i]];
            return i;
        };
        std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> at_site, met;  // by part
        for (std::uint32_t i = 0; i < calls_.size(); ++i) {
            const Call& call = calls_[i];
            const std::uint64_t site = call.caller.valid() ? replay_.definitions.contexts[call.caller.value].site : 0;
            for (const std::uint32_t other :
                 {at_site.try_emplace({call.part, site}, i).first->second,
                  met.try_emplace({call.part, met_[call.context.value]}, i).first->second}) {
                const std::uint32_t one = first(i), another = first(other);
                firsts[std::max(one, another)] = std::min(one, another);
            }
        }
        for (std::uint32_t i = 0; i < calls_.size(); ++i)
            firsts[i] = first(i);
        return firsts;
    }

    struct Uses {
        std::vector<Use> of_first;  // by call
        std::vector<Use> of_part;
    };

    [[nodiscard]] Uses find_uses(const std::vector<std::uint32_t>& firsts) const
    {
        std::vector<Use> uses(calls_.size() + joins_branches_.size());
        std::vector<std::uint32_t> last_user(uses.size(), UINT32_MAX);
        for (const OwnCalls& process : own_)
            for (const auto& [context, times] : process.calls) {
                const std::uint32_t call = index_[context.value];
                for (const std::size_t i : {std::size_t{firsts[call]}, calls_.size() + calls_[call].part}) {
                    uses[i].calls += times;
                    if (std::exchange(last_user[i], process.process.value) == process.process.value)
                        continue;
                    uses[i].users += mixed(process.process.value + 1);
                    uses[i].ranks += 1;
                }
            }
        constexpr std::size_t numbers = sizeof(Use) / sizeof(std::uint64_t);
        MPI_Allreduce(MPI_IN_PLACE, uses.data(), static_cast<int>(uses.size() * numbers), MPI_UINT64_T, MPI_SUM,
                      replay_.comm);
        const auto middle = uses.begin() + static_cast<std::ptrdiff_t>(calls_.size());
        return {{uses.begin(), middle}, {middle, uses.end()}};
    }

    /// By call: the part that it is in if those of one site are together, and those of sites that not all ranks of a
    /// part come by.
    [[nodiscard]] std::vector<std::uint32_t> join(const std::vector<std::uint32_t>& firsts, const Uses& uses)
    {
        std::vector<std::uint32_t> parts(calls_.size());
        std::vector<std::vector<std::uint32_t>> branches(uses.of_part.size());  // by part: the first calls of such
        for (std::uint32_t i = 0; i < calls_.size(); ++i) {
            if (firsts[i] != i) {
                parts[i] = parts[firsts[i]];
                continue;
            }
            const std::uint32_t part = calls_[i].part;
            const Use& use = uses.of_first[i];
            if (use.users != uses.of_part[part].users) {
                const auto branch = std::ranges::find_if(
                    branches[part], [&](std::uint32_t other) { return are_as_frequent(uses.of_first[other], use); });
                if (branch != branches[part].end()) {
                    parts[i] = parts[*branch];
                    joins_branches_[parts[i]] = true;
                    continue;
                }
                branches[part].push_back(i);
            }
            parts[i] = static_cast<std::uint32_t>(joins_branches_.size());
            joins_branches_.push_back(joins_branches_[part]);
        }
        return parts;
    }

    /// Groups that would have too many parts stay as they are.
    void close_large_groups(std::vector<std::uint32_t> parts)
    {
        for (std::size_t begin = 0, end = 0; begin < calls_.size(); begin = end) {
            while (end < calls_.size() && calls_[end].group == calls_[begin].group)
                ++end;
            const auto first = parts.begin() + static_cast<std::ptrdiff_t>(begin);
            const auto last = parts.begin() + static_cast<std::ptrdiff_t>(end);
            std::sort(first, last);
            if (static_cast<std::size_t>(std::unique(first, last) - first) > most_places)
                is_closed_[calls_[begin].group] = true;
        }
    }

    const Replay& replay_;
    std::vector<Call> calls_;
    std::vector<std::uint32_t> index_;  // by ContextId: of calls_
    std::vector<bool> is_closed_;       // by group
    std::vector<OwnCalls> own_;
    std::vector<std::uint32_t> met_;    // by ContextId: as find_met_calls()
    std::vector<bool> joins_branches_;  // by part, also of those that have been divided
};

}  // namespace

SameCalls::SameCalls(const Replay& replay, const Predecessors& predecessors)
{
    for (std::uint32_t i = 0; i < replay.definitions.contexts.size(); ++i)
        first_.push_back({i});
    joins_branches_.resize(first_.size());
    const std::vector<std::uint32_t> groups = groups_by_functions(replay.definitions);
    if (std::ranges::all_of(groups, [](std::uint32_t group) { return group == no_group; }))
        return;
    Division division(replay, predecessors, groups, count_calls(replay, groups));
    division.divide();
    std::map<std::uint32_t, ContextId> first_of_part;
    for (const Call& call : division.calls()) {
        const ContextId first = first_of_part.try_emplace(call.part, call.context).first->second;
        first_[call.context.value] = first;
        joins_branches_[first.value] = division.joins_branches(call);
    }
}

std::vector<PathStep> SameCalls::way(const model::Definitions& definitions, ContextId call) const
{
    std::vector<PathStep> way;  // from the call on
    for (ContextId c = call; c.valid(); c = definitions.contexts[c.value].parent)
        way.push_back({definitions.contexts[c.value].region, definitions.contexts[c.value].site});
    for (std::uint32_t i = 0; i < first_.size(); ++i) {
        if (first_[i] != call)
            continue;
        ContextId other{i};
        for (PathStep& step : way) {
            step.site = definitions.contexts[other.value].site == step.site ? step.site : 0;
            other = definitions.contexts[other.value].parent;
        }
    }
    std::ranges::reverse(way);
    return way;
}

}  // namespace critpath::replayer
