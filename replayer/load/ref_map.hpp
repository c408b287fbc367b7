// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the way from the references of a trace, which may be any numbers, to our dense ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace critpath::replayer::load
{

/// Reference -> id. Small references are looked up in an array, because every event does it; the others in a hash
/// table.
template <class IdType>
class RefMap
{
public:
    void add(std::uint64_t reference, IdType id)
    {
        ++entries_;
        if (reference < 2 * entries_ + least_dense) {
            if (reference >= dense_.size()) {
                dense_.resize(reference + 1, IdType::none());
            }
            dense_[reference] = id;
        } else {
            sparse_[reference] = id;
        }
    }

    /// none() if there is no such reference.
    [[nodiscard]] IdType find(std::uint64_t reference) const
    {
        if (reference < dense_.size() && dense_[reference].valid()) {
            return dense_[reference];
        }
        if (sparse_.empty()) {
            return IdType::none();
        }
        const auto found = sparse_.find(reference);
        return found == sparse_.end() ? IdType::none() : found->second;
    }

    /// Every id by what `replacement(id)` says.
    template <class Replacement>
    void replace(Replacement replacement)
    {
        for (IdType& id : dense_) {
            id = id.valid() ? replacement(id) : id;
        }
        for (auto& [reference, id] : sparse_) {
            id = id.valid() ? replacement(id) : id;
        }
    }

    /// Of the array.
    [[nodiscard]] std::size_t dense_size() const { return dense_.size(); }

private:
    static constexpr std::uint64_t least_dense = 1 << 14;
    std::size_t entries_ = 0;
    std::vector<IdType> dense_;
    std::unordered_map<std::uint64_t, IdType> sparse_;
};

}  // namespace critpath::replayer::load
