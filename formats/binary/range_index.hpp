// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a set of address ranges and the question which of them an address lies in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::binary
{

struct AddressRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;  // first address behind it

    friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

/// Ranges with a value each; they may overlap.
template <class Value>
class RangeIndex
{
public:
    void add(const AddressRange& range, const Value& value)
    {
        if (range.start < range.end) {
            entries_.push_back({range, 0, value});
        }
    }

    /// When all are there, and before the first find().
    void finish()
    {
        std::ranges::stable_sort(entries_, {}, [](const Entry& entry) { return entry.range.start; });
        std::uint64_t reach = 0;
        for (Entry& entry : entries_) {
            entry.reach = reach = std::max(reach, entry.range.end);
        }
    }

    /// The value of the range that begins last of those that contain `address`; nullptr if none does.
    [[nodiscard]] const Value* find(std::uint64_t address) const
    {
        const auto behind =
            std::ranges::upper_bound(entries_, address, {}, [](const Entry& entry) { return entry.range.start; });
        for (auto at = behind; at != entries_.begin() && (at - 1)->reach > address; --at) {
            if ((at - 1)->range.end > address) {
                return &(at - 1)->value;
            }
        }
        return nullptr;
    }

private:
    struct Entry {
        AddressRange range;
        std::uint64_t reach;  // greatest end of the ranges up to this one
        Value value;
    };
    std::vector<Entry> entries_;
};

}  // namespace critpath::binary
