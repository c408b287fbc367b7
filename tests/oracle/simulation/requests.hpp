// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what has been posted: each operation that is or was under way, with or without a request, and when and because
// of what it was done.
#pragma once

#include "tests/oracle/simulate.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace critpath::oracle
{

/// Something that is done at a moment, because of what.
struct Done {
    std::int64_t time = 0;
    std::vector<Edge> because;  // `to` is filled in by who waits for it
};

struct Posted {
    int rank = 0;      // as in Node: the thread
    int request = -1;  // -1: a blocking call
    Node post{};
    std::int64_t time = 0;
    Message message;
    std::optional<CollectiveOperation> collective = {};  // then `message` means nothing
    std::optional<Done> done = {};
};

class Requests
{
public:
    explicit Requests(const Program& program);

    /// Under way from now on; stays where it is.
    Posted* add(const Posted& posted);

    /// Null: completed, or not posted yet.
    [[nodiscard]] Posted* find(int rank, int request) const { return open_[at(rank)][at(request)]; }
    [[nodiscard]] std::vector<Posted*> find(int rank, const std::vector<int>& requests) const;
    /// The request is null from now on.
    void remove(const Posted* posted) { open_[at(posted->rank)][at(posted->request)] = nullptr; }

    /// What the trace knows a request by.
    static std::uint64_t id(int thread, int request)
    {
        return static_cast<std::uint64_t>(request) + 1 + (static_cast<std::uint64_t>(thread) << 32);
    }

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }

    std::deque<Posted> posted_;
    std::vector<std::vector<Posted*>> open_;  // by rank and request
};

}  // namespace critpath::oracle
