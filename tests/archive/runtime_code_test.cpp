// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Code that is in no library: of the vdso, of the kernel, and compiled while the program ran.
#include "collector/archive/address_map.hpp"
#include "collector/archive/contexts.hpp"
#include "collector/archive/kernel_symbols.hpp"
#include "collector/archive/perf_map.hpp"
#include "collector/archive/runtime_code.hpp"
#include "tests/archive/subject_library.hpp"
#include "tests/scratch.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

namespace critpath::archive
{
namespace
{

// The vdso exports it as "clock_gettime" and, where programs may not mean it, as "__vdso_clock_gettime".
std::uint64_t vdso_clock()
{
    void* vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
    void* function = vdso == nullptr ? nullptr : dlsym(vdso, "__vdso_clock_gettime");
    return reinterpret_cast<std::uint64_t>(function);
}

TEST(RuntimeCode, OfTheVdsoIsNamedInItsOwnProcess)
{
    const std::uint64_t clock = vdso_clock();
    const AddressMap map(own_maps());
    const MappedRange* range = map.find(clock);
    if (::getauxval(AT_SYSINFO_EHDR) == 0 || clock == 0 || range == nullptr) {
        GTEST_SKIP() << "this machine has no vdso with the clock of x86";
    }
    ASSERT_EQ(map.modules()[range->module], "[vdso]");
    ContextTree own(map, RuntimeCode::of_this_process(0));
    const std::vector<std::uint64_t> chain = {clock};
    const Leaf leaf = own.add({chain});
    const Function& function = own.functions()[own.contexts()[leaf.context].function];
    EXPECT_EQ(function.canonical_name, "clock_gettime");
    EXPECT_EQ(function.module, "[vdso]");
    EXPECT_EQ(leaf.offset, clock - range->start);  // it is linked to be at 0
    // Of another process it is not known which it had.
    ContextTree other{AddressMap(own_maps())};
    const Leaf unknown = other.add({chain});
    EXPECT_EQ(other.functions()[other.contexts()[unknown.context].function].canonical_name, "[vdso]");
    // Neither if it was elsewhere.
    EXPECT_EQ(RuntimeCode::of_this_process(0).vdso(range->start + 4096, range->end), nullptr);
}

TEST(KernelSymbols, AreItsFunctions)
{
    const KernelSymbols symbols("ffffffff81000000 T _stext\n"
                                "ffffffff81000000 T also_there\n"
                                "ffffffff81000200 t second.isra.0\n"
                                "ffffffff81000180 W weak\n"
                                "ffffffff81000210 D data\n"
                                "garbage\n"
                                "ffffffff81000220 T\n"
                                "ffffffffc0300000 t in_a_module\t[xfs]\n"
                                "ffffffff81000300 T cut");
    EXPECT_EQ(symbols.find(0xffffffff80ffffffULL), "");
    EXPECT_EQ(symbols.find(0xffffffff81000000ULL), "_stext");
    EXPECT_EQ(symbols.find(0xffffffff8100017fULL), "_stext");
    EXPECT_EQ(symbols.find(0xffffffff81000180ULL), "weak");
    EXPECT_EQ(symbols.find(0xffffffff810002ffULL), "second.isra.0");
    EXPECT_EQ(symbols.find(0xffffffff81000300ULL), "cut");
    EXPECT_EQ(symbols.find(0xffffffffc0300010ULL), "in_a_module");
    EXPECT_EQ(symbols.find(0xfffffffff0000000ULL), "");  // of something that has no name
    EXPECT_EQ(KernelSymbols("").find(0xffffffff81000000ULL), "");
    const KernelSymbols hidden("0000000000000000 T _stext\n0000000000000000 T second\n");
    EXPECT_EQ(hidden.find(0xffffffff81000000ULL), "");
}

TEST(RuntimeCode, OfTheKernelIsNamedWhereItTells)
{
    const KernelSymbols symbols = KernelSymbols::of_this_machine();
    std::ifstream file("/proc/kallsyms");
    std::uint64_t start = 0;
    for (std::string type, name, line; name != "schedule" && file >> std::hex >> start >> type >> name;)
        std::getline(file, line);
    if (start == 0)
        GTEST_SKIP() << "the kernel of this machine hides its addresses";
    const std::uint64_t clock = vdso_clock();
    const AddressMap map(own_maps());
    ContextTree own(map, RuntimeCode::of_this_process(0));
    const auto path = [&](const ContextTree& tree, Leaf leaf) {
        std::vector<std::string> names;
        for (std::uint32_t c = leaf.context; c != Context::no_parent; c = tree.contexts()[c].parent) {
            const Function& function = tree.functions()[tree.contexts()[c].function];
            names.push_back(function.module + "/" + function.canonical_name);
        }
        return names;
    };
    const std::vector<std::uint64_t> chain = {clock};
    const std::vector<std::string> caller = path(own, own.add({chain}));
    const Leaf leaf = own.add({chain}, start + 1);
    EXPECT_EQ(path(own, leaf), (std::vector<std::string>{"[kernel]/schedule", caller.front()}));
    EXPECT_EQ(leaf.offset, 0U);  // of no binary that could be looked into
    EXPECT_EQ(path(own, own.add(CallChain(), start + 1)),
              (std::vector<std::string>{"[kernel]/schedule", "/[unknown]"}));
    // Of another process it is not known which kernel it ran on.
    ContextTree other{AddressMap(own_maps())};
    EXPECT_EQ(path(other, other.add({chain}, start + 1)), path(other, other.add({chain})));
}

TEST(PerfMap, IsReadLineByLine)
{
    const PerfMap map("1000 100 first\n"
                      "0x2000 0x10 py::run:/a b/c.py\n"
                      "garbage\n"
                      "3000 no\n"
                      "3000 0 empty\n"
                      "3000 10 \n"
                      "zz 10 bad\n"
                      "fffffffffffffff0 20 around\n"
                      "-10 20 negative\n"
                      "\n"
                      "4000 10 cut");
    const auto name = [&](std::uint64_t address) {
        const std::string* found = map.find(address);
        return found == nullptr ? "nothing" : *found;
    };
    EXPECT_EQ(name(0xfff), "nothing");
    EXPECT_EQ(name(0x1000), "first");
    EXPECT_EQ(name(0x10ff), "first");
    EXPECT_EQ(name(0x1100), "nothing");
    EXPECT_EQ(name(0x200f), "py::run:/a b/c.py");
    for (const std::uint64_t address : {0x3000UL, 0x4000UL, 0UL, 0xfffffffffffffff8UL, 0xfffffffffffffff0UL, 0x8UL}) {
        EXPECT_EQ(name(address), "nothing") << address;
    }
}

// Against painting byte by byte.
TEST(PerfMap, LaterEntriesHideEarlierOnes)
{
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        constexpr std::size_t size = 64;
        std::vector<std::string> painted(size, "nothing");
        std::string text;
        for (int i = 0; i < 40; ++i) {
            const std::uint64_t start = 1 + random() % (size - 1);
            const std::uint64_t length = 1 + random() % std::min<std::uint64_t>(size - start, 20);
            text += fmt::format("{:x} {:x} code {}\n", start, length, i);
            const auto begin = painted.begin() + static_cast<std::ptrdiff_t>(start);
            const auto end = begin + static_cast<std::ptrdiff_t>(length);
            const bool is_first = std::all_of(begin, end, [](const std::string& name) { return name == "nothing"; });
            std::fill(begin, end, fmt::format("code {}{}", i, is_first ? "" : remade_remark));
        }
        const PerfMap map(text);
        for (std::size_t address = 0; address < size; ++address) {
            const std::string* found = map.find(address);
            ASSERT_EQ(found == nullptr ? "nothing" : *found, painted[address]) << "seed " << seed << ", " << address;
        }
    }
}

TEST(PerfMap, SaysWhereOtherCodeHadBeen)
{
    const PerfMap map("1000 100 first\n2000 100 same\n2000 100 same\n3000 100 other\n"
                      "1000 100 second\n3000 100 third\n3000 100 other\n");
    EXPECT_EQ(*map.find(0x1000), "second [last made here]");
    EXPECT_EQ(*map.find(0x2000), "same");
    EXPECT_EQ(*map.find(0x3000), "other [last made here]");
}

class OwnPerfMap : public testing::Test
{
protected:
    OwnPerfMap() { std::ofstream(path_) << "10000 100 compiled\n"; }

    [[nodiscard]] bool is_believed(std::uint64_t start = 0) const
    {
        return PerfMap::of_this_process(scratch_.path(), start).find(0x10010) != nullptr;
    }

    test::Scratch scratch_;
    const std::string path_ = scratch_ / fmt::format("perf-{}.map", ::getpid());
};

TEST_F(OwnPerfMap, IsBelieved)
{
    EXPECT_TRUE(is_believed());
    std::filesystem::remove(path_);
    EXPECT_FALSE(is_believed());
}

TEST_F(OwnPerfMap, OfAnEarlierProcessIsNotBelieved)
{
    struct timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const auto seconds = static_cast<std::uint64_t>(now.tv_sec);
    EXPECT_TRUE(is_believed(seconds * 1'000'000'000 - 3'000'000'000));
    EXPECT_FALSE(is_believed((seconds + 3600) * 1'000'000'000));
}

TEST_F(OwnPerfMap, ThatIsNoFileOfOursIsNotBelieved)
{
    std::filesystem::rename(path_, scratch_ / "elsewhere");
    std::filesystem::create_symlink(scratch_ / "elsewhere", path_);
    EXPECT_FALSE(is_believed());
    std::filesystem::remove(path_);
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    EXPECT_FALSE(is_believed());
    std::filesystem::remove(path_);
    std::filesystem::rename(scratch_ / "elsewhere", path_);
    EXPECT_TRUE(is_believed());
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(path_.c_str(), 12345, 12345), 0);
        EXPECT_FALSE(is_believed());
    }
}

TEST_F(OwnPerfMap, NamesCodeWithoutAFile)
{
    const AddressMap map("10000-11000 rwxp 00000000 00:00 0 \n"
                         "11000-12000 r-xp 00000000 00:00 0 \n");
    std::ofstream(path_, std::ios::app) << "20000 10 gone by now\n";
    const auto leaf = [&](ContextTree& tree, const std::vector<std::uint64_t>& chain) {
        return tree.functions()[tree.contexts()[tree.add({chain}).context].function];
    };
    ContextTree own(map, RuntimeCode::of_this_process(0, scratch_.path()));
    EXPECT_EQ(leaf(own, {0x10010, 0x11010}).canonical_name, "compiled");
    EXPECT_EQ(leaf(own, {0x10010}).module, "[jit]");
    EXPECT_EQ(leaf(own, {0x20000}).canonical_name, "gone by now");
    for (const std::uint64_t address : {0x10100, 0x11010}) {
        EXPECT_EQ(leaf(own, {address}).canonical_name, "[anon]");
        EXPECT_EQ(leaf(own, {address}).module, "[anon]");
    }
    EXPECT_EQ(leaf(own, {0x30000}).canonical_name, "[unknown]");
    ContextTree other{AddressMap(map)};
    EXPECT_EQ(leaf(other, {0x10010}).canonical_name, "[anon]");
}

}  // namespace
}  // namespace critpath::archive
