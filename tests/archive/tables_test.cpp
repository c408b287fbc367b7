// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/agreement.hpp"
#include "collector/archive/tables.hpp"
#include "collector/archive/unify.hpp"
#include "formats/support/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace critpath::archive
{
namespace
{

using functions::FunctionId;
using Kind = CommunicatorEntry::Kind;
using testing::ElementsAre;

Hash128 key(const std::string& text)
{
    return Hasher().add(text).result();
}

RegionEntry region(const std::string& name)
{
    return {key(name), FunctionId::none, name, "/lib/x"};
}

ContextEntry context(const std::string& path)
{
    const std::size_t slash = path.rfind('/');
    const bool is_root = slash == std::string::npos;
    return {key("path" + path), key(is_root ? path : path.substr(slash + 1)),
            is_root ? Hash128{} : key("path" + path.substr(0, slash)),
            static_cast<std::uint32_t>(std::count(path.begin(), path.end(), '/'))};
}

CommunicatorEntry world(std::int32_t size)
{
    return {key("world"), {}, Kind::World, {{{0, 1, size}}}};
}

// Some of everything; different from rank to rank, with overlaps.
Tables tables_of(std::uint32_t rank)
{
    std::mt19937 random(rank);
    Tables t;
    t.communicators.push_back(world(16));
    const otf2::RankList me = {{static_cast<std::int32_t>(rank), 1, 1}};
    t.communicators.push_back({key(std::to_string(rank / 2)), key("world"), Kind::Intra, {{{0, 2, 3}}}, me});
    if (rank % 2 == 0) {
        t.communicators.back().grid = {{3, true}};  // the other has lost that
    }
    t.communicators.push_back({key("inter"),
                               rank % 2 == 0 ? key("one parent") : key("other parent"),
                               Kind::Inter,
                               {{{rank % 2 == 0 ? 1 : 0, 2, 8}}},
                               me});
    t.strings.push_back({key("./app"), "./app"});
    t.generators.push_back({key("cpu-clock"), "cpu-clock", 1000});
    t.windows.push_back({key("window " + std::to_string(rank / 4)), key("world")});
    t.groups.push_back({key("group " + std::to_string(rank % 5)), {{static_cast<std::int32_t>(rank % 5), 2, 3}}});
    t.metrics.push_back({key("counters"), {"PAPI_TOT_INS", "PAPI_TOT_CYC"}});
    for (int i = 0; i < 20; ++i) {
        const std::string name = "f" + std::to_string(random() % 30);
        t.regions.push_back(region(name));
        t.regions.push_back(region("main"));
        t.regions.push_back({key(name + " of one file"), FunctionId::none, name, "/lib/x", " [one.c]"});
        t.contexts.push_back(context("main"));
        t.contexts.push_back(context("main/" + name));
    }
    t.modules.push_back({key("/lib/x"), "/lib/x", "abc"});
    t.sort();
    return t;
}

TEST(Tables, SortingDropsDuplicates)
{
    Tables t;
    t.regions = {region("b"), region("a"), region("b")};
    t.sort();
    EXPECT_EQ(t.regions.size(), 2U);
    EXPECT_TRUE(t.regions[0].key < t.regions[1].key);
}

TEST(Tables, MergingIsAssociativeAndDoesNotDependOnTheOrder)
{
    std::vector<Tables> all;
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
        all.push_back(tables_of(rank));
    }
    Tables in_order = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) {
        in_order = merge(in_order, all[i]).tables;
    }
    std::mt19937 random(1);
    for (int round = 0; round < 10; ++round) {
        std::vector<Tables> left = all;
        std::shuffle(left.begin(), left.end(), random);
        while (left.size() > 1) {  // in pairs: a tree
            std::vector<Tables> next;
            for (std::size_t i = 0; i + 1 < left.size(); i += 2) {
                next.push_back(merge(left[i], left[i + 1]).tables);
            }
            left = std::move(next);
        }
        EXPECT_EQ(left.front(), in_order);
    }
    EXPECT_EQ(merge(in_order, in_order).tables, in_order);
    EXPECT_EQ(merge(in_order, {}).tables, in_order);
}

TEST(Tables, MergingTellsWhereEachEntryWent)
{
    const Tables a = tables_of(3);
    const Tables b = tables_of(8);
    const Merged m = merge(a, b);
    ASSERT_EQ(m.first.regions.size(), a.regions.size());
    ASSERT_EQ(m.second.contexts.size(), b.contexts.size());
    for (std::size_t i = 0; i < a.regions.size(); ++i) {
        EXPECT_EQ(m.tables.regions[m.first.regions[i]].key, a.regions[i].key);
    }
    for (std::size_t i = 0; i < b.contexts.size(); ++i) {
        EXPECT_EQ(m.tables.contexts[m.second.contexts[i]].key, b.contexts[i].key);
    }
}

// Whichever comes first, and however many are odd ones out.
TEST(OwnRanks, AreMergedAsTheyCome)
{
    std::mt19937 random(3);
    for (std::uint32_t count = 1; count <= 9; ++count) {
        std::vector<std::uint32_t> order(count);
        std::iota(order.begin(), order.end(), 0U);
        std::shuffle(order.begin(), order.end(), random);
        OwnRanks own(count);
        Tables wanted = tables_of(0);
        for (const std::uint32_t rank : order) {
            own.add(rank, tables_of(rank));
            wanted = merge(wanted, tables_of(rank)).tables;
        }
        const Tables all = own.take();
        EXPECT_EQ(all, wanted);
        otf2::TraceDefinitions out;
        const Numbers ids = number(all, out);
        const std::vector<Numbers> parts = own.divide(ids);
        ASSERT_EQ(parts.size(), count);
        for (std::uint32_t rank = 0; rank < count; ++rank) {
            const Tables tables = tables_of(rank);
            ASSERT_EQ(parts[rank].contexts.size(), tables.contexts.size());
            for (std::size_t i = 0; i < tables.contexts.size(); ++i) {
                EXPECT_EQ(parts[rank].contexts[i], ids.contexts[position(all.contexts, tables.contexts[i].key)]);
            }
        }
    }
}

TEST(Tables, WhoKnowsACommunicatorIsKeptInOrder)
{
    const auto known_to = [](otf2::RankList ranks) {
        Tables t;
        t.communicators.push_back({key("c"), key("world"), Kind::Intra, {{{0, 1, 9}}}, std::move(ranks)});
        return t;
    };
    const auto together = [&](const otf2::RankList& a, const otf2::RankList& b) {
        return otf2::expand(merge(known_to(a), known_to(b)).tables.communicators.front().knowers);
    };
    EXPECT_THAT(together({{0, 1, 2}}, {{2, 1, 3}}), ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(together({{2, 1, 3}}, {{0, 1, 2}}), ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(together({{0, 1, 2}}, {{3, 1, 1}}), ElementsAre(0, 1, 3));
    EXPECT_THAT(together({{0, 1, 3}}, {{1, 1, 3}}), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(together({{0, 2, 2}}, {{2, 1, 2}}), ElementsAre(0, 2, 3));
    EXPECT_EQ(merge(known_to({{0, 1, 1}}), known_to({{1, 1, 1}})).tables, known_to({{0, 1, 2}}));
}

TEST(Tables, BothSidesOfAnInterCommunicatorMeet)
{
    const Tables merged = merge(tables_of(5), tables_of(2)).tables;
    const auto& inter = merged.communicators[position(merged.communicators, key("inter"))];
    EXPECT_THAT(inter.sides, ElementsAre(otf2::RankList{{0, 2, 8}}, otf2::RankList{{1, 2, 8}}));
    EXPECT_EQ(inter.parent, std::min(key("one parent"), key("other parent")));
}

TEST(Agreement, IsThatAllMembersAndNobodyElseKnowACommunicator)
{
    const auto comm = [](const char* gid, otf2::RankList members, std::int32_t knower) {
        return CommunicatorEntry{key(gid), key("world"), Kind::Intra, {std::move(members)}, {{knower, 1, 1}}};
    };
    const otf2::RankList all = {{0, 1, 4}};
    std::vector<Tables> ranks(4);
    for (std::int32_t rank = 0; rank < 4; ++rank) {
        Tables& t = ranks[static_cast<std::size_t>(rank)];
        t.communicators.push_back(comm("good", all, rank));
        t.communicators.push_back(comm(rank == 2 ? "other" : "first", all, rank));
        t.communicators.push_back({key("inter"), {}, Kind::Inter, {{{rank < 2 ? 2 : 0, 1, 2}}}, {{rank, 1, 1}}});
        t.communicators.push_back({key("half inter"), {}, Kind::Inter, {{{rank < 2 ? 2 : 0, 1, 2}}}, {{rank, 1, 1}}});
        if (rank >= 2) {
            t.communicators.pop_back();
        }
        t.sort();
    }
    const Tables merged = merge(merge(ranks[0], ranks[1]).tables, merge(ranks[2], ranks[3]).tables).tables;
    otf2::TraceDefinitions definitions;
    const auto found = find_disagreements(merged, number(merged, definitions).communicators);
    std::vector<std::string> texts;
    using Ends = std::vector<RankEnd>;
    const Ends good(4, RankEnd::Finalized);
    for (const Disagreement& one : found) {
        texts.push_back(describe({one}, good));
        texts.back().erase(0, texts.back().find(" of "));
    }
    EXPECT_THAT(texts, testing::UnorderedElementsAre(" of ranks 0-3 is known to 2", " of ranks 0-3 is known to 0-1,3",
                                                     " of ranks 2-3 is known to 0-1"));
    EXPECT_EQ(describe({}, good), "");
    const Disagreement missed = {"C", {0, 1}, {0}};
    EXPECT_EQ(describe({missed}, {RankEnd::Finalized, RankEnd::Died}), "") << "rank 1 had no time to say so";
    EXPECT_EQ(describe({missed}, {RankEnd::Died, RankEnd::Finalized}), "C of ranks 0-1 is known to 0");
    EXPECT_EQ(describe({missed, missed, missed, missed, missed}, good),
              "C of ranks 0-1 is known to 0; C of ranks 0-1 is known to 0; C of ranks 0-1 is known to 0; and 2 more");
}

TEST(Tables, SurviveTheTrip)
{
    const Tables t = merge(tables_of(1), tables_of(2)).tables;
    const std::vector<std::byte> bytes = pack(t);
    EXPECT_EQ(unpack_tables(bytes), t);
    const Numbers numbers = merge(t, tables_of(3)).first;
    EXPECT_EQ(unpack_numbers(pack(numbers)), numbers);
    for (const std::size_t size : {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
        EXPECT_THROW(unpack_tables(std::span(bytes).first(size)), Failure) << size;
    }
}

TEST(Numbering, ParentsComeFirstAndIdsFollowNames)
{
    Tables t;
    t.regions = {region("b"), region("a"), {key("MPI_Send"), FunctionId::MPI_Send, "", ""}};
    t.regions.push_back({key("b two"), FunctionId::none, "b", "/lib/x", " [two.c]"});
    t.regions.push_back({key("b one"), FunctionId::none, "b", "/lib/x", " [one.c]"});
    t.contexts = {context("a/b"), context("b"), context("a"), context("a/b/a"), context("b/a")};
    t.sort();
    otf2::TraceDefinitions out;
    const Numbers ids = number(t, out);
    ASSERT_EQ(out.regions.size(), 5U);
    EXPECT_EQ(out.regions[0].function, FunctionId::MPI_Send);
    EXPECT_EQ(out.regions[1].name, "a");
    EXPECT_EQ(out.regions[2].name, "b");
    EXPECT_EQ(out.regions[3].name, "b [one.c]");
    EXPECT_EQ(out.regions[4].name, "b [two.c]");
    EXPECT_EQ(out.regions[4].canonical_name, "b");
    const auto id = [&](const std::string& path) { return ids.contexts[position(t.contexts, context(path).key)]; };
    EXPECT_THAT((std::vector{id("a"), id("b"), id("a/b"), id("b/a"), id("a/b/a")}), ElementsAre(0, 1, 2, 3, 4));
    EXPECT_EQ(out.contexts[id("a/b/a")].parent, id("a/b"));
    EXPECT_EQ(out.contexts[id("a/b/a")].region, 1U);
    EXPECT_EQ(out.contexts[id("b")].parent, otf2::none);
}

TEST(Numbering, ContextsOfCallsComeFirst)
{
    Tables t;
    t.regions = {region("a"), region("b"), {key("MPI_Send"), FunctionId::MPI_Send, "", ""}};
    t.contexts = {context("a"), context("b"), context("b/a"), context("b/MPI_Send"), context("a/b")};
    t.sort();
    otf2::TraceDefinitions out;
    const Numbers ids = number(t, out);
    const auto id = [&](const std::string& path) { return ids.contexts[position(t.contexts, context(path).key)]; };
    EXPECT_THAT((std::vector{id("b"), id("b/MPI_Send"), id("a"), id("b/a"), id("a/b")}), ElementsAre(0, 1, 2, 3, 4));
    EXPECT_EQ(out.contexts[id("b/a")].parent, id("b"));
}

TEST(Numbering, WindowsKnowTheirCommunicators)
{
    Tables t;
    t.communicators = {world(8), {key("child"), key("world"), Kind::Intra, {{{0, 1, 2}}}}};
    t.windows = {{key("w1"), key("child")}, {key("w2"), key("world")}};
    t.groups = {{key("g"), {{3, 1, 2}}}, {key("h"), {{1, 1, 2}}}};
    t.metrics = {{key("m"), {"x", "y"}}};
    t.sort();
    otf2::TraceDefinitions out;
    const Numbers ids = number(t, out);
    ASSERT_EQ(out.windows.size(), 2U);
    EXPECT_EQ(out.windows[ids.windows[position(t.windows, key("w2"))]].comm, 0U);
    EXPECT_EQ(out.windows[ids.windows[position(t.windows, key("w1"))]].comm, 1U);
    EXPECT_EQ(out.windows[0].name, "Window 0");
    EXPECT_THAT(out.groups, ElementsAre(otf2::RankList{{1, 1, 2}}, otf2::RankList{{3, 1, 2}}));
    EXPECT_THAT(out.metrics[0].names, ElementsAre("x", "y"));
}

TEST(Numbering, CommunicatorsFollowTheirParents)
{
    Tables t;
    t.communicators = {{key("child"), key("middle"), Kind::Intra, {{{0, 1, 2}}}},
                       {key("middle"), key("world"), Kind::Intra, {{{0, 1, 4}}}},
                       {key("orphan"), key("nobody knows"), Kind::Intra, {{{0, 3, 2}}}},
                       {key("self"), {}, Kind::Self, {}},
                       {key("alone"), key("self"), Kind::Alone, {}},
                       world(8)};
    t.sort();
    otf2::TraceDefinitions out;
    const Numbers ids = number(t, out);
    const auto id = [&](const std::string& name) { return ids.communicators[position(t.communicators, key(name))]; };
    EXPECT_EQ(id("world"), 0U);
    EXPECT_EQ(id("self"), 1U);
    EXPECT_EQ(out.communicators[0].name, "MPI_COMM_WORLD");
    EXPECT_LT(id("middle"), id("child"));
    EXPECT_EQ(out.communicators[id("child")].parent, id("middle"));
    EXPECT_EQ(out.communicators[id("middle")].parent, 0U);
    EXPECT_EQ(out.communicators[id("orphan")].parent, otf2::none);
    EXPECT_EQ(out.communicators[id("alone")].parent, 1U);
    EXPECT_TRUE(out.communicators[id("alone")].is_self);
    EXPECT_THAT(out.communicators[id("child")].members, ElementsAre(otf2::RankRun{0, 1, 2}));
}

TEST(RankLists, CompressToRunsAndBack)
{
    using otf2::compress;
    EXPECT_TRUE(compress({}).empty());
    EXPECT_THAT(compress({5}), ElementsAre(otf2::RankRun{5, 1, 1}));
    EXPECT_THAT(compress({0, 1, 2, 3}), ElementsAre(otf2::RankRun{0, 1, 4}));
    EXPECT_THAT(compress({6, 4, 2, 7}), ElementsAre(otf2::RankRun{6, -2, 3}, otf2::RankRun{7, 1, 1}));
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::int32_t> ranks(random() % 40);
        for (std::int32_t& rank : ranks) {
            rank = static_cast<std::int32_t>(random() % 6);
        }
        EXPECT_EQ(otf2::expand(compress(ranks)), ranks);
    }
}

}  // namespace
}  // namespace critpath::archive
