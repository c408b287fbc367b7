// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/gid.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace critpath::preload
{
namespace
{

Gid group(const std::vector<int>& ranks)
{
    return hash_group(ranks.data(), static_cast<int>(ranks.size()));
}

TEST(Gid, DependsOnEverythingThatMakesACommunicator)
{
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    int made = 0;
    const auto add = [&](const Gid& gid) {
        seen.emplace(gid.word[0], gid.word[1]);
        ++made;
    };
    add(world_gid());
    const std::vector<Gid> groups = {group({0, 1}), group({1, 0}), group({0, 1, 2}), group({0}), group({})};
    for (int i = 0; i < 100; ++i) {
        add(self_gid(i));
        for (const GidKind kind : {GidKind::Window, GidKind::File}) {
            add(object_gid(kind, world_gid(), static_cast<std::uint64_t>(i)));
            add(object_gid(kind, self_gid(i), 0));
        }
        for (const Gid& members : groups) {
            const auto sequence = static_cast<std::uint64_t>(i);
            add(child_gid(world_gid(), sequence, members));
            add(child_gid(self_gid(i), 0, members));
            add(keyed_gid(group_key(GidKind::Group, world_gid(), members, 3), sequence));
            add(keyed_gid(group_key(GidKind::Group, world_gid(), members, 4), sequence));
            add(keyed_gid(group_key(GidKind::Inter, Gid(), members, 4), sequence));
        }
    }
    EXPECT_EQ(static_cast<int>(seen.size()), made);
}

TEST(Gid, BothSidesOfAnInterCommunicatorAgree)
{
    EXPECT_EQ(hash_groups(group({0, 2}), group({1, 3})), hash_groups(group({1, 3}), group({0, 2})));
    EXPECT_NE(hash_groups(group({0, 2}), group({1, 3})), hash_groups(group({0, 2}), group({3, 1})));
}

// The archive is written by the same version, but a run may mix builds of one version: the values must not depend on
// one.
TEST(Gid, IsTheSameInEveryBuild)
{
    EXPECT_EQ(world_gid().word[0], 0x8c21eee61a36f707U);
}

}  // namespace
}  // namespace critpath::preload
