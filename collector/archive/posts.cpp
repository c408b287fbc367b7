// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/posts.hpp"

namespace critpath::archive
{

void PostsOfProcess::post(std::uint32_t thread, const spool::Record& call)
{
    if (early_.erase(call.request) != 0) {
        crossing_[call.request] = call;
    } else {
        open_[call.request] = {thread, call};
    }
}

void PostsOfProcess::complete(std::uint32_t thread, std::uint64_t request)
{
    const auto post = open_.find(request);
    if (post == open_.end()) {
        early_.insert(request);
        return;
    }
    if (post->second.thread != thread) {
        crossing_[request] = post->second.call;
    }
    open_.erase(post);
}

void PostsOfProcess::finish()
{
    open_.clear();
    early_.clear();
}

std::optional<spool::Record> PostsOfProcess::crossing(std::uint64_t request) const
{
    const auto found = crossing_.find(request);
    return found == crossing_.end() ? std::nullopt : std::optional(found->second);
}

void PostsOfThread::post(const spool::Record& call)
{
    if (!process_.crossing(call.request)) {
        open_[call.request] = call;
    }
}

std::optional<spool::Record> PostsOfThread::complete(std::uint64_t request)
{
    const auto post = open_.find(request);
    if (post == open_.end()) {
        return process_.crossing(request);
    }
    const spool::Record call = post->second;
    open_.erase(post);
    return call;
}

}  // namespace critpath::archive
