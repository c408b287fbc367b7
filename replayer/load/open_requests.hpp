// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the requests that are posted and not yet completed while a location's events are read.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace critpath::replayer::load
{

/// A table from request ids to `Post`, which has a member `request`. Ids are mostly consecutive and few are open at a
/// time, so that almost all of them find their own slot; the others go to a hash table.
template <class Post>
class OpenRequests
{
public:
    OpenRequests() : slots_(slot_count) {}

    /// Returns the post that had this id and is still open, if any: it will never be completed.
    std::optional<Post> add(const Post& post)
    {
        auto displaced = take(post.request);
        auto& slot = slots_[post.request % slot_count];
        if (slot) {
            overflow_.emplace(post.request, post);
        } else {
            slot = post;
        }
        return displaced;
    }

    std::optional<Post> take(std::uint64_t request)
    {
        auto& slot = slots_[request % slot_count];
        if (slot && slot->request == request) {
            return std::exchange(slot, std::nullopt);
        }
        if (overflow_.empty()) {
            return {};
        }
        const auto found = overflow_.find(request);
        if (found == overflow_.end()) {
            return {};
        }
        const Post post = found->second;
        overflow_.erase(found);
        return post;
    }

    /// All that are open, in no particular order.
    [[nodiscard]] std::vector<Post> rest() const
    {
        std::vector<Post> result;
        for (const auto& slot : slots_) {
            if (slot) {
                result.push_back(*slot);
            }
        }
        for (const auto& [request, post] : overflow_) {
            result.push_back(post);
        }
        return result;
    }

private:
    static constexpr std::size_t slot_count = 4096;
    std::vector<std::optional<Post>> slots_;
    std::unordered_map<std::uint64_t, Post> overflow_;
};

}  // namespace critpath::replayer::load
