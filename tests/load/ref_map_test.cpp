// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/model/ids.hpp"
#include "replayer/load/ref_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace critpath::replayer::load
{
namespace
{

using Id = model::RegionId;

/// Neighbours, and far apart: whatever comes first, each is found, and nothing else.
TEST(RefMap, FindsWhatWasAddedInAnyOrder)
{
    std::vector<std::uint64_t> references(40'000);
    std::iota(references.begin(), references.end(), 0);
    for (const std::uint64_t far : {100'000ULL, 1'000'000ULL, 2'000'000ULL, 1ULL << 32, ~0ULL - 1}) {
        references.push_back(far);
    }
    std::mt19937 random(1);
    for (int round = 0; round < 3; ++round) {
        RefMap<Id> map;
        for (std::uint32_t i = 0; i < references.size(); ++i) {
            map.add(references[i], Id{i});
        }
        for (std::uint32_t i = 0; i < references.size(); ++i) {
            ASSERT_EQ(map.find(references[i]), Id{i}) << references[i];
        }
        for (const std::uint64_t other : {40'000ULL, 999'999ULL, 1'000'001ULL, ~0ULL}) {
            EXPECT_FALSE(map.find(other).valid()) << other;
        }
        map.replace([](Id id) { return Id{id.value + 1}; });
        EXPECT_EQ(map.find(references[5]), Id{6});
        std::shuffle(references.begin(), references.end(), random);
    }
}

/// References that are ever further apart must not make the array ever larger.
TEST(RefMap, FewReferencesTakeLittle)
{
    RefMap<Id> map;
    std::uint64_t reference = 16'000;
    for (std::uint32_t i = 0; i < 40; ++i, reference = 2 * reference + 16'000) {
        map.add(reference, Id{i});
        ASSERT_LT(map.dense_size(), 20'000U) << reference;
    }
    EXPECT_EQ(map.find(16'000), Id{0});
    EXPECT_EQ(map.find((reference - 16'000) / 2), Id{39});
}

}  // namespace
}  // namespace critpath::replayer::load
