// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the transfers on one window that a thread has begun, until a call says that they are done.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace critpath::archive
{

/// Each is handed out once, and is gone then: an epoch may last for the whole run, and a call must not look at what
/// others have found to be done.
class OpenTransfers
{
public:
    /// Of one with a request, that will tell when it is done here.
    void begin(std::int32_t target, std::uint64_t id, bool has_request)
    {
        there_[target].push_back(id);
        if (!has_request) {
            here_[target].push_back(id);
        }
    }

    /// Whose origin may use its memory again: `done(id)` of those to `target`, or of all if that is negative; by
    /// target, then in their order.
    template <class Done>
    void end_here(std::int32_t target, Done done)
    {
        end(here_, target, done);
    }

    /// Likewise, which are done at their targets. So they are here.
    template <class Done>
    void end_there(std::int32_t target, Done done)
    {
        end(there_, target, done);
        end(here_, target, [](std::uint64_t) {});
    }

private:
    using ByTarget = std::map<std::int32_t, std::vector<std::uint64_t>>;

    template <class Done>
    static void end(ByTarget& open, std::int32_t target, Done done)
    {
        const auto [first, last] = target < 0 ? std::pair(open.begin(), open.end()) : open.equal_range(target);
        for (auto to = first; to != last; ++to) {
            for (const std::uint64_t id : to->second) {
                done(id);
            }
        }
        open.erase(first, last);
    }

    ByTarget there_, here_;
};

}  // namespace critpath::archive
