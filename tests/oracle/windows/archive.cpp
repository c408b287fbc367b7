// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The records of one-sided communication as the collector writes them (formats/FORMAT.md).
#include "formats/otf2/trace_writer.hpp"
#include "tests/oracle/windows/program.hpp"

#include <fmt/format.h>

#include <map>

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
    RankEvents(TraceWriter& trace, Groups& groups, int rank)
        : trace_(trace), groups_(groups), out_(trace.location(static_cast<std::uint32_t>(rank)))
    {
    }

    void write(const WindowCall& call, std::uint64_t enter, std::uint64_t leave)
    {
        const Step& step = call.step;
        const auto window = static_cast<OTF2_RmaWinRef>(step.window);
        const auto target = static_cast<std::uint32_t>(step.target);  // all: OTF2_UNDEFINED_UINT32
        const otf2::Lock lock{window, target,
                              static_cast<OTF2_LockType>(step.exclusive ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED)};
        const OTF2_RegionRef region = trace_.mpi(call.function);
        out_.enter(enter, region);
        switch (step.kind) {
        case Kind::Compute:
            break;  // MPI_Finalize
        case Kind::Fence:
            collective(call.function, window, enter, leave);
            break;
        case Kind::Post:
        case Kind::Start:
            group_ = step.kind == Kind::Start ? group_ : groups_.of(step.peers);
            access_group_ = step.kind == Kind::Start ? groups_.of(step.peers) : access_group_;
            out_.window_group(leave, window, groups_.of(step.peers), OTF2_RMA_SYNC_LEVEL_NONE);
            break;
        case Kind::Complete:
        case Kind::Wait:
            out_.window_group(leave, window, step.kind == Kind::Wait ? group_ : access_group_,
                              OTF2_RMA_SYNC_LEVEL_MEMORY);
            break;
        case Kind::Transfer:
            out_.put(enter, {window, target, step.bytes, 0, 2 * transfers_++ + 1});
            break;
        case Kind::Lock:
            out_.lock_request(enter, lock);
            out_.lock_acquire(leave, lock);
            break;
        case Kind::Unlock:
            out_.lock_release(leave, window, target);
            break;
        case Kind::Look:
            if (call.function == FunctionId::MPI_Get) {
                out_.get(enter, {window, target, 0, step.bytes, 2 * transfers_++ + 1});
                break;
            }
            [[fallthrough]];
        case Kind::Flush:
            out_.window_sync(leave, window, target);
            break;
        }
        out_.leave(leave, region);
    }

    void begin() { out_.program_begin(0, trace_.string("oracle"), {}); }
    void end(std::uint64_t time) { out_.program_end(time); }

private:
    void collective(FunctionId function, OTF2_RmaWinRef window, std::uint64_t enter, std::uint64_t leave)
    {
        out_.window_collective_begin(enter);
        if (function == FunctionId::MPI_Win_create)
            out_.window_create(leave, window);
        if (function == FunctionId::MPI_Win_free)
            out_.window_destroy(leave, window);
        out_.window_collective_end(leave, window, otf2::collective_operation(function).value(),
                                   OTF2_RMA_SYNC_LEVEL_PROCESS);
    }

    TraceWriter& trace_;
    Groups& groups_;
    otf2::EventWriter& out_;
    OTF2_GroupRef group_ = OTF2_UNDEFINED_GROUP;
    OTF2_GroupRef access_group_ = OTF2_UNDEFINED_GROUP;
    std::uint64_t transfers_ = 0;
};

}  // namespace

void write_archive(const std::string& directory, const Program& program, const Machine& machine,
                   const WindowExecution& execution)
{
    TraceWriter trace(directory, static_cast<std::uint32_t>(program.ranks));
    for (int w = 0; w < program.windows; ++w)
        trace.definitions().windows.push_back({fmt::format("window {}", w), TraceWriter::world});
    Groups groups(trace);
    const auto ns = [&](std::int64_t ticks) { return static_cast<std::uint64_t>(ticks * machine.tick_ns); };
    for (int r = 0; r < program.ranks; ++r) {
        trace.set_host(static_cast<std::uint32_t>(r), fmt::format("node{}", r / machine.ranks_a_node));
        RankEvents events(trace, groups, r);
        const std::vector<Times>& times = execution.execution.graph.calls(r);
        events.begin();
        for (std::size_t i = 0; i < times.size(); ++i)
            events.write(execution.calls[static_cast<std::size_t>(r)][i], ns(times[i].enter), ns(times[i].leave));
        events.end(ns(times.back().enter));
    }
    trace.close();
}

}  // namespace critpath::oracle::windows
