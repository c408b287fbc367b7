// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/file_events.hpp"

namespace critpath::archive
{

using functions::SemanticClass;
using otf2::Attribute;

namespace
{

// A split collective has no request, but the file has one at a time.
std::uint64_t split_request(const spool::Record& call)
{
    return (std::uint64_t{1} << 63) | static_cast<std::uint32_t>(call.tag);
}

bool is_posted(SemanticClass semantics)
{
    return semantics == SemanticClass::FileIio || semantics == SemanticClass::FileIioAll ||
           semantics == SemanticClass::FileBegin;
}

}  // namespace

void FileEvents::begin(const RecordedCall& recorded)
{
    const spool::Record& call = recorded.record;
    const auto comm = target_.collective_comm(call, recorded.function());
    switch (recorded.semantics) {
    case SemanticClass::FileIio:
    case SemanticClass::FileIioAll:
        if (call.request != 0) {
            target_.posts.post(call);
            if (comm) {
                out_.collective_request(call.enter, *comm, call.request);
            }
        }
        break;
    case SemanticClass::FileBegin:
        if (comm) {
            out_.collective_request(call.enter, *comm, split_request(call));
        }
        break;
    case SemanticClass::FileEnd:
        break;
    default:
        if (comm) {
            out_.collective_begin(call.enter);
        }
        break;
    }
}

void FileEvents::end(const RecordedCall& recorded, std::uint64_t time)
{
    const spool::Record& call = recorded.record;
    if (is_posted(recorded.semantics)) {
        return;
    }
    if (const auto comm = target_.collective_comm(call, recorded.function())) {
        if (recorded.semantics == SemanticClass::FileEnd) {
            out_.collective_complete(time, EventTarget::collective(call, *comm), split_request(call));
        } else {
            out_.collective_end(time, EventTarget::collective(call, *comm));
        }
    }
    written_ += call.bytes;
    read_ += call.extra;
    const auto file = static_cast<std::size_t>(call.tag);
    if (recorded.semantics == SemanticClass::FileOpen && file < target_.ids.files.size() &&
        target_.ids.files[file] != otf2::none) {
        out_.attach(Attribute::File, target_.ids.files[file]);
    }
}

void FileEvents::complete(const Completion& completion, std::uint64_t time)
{
    const auto post = target_.posts.complete(completion.request);
    if (!post) {
        ++target_.unresolved;
        return;
    }
    const std::uint64_t written = post->bytes > 0 ? completion.bytes : 0;
    const std::uint64_t read = post->extra > 0 ? completion.bytes : 0;
    written_ += written;
    read_ += read;
    if (const auto comm = target_.collective_comm(*post, functions::FunctionId{post->function})) {
        otf2::CollectiveEnd end = EventTarget::collective(*post, *comm);
        end.sent = written;
        end.received = read;
        out_.collective_complete(time, end, completion.request);
    }
}

void FileEvents::attach_volume()
{
    if (read_ > 0) {
        out_.attach(Attribute::BytesRead, read_);
    }
    if (written_ > 0) {
        out_.attach(Attribute::BytesWritten, written_);
    }
    read_ = written_ = 0;
}

}  // namespace critpath::archive
