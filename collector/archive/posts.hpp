// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the way from the completion of a request that is not a message to its post, which says what it was. Only what
// is open at a time is kept, and what one thread posted and another completed.
#pragma once

#include "formats/spool/record.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace critpath::archive
{

/// Fed with the records of one thread after the other.
class PostsOfProcess
{
public:
    void post(std::uint32_t thread, const spool::Record& call);
    void complete(std::uint32_t thread, std::uint64_t request);
    /// Forgets what has found its counterpart on its own thread, or none.
    void finish();

    /// The post of a request that another thread completed; nothing for all others.
    [[nodiscard]] std::optional<spool::Record> crossing(std::uint64_t request) const;

private:
    struct Post {
        std::uint32_t thread;
        spool::Record call;
    };
    std::unordered_map<std::uint64_t, Post> open_;
    std::unordered_set<std::uint64_t> early_;  // completions whose post was not seen yet
    std::unordered_map<std::uint64_t, spool::Record> crossing_;
};

/// The same for the second pass, of one thread.
class PostsOfThread
{
public:
    explicit PostsOfThread(const PostsOfProcess& process) : process_(process) {}

    void post(const spool::Record& call);
    /// The post of `request`, which is then forgotten; nothing if it was not recorded.
    std::optional<spool::Record> complete(std::uint64_t request);

private:
    const PostsOfProcess& process_;
    std::unordered_map<std::uint64_t, spool::Record> open_;
};

}  // namespace critpath::archive
