// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/archive.hpp"

#include "formats/otf2/trace_writer.hpp"
#include "tests/oracle/needed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace critpath::oracle
{

namespace
{

using functions::SemanticClass;
using otf2::TraceWriter;

/// Of non-blocking collectives, each third is written as one that was initialised before: MPI_Start begins it.
bool is_started(const Call& call)
{
    return functions::semantic_class(call.function) == SemanticClass::Icollective && !call.collectives_posted.empty() &&
           call.collectives_posted.front().request % 3 == 0;
}

class RankEvents
{
public:
    /// `clock` translates ticks to the time that the rank's clock shows.
    RankEvents(TraceWriter& trace, const Program& program, const std::vector<OTF2_CommRef>& comms,
               std::function<std::uint64_t(std::int64_t)> clock, otf2::EventWriter& out)
        : trace_(trace), program_(program), comms_(comms), clock_(std::move(clock)), out_(out)
    {
    }

    void begin(std::int64_t time) { out_.program_begin(ns(time), trace_.string("oracle"), {}); }
    void know_graphs(std::int64_t time, int rank)
    {
        for (const auto& [comm, sources] : program_.graphs) {
            const std::vector<int>& members = program_.comms[comm];
            const auto member = std::ranges::find(members, rank);
            if (member != members.end())
                know(time, comm, sources[static_cast<std::size_t>(member - members.begin())]);
        }
    }
    void know(std::int64_t time, std::size_t comm, const std::vector<int>& in_neighbours)
    {
        const std::set<std::uint32_t> ranks(in_neighbours.begin(), in_neighbours.end());
        out_.comm_create(ns(time), comms_[comm], &ranks);
    }
    void end(std::int64_t time) { out_.program_end(ns(time)); }
    void write(const ToolTime& tool)
    {
        out_.measurement(ns(tool.begin), false);
        out_.measurement(ns(tool.end), true);
    }

    void write(const Call& call, const Times& times)
    {
        const OTF2_RegionRef region = trace_.mpi(is_started(call) ? FunctionId::MPI_Start : call.function);
        const std::uint64_t enter = ns(times.enter), leave = ns(times.leave);
        out_.enter(enter, region);
        for (const Message& message : call.posted)
            post(enter, message);
        for (const CollectiveOperation& operation : call.collectives_posted) {
            out_.collective_request(enter, comms_[operation.comm], operation.request,
                                    is_started(call) ? std::optional(call.function) : std::nullopt);
        }
        if (call.makes != 0)
            out_.comm_create(leave, comms_[call.makes]);
        const bool blocking = !call.collectives_completed.empty() && call.collectives_completed.front().request == 0;
        if (blocking && otf2::collective_operation(call.function))
            out_.collective_begin(enter);
        for (const Message& message : call.completed)
            complete(leave, message);
        for (const CollectiveOperation& operation : call.collectives_completed)
            complete(leave, operation);
        if (call.has_probed)
            describe(call.probed);
        out_.leave(leave, region);
    }

private:
    [[nodiscard]] std::uint64_t ns(std::int64_t ticks) const { return clock_(ticks); }

    /// In an inter-communicator, a rank of its own group.
    [[nodiscard]] int rank_of_peer(const Message& message) const
    {
        const auto first = program_.first_groups.find(message.comm);
        const int border = first == program_.first_groups.end() ? 0 : static_cast<int>(first->second);
        return message.peer < border ? message.peer : message.peer - border;
    }

    [[nodiscard]] otf2::Envelope envelope(const Message& message) const
    {
        return {rank_of_peer(message), comms_[message.comm], message.tag, message.bytes};
    }

    static std::optional<std::uint64_t> probed(const Message& message)
    {
        return message.probed == 0 ? std::nullopt : std::optional(message.probed);
    }

    void post(std::uint64_t time, const Message& message)
    {
        if (message.receiving)
            out_.irecv_request(time, message.request, probed(message));
        else if (message.request == 0)
            out_.send(time, envelope(message));
        else
            out_.isend(time, envelope(message), message.request,
                       message.mode == SendMode::Standard ? SendMode::None : message.mode);
    }

    void complete(std::uint64_t time, const Message& message)
    {
        if (message.cancelled)
            out_.request_cancelled(time, message.request);
        else if (!message.receiving)
            out_.isend_complete(time, message.request);
        else if (message.request != 0)
            out_.irecv(time, envelope(message), message.request);
        else
            out_.recv(time, envelope(message), probed(message));
    }

    void complete(std::uint64_t time, const CollectiveOperation& operation)
    {
        const auto known = otf2::collective_operation(operation.function);
        if (makes_its_own(operation.function))
            out_.comm_create(time, comms_[operation.comm]);
        if (functions::semantic_class(operation.function) == SemanticClass::CommFree)
            out_.comm_destroy(time, comms_[operation.comm]);
        if (!known)
            return;
        // OTF2_COLLECTIVE_ROOT_NONE, _SELF and _THIS_GROUP are -1, -2 and -3.
        const otf2::CollectiveEnd end{known.value(), comms_[operation.comm], static_cast<std::uint32_t>(operation.root),
                                      operation.sent, operation.received};
        if (operation.request == 0)
            out_.collective_end(time, end);
        else
            out_.collective_complete(time, end, operation.request);
    }

    void describe(const Message& probed)
    {
        out_.attach(otf2::Attribute::Source, static_cast<std::int32_t>(rank_of_peer(probed)));
        out_.attach(otf2::Attribute::Tag, static_cast<std::int32_t>(probed.tag));
        out_.attach(otf2::Attribute::Comm, comms_[probed.comm]);
        if (probed.probed != 0)
            out_.attach(otf2::Attribute::Message, probed.probed);
    }

    TraceWriter& trace_;
    const Program& program_;
    const std::vector<OTF2_CommRef>& comms_;
    std::function<std::uint64_t(std::int64_t)> clock_;
    otf2::EventWriter& out_;
};

OTF2_CommRef define_communicator(TraceWriter& trace, const Program& program, std::size_t comm)
{
    const std::vector<int>& members = program.comms[comm];
    if (const auto first = program.first_groups.find(comm); first != program.first_groups.end()) {
        const auto border = members.begin() + static_cast<std::ptrdiff_t>(first->second);
        return trace.inter_communicator({members.begin(), border}, {border, members.end()});
    }
    const OTF2_CommRef result = trace.communicator(members);
    if (const auto grid = program.grids.find(comm); grid != program.grids.end())
        for (const auto& [size, is_periodic] : grid->second)
            trace.definitions().communicators[result].grid.push_back({static_cast<std::uint32_t>(size), is_periodic});
    return result;
}

std::vector<OTF2_CommRef> define_communicators(TraceWriter& trace, const Program& program)
{
    std::vector<OTF2_CommRef> comms{TraceWriter::world};
    for (std::size_t c = 1; c < program.comms.size(); ++c)
        comms.push_back(define_communicator(trace, program, c));
    return comms;
}

/// What the collector measures: an interval that contains true time minus the time that the clock shows.
otf2::ClockPoint measurement(const Clocks& clocks, std::size_t node, std::int64_t ns)
{
    const std::int64_t shown = clocks.shown(node, ns);
    const NodeClock own = node < clocks.nodes.size() ? clocks.nodes[node] : NodeClock{};
    const std::int64_t error = (node % 2 == 0 ? clocks.error_ns : -clocks.error_ns) + own.more_error_ns;
    return {static_cast<std::uint64_t>(shown), clocks.epoch_ns + ns - shown + error,
            clocks.half_width_ns + own.more_half_width_ns};
}

}  // namespace

std::int64_t Clocks::shown(std::size_t node, std::int64_t ns) const
{
    if (nodes.empty())
        return epoch_ns + ns;
    constexpr std::int64_t billion = 1'000'000'000;
    const NodeClock& clock = nodes.at(node);
    return epoch_ns + ns + clock.offset_ns + ns / billion * clock.drift_ppb + ns % billion * clock.drift_ppb / billion;
}

void describe_rank(TraceWriter& trace, int rank, const Machine& machine, const Graph& graph, const Clocks& clocks)
{
    const auto number = static_cast<std::uint32_t>(rank);
    const auto node = static_cast<std::size_t>(rank / machine.ranks_a_node);
    trace.set_host(number, fmt::format("node{}", node));
    if (clocks.said != Clocks::Said::Nothing)
        trace.definitions().processes[number].properties["boot_id"] =
            clocks.said == Clocks::Said::OneClock ? "one" : fmt::format("boot{}", node);
    if (clocks.said == Clocks::Said::Measured)
        trace.set_clock(number, {measurement(clocks, node, graph.first() * machine.tick_ns),
                                 measurement(clocks, node, graph.last() * machine.tick_ns)});
}

std::function<std::uint64_t(std::int64_t)> clock_of(int rank, const Machine& machine, const Clocks& clocks)
{
    const auto node = static_cast<std::size_t>(rank / machine.ranks_a_node);
    return [node, clocks, tick_ns = machine.tick_ns](std::int64_t ticks) {
        return static_cast<std::uint64_t>(clocks.shown(node, ticks * tick_ns));
    };
}

void write_archive(const std::string& directory, const Program& program, const Machine& machine,
                   const Execution& execution, const Clocks& clocks)
{
    TraceWriter trace(directory, static_cast<std::uint32_t>(program.ranks));
    const std::vector<OTF2_CommRef> comms = define_communicators(trace, program);
    std::map<int, std::uint32_t> threads;  // of each rank, so far
    for (const int thread : execution.locations) {
        const int r = program.rank_of(thread);
        const auto rank = static_cast<std::uint32_t>(r);
        if (thread == r)
            describe_rank(trace, r, machine, execution.graph, clocks);
        RankEvents events(trace, program, comms, clock_of(r, machine, clocks), trace.location(rank, threads[r]++));
        const std::vector<Times>& times = execution.graph.calls(thread);
        if (thread == r) {
            const std::int64_t begin = execution.graph.begin(thread);
            events.begin(begin);
            events.know_graphs(begin, r);
        }
        auto tool = execution.tool[static_cast<std::size_t>(thread)].begin();
        for (std::size_t i = 0; i < times.size(); ++i) {
            for (; tool != execution.tool[static_cast<std::size_t>(thread)].end() && tool->end <= times[i].enter;
                 ++tool)
                events.write(*tool);
            events.write(execution.calls[static_cast<std::size_t>(thread)][i], times[i]);
        }
        if (thread == r)
            events.end(times.back().enter);
    }
    trace.close();
}

namespace
{

/// Requests and probed messages of other parts have other numbers.
Call renumbered(Call call, std::uint64_t first)
{
    const auto number = [&](std::uint64_t& id) { id += id != 0 ? first : 0; };
    for (std::vector<Message>* messages : {&call.posted, &call.completed})
        for (Message& message : *messages) {
            number(message.request);
            number(message.probed);
        }
    for (std::vector<CollectiveOperation>* operations : {&call.collectives_posted, &call.collectives_completed})
        for (CollectiveOperation& operation : *operations)
            number(operation.request);
    number(call.probed.probed);
    return call;
}

}  // namespace

PartWriter::PartWriter(TraceWriter& trace, const Program& program, const Machine& machine, const Clocks& clocks)
    : trace_(&trace), program_(&program), machine_(machine), clocks_(clocks),
      comms_(define_communicators(trace, program)),
      first_id_(std::uint64_t{trace.definitions().communicators.size()} << 40U)
{
}

void PartWriter::write(int rank, const Execution& execution, otf2::EventWriter& out, bool is_last) const
{
    RankEvents events(*trace_, *program_, comms_, clock_of(rank, machine_, clocks_), out);
    const std::vector<Times>& times = execution.graph.calls(rank);
    events.know_graphs(times.front().enter, rank);
    for (std::size_t i = 0; i + (is_last ? 0 : 1) < times.size(); ++i)
        events.write(renumbered(execution.calls[static_cast<std::size_t>(rank)][i], first_id_), times[i]);
}

}  // namespace critpath::oracle
