// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/builder/program.hpp"

#include <algorithm>
#include <array>

namespace critpath::tests
{

using model::CallRef;
using model::CommId;
using model::Ns;

namespace
{

/// Tells each call how many bytes it moved. What is transferred between windows counts where it begins.
void note_sizes(const model::Definitions& definitions, model::ProcessTrace& trace,
                const std::vector<std::uint32_t>& receives)
{
    model::Calls& calls = trace.locations[0].calls;
    std::vector<std::uint64_t> bytes(calls.size(), 0);
    const auto add = [&](CallRef call, std::uint64_t amount) {
        if (call.valid())
            bytes[call.call.value] += amount;
    };
    for (const model::Send& send : trace.sends) {
        add(send.post, send.bytes);
        add(send.completion == send.post ? CallRef{} : send.completion, send.bytes);
    }
    for (const std::uint32_t i : receives)
        add(trace.receives[i].completion, trace.receives[i].bytes);
    for (const model::CollectiveCall& collective : trace.collectives)
        if (std::ranges::count(definitions.windows, collective.comm, &model::Window::comm) == 0)
            add(collective.call, std::max(collective.sent, collective.received));
    for (const model::WindowEvent& event : trace.window_events)
        add(event.what == model::WindowEvent::What::Transfer ? event.call : CallRef{}, event.bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (!calls.is_point(i))
            calls.set_size_bucket(i, model::size_bucket(bytes[i]));
}

}  // namespace

// ----------------------------------------------------------------------------------------------------- Rank

Rank::Rank(Program& program, std::uint32_t rank) : program_(&program)
{
    trace_.process = {rank};
    trace_.locations.emplace_back();
    trace_.locations[0].location = {rank};
    trace_.numbers = model::CallNumbers({rank});
    trace_.sends = model::Sends(trace_.numbers);
    trace_.receives = model::Receives(trace_.numbers);
    trace_.collectives = model::CollectiveCalls(trace_.numbers);
}

CallRef Rank::add(FunctionId function, Span span)
{
    model::LocationTrace& location = trace_.locations[0];
    model::Calls& calls = location.calls;
    calls.add(from_us(span.enter), from_us(span.leave), program_->context(program_->region(function), caller_, site_));
    if (!location.has_finalize)
        location.end = from_us(span.leave);
    return {location.location, {static_cast<std::uint32_t>(calls.size() - 1)}};
}

Request Rank::post_send(CallRef call, SendMode mode, int to, std::uint64_t bytes, int tag)
{
    trace_.sends.push_back({call, {}, comm_, to, tag, mode, bytes});
    return {false, trace_.sends.size() - 1};
}

Request Rank::post_receive(CallRef call, int from, std::uint64_t bytes, int tag)
{
    trace_.receives.push_back({call, {}, {}, comm_, from, tag, bytes});
    cancelled_.push_back(false);
    return {true, trace_.receives.size() - 1};
}

void Rank::complete(CallRef call, Request request)
{
    if (request.receiving)
        trace_.receives.complete(request.index, call);
    else
        trace_.sends.complete(request.index, call);
}

void Rank::send(Span span, int to, std::uint64_t bytes, int tag)
{
    const CallRef call = add(FunctionId::MPI_Send, span);
    complete(call, post_send(call, SendMode::Standard, to, bytes, tag));
}

void Rank::ssend(Span span, int to, std::uint64_t bytes, int tag)
{
    const CallRef call = add(FunctionId::MPI_Ssend, span);
    complete(call, post_send(call, SendMode::Synchronous, to, bytes, tag));
}

void Rank::bsend(Span span, int to, std::uint64_t bytes, int tag)
{
    const CallRef call = add(FunctionId::MPI_Bsend, span);
    complete(call, post_send(call, SendMode::Buffered, to, bytes, tag));
}

void Rank::rsend(Span span, int to, std::uint64_t bytes, int tag)
{
    const CallRef call = add(FunctionId::MPI_Rsend, span);
    complete(call, post_send(call, SendMode::Ready, to, bytes, tag));
}

void Rank::recv(Span span, int from, std::uint64_t bytes, int tag)
{
    const CallRef call = add(FunctionId::MPI_Recv, span);
    complete(call, post_receive(call, from, bytes, tag));
}

void Rank::sendrecv(Span span, int to, int from, std::uint64_t bytes, int tag)
{
    const CallRef call = add(FunctionId::MPI_Sendrecv, span);
    complete(call, post_send(call, SendMode::Standard, to, bytes, tag));
    complete(call, post_receive(call, from, bytes, tag));
}

Request Rank::isend(Span span, int to, std::uint64_t bytes, int tag)
{
    return post_send(add(FunctionId::MPI_Isend, span), SendMode::Standard, to, bytes, tag);
}

Request Rank::issend(Span span, int to, std::uint64_t bytes, int tag)
{
    return post_send(add(FunctionId::MPI_Issend, span), SendMode::Synchronous, to, bytes, tag);
}

Request Rank::irecv(Span span, int from, std::uint64_t bytes, int tag)
{
    return post_receive(add(FunctionId::MPI_Irecv, span), from, bytes, tag);
}

Request Rank::start_send(Span span, int to, std::uint64_t bytes, int tag)
{
    return post_send(add(FunctionId::MPI_Start, span), SendMode::Standard, to, bytes, tag);
}

Request Rank::start_recv(Span span, int from, std::uint64_t bytes, int tag)
{
    return post_receive(add(FunctionId::MPI_Start, span), from, bytes, tag);
}

void Rank::wait(Span span, Request request)
{
    complete(add(FunctionId::MPI_Wait, span), request);
}

void Rank::wait_in(FunctionId function, Span span, Request request)
{
    complete(add(function, span), request);
}

void Rank::waitall(Span span, const std::vector<Request>& requests)
{
    const CallRef call = add(FunctionId::MPI_Waitall, span);
    for (const Request& request : requests)
        complete(call, request);
}

void Rank::waitany(Span span, Request completed)
{
    complete(add(FunctionId::MPI_Waitany, span), completed);
}

void Rank::waitsome(Span span, const std::vector<Request>& completed)
{
    const CallRef call = add(FunctionId::MPI_Waitsome, span);
    for (const Request& request : completed)
        complete(call, request);
}

void Rank::test(Span span, Request completed)
{
    complete(add(FunctionId::MPI_Test, span), completed);
}

void Rank::free_finished(Span span, Request request)
{
    complete(add(FunctionId::MPI_Request_free, span), request);
}

void Rank::wait_cancelled(Span span, Request request)
{
    add(FunctionId::MPI_Wait, span);
    cancelled_[request.index] = true;
}

void Rank::probe(Span span, int from, int tag)
{
    const CallRef call = add(FunctionId::MPI_Probe, span);
    // Only receives that follow can get the message, so its index is known when the trace is made.
    trace_.probes.push_back({call, comm_, from, tag, static_cast<std::uint32_t>(trace_.receives.size())});
}

void Rank::iprobe(Span span, int from, int tag)
{
    const CallRef call = add(FunctionId::MPI_Iprobe, span);
    trace_.probes.push_back({call, comm_, from, tag, static_cast<std::uint32_t>(trace_.receives.size())});
}

Probed Rank::mprobe(Span span)
{
    return {add(FunctionId::MPI_Mprobe, span)};
}

void Rank::mrecv(Span span, Probed message, int from, std::uint64_t bytes, int tag)
{
    const CallRef call = add(FunctionId::MPI_Mrecv, span);
    const Request request = post_receive(call, from, bytes, tag);
    trace_.receives.set_matched(request.index, message.call);
    complete(call, request);
}

Request Rank::imrecv(Span span, Probed message, int from, std::uint64_t bytes, int tag)
{
    const Request request = post_receive(add(FunctionId::MPI_Imrecv, span), from, bytes, tag);
    trace_.receives.set_matched(request.index, message.call);
    return request;
}

void Rank::collective(FunctionId function, Span span, std::uint64_t bytes)
{
    collective(function, span, Program::world(), -1, bytes);
}

void Rank::collective(FunctionId function, Span span, CommId comm, int root, std::uint64_t bytes)
{
    trace_.collectives.push_back({add(function, span), comm, root, bytes, bytes});
}

void Rank::rooted(FunctionId function, Span span, int root, std::uint64_t bytes)
{
    collective(function, span, Program::world(), root, bytes);
}

void Rank::part(FunctionId function, Span span, std::uint64_t sent, std::uint64_t received, CommId comm, int root)
{
    trace_.collectives.push_back({add(function, span), comm, root, sent, received});
}

Request Rank::split_begin(FunctionId function, Span span)
{
    trace_.collectives.push_back({{}, Program::world(), -1, 0, 0, add(function, span)});
    return {false, trace_.collectives.size() - 1};
}

void Rank::split_end(FunctionId function, Span span, Request begun, int root, std::uint64_t bytes, CommId comm)
{
    trace_.collectives.complete(begun.index, add(function, span), comm, root, bytes, bytes);
}

Request Rank::icollective(FunctionId function, Span span)
{
    return split_begin(function, span);
}

Request Rank::start_collective(FunctionId function, Span span)
{
    trace_.collectives.push_back({{}, Program::world(), -1, 0, 0, add(FunctionId::MPI_Start, span), function});
    return {false, trace_.collectives.size() - 1};
}

void Rank::wait_collective(Span span, Request posted, int root, std::uint64_t bytes, CommId comm)
{
    split_end(FunctionId::MPI_Wait, span, posted, root, bytes, comm);
}

void Rank::waitall_collectives(Span span, const std::vector<Request>& posted)
{
    const CallRef call = add(FunctionId::MPI_Waitall, span);
    for (const Request& request : posted)
        trace_.collectives.complete(request.index, call, Program::world(), -1, 8, 8);
}

void Rank::call(FunctionId function, Span span)
{
    add(function, span);
}

Rank& Rank::on(CommId comm)
{
    comm_ = comm;
    return *this;
}

void Rank::begin(std::int64_t time)
{
    trace_.locations[0].begin = from_us(time);
}

void Rank::finish(std::int64_t time)
{
    add(FunctionId::MPI_Finalize, {time, time});
    trace_.locations[0].has_finalize = true;
}

void Rank::die(std::int64_t time)
{
    trace_.locations[0].end = from_us(time);
    trace_.locations[0].recording_end = model::RecordingEnd::Died;
}

void Rank::die_in(FunctionId function, std::int64_t enter)
{
    add(function, {enter, enter});
    die(enter);
    trace_.locations[0].ends_in_call = true;
}

void Rank::run_out_of_room()
{
    trace_.locations[0].recording_end = model::RecordingEnd::Full;
}

void Rank::region(std::int64_t time, const std::string& name)
{
    const auto context = name.empty() ? model::ContextId::none() : program_->context(model::RegionRole::User, {name});
    trace_.locations[0].user_regions.push_back({from_us(time), context});
}

void Rank::called_from(const std::vector<std::string>& path, std::uint64_t site, std::uint64_t function_at)
{
    site_ = site;
    const auto above = program_->context(model::RegionRole::Sampled, {path.begin(), path.end() - 1});
    caller_ = program_->context(program_->region(model::RegionRole::Sampled, path.back()), above, function_at);
}

void Rank::called_along(const std::vector<std::pair<std::string, std::uint64_t>>& path, std::uint64_t site)
{
    site_ = site;
    caller_ = model::ContextId::none();
    for (const auto& [function, at] : path)
        caller_ = program_->context(program_->region(model::RegionRole::Sampled, function), caller_, at);
}

void Rank::sample(std::int64_t time, const std::string& function, std::int64_t weight)
{
    sample(time, std::vector{function}, weight);
}

void Rank::sample(std::int64_t time, const std::vector<std::string>& path, std::int64_t weight, std::uint64_t offset)
{
    program_->definitions_.has_samples = true;
    const auto context = program_->context(model::RegionRole::Sampled, path);
    trace_.locations[0].samples.push_back({from_us(time), context, 0, from_us(weight).count(), offset});
}

void Rank::page_faults(std::uint32_t number)
{
    trace_.locations[0].samples.back().page_faults = number;
}

void Rank::counts(std::int64_t instructions, bool scaled)
{
    counts({{"instructions", instructions}}, scaled);
}

void Rank::counts(const std::vector<std::pair<std::string, std::int64_t>>& events, bool scaled)
{
    program_->definitions_.counted.clear();
    std::vector<std::int64_t> numbers;
    for (const auto& [name, number] : events) {
        program_->definitions_.counted.push_back(name);
        numbers.push_back(number);
    }
    trace_.locations[0].sample_counts.push_back(numbers, scaled);
}

void Rank::counted(std::int64_t instructions, std::int64_t cycles)
{
    trace_.locations[0].counted.resize(trace_.locations[0].calls.size());
    trace_.locations[0].counted.push_back({instructions, cycles});
}

void Rank::between_polls(std::int64_t microseconds)
{
    model::LocationTrace& location = trace_.locations[0];
    location.loose_polls.push_back({{static_cast<std::uint32_t>(location.calls.size() - 1)}, from_us(microseconds)});
}

void Rank::off(Span span, bool preempted, bool has_migrated)
{
    trace_.locations[0].off.push_back(
        {from_us(span.enter), from_us(span.leave), preempted, false, model::WaitsFor::Unknown, has_migrated});
    if (preempted)
        add_return(span);
}

void Rank::blocked(Span span, model::WaitsFor what)
{
    trace_.locations[0].off.push_back({from_us(span.enter), from_us(span.leave), false, true, what});
}

void Rank::tool(Span span)
{
    trace_.locations[0].tool.push_back({from_us(span.enter), from_us(span.leave)});
    add_return(span);
}

/// As the loader does. A span that is told late has no point.
void Rank::add_return(Span span)
{
    model::Calls& calls = trace_.locations[0].calls;
    if (calls.empty() || span.leave - span.enter < 20 || from_us(span.enter) < calls.leave(calls.size() - 1))
        return;
    const model::RegionId region = program_->definitions_.contexts[calls.context(calls.size() - 1).value].region;
    if (functions::may_look_at_memory(functions::semantic_class(program_->definitions_.regions[region.value].function)))
        calls.add_point(from_us(span.leave));
}

void Rank::switched_off(Span span)
{
    trace_.locations[0].unrecorded.push_back({from_us(span.enter), from_us(span.leave)});
}

// -------------------------------------------------------------------------------------------------- Program

Program::Program(int ranks)
{
    model::Communicator world;
    world.name = "MPI_COMM_WORLD";
    model::Communicator self;
    self.name = "MPI_COMM_SELF";
    self.is_self = true;
    for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(ranks); ++r) {
        const std::string name = "rank " + std::to_string(r);
        definitions_.processes.push_back({name, "node", {0}, {{r}}});
        definitions_.locations.push_back({name, {r}, r, 0});
        world.members.push_back({r});
        ranks_.push_back(Rank(*this, r));
    }
    definitions_.communicators = {world, self};
}

CommId Program::comm(std::initializer_list<std::uint32_t> members)
{
    model::Communicator comm;
    for (const std::uint32_t member : members)
        comm.members.push_back({member});
    definitions_.communicators.push_back(comm);
    return {static_cast<std::uint32_t>(definitions_.communicators.size() - 1)};
}

CommId Program::intercomm(std::initializer_list<std::uint32_t> first, std::initializer_list<std::uint32_t> second)
{
    const CommId id = comm(first);
    model::Communicator& inter = definitions_.communicators[id.value];
    inter.is_inter = true;
    for (const std::uint32_t member : second)
        inter.remote.push_back({member});
    return id;
}

void Program::clocks(const std::vector<std::uint32_t>& of_rank, const std::vector<std::int64_t>& uncertainty)
{
    for (std::size_t r = 0; r < of_rank.size(); ++r)
        definitions_.processes[r].clock_domain = {of_rank[r]};
    for (const std::int64_t time : uncertainty)
        definitions_.clock_uncertainty.push_back(from_us(time));
}

void Program::nodes(const std::vector<std::string>& of_rank)
{
    for (std::size_t r = 0; r < of_rank.size(); ++r)
        definitions_.processes[r].node = of_rank[r];
}

void Program::neighbours(CommId comm, std::uint32_t rank, const std::vector<std::uint32_t>& sources)
{
    definitions_.communicators[comm.value].neighbours.set(rank, sources);
}

void Program::finish(std::int64_t time)
{
    for (Rank& rank : ranks_)
        if (!rank.trace_.locations[0].has_finalize)
            rank.finish(time);
    for (Rank& rank : ranks_) {
        model::LocationTrace& location = rank.trace_.locations[0];
        location.end = location.calls.enters().back();
    }
}

model::ProcessTrace Program::trace(int number) const
{
    const Rank& rank = ranks_[static_cast<std::size_t>(number)];
    model::ProcessTrace trace = rank.trace_;
    std::vector<std::uint32_t> new_index(trace.receives.size(), UINT32_MAX);
    std::vector<std::uint32_t> kept;
    for (std::size_t i = 0; i < trace.receives.size(); ++i) {
        if (rank.cancelled_[i]) {
            ++trace.anomalies.cancelled_receives;
        } else if (!trace.receives[i].completion.valid()) {
            ++trace.anomalies.unfinished_requests;
        } else {
            new_index[i] = static_cast<std::uint32_t>(kept.size());
            kept.push_back(static_cast<std::uint32_t>(i));
        }
    }
    note_sizes(definitions_, trace, kept);
    for (model::Probe& probe : trace.probes) {
        std::uint32_t i = probe.receive;
        const auto is_it = [&](const model::Receive& r) {
            return r.comm == probe.comm && r.source == probe.source && r.tag == probe.tag;
        };
        while (i < trace.receives.size() && !is_it(trace.receives[i]))
            ++i;
        probe.receive = i < trace.receives.size() ? new_index[i] : UINT32_MAX;
    }
    trace.receives.select(kept);
    return trace;
}

model::RegionId Program::region(FunctionId function)
{
    const auto [entry, is_new] = functions_.try_emplace(function);
    if (is_new) {
        model::Region region;
        region.role = model::RegionRole::Mpi;
        region.function = function;
        region.name = function == FunctionId::none ? "MPI_Not_yet_invented" : functions::info(function).name;
        definitions_.regions.push_back(region);
        entry->second = {static_cast<std::uint32_t>(definitions_.regions.size() - 1)};
    }
    return entry->second;
}

model::RegionId Program::region(model::RegionRole role, const std::string& name)
{
    const auto [entry, is_new] = regions_.try_emplace({role, name});
    if (is_new) {
        model::Region region;
        region.role = role;
        region.name = name;
        region.module = role == model::RegionRole::Sampled ? "/bin/app" : "";
        definitions_.regions.push_back(region);
        entry->second = {static_cast<std::uint32_t>(definitions_.regions.size() - 1)};
    }
    return entry->second;
}

model::ContextId Program::context(model::RegionId region, model::ContextId parent, std::uint64_t site)
{
    const auto [entry, is_new] = contexts_.try_emplace({region, parent, site});
    if (is_new) {
        definitions_.contexts.push_back({region, parent, site});
        entry->second = {static_cast<std::uint32_t>(definitions_.contexts.size() - 1)};
    }
    return entry->second;
}

model::ContextId Program::context(model::RegionRole role, const std::vector<std::string>& path)
{
    model::ContextId context = model::ContextId::none();
    for (const std::string& name : path)
        context = this->context(region(role, name), context);
    return context;
}

}  // namespace critpath::tests
