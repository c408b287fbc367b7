// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/collective_events.hpp"

namespace critpath::archive
{

using functions::FunctionId;
using functions::SemanticClass;

namespace
{

bool is_non_blocking(SemanticClass semantics)
{
    return semantics == SemanticClass::Icollective || semantics == SemanticClass::CommIdup;
}

}  // namespace

void CollectiveEvents::begin(const RecordedCall& recorded)
{
    const spool::Record& call = recorded.record;
    if (!is_non_blocking(recorded.semantics)) {
        if (target_.collective_comm(call, recorded.function())) {
            out_.collective_begin(call.enter);
        }
    } else if (call.request != 0) {
        target_.posts.post(call);
        if (const auto comm = target_.collective_comm(call, recorded.function())) {
            out_.collective_request(call.enter, *comm, call.request);
        }
    }
}

void CollectiveEvents::start(const spool::Record& post, std::uint64_t time)
{
    target_.posts.post(post);
    const FunctionId function{post.function};
    if (const auto comm = target_.collective_comm(post, function)) {
        out_.collective_request(time, *comm, post.request, function);
    }
}

void CollectiveEvents::end(const RecordedCall& recorded, std::uint64_t time)
{
    const spool::Record& call = recorded.record;
    const SemanticClass semantics = recorded.semantics;
    if (functions::makes_communicator(semantics) && call.extra != 0) {
        const auto id = static_cast<std::int32_t>(call.extra - 1);
        const auto graph = target_.graphs.find(id);
        if (const auto comm = target_.comm(id)) {
            out_.comm_create(time, *comm, graph == target_.graphs.end() ? nullptr : &graph->second);
        }
    } else if (semantics == SemanticClass::CommFree) {
        if (const auto comm = target_.comm(call.comm)) {
            out_.comm_destroy(time, *comm);
        }
    }
    if (!is_non_blocking(semantics)) {
        if (const auto comm = target_.collective_comm(call, recorded.function())) {
            out_.collective_end(time, EventTarget::collective(call, *comm));
        }
    }
}

void CollectiveEvents::complete(const Completion& completion, std::uint64_t time)
{
    const auto post = target_.posts.complete(completion.request);
    if (!post) {
        ++target_.unresolved;
    } else if (const auto comm = target_.collective_comm(*post, FunctionId{post->function})) {
        out_.collective_complete(time, EventTarget::collective(*post, *comm), completion.request);
    }
}

}  // namespace critpath::archive
