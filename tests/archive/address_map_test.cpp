// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a process had loaded, and when.
#include "collector/archive/address_map.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace critpath::archive
{
namespace
{

TEST(AddressMap, KnowsExecutableMemory)
{
    const AddressMap map("1000-2000 r-xp 00000400 08:01 12   /bin/a b\n"
                         "2000-3000 rw-p 00001000 08:01 12   /bin/a b\n"
                         "3000-4000 rwxp 00000000 00:00 0 \n"
                         "garbage\n"
                         "5000-6000 r-xp 00000000 00:00 0    [vdso]\n"
                         "8000-9000 r-xp 00003000 08:01 12   /bin/a b");
    ASSERT_EQ(map.modules().size(), 3U);
    EXPECT_EQ(map.modules()[map.find(0x1fff)->module], "/bin/a b");
    EXPECT_EQ(map.find(0x1000)->offset, 0x400U);
    EXPECT_EQ(map.find(0x8000)->module, map.find(0x1000)->module);
    EXPECT_EQ(map.find(0x2000), nullptr);
    EXPECT_EQ(map.find(0xfff), nullptr);
    EXPECT_EQ(map.find(0x4000), nullptr);
    EXPECT_EQ(map.modules()[map.find(0x3000)->module], "[anon]");
    EXPECT_EQ(map.modules()[map.find(0x5000)->module], "[vdso]");
}

// By the definition of <rank>.unloads: the first part holds up to 100 and the second one up to 200.
TEST(AddressMap, KnowsWhatWasUnloadedAndWhen)
{
    const AddressMap map("1000-2000 r-xp 00000000 08:01 9   /app\n"
                         "5000-6000 r-xp 00000000 08:01 13   /c.so\n",
                         "= 00000000000000000100 00000000000000000001\n"
                         "1000-2000 r-xp 00000000 08:01 9   /app\n"
                         "5000-6000 r-xp 00000000 08:01 11   /a.so\n"
                         "= 00000000000000000200 00000000000000000001\n"
                         "5000-6000 r-xp 00001000 08:01 12   /b.so\n"
                         "1000-2000 r-xp 00000000 08:01 9   /app\n");
    const auto name = [&](std::uint64_t address, std::uint64_t time) -> std::string {
        const MappedRange* range = map.find(address, map.epoch_at(time));
        return range == nullptr ? "nothing" : map.modules()[range->module];
    };
    EXPECT_EQ(name(0x5000, 0), "/a.so");
    EXPECT_EQ(name(0x5000, 100), "/a.so");
    EXPECT_EQ(name(0x5000, 101), "/b.so");
    EXPECT_EQ(name(0x5000, 200), "/b.so");
    EXPECT_EQ(name(0x5000, 201), "/c.so");
    EXPECT_EQ(name(0x5000, AddressMap::the_end), "/c.so");
    EXPECT_EQ(map.find(0x5000), map.find(0x5000, map.last_epoch()));
    EXPECT_EQ(map.find(0x5000, map.epoch_at(101))->offset, 0x1000U);
    for (const std::uint64_t time : {0, 100, 150, 201}) {
        EXPECT_EQ(name(0x1234, time), "/app") << time;
    }
    EXPECT_EQ(map.unseen_unloads(), 0U);
}

// /gone.so is one of the three that went without a note.
TEST(AddressMap, CountsWhatWasUnloadedWithoutANote)
{
    const AddressMap map("1000-2000 r-xp 00000000 08:01 9   /app\n", "= 00000000000000000100 00000000000000000001\n"
                                                                     "1000-2000 r-xp 00000000 08:01 9   /app\n"
                                                                     "5000-6000 r-xp 00000000 08:01 11   /a.so\n"
                                                                     "7000-8000 r-xp 00000000 08:01 12   /gone.so\n"
                                                                     "? 00000000000000000003\n");
    EXPECT_EQ(map.unseen_unloads(), 3U);
    EXPECT_EQ(map.last_epoch(), 1U);
}

TEST(AddressMap, ReadsUnloadsAsFarAsTheyGo)
{
    const std::string_view last = "5000-6000 r-xp 00000000 08:01 13   /c.so\n";
    const std::string_view part = "5000-6000 r-xp 00000000 08:01 11   /a.so\n";
    const std::string head = "= 00000000000000000100 00000000000000000001\n";
    EXPECT_EQ(AddressMap(last, "").last_epoch(), 0U);
    EXPECT_EQ(AddressMap(last, part).last_epoch(), 0U);
    EXPECT_EQ(AddressMap(last, "= x 1\n" + std::string(part)).last_epoch(), 0U);
    EXPECT_EQ(AddressMap(last, head.substr(0, 20)).last_epoch(), 0U);
    const AddressMap cut(last, head + std::string(part).substr(0, 10));
    EXPECT_EQ(cut.last_epoch(), 1U);
    EXPECT_EQ(cut.find(0x5000, 0), nullptr);
}

TEST(AddressMap, CountsLibrariesThatWentUnseen)
{
    const std::string_view last = "1000-2000 r-xp 00000000 08:01 9   /app\n";
    const auto unseen = [&](std::string_view unloaded) {
        return AddressMap(last, "= 00000000000000000100 " + std::string(unloaded) +
                                    "\n1000-2000 r-xp 00000000 08:01 9   /app\n"
                                    "3000-4000 r-xp 00000000 00:00 0 \n"
                                    "5000-6000 r-xp 00000000 08:01 11   /a.so\n"
                                    "6000-7000 r-xp 00001000 08:01 11   /a.so\n"
                                    "8000-9000 r-xp 00000000 08:01 12   /b.so\n")
            .unseen_unloads();
    };
    EXPECT_EQ(unseen("00000000000000000002"), 0U);
    EXPECT_EQ(unseen("00000000000000000001"), 1U);
    EXPECT_EQ(unseen("00000000000000000005"), 0U);  // there may be some without code
}

TEST(AddressMap, TellsFilesWithOnePathFromEachOther)
{
    const std::string head = "= 00000000000000000100 00000000000000000001\n";
    const AddressMap map("5000-6000 r-xp 00000000 08:01 12   /a.so\n"
                         "7000-8000 r-xp 00000000 08:01 15   /d.so (deleted)\n",
                         head + "5000-6000 r-xp 00000000 08:01 11   /a.so\n"
                                "7000-8000 r-xp 00000000 08:01 15   /d.so\n");
    const std::uint32_t before = map.find(0x5000, 0)->module;
    const std::uint32_t after = map.find(0x5000, 1)->module;
    EXPECT_NE(before, after);
    EXPECT_TRUE(map.was_replaced(before));
    EXPECT_FALSE(map.was_replaced(after));
    const std::uint32_t deleted = map.find(0x7000)->module;
    EXPECT_EQ(deleted, map.find(0x7000, 0)->module);
    EXPECT_EQ(map.modules()[deleted], "/d.so");
    EXPECT_TRUE(map.was_replaced(deleted));
    EXPECT_EQ(map.unseen_unloads(), 0U);
}

// Made anew with its inode, between two loads.
TEST(AddressMap, TellsFilesWithOneInodeFromEachOther)
{
    const std::string line = "5000-6000 r-xp 00000000 08:01 11   /a.so\n";
    const AddressMap map(line + "# build-id 0b\n" + "7000-8000 r-xp 00000000 08:01 12   /b.so\n",
                         "= 00000000000000000100 00000000000000000001\n" + line + "# build-id 0a\n" +
                             "= 00000000000000000200 00000000000000000001\n" + line + "# build-id 0b\n");
    const auto module = [&](std::uint32_t epoch) { return map.find(0x5000, epoch)->module; };
    EXPECT_NE(module(0), module(1));
    EXPECT_EQ(module(1), module(2));
    EXPECT_EQ(map.identity(module(0)), "build-id 0a");
    EXPECT_EQ(map.identity(module(1)), "build-id 0b");
    EXPECT_EQ(map.identity(map.find(0x7000)->module), "");
    EXPECT_TRUE(map.was_replaced(module(0)));
    EXPECT_FALSE(map.was_replaced(module(1)));
}

// A file keeps its inode when it gets another name, and what comes to the old one has another.
TEST(AddressMap, FollowsARenamedFile)
{
    const std::string ran = "# build-id 0a\n";
    const AddressMap map("5000-6000 r-xp 00000000 08:01 11   /app.old\n" + ran +
                             "7000-8000 r-xp 00000000 08:01 12   /app\n# build-id 0b\n" +
                             "9000-a000 r-xp 00000000 08:02 11   /other\n# build-id 0c\n",
                         "= 00000000000000000100 00000000000000000000\n5000-6000 r-xp 00000000 08:01 11   /app\n" +
                             ran);
    const std::uint32_t app = map.find(0x5000, 0)->module;
    EXPECT_EQ(map.find(0x5000, 1)->module, app);
    EXPECT_EQ(map.modules().size(), 3U);
    EXPECT_EQ(map.modules()[app], "/app.old");
    EXPECT_EQ(map.modules()[map.find(0x7000)->module], "/app");
    EXPECT_EQ(map.modules()[map.find(0x9000)->module], "/other");
    EXPECT_FALSE(map.was_replaced(app));
    EXPECT_EQ(map.unseen_unloads(), 0U);
}

}  // namespace
}  // namespace critpath::archive
