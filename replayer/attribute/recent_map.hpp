// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a map that is asked, mostly, for what it has been asked for a moment ago: a segment of the path is like one of
// those before it.
#pragma once

#include <array>
#include <cstddef>
#include <map>

namespace critpath::replayer
{

/// `Hash` tells keys apart in its low bits.
template <class Key, class Value, class Hash>
class RecentMap
{
public:
    RecentMap() = default;
    RecentMap(RecentMap&&) noexcept = default;  // what is in the map stays where it is
    RecentMap& operator=(RecentMap&&) noexcept = default;
    RecentMap(const RecentMap&) = delete;
    RecentMap& operator=(const RecentMap&) = delete;
    ~RecentMap() = default;

    /// A new value is value-initialized.
    Value& operator[](const Key& key)
    {
        Recent& recent = recent_[Hash{}(key) % recent_.size()];
        if (recent.value == nullptr || recent.key != key)
            recent = {key, &values_[key]};
        return *recent.value;
    }

    /// By key, ascending.
    [[nodiscard]] auto begin() const { return values_.begin(); }
    [[nodiscard]] auto end() const { return values_.end(); }

private:
    struct Recent {
        Key key;
        Value* value = nullptr;
    };
    std::map<Key, Value> values_;
    std::array<Recent, 64> recent_{};
};

}  // namespace critpath::replayer
