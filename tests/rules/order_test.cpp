// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Rows that are almost in order, lists that grow, and sets of positions.
#include "replayer/growing_list.hpp"
#include "replayer/order.hpp"
#include "replayer/position_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace critpath::tests
{

namespace
{

using Item = std::pair<int, int>;  // key, and where it was

std::vector<Item> rows(std::size_t number, std::size_t run, int keys, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<Item> items;
    int key = 0;
    for (std::size_t i = 0; i < number; ++i) {
        key = i % run == 0 ? static_cast<int>(random() % static_cast<unsigned>(keys))
                           : std::min(keys, key + static_cast<int>(random() % 2));
        items.emplace_back(key, static_cast<int>(i));
    }
    return items;
}

TEST(SortRuns, SortsStablyWhateverTheRuns)
{
    for (const std::size_t number : {0, 1, 2, 3, 17, 100, 1000})
        for (const std::size_t run : {1, 2, 7, 100, 2000})
            for (const int keys : {1, 5, 10'000}) {
                std::vector<Item> items = rows(number, run, keys, static_cast<unsigned>(number + run));
                std::vector<Item> expected = items;
                std::ranges::stable_sort(expected, {}, &Item::first);
                replayer::sort_runs(items, &Item::first);
                EXPECT_EQ(items, expected) << number << " rows in runs of " << run << ", keys below " << keys;
            }
}

TEST(CountFirst, FindsTheEndFromWhereverItBegins)
{
    for (std::size_t size = 0; size < 20; ++size)
        for (std::size_t end = 0; end <= size; ++end)
            for (std::size_t near = 0; near < size + 3; ++near)
                EXPECT_EQ(replayer::count_first(
                              size, [&](std::size_t i) { return i < end; }, near),
                          end)
                    << size << " rows, from " << near;
}

TEST(GrowingList, GivesBackAllInOrder)
{
    for (const int size : {0, 1, 63, 64, 65, 191, 192, 193, 1'000'000}) {
        replayer::GrowingList<Item> list;
        std::vector<Item> expected, visited, read;
        for (int i = 0; i < size; ++i) {
            list.push_back({i, -i});
            expected.emplace_back(i, -i);
        }
        list.for_each([&](const Item& item) { visited.push_back(item); });
        for (replayer::GrowingList<Item>::Reader reader(list); const Item* item = reader.peek(); reader.next())
            read.push_back(*item);
        EXPECT_EQ(list.size(), expected.size());
        EXPECT_EQ(visited, expected) << size;
        EXPECT_TRUE(std::ranges::equal(list, expected)) << size;
        EXPECT_EQ(read, expected) << size;
        EXPECT_EQ(list.take(), expected) << size;
        EXPECT_EQ(list.size(), 0U);
        list.push_back({1, 2});
        EXPECT_EQ(list.take(), std::vector<Item>(1, {1, 2}));
    }
}

}  // namespace
TEST(GrowingList, IsReachedAnywhere)
{
    std::mt19937 random(1);
    std::vector<Item> items(300'000);
    for (Item& item : items)
        item = {static_cast<int>(random() % 1'000), static_cast<int>(random())};
    replayer::GrowingList<Item> list(items);
    static_assert(std::random_access_iterator<decltype(list.begin())>);
    for (std::size_t i = 0; i < items.size(); ++i)
        ASSERT_EQ(list[i], items[i]) << i;
    list[77] = items[77] = {-1, 0};
    std::ranges::reverse(list);
    std::ranges::reverse(items);
    ASSERT_TRUE(std::ranges::equal(list, items));
    std::ranges::stable_sort(list, {}, &Item::first);
    std::ranges::stable_sort(items, {}, &Item::first);
    ASSERT_TRUE(std::ranges::equal(list, items));
    const auto& sorted = list;
    EXPECT_EQ(std::ranges::lower_bound(sorted, 500, {}, &Item::first) - sorted.begin(),
              std::ranges::lower_bound(items, 500, {}, &Item::first) - items.begin());
}

TEST(PositionSet, FindsTheNextOneOnEitherSide)
{
    std::mt19937 random(1);
    for (const std::size_t size : {1, 2, 63, 64, 65, 4'095, 4'096, 4'097, 300'000}) {
        for (const std::size_t count : {0, 1, 2, 40, 5'000}) {
            replayer::PositionSet positions(size);
            std::set<std::size_t> truth;
            for (std::size_t i = 0; i < count; ++i)
                positions.insert(*truth.insert(random() % size).first);
            ASSERT_EQ(positions.size(), size);
            for (int i = 0; i < 2'000; ++i) {
                const std::size_t position = i == 0 ? 0 : i == 1 ? size - 1 : random() % size;
                SCOPED_TRACE(testing::Message() << position << " among " << count << " of " << size);
                const auto next = truth.upper_bound(position);
                ASSERT_EQ(positions.behind(position), next == truth.end() ? size : *next);
                ASSERT_EQ(positions.at_or_before(position),
                          next == truth.begin() ? std::nullopt : std::optional(*std::prev(next)));
            }
        }
    }
}

}  // namespace critpath::tests
