// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/witnesses.hpp"
#include "replayer/collect/members.hpp"
#include "replayer/exchange.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

namespace critpath::replayer::clocks
{

namespace
{

using functions::FunctionId;

constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t window = 4096;  // instances a reduction

/// What the processes of one clock say of an instance: all maxima, so that partial knowledge combines.
struct Pivot {
    std::int64_t last_enter = nothing;
    std::int64_t minus_first_leave = nothing;
    std::int64_t function = nothing;
    std::int64_t minus_function = nothing;

    void add(const rules::Member& member)
    {
        const auto number = static_cast<std::int64_t>(member.function);
        merge({member.enter.time.count(), -member.leave.count(), number, -number});
    }
    void merge(const Pivot& other)
    {
        last_enter = std::max(last_enter, other.last_enter);
        minus_first_leave = std::max(minus_first_leave, other.minus_first_leave);
        function = std::max(function, other.function);
        minus_function = std::max(minus_function, other.minus_function);
    }
    [[nodiscard]] bool is_in(FunctionId other) const
    {
        const auto number = static_cast<std::int64_t>(other);
        return function == number && minus_function == -number;
    }
};
static_assert(sizeof(Pivot) == 4 * sizeof(std::int64_t));

struct PivotRecord {
    std::uint32_t side, number;
    Pivot pivot;
};

class Collectives
{
public:
    Collectives(const Replay& replay, Evidence& evidence)
        : replay_(replay), evidence_(evidence), members_(replay),
          pivots_(Side::per_communicator * replay.definitions.communicators.size())
    {
    }

    void hear()
    {
        choose_pivots();
        std::vector<Side> small;
        for (std::uint32_t value = 0; value < pivots_.size(); ++value) {
            const Side side{value};
            if (!pivots_[value])
                continue;
            if (4 * owners(side).size() <= static_cast<std::size_t>(replay_.size))
                small.push_back(side);
            else
                reduce(side);
        }
        exchange(small);
    }

private:
    [[nodiscard]] NodeId clock_of(model::ProcessId process) const
    {
        return replay_.definitions.processes[process.value].clock_domain;
    }

    [[nodiscard]] bool spans_clocks(Side side) const
    {
        const auto& group = members_.group(side);
        return !members_.is_inter(side) && !replay_.definitions.communicators[side.comm().value].is_self &&
               std::ranges::any_of(group, [&](auto process) { return clock_of(process) != clock_of(group.front()); });
    }

    /// Calls `visit(number, member)` for the collectives of an owned member of a side that prove something.
    template <class Visit>
    void for_each_call(Side side, const MemberCalls& member, std::size_t begin, std::size_t end, Visit visit) const
    {
        for (std::size_t n = begin; n < std::min(end, member.calls.size()); ++n) {
            if (member.calls[n] == MemberCalls::none)
                continue;
            const model::CollectiveCall call = replay_.processes[member.process].collectives[member.calls[n]];
            const rules::Member part =
                members_.describe({side, static_cast<std::uint32_t>(n), member.process, member.rank, member.calls[n]});
            if (call.call.valid() && rules::needs_all(part.function, part.bytes))
                visit(n, part, call.is_blocking());
        }
    }

    /// By side: the clock of the member that spent the least time in such calls. Of equal ones, the smallest.
    void choose_pivots()
    {
        constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
        std::vector<std::int64_t> least(pivots_.size(), none);
        std::vector<std::int64_t> clock(pivots_.size(), none);
        for (const auto& [value, list] : members_.sides()) {
            if (!spans_clocks({value}))
                continue;
            for (const MemberCalls& member : list) {
                std::int64_t time = 0;
                bool has_any = false;
                for_each_call({value}, member, 0, member.calls.size(),
                              [&](std::size_t, const rules::Member& m, bool blocking) {
                                  time += blocking ? (m.leave - m.enter.time).count() : 0;
                                  has_any = true;
                              });
                const std::int64_t own = clock_of(replay_.processes[member.process].process).value;
                if (has_any && (time < least[value] || (time == least[value] && own < clock[value]))) {
                    least[value] = time;
                    clock[value] = own;
                }
            }
        }
        const std::vector<std::int64_t> mine = least;
        const auto count = static_cast<int>(least.size());
        MPI_Allreduce(MPI_IN_PLACE, least.data(), count, MPI_INT64_T, MPI_MIN, replay_.comm);
        for (std::size_t i = 0; i < least.size(); ++i)
            clock[i] = mine[i] == least[i] ? clock[i] : none;
        MPI_Allreduce(MPI_IN_PLACE, clock.data(), count, MPI_INT64_T, MPI_MIN, replay_.comm);
        for (std::size_t i = 0; i < pivots_.size(); ++i)
            if (clock[i] != none)
                pivots_[i] = NodeId{static_cast<std::uint32_t>(clock[i])};
    }

    [[nodiscard]] std::vector<int> owners(Side side) const
    {
        std::vector<int> result;
        for (const model::ProcessId process : members_.group(side))
            result.push_back(replay_.owner_of(process));
        std::ranges::sort(result);
        result.erase(std::unique(result.begin(), result.end()), result.end());
        return result;
    }

    /// Of the owned members by the clock that all are compared with, for instances from `begin` to `end`.
    [[nodiscard]] std::vector<Pivot> own_pivots(Side side, std::size_t begin, std::size_t end) const
    {
        std::vector<Pivot> result(end - begin);
        for (const MemberCalls& member : members_.of(side))
            if (clock_of(replay_.processes[member.process].process) == pivots_[side.value])
                for_each_call(side, member, begin, end,
                              [&](std::size_t n, const rules::Member& part, bool) { result[n - begin].add(part); });
        return result;
    }

    void compare(Side side, std::size_t begin, const std::vector<Pivot>& pivots)
    {
        const NodeId clock = *pivots_[side.value];
        for (const MemberCalls& member : members_.of(side)) {
            const NodeId own = clock_of(replay_.processes[member.process].process);
            if (own == clock)
                continue;
            for_each_call(side, member, begin, begin + pivots.size(),
                          [&](std::size_t n, const rules::Member& part, bool) {
                              const Pivot& pivot = pivots[n - begin];
                              if (!pivot.is_in(part.function))
                                  return;
                              evidence_.add({clock, Ns{pivot.last_enter}}, {own, part.leave});
                              evidence_.add({own, part.enter.time}, {clock, Ns{-pivot.minus_first_leave}});
                          });
        }
    }

    [[nodiscard]] std::size_t own_length(Side side) const
    {
        std::size_t longest = 0;
        for (const MemberCalls& member : members_.of(side))
            longest = std::max(longest, member.calls.size());
        return longest;
    }

    void reduce(Side side)
    {
        std::uint64_t length = own_length(side);
        MPI_Allreduce(MPI_IN_PLACE, &length, 1, MPI_UINT64_T, MPI_MAX, replay_.comm);
        for (std::size_t begin = 0; begin < length; begin += window) {
            auto pivots = own_pivots(side, begin, std::min<std::size_t>(begin + window, length));
            MPI_Allreduce(MPI_IN_PLACE, pivots.data(), static_cast<int>(4 * pivots.size()), MPI_INT64_T, MPI_MAX,
                          replay_.comm);
            compare(side, begin, pivots);
        }
    }

    void exchange(const std::vector<Side>& sides)
    {
        auto out = lists_for<PivotRecord>(replay_.size);
        for (const Side side : sides) {
            const auto pivots = own_pivots(side, 0, own_length(side));
            for (const int owner : owners(side))
                for (std::uint32_t n = 0; n < pivots.size(); ++n)
                    if (pivots[n].function != nothing)
                        out[static_cast<std::size_t>(owner)].push_back({side.value, n, pivots[n]});
        }
        std::unordered_map<std::uint32_t, std::vector<Pivot>> whole;
        for (const PivotRecord& record : replayer::exchange(replay_.comm, out).items) {
            auto& pivots = whole[record.side];
            pivots.resize(std::max<std::size_t>(pivots.size(), record.number + 1));
            pivots[record.number].merge(record.pivot);
        }
        for (const auto& [value, pivots] : whole)
            compare({value}, 0, pivots);
    }

    const Replay& replay_;
    Evidence& evidence_;
    Members members_;
    std::vector<std::optional<NodeId>> pivots_;  // by side
};

}  // namespace

void hear_collectives(const Replay& replay, Evidence& evidence)
{
    Collectives(replay, evidence).hear();
}

}  // namespace critpath::replayer::clocks
