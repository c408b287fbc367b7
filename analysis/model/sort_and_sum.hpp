// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a list of amounts becomes one with an amount a key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace critpath::model
{

/// Sorts by `key(item)`, and adds up neighbours that have the same.
template <class Item, class Key, class Add>
void sort_and_sum(std::vector<Item>& items, Key key, Add add)
{
    std::stable_sort(items.begin(), items.end(), [&](const Item& a, const Item& b) { return key(a) < key(b); });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (kept > 0 && key(items[kept - 1]) == key(items[i]))
            add(items[kept - 1], items[i]);
        else
            items[kept++] = items[i];
    }
    items.resize(kept);
}

}  // namespace critpath::model
