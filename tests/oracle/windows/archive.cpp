// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The records of one-sided communication as the collector writes them (formats/FORMAT.md).
#include "tests/oracle/archive.hpp"

#include "formats/otf2/trace_writer.hpp"
#include "tests/oracle/windows/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace critpath::oracle::windows
{

namespace
{

using otf2::TraceWriter;

/// Each is defined once, whichever part has it.
OTF2_GroupRef group_of(TraceWriter& trace, const std::vector<int>& ranks)
{
    auto& groups = trace.definitions().groups;
    const auto group = otf2::compress({ranks.begin(), ranks.end()});
    const auto found = std::ranges::find(groups, group);
    const auto position = static_cast<std::uint32_t>(found - groups.begin());
    if (found == groups.end())
        groups.push_back(group);
    return otf2::group_reference(position);
}

class RankEvents
{
public:
    RankEvents(TraceWriter& trace, const Program& program, int first_window, otf2::EventWriter& out)
        : trace_(trace), out_(out), first_window_(first_window)
    {
        for (int w = 0; w < program.windows; ++w)
            members_.push_back(program.members_of(w));
    }

    void write(const WindowCall& call, std::uint64_t enter, std::uint64_t leave)
    {
        const Step& step = call.step;
        const auto window = reference(step);
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
            group_ = step.kind == Kind::Start ? group_ : group_of(trace_, step.peers);
            access_group_ = step.kind == Kind::Start ? group_of(trace_, step.peers) : access_group_;
            out_.window_group(leave, window, group_of(trace_, step.peers), OTF2_RMA_SYNC_LEVEL_NONE);
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

private:
    struct Pending {
        int window;
        std::uint32_t target;
        std::uint64_t id;
        bool is_local;  // done at the origin
    };

    [[nodiscard]] OTF2_RmaWinRef reference(const Step& step) const
    {
        return static_cast<OTF2_RmaWinRef>(first_window_ + step.window);
    }

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
        const auto window = reference(step);
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
                out_.done_blocking(time, reference(step), pending.id);
    }

    void complete(const Step& step, std::uint32_t target, std::uint64_t time)
    {
        for (const Pending& pending : pending_)
            if (is_of(pending, step, target))
                out_.done_remote(time, reference(step), pending.id);
        std::erase_if(pending_, [&](const Pending& pending) { return is_of(pending, step, target); });
    }

    void collective(FunctionId function, const Step& step, std::uint64_t enter, std::uint64_t leave)
    {
        const auto window = reference(step);
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
    otf2::EventWriter& out_;
    int first_window_;
    OTF2_GroupRef group_ = OTF2_UNDEFINED_GROUP;
    OTF2_GroupRef access_group_ = OTF2_UNDEFINED_GROUP;
    std::uint64_t transfers_ = 0;
    std::vector<Pending> pending_;           // not known to be done at the target
    std::vector<std::vector<int>> members_;  // by window
};

}  // namespace

PartWriter::PartWriter(TraceWriter& trace, const Program& program, const Machine& machine, const Clocks& clocks)
    : trace_(&trace), program_(&program), machine_(machine), clocks_(clocks),
      first_window_(static_cast<int>(trace.definitions().windows.size()))
{
    for (int w = 0; w < program.windows; ++w) {
        const std::vector<int> members = program.members_of(w);
        const bool is_of_all = members.size() == static_cast<std::size_t>(program.ranks);
        const OTF2_CommRef comm = is_of_all ? TraceWriter::world : trace.communicator({members.begin(), members.end()});
        trace.definitions().windows.push_back({fmt::format("window {}", first_window_ + w), comm});
    }
}

void PartWriter::write(int rank, const WindowExecution& execution, otf2::EventWriter& out, bool is_last) const
{
    RankEvents events(*trace_, *program_, first_window_, out);
    const auto clock = clock_of(rank, machine_, clocks_);
    const std::vector<Times>& times = execution.execution.graph.calls(rank);
    for (std::size_t i = 0; i + (is_last ? 0 : 1) < times.size(); ++i)
        events.write(execution.calls[static_cast<std::size_t>(rank)][i], clock(times[i].enter), clock(times[i].leave));
}

void write_archive(const std::string& directory, const Program& program, const Machine& machine,
                   const WindowExecution& execution, const Clocks& clocks)
{
    TraceWriter trace(directory, static_cast<std::uint32_t>(program.ranks));
    const PartWriter part(trace, program, machine, clocks);
    for (int r = 0; r < program.ranks; ++r) {
        describe_rank(trace, r, machine, execution.execution.graph, clocks);
        const auto clock = clock_of(r, machine, clocks);
        otf2::EventWriter& out = trace.location(static_cast<std::uint32_t>(r));
        out.program_begin(clock(0), trace.string("oracle"), {});
        part.write(r, execution, out, true);
        out.program_end(clock(execution.execution.graph.calls(r).back().enter));
    }
    trace.close();
}

}  // namespace critpath::oracle::windows
