// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The records of one-sided communication as the collector writes them (formats/FORMAT.md).
#include "formats/otf2/trace_writer.hpp"
#include "tests/oracle/windows/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace critpath::oracle::windows
{

namespace
{

using otf2::TraceWriter;

/// References of groups, each defined once.
class Groups
{
public:
    explicit Groups(TraceWriter& trace) : trace_(trace) {}

    OTF2_GroupRef of(const std::vector<int>& ranks)
    {
        const auto [entry, is_new] = references_.try_emplace(ranks, 0);
        if (is_new) {
            auto& groups = trace_.definitions().groups;
            entry->second = otf2::group_reference(static_cast<std::uint32_t>(groups.size()));
            groups.push_back(otf2::compress({ranks.begin(), ranks.end()}));
        }
        return entry->second;
    }

private:
    TraceWriter& trace_;
    std::map<std::vector<int>, OTF2_GroupRef> references_;
};

class RankEvents
{
public:
    RankEvents(TraceWriter& trace, Groups& groups, const Program& program, int rank)
        : trace_(trace), groups_(groups), out_(trace.location(static_cast<std::uint32_t>(rank)))
    {
        for (int w = 0; w < program.windows; ++w)
            members_.push_back(program.members_of(w));
    }

    void write(const WindowCall& call, std::uint64_t enter, std::uint64_t leave)
    {
        const Step& step = call.step;
        const auto window = static_cast<OTF2_RmaWinRef>(step.window);
        const std::uint32_t target = rank_in_window(step);
        const otf2::Lock lock{window, target,
                              static_cast<OTF2_LockType>(step.exclusive ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED)};
        const OTF2_RegionRef region = trace_.mpi(call.function);
        out_.enter(enter, region);
        switch (step.kind) {
        case Kind::Compute:
            break;  // MPI_Finalize
        case Kind::Fence:
            complete(step, target, leave);
            collective(call.function, step, enter, leave);
            break;
        case Kind::Post:
        case Kind::Start:
            group_ = step.kind == Kind::Start ? group_ : groups_.of(step.peers);
            access_group_ = step.kind == Kind::Start ? groups_.of(step.peers) : access_group_;
            out_.window_group(leave, window, groups_.of(step.peers), OTF2_RMA_SYNC_LEVEL_NONE);
            break;
        case Kind::Wait:
            if (call.is_vain)
                break;
            [[fallthrough]];
        case Kind::Complete:
            if (step.kind == Kind::Complete)
                complete(step, target, leave);
            out_.window_group(leave, window, step.kind == Kind::Wait ? group_ : access_group_,
                              OTF2_RMA_SYNC_LEVEL_MEMORY);
            break;
        case Kind::Transfer:
            transfer(call.function, step, target, enter);
            break;
        case Kind::Lock:
            out_.lock_request(enter, lock);
            out_.lock_acquire(leave, lock);
            break;
        case Kind::Unlock:
            complete(step, target, leave);
            out_.lock_release(leave, window, target);
            break;
        case Kind::Look:
            if (call.function == FunctionId::MPI_Get) {
                transfer(call.function, step, target, enter);
                break;
            }
            [[fallthrough]];
        case Kind::Flush:
            if (is_local(call.function)) {
                complete_locally(step, target, leave);
                break;
            }
            complete(step, target, leave);
            out_.window_sync(leave, window, target);
            break;
        }
        out_.leave(leave, region);
    }

    void begin() { out_.program_begin(0, trace_.string("oracle"), {}); }
    void end(std::uint64_t time) { out_.program_end(time); }

private:
    struct Pending {
        int window;
        std::uint32_t target;
        std::uint64_t id;
        bool is_local;  // done at the origin
    };

    static bool is_local(FunctionId function)
    {
        return function == FunctionId::MPI_Win_flush_local || function == FunctionId::MPI_Win_flush_local_all;
    }

    [[nodiscard]] std::uint32_t rank_in_window(const Step& step) const
    {
        const std::vector<int>& members = members_[static_cast<std::size_t>(step.window)];
        const auto member = std::ranges::find(members, step.target);
        return member == members.end() ? OTF2_UNDEFINED_UINT32 : static_cast<std::uint32_t>(member - members.begin());
    }

    void transfer(FunctionId function, const Step& step, std::uint32_t target, std::uint64_t time)
    {
        const auto window = static_cast<OTF2_RmaWinRef>(step.window);
        const std::uint64_t id = 2 * transfers_++ + 1;
        pending_.push_back({step.window, target, id, false});
        if (function == FunctionId::MPI_Get)
            out_.get(time, {window, target, 0, step.bytes, id});
        else if (function == FunctionId::MPI_Accumulate)
            out_.atomic(time, {window, target, step.bytes, 0, id}, OTF2_RMA_ATOMIC_TYPE_ACCUMULATE);
        else
            out_.put(time, {window, target, step.bytes, 0, id});
    }

    static bool is_of(const Pending& pending, const Step& step, std::uint32_t target)
    {
        return pending.window == step.window && (target == OTF2_UNDEFINED_UINT32 || pending.target == target);
    }

    void complete_locally(const Step& step, std::uint32_t target, std::uint64_t time)
    {
        for (Pending& pending : pending_)
            if (is_of(pending, step, target) && !std::exchange(pending.is_local, true))
                out_.done_blocking(time, static_cast<OTF2_RmaWinRef>(step.window), pending.id);
    }

    void complete(const Step& step, std::uint32_t target, std::uint64_t time)
    {
        for (const Pending& pending : pending_)
            if (is_of(pending, step, target))
                out_.done_remote(time, static_cast<OTF2_RmaWinRef>(step.window), pending.id);
        std::erase_if(pending_, [&](const Pending& pending) { return is_of(pending, step, target); });
    }

    void collective(FunctionId function, const Step& step, std::uint64_t enter, std::uint64_t leave)
    {
        const auto window = static_cast<OTF2_RmaWinRef>(step.window);
        out_.window_collective_begin(enter);
        if (function == FunctionId::MPI_Win_create)
            out_.window_create(leave, window);
        if (function == FunctionId::MPI_Win_free)
            out_.window_destroy(leave, window);
        const auto level = static_cast<OTF2_RmaSyncLevel>(!step.precedes ? OTF2_RMA_SYNC_LEVEL_NONE
                                                          : function == FunctionId::MPI_Win_fence
                                                              ? OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY
                                                              : OTF2_RMA_SYNC_LEVEL_PROCESS);
        if (!step.precedes)
            out_.attach(otf2::Attribute::Assertions, static_cast<std::uint32_t>(otf2::assert_no_precede));
        out_.window_collective_end(leave, window, otf2::collective_operation(function).value(), level);
    }

    TraceWriter& trace_;
    Groups& groups_;
    otf2::EventWriter& out_;
    OTF2_GroupRef group_ = OTF2_UNDEFINED_GROUP;
    OTF2_GroupRef access_group_ = OTF2_UNDEFINED_GROUP;
    std::uint64_t transfers_ = 0;
    std::vector<Pending> pending_;           // not known to be done at the target
    std::vector<std::vector<int>> members_;  // by window
};

}  // namespace

void write_archive(const std::string& directory, const Program& program, const Machine& machine,
                   const WindowExecution& execution)
{
    TraceWriter trace(directory, static_cast<std::uint32_t>(program.ranks));
    for (int w = 0; w < program.windows; ++w) {
        const std::vector<int> members = program.members_of(w);
        const bool is_of_all = members.size() == static_cast<std::size_t>(program.ranks);
        const OTF2_CommRef comm = is_of_all ? TraceWriter::world : trace.communicator({members.begin(), members.end()});
        trace.definitions().windows.push_back({fmt::format("window {}", w), comm});
    }
    Groups groups(trace);
    const auto ns = [&](std::int64_t ticks) { return static_cast<std::uint64_t>(ticks * machine.tick_ns); };
    for (int r = 0; r < program.ranks; ++r) {
        trace.set_host(static_cast<std::uint32_t>(r), fmt::format("node{}", r / machine.ranks_a_node));
        RankEvents events(trace, groups, program, r);
        const std::vector<Times>& times = execution.execution.graph.calls(r);
        events.begin();
        for (std::size_t i = 0; i < times.size(); ++i)
            events.write(execution.calls[static_cast<std::size_t>(r)][i], ns(times[i].enter), ns(times[i].leave));
        events.end(ns(times.back().enter));
    }
    trace.close();
}

}  // namespace critpath::oracle::windows
