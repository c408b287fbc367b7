// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/simulation/messages.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace critpath::oracle
{

namespace
{

bool fits(const Message& receive, const Travelling& message)
{
    return receive.comm == message.comm && (receive.peer == any_source || receive.peer == message.source) &&
           (receive.tag == any_tag || receive.tag == message.tag);
}

}  // namespace

Messages::Messages(World& world)
    : world_(world), scheduler_(world.scheduler), machine_(world.machine), loop_(world),
      inboxes_(at(world.program.ranks)), buffers_(at(world.program.ranks))
{
}

// ------------------------------------------------------------------------------------------------------ matching

Posted* Messages::add(const Node& call, bool receiving, int request, const Step& step, int peer)
{
    Message message;
    message.receiving = receiving;
    message.peer = peer;
    message.tag = step.tag;
    message.comm = step.comm;
    message.bytes = step.bytes;
    message.mode = receiving ? SendMode::None : step.mode;
    return world_.requests.add({call.rank, request, call, scheduler_.now(), message});
}

void Messages::post_send(Posted* send)
{
    const std::int64_t now = scheduler_.now();
    const Message& message = send->message;
    const int from = world_.rank_of(send->rank);
    const int to = world_.world_rank(message.comm, message.peer);
    const bool is_held = machine_.is_held(message.mode, message.bytes);
    if (machine_.is_eager(message.mode, message.bytes) && !is_held) {
        send->done = Done{now + machine_.call, {}};
        world_.notify_at(send->done->time, send->rank);
    }
    if (message.mode == SendMode::Buffered && !machine_.is_eager(SendMode::Standard, message.bytes))
        buffers_[at(from)].push_back(send);
    // The envelope travels with the data if they fit into one packet.
    const std::int64_t time = machine_.transfer(from, to, message.bytes <= machine_.eager_limit ? message.bytes : 0);
    std::int64_t& last = last_arrival_[{message.comm, from, to}];
    last = std::max(last, now + time + world_.draw(machine_.jitter));  // they do not overtake each other
    const Travelling travelling{send, message.comm, world_.rank_in(message.comm, from), message.tag, last};
    scheduler_.later(last, [this, to, travelling] { arrive(to, travelling); });
    if (is_held)
        scheduler_.later(last, [this, to, travelling] { hold(to, travelling); });
}

/// The send is over when the other rank is in a call.
void Messages::hold(int to, const Travelling& message)
{
    world_.when_inside(to, [this, message](const std::optional<Node>& enter) {
        Posted* send = message.send;
        const std::int64_t done = scheduler_.now() + machine_.call;
        send->done = Done{done, {{send->post, {}, message.there - send->time + machine_.call}}};
        if (enter)
            send->done->because.push_back({*enter, {}, machine_.call});
        world_.notify_at(done, send->rank);
    });
}

void Messages::arrive(int to, const Travelling& message)
{
    Inbox& inbox = inboxes_[at(to)];
    const auto open = std::ranges::find_if(inbox.open_receives,
                                           [&](const Posted* receive) { return fits(receive->message, message); });
    if (open == inbox.open_receives.end()) {
        inbox.unexpected.push_back(message);
        world_.notify_threads(to);  // a probe
        return;
    }
    Posted* receive = *open;
    inbox.open_receives.erase(open);
    match(receive, message);
}

void Messages::post_receive(Posted* receive)
{
    Inbox& inbox = inboxes_[at(world_.rank_of(receive->rank))];
    const auto there = std::ranges::find_if(inbox.unexpected,
                                            [&](const Travelling& message) { return fits(receive->message, message); });
    if (there == inbox.unexpected.end()) {
        inbox.open_receives.push_back(receive);
        return;
    }
    const Travelling message = *there;
    inbox.unexpected.erase(there);
    match(receive, message);
}

void Messages::match(Posted* receive, const Travelling& message)
{
    Posted* send = message.send;
    receive->message.peer = message.source;
    receive->message.tag = message.tag;
    receive->message.bytes = send->message.bytes;
    const std::int64_t transfer =
        machine_.transfer(world_.rank_of(send->rank), world_.rank_of(receive->rank), send->message.bytes);
    if (machine_.is_eager(send->message.mode, send->message.bytes)) {
        const std::int64_t time = std::max(message.there - send->time, transfer);
        receive->done = Done{send->time + time, {{send->post, {}, time}}};
        finish(receive, send);
        if (send->message.mode == SendMode::Buffered)
            take_from_buffer(message, receive->post, transfer);
        return;
    }
    const std::vector<Node> posts{send->post, receive->post};
    if (machine_.progress)
        return meet(receive, message, posts);
    world_.when_inside(world_.rank_of(send->rank), [this, receive, message, posts](const std::optional<Node>& sender) {
        std::vector<Node> since = posts;
        if (sender)
            since.push_back(*sender);
        world_.when_inside(world_.rank_of(receive->rank),
                           [this, receive, message, since](const std::optional<Node>& receiver) {
                               std::vector<Node> all = since;
                               if (receiver)
                                   all.push_back(*receiver);
                               meet(receive, message, all);
                           });
    });
}

/// The receiver has got its copy already; the buffer is free when both ends have met.
void Messages::take_from_buffer(const Travelling& message, const Node& receive, std::int64_t transfer)
{
    const Posted* send = message.send;
    const std::int64_t start = std::max(scheduler_.time_of(send->post), scheduler_.time_of(receive));
    const std::int64_t done = std::max(start + transfer, message.there);
    taken_[send] = {done, {{send->post, {}, done - start}, {receive, {}, done - start}}};
    world_.notify_at(done, world_.rank_of(send->rank));
}

/// The transfer begins when all of `since` have been entered.
void Messages::meet(Posted* receive, const Travelling& message, const std::vector<Node>& since)
{
    Posted* send = message.send;
    std::int64_t start = 0;
    for (const Node& enter : since)
        start = std::max(start, scheduler_.time_of(enter));
    const std::int64_t transfer =
        machine_.transfer(world_.rank_of(send->rank), world_.rank_of(receive->rank), send->message.bytes);
    // Not before the envelope is there: jitter may make that later.
    const std::int64_t done = std::max(start + transfer + world_.draw(machine_.jitter), message.there);
    receive->done = send->done = Done{done, {}};
    for (const Node& enter : since) {
        receive->done->because.push_back({enter, {}, done - start});
        send->done->because.push_back({enter, {}, done - start});
    }
    finish(receive, send);
}

void Messages::finish(const Posted* receive, const Posted* send)
{
    for (const Posted* posted : {receive, send})
        if (posted->done)
            world_.notify_at(posted->done->time, posted->rank);
}

// --------------------------------------------------------------------------------------------------------- calls

void Messages::send(int rank, const Step& step)
{
    const Node call = scheduler_.enter(rank, step.function);
    Posted* send = add(call, false, -1, step, step.peer);
    scheduler_.call_of(call).posted.push_back(send->message);
    post_send(send);
    scheduler_.wait(rank, [this, call, send] {
        if (!world_.is_done(send))
            return false;
        scheduler_.leave(call, machine_.call, send->done->because);
        return true;
    });
}

void Messages::finish_receive(const Node& call, const Posted* receive)
{
    scheduler_.wait(call.rank, [this, call, receive] {
        if (!world_.is_done(receive))
            return false;
        scheduler_.call_of(call).completed.push_back(receive->message);
        scheduler_.leave(call, machine_.call, receive->done->because);
        return true;
    });
}

void Messages::receive(int rank, const Step& step)
{
    const Node call = scheduler_.enter(rank, step.function);
    Posted* receive = add(call, true, -1, step, step.peer);
    post_receive(receive);
    finish_receive(call, receive);
}

void Messages::sendrecv(int rank, const Step& step)
{
    const Node call = scheduler_.enter(rank, step.function);
    Posted* send = add(call, false, -1, step, step.peer);
    Posted* receive = add(call, true, -1, step, step.source);
    scheduler_.call_of(call).posted.push_back(send->message);
    post_receive(receive);
    post_send(send);
    scheduler_.wait(rank, [this, call, send, receive] {
        if (!world_.is_done(send) || !world_.is_done(receive))
            return false;
        scheduler_.call_of(call).completed.push_back(receive->message);
        std::vector<Edge> because = send->done->because;
        because.insert(because.end(), receive->done->because.begin(), receive->done->because.end());
        scheduler_.leave(call, machine_.call, because);
        return true;
    });
}

void Messages::begin(const Node& call, const Step& step)
{
    const bool receiving = step.kind == Kind::Irecv;
    Posted* posted = add(call, receiving, step.request, step, step.peer);
    scheduler_.call_of(call).posted.push_back(posted->message);
    if (receiving)
        post_receive(posted);
    else
        post_send(posted);
}

void Messages::post(int rank, const Step& step)
{
    const Node call = scheduler_.enter(rank, step.function);
    begin(call, step);
    scheduler_.leave(call, machine_.call);
}

void Messages::start_all(int rank, const Step& step)
{
    const Node call = scheduler_.enter(rank, step.function);
    for (const Step& start : step.starts)
        begin(call, start);
    scheduler_.leave(call, machine_.call);
}

// -------------------------------------------------------------------------------------------------------- probes

const Travelling* Messages::find_unexpected(int rank, const Step& step)
{
    Message wanted;
    wanted.peer = step.peer;
    wanted.tag = step.tag;
    wanted.comm = step.comm;
    const std::vector<Travelling>& unexpected = inboxes_[at(world_.rank_of(rank))].unexpected;
    const auto found =
        std::ranges::find_if(unexpected, [&](const Travelling& message) { return fits(wanted, message); });
    return found == unexpected.end() ? nullptr : &*found;
}

void Messages::find(const Node& call, const Step& step, bool is_matched)
{
    Inbox& inbox = inboxes_[at(world_.rank_of(call.rank))];
    const Travelling* there = find_unexpected(call.rank, step);
    if (there == nullptr)
        throw std::logic_error("another thread has taken what was probed");
    Call& probing = scheduler_.call_of(call);
    probing.has_probed = true;
    probing.probed = there->send->message;
    probing.probed.peer = there->source;
    if (!is_matched)
        return;
    probing.probed.probed = Requests::id(call.rank, step.request);
    inbox.probed.resize(std::max(inbox.probed.size(), at(step.request) + 1));
    inbox.probed[at(step.request)] = *there;
    inbox.unexpected.erase(inbox.unexpected.begin() + (there - inbox.unexpected.data()));
}

void Messages::probe(int rank, const Step& step)
{
    const Node call = scheduler_.enter(rank, step.function);
    scheduler_.wait(rank, [this, rank, call, &step] {
        const Travelling* there = find_unexpected(rank, step);
        if (there == nullptr)
            return false;
        const Edge because{there->send->post, {}, there->there - there->send->time};
        find(call, step, step.kind == Kind::Mprobe);
        scheduler_.leave(call, machine_.call, {because});
        return true;
    });
}

void Messages::probe_loop(int rank, const Step& step)
{
    const auto since = [this, rank, &step]() -> std::optional<std::int64_t> {
        const Travelling* there = find_unexpected(rank, step);
        return there == nullptr ? std::nullopt : std::optional(there->there);
    };
    const auto reasons = [this, rank, &step]() -> std::vector<Edge> {
        const Travelling* there = find_unexpected(rank, step);
        return {{there->send->post, {}, there->there - there->send->time}};
    };
    loop_.run(rank, {step.function, step.ticks, since, reasons,
                     [this, &step](const Node& call) { find(call, step, step.function == FunctionId::MPI_Improbe); }});
}

void Messages::receive_probed(int rank, const Step& step)
{
    const Node call = scheduler_.enter(rank, step.function);
    Posted* receive = add(call, true, step.request, step, any_source);
    receive->message.probed = Requests::id(rank, step.message);
    if (step.kind == Kind::Imrecv)
        scheduler_.call_of(call).posted.push_back(receive->message);
    match(receive, *inboxes_[at(world_.rank_of(rank))].probed[at(step.message)]);
    if (step.kind == Kind::Imrecv)
        return scheduler_.leave(call, machine_.call);
    finish_receive(call, receive);
}

/// What completes it afterwards finds it cancelled, unless a message had come for it.
void Messages::cancel(int rank, const Step& step)
{
    Posted* receive = world_.requests.find(rank, step.request);
    if (std::erase(inboxes_[at(world_.rank_of(rank))].open_receives, receive) > 0) {
        receive->message.cancelled = true;
        receive->done = Done{scheduler_.now(), {}};
    }
    scheduler_.leave(scheduler_.enter(rank, step.function), machine_.call);
}

void Messages::detach(int rank, const Step& step)
{
    const Node call = scheduler_.enter(rank, step.function);
    const std::vector<const Posted*> held = std::exchange(buffers_[at(world_.rank_of(rank))], {});
    scheduler_.wait(rank, [this, call, held] {
        std::vector<Edge> because;
        for (const Posted* send : held) {
            const auto taken = taken_.find(send);
            if (taken == taken_.end() || taken->second.time > scheduler_.now())
                return false;
            because.insert(because.end(), taken->second.because.begin(), taken->second.because.end());
        }
        scheduler_.leave(call, machine_.call, because);
        return true;
    });
}

}  // namespace critpath::oracle
