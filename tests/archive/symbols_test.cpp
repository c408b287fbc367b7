// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The same library with all symbols and stripped to its dynamic symbols; and code that is in no library.
#include "collector/archive/address_map.hpp"
#include "collector/archive/contexts.hpp"
#include "collector/archive/frame_table.hpp"
#include "collector/archive/kernel_symbols.hpp"
#include "collector/archive/module_file.hpp"
#include "collector/archive/perf_map.hpp"
#include "collector/archive/runtime_code.hpp"
#include "collector/archive/symbols.hpp"
#include "formats/binary/demangle.hpp"
#include "tests/scratch.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

namespace critpath::archive
{
namespace
{

constexpr int hidden_one = 0;
constexpr int hidden_two = 1;
constexpr int visible = 2;
constexpr int aliased = 3;

std::string own_maps()
{
    std::ifstream maps("/proc/self/maps");
    std::stringstream text;
    text << maps.rdbuf();
    return text.str();
}

class Subject
{
public:
    explicit Subject(const char* path, const char* addresses = "subject_address")
        : path_(path), library_(dlopen(path, RTLD_NOW | RTLD_LOCAL))
    {
        if (library_ != nullptr) {
            address_ = reinterpret_cast<std::uintptr_t (*)(int)>(dlsym(library_, addresses));
        }
        maps_ = own_maps();
    }
    ~Subject() { dlclose(library_); }
    Subject(const Subject&) = delete;
    Subject& operator=(const Subject&) = delete;

    [[nodiscard]] std::uint64_t address(int which) const { return address_(which); }
    [[nodiscard]] const std::string& maps() const { return maps_; }

    // Address within the file.
    [[nodiscard]] std::uint64_t in_binary(int which, const SymbolTable& symbols) const
    {
        const AddressMap map(maps_);
        const MappedRange* range = map.find(address(which));
        EXPECT_NE(range, nullptr);
        return symbols.address_of(address(which) - range->start + range->offset).value();
    }

private:
    std::string path_;
    void* library_;
    std::uintptr_t (*address_)(int) = nullptr;
    std::string maps_;
};

std::string name_at(const SymbolTable& symbols, std::uint64_t address)
{
    const auto found = symbols.find(address);
    return found ? binary::demangle(found->name) : "nothing";
}

TEST(Symbols, AllFunctionsHaveTheirNames)
{
    const Subject subject(SUBJECT_FULL);
    const SymbolTable symbols(SUBJECT_FULL);
    EXPECT_EQ(name_at(symbols, subject.in_binary(hidden_one, symbols)),
              "subject::(anonymous namespace)::hidden_one(int)");
    EXPECT_EQ(name_at(symbols, subject.in_binary(hidden_two, symbols) + 1),
              "subject::(anonymous namespace)::hidden_two(int)");
    EXPECT_EQ(name_at(symbols, subject.in_binary(visible, symbols)), "subject::visible(int, double)");
    EXPECT_FALSE(symbols.build_id().empty());
}

TEST(Symbols, AStrippedLibraryHasItsExportsAndOneNameAFunction)
{
    const Subject subject(SUBJECT_STRIPPED);
    const SymbolTable symbols(SUBJECT_STRIPPED);
    EXPECT_EQ(name_at(symbols, subject.in_binary(visible, symbols)), "subject::visible(int, double)");
    const SymbolTable full(SUBJECT_FULL);
    for (const int which : {hidden_one, hidden_two}) {
        // Stripping moves nothing: where the full library has a function, this one has the same and no other.
        const std::uint64_t start = subject.in_binary(which, symbols);
        const std::string name = "libsubject_stripped.so+" + fmt::format("{:#x}", start);
        const auto whole = full.find(start);
        ASSERT_TRUE(whole.has_value());
        EXPECT_EQ(whole->start, start);
        for (std::uint64_t at = start; full.find(at) && full.find(at)->start == start; ++at) {
            EXPECT_EQ(name_at(symbols, at), name);
        }
        EXPECT_FALSE(symbols.find(start)->has_symbol);
    }
}

TEST(Symbols, OfAStrippedLibraryAreFoundInItsDebugFile)
{
    const test::Scratch scratch;
    const std::string library = scratch / "libsubject.so";
    const std::string objcopy = std::string(TEST_OBJCOPY) + " --";
    ASSERT_EQ(std::system((objcopy + "strip-all " SUBJECT_FULL " " + library).c_str()), 0);
    ASSERT_EQ(std::system((objcopy + "only-keep-debug " SUBJECT_FULL " " + library + ".debug").c_str()), 0);
    const Subject subject(SUBJECT_FULL);
    const SymbolTable full(SUBJECT_FULL);
    const std::uint64_t address = subject.in_binary(hidden_one, full);
    EXPECT_EQ(name_at(SymbolTable(library), address), fmt::format("libsubject.so+{:#x}", address));
    ::setenv("CRITPATH_DEBUG_PATH", scratch.path().c_str(), 1);
    EXPECT_EQ(name_at(SymbolTable(library), address), name_at(full, address));
    ::unsetenv("CRITPATH_DEBUG_PATH");
}

TEST(Symbols, OfAStrippedLibraryAreFoundInItself)
{
    const test::Scratch scratch;
    const std::string library = scratch / "libsubject.so";
    const std::string symbols = scratch / "symbols";
    const std::string objcopy = std::string(TEST_OBJCOPY) + " --";
    const auto embed = [&] {
        ASSERT_EQ(std::system((objcopy + "strip-all --remove-section .gnu_debugdata --add-section .gnu_debugdata=" +
                               symbols + ".xz " SUBJECT_FULL " " + library)
                                  .c_str()),
                  0);
    };
    ASSERT_EQ(std::system((objcopy + "only-keep-debug " SUBJECT_FULL " " + symbols).c_str()), 0);
    ASSERT_EQ(std::system(("xz --keep " + symbols).c_str()), 0);
    ASSERT_NO_FATAL_FAILURE(embed());
    const Subject subject(SUBJECT_FULL);
    const SymbolTable full(SUBJECT_FULL);
    const SymbolTable stripped(library);
    for (const int which : {hidden_one, hidden_two, visible, aliased}) {
        const std::uint64_t address = subject.in_binary(which, full);
        EXPECT_EQ(name_at(stripped, address), name_at(full, address));
    }
    // What cannot be unpacked is as if it were not there.
    std::filesystem::resize_file(symbols + ".xz", std::filesystem::file_size(symbols + ".xz") / 2);
    ASSERT_NO_FATAL_FAILURE(embed());
    const std::uint64_t hidden = subject.in_binary(hidden_one, full);
    EXPECT_EQ(name_at(SymbolTable(library), hidden), fmt::format("libsubject.so+{:#x}", hidden));
    EXPECT_EQ(name_at(SymbolTable(library), subject.in_binary(visible, full)), "subject::visible(int, double)");
}

TEST(Symbols, EveryFunctionOfTheFullLibraryHasTheSameBoundsInTheUnwindTable)
{
    const SymbolTable full(SUBJECT_FULL);
    const SymbolTable stripped(SUBJECT_STRIPPED);
    const Subject subject(SUBJECT_FULL);
    const std::uint64_t first = full.find(subject.in_binary(hidden_one, full))->start;
    std::set<std::uint64_t> starts;
    for (std::uint64_t at = first; at < first + 0x400; ++at) {
        const auto wanted = full.find(at);
        const auto found = stripped.find(at);
        if (wanted && wanted->name.find("subject") != std::string::npos) {
            ASSERT_TRUE(found.has_value()) << at;
            EXPECT_EQ(found->start, wanted->start) << at;
            starts.insert(wanted->start);
        }
    }
    EXPECT_EQ(starts.size(), 5U);
}

TEST(Symbols, OfSeveralNamesTheOneOfTheInterfaceIsUsed)
{
    for (const char* path : {SUBJECT_FULL, SUBJECT_STRIPPED}) {
        const Subject subject(path);
        const SymbolTable symbols(path);
        EXPECT_EQ(name_at(symbols, subject.in_binary(aliased, symbols)), "subject_global_name");
    }
}

TEST(Symbols, WhatIsNoBinaryHasNoFunctions)
{
    EXPECT_FALSE(SymbolTable("/nonexistent").find(0x1000).has_value());
    EXPECT_FALSE(SymbolTable(__FILE__).find(0x1000).has_value());
    EXPECT_FALSE(SymbolTable(SUBJECT_FULL).find(0x7fffffffffffU).has_value());
}

TEST(Symbols, ColdPartsBelongToTheirFunction)
{
    EXPECT_EQ(binary::demangle("_ZN7subject7visibleEid"), "subject::visible(int, double)");
    EXPECT_EQ(binary::demangle("main"), "main");
    EXPECT_EQ(binary::demangle("_Znotmangled"), "_Znotmangled");
}

TEST(Symbols, FunctionsOfOneNameAreToldApartByTheirFiles)
{
    constexpr int functions = 4;
    struct Half {
        const char* addresses;
        const char* names[functions];
    };
    // A function that all files know needs no file, and one that nobody else has neither.
    constexpr Half halves[] = {{"twins_of_one",
                                {"(anonymous namespace)::hidden(int) [twin_one.cpp]", "twin [twin_one.cpp]",
                                 "half_global", "(anonymous namespace)::alone_in_one(int)"}},
                               {"twins_of_two",
                                {"(anonymous namespace)::hidden(int) [twin_two.cpp]", "twin [twin_two.cpp]",
                                 "half_global [twin_two.cpp]", "(anonymous namespace)::alone_in_two(int)"}}};
    const SymbolTable symbols(SUBJECT_TWINS);
    std::set<Hash128> keys;
    for (const Half& half : halves) {
        const Subject subject(SUBJECT_TWINS, half.addresses);
        ContextTree tree{AddressMap(subject.maps())};
        for (int i = 0; i < functions; ++i) {
            const auto found = symbols.find(subject.in_binary(i, symbols));
            ASSERT_TRUE(found);
            EXPECT_EQ(binary::demangle(found->name) + (found->file.empty() ? "" : " [" + found->file + "]"),
                      half.names[i]);
            const std::uint64_t address = subject.address(i);
            const Function& function = tree.functions()[tree.contexts()[tree.add({{&address, 1}}).context].function];
            EXPECT_EQ(function.canonical_name, found->name);
            EXPECT_EQ(function.file, found->file);
            keys.insert(function.key);
        }
    }
    EXPECT_EQ(keys.size(), 2U * functions);
}

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
            std::fill_n(painted.begin() + static_cast<std::ptrdiff_t>(start), length, fmt::format("code {}", i));
        }
        const PerfMap map(text);
        for (std::size_t address = 0; address < size; ++address) {
            const std::string* found = map.find(address);
            ASSERT_EQ(found == nullptr ? "nothing" : *found, painted[address]) << "seed " << seed << ", " << address;
        }
    }
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

TEST(Contexts, BuildATreeAndCutItWhereNothingIsMapped)
{
    const Subject subject(SUBJECT_FULL);
    ContextTree tree{AddressMap(subject.maps())};
    const std::uint64_t leaf = subject.address(hidden_one) + 1;
    const std::uint64_t middle = subject.address(hidden_two) + 4;
    const std::uint64_t root = subject.address(visible) + 4;
    const std::vector<std::uint64_t> chain = {leaf, middle, root, 0x8, middle};
    const Leaf first = tree.add({chain});
    const Leaf again = tree.add({chain});
    EXPECT_EQ(first.context, again.context);
    EXPECT_EQ(first.context, tree.add({std::span(chain).first(3), false}).context);
    const Context& whole = tree.contexts()[tree.add({std::span(chain).first(3)}).context];
    EXPECT_EQ(whole.depth, 2U);
    EXPECT_EQ(whole.function, tree.contexts()[first.context].function);
    const Context& context = tree.contexts()[first.context];
    EXPECT_EQ(context.depth, 3U);
    EXPECT_EQ(tree.functions()[tree.contexts().front().function].canonical_name, "[unknown callers]");
    EXPECT_EQ(binary::demangle(tree.functions()[context.function].canonical_name),
              "subject::(anonymous namespace)::hidden_one(int)");
    const SymbolTable symbols(SUBJECT_FULL);
    EXPECT_EQ(first.offset, subject.in_binary(hidden_one, symbols) + 1);
    EXPECT_EQ(tree.contexts().size(), 7U);
    const Leaf unknown = tree.add(CallChain());
    EXPECT_EQ(tree.functions()[tree.contexts()[unknown.context].function].canonical_name, "[unknown]");
}

TEST(Contexts, KnowWhereTheyWereCalled)
{
    const Subject subject(SUBJECT_FULL);
    const SymbolTable symbols(SUBJECT_FULL);
    ContextTree tree{AddressMap(subject.maps())};
    const std::uint64_t leaf = subject.address(hidden_one), middle = subject.address(hidden_two);
    const std::uint64_t root = subject.address(visible);
    const auto sites = [&](const std::vector<std::uint64_t>& chain) {
        std::vector<std::uint64_t> found;  // from the leaf on
        for (std::uint32_t c = tree.add({chain}).context; c != Context::no_parent; c = tree.contexts()[c].parent)
            found.push_back(tree.contexts()[c].site);
        return found;
    };
    // Return addresses are one behind the call, or more. Nobody calls the outermost one.
    const std::uint64_t in_middle = subject.in_binary(hidden_two, symbols) + 3;
    const std::uint64_t in_root = subject.in_binary(visible, symbols) + 5;
    EXPECT_EQ(sites({leaf, middle + 4, root + 6}), (std::vector<std::uint64_t>{in_middle, in_root, 0}));
    EXPECT_EQ(sites({leaf + 1, middle + 4, root + 6}), (std::vector<std::uint64_t>{in_middle, in_root, 0}));
    const std::size_t before = tree.contexts().size();
    EXPECT_EQ(sites({leaf, middle + 4, root + 7}), (std::vector<std::uint64_t>{in_middle, in_root + 1, 0}));
    EXPECT_EQ(tree.contexts().size(), before + 2);
    // Of functions that call each other again: only where they did so first, and what others they call.
    EXPECT_EQ(sites({leaf, root + 8, middle + 4, root + 6}),
              (std::vector<std::uint64_t>{in_root + 2, in_middle, in_root, 0}));
    EXPECT_EQ(sites({root + 1, root + 8, root + 7}), (std::vector<std::uint64_t>{0, in_root + 1, 0}));
    EXPECT_EQ(sites({middle + 1, root + 8, middle + 4, root + 6}),
              (std::vector<std::uint64_t>{0, in_middle, in_root, 0}));
}

TEST(Contexts, AReturnAddressBehindItsFunctionBelongsToTheCaller)
{
    const Subject subject(SUBJECT_FULL);
    ContextTree tree{AddressMap(subject.maps())};
    const SymbolTable symbols(SUBJECT_FULL);
    const std::uint64_t start = subject.in_binary(hidden_one, symbols);
    std::uint64_t size = 1;
    while (symbols.find(start + size) && symbols.find(start + size)->start == start) {
        ++size;
    }
    const std::vector<std::uint64_t> chain = {subject.address(visible), subject.address(hidden_one) + size};
    const Context& leaf = tree.contexts()[tree.add({chain}).context];
    EXPECT_EQ(tree.functions()[tree.contexts()[leaf.parent].function].canonical_name, symbols.find(start)->name);
}

// What was loaded once, in its place the same library without symbols, and then nothing.
TEST(Contexts, AreThoseOfTheirTime)
{
    const Subject subject(SUBJECT_FULL);
    const std::string maps = subject.maps();
    std::string stripped = maps;
    for (std::size_t at = 0; (at = stripped.find(SUBJECT_FULL, at)) != std::string::npos;) {
        stripped.replace(at, std::strlen(SUBJECT_FULL), SUBJECT_STRIPPED);
    }
    const std::string unloads = "= 00000000000000000100 00000000000000000001\n" + maps +
                                "= 00000000000000000200 00000000000000000001\n" + stripped;
    ContextTree tree{AddressMap("", unloads)};
    const std::vector<std::uint64_t> chain = {subject.address(hidden_one) + 1};
    const auto function = [&](std::uint32_t context) { return tree.functions()[tree.contexts()[context].function]; };
    EXPECT_EQ(function(tree.add({chain}, 0, 250).context).canonical_name, "[unknown]");
    EXPECT_EQ(function(tree.add({chain}, 0, 150).context).module, SUBJECT_STRIPPED);
    EXPECT_EQ(function(tree.add({chain}, 0, 50).context).module, SUBJECT_FULL);
    EXPECT_EQ(function(tree.add_path(chain, 150).context).module, SUBJECT_STRIPPED);
    EXPECT_EQ(function(tree.add_path(chain, 50).context).module, SUBJECT_FULL);
    EXPECT_EQ(binary::demangle(function(tree.add({chain}, 0, 50).context).canonical_name),
              "subject::(anonymous namespace)::hidden_one(int)");
    EXPECT_TRUE(tree.unreadable().empty());
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

TEST(ModuleFile, WhatWasLoadedTellsWhereFunctionsBegin)
{
    const Subject subject(SUBJECT_FULL);
    const SymbolTable file(SUBJECT_FULL);
    const SymbolTable image("/x/libsubject.so", loaded_image(subject.address(visible)));
    EXPECT_EQ(image.build_id(), file.build_id());
    for (const int which : {hidden_one, hidden_two, visible}) {
        const std::uint64_t address = subject.in_binary(which, file);
        EXPECT_EQ(name_at(image, address + 1), fmt::format("libsubject.so+{:#x}", address));
    }
    FrameTable from_file(SUBJECT_FULL);
    FrameTable from_image(loaded_image(subject.address(visible)));
    const AddressMap map(subject.maps());
    const MappedRange* range = map.find(subject.address(visible));
    const std::uint64_t offset = subject.address(visible) - range->start + range->offset;
    const FrameRules* rules = from_image.find(offset);
    ASSERT_NE(rules, nullptr);
    EXPECT_EQ(rules->end, from_file.find(offset)->end);
    EXPECT_TRUE(loaded_image(0x10).empty());
}

// A copy that is replaced while it is loaded: names of the file that ran, never of the one that is there now.
TEST(ModuleFile, AReplacedFileIsNotMistakenForItsSuccessor)
{
    const test::Scratch scratch;
    const std::string path = scratch / "libcopy.so";
    std::filesystem::copy_file(SUBJECT_FULL, path);
    const Subject subject(path.c_str());
    std::filesystem::copy_file(SUBJECT_STRIPPED, path + ".new");
    std::filesystem::rename(path + ".new", path);
    const AddressMap map(own_maps());
    const std::vector<std::uint64_t> chain = {subject.address(hidden_one) + 1};
    ContextTree own(map, RuntimeCode::of_this_process(0));
    const auto function = [&](ContextTree& tree) {
        return tree.functions()[tree.contexts()[tree.add({chain}).context].function];
    };
    EXPECT_EQ(function(own).module, path);
    EXPECT_EQ(function(own).build_id, SymbolTable(SUBJECT_FULL).build_id());
    const bool is_named = binary::demangle(function(own).canonical_name) ==
                          "subject::(anonymous namespace)::hidden_one(int)";  // where /proc/self/map_files may be read
    EXPECT_EQ(own.unreadable().size(), is_named ? 0U : 1U);
    EXPECT_TRUE(is_named || function(own).canonical_name.starts_with("libcopy.so+0x")) << function(own).canonical_name;
    // Of another process there is nothing left.
    ContextTree other{AddressMap(map)};
    EXPECT_EQ(function(other).canonical_name, "[libcopy.so (deleted)]");
    EXPECT_EQ(function(other).module, path + " (deleted)");
    EXPECT_EQ(function(other).build_id, "");
    EXPECT_EQ(other.unreadable(), std::vector{path});
}

// A copy that is built anew, into the same inode, before the process that had loaded it is recovered.
TEST(ModuleFile, WhatWasBuiltAnewDoesNotNameWhatRan)
{
    const test::Scratch scratch;
    const std::string path = scratch / "libcopy.so";
    std::filesystem::copy_file(SUBJECT_FULL, path);
    const auto time = std::filesystem::last_write_time(path);
    struct stat status = {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    const std::string of_file =
        fmt::format("# file {} {}\n", status.st_size, status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec);
    const std::string of_contents = "# build-id " + SymbolTable(path).build_id() + "\n";
    const std::uint64_t offset = 0x1000;
    const auto module_of = [&](const std::string& identity) {
        ContextTree tree{AddressMap("10000-90000 r-xp 00000000 08:01 11   " + path + "\n" + identity)};
        const std::vector<std::uint64_t> chain = {0x10000 + offset};
        const Leaf leaf = tree.add({chain});
        const Function function = tree.functions()[tree.contexts()[leaf.context].function];
        EXPECT_EQ(function.module, path);
        EXPECT_EQ(tree.unreadable().empty(), function.build_id == SymbolTable(path).build_id());
        EXPECT_EQ(tree.unreadable().empty(), function.canonical_name != "[libcopy.so]") << function.canonical_name;
        return function.build_id;
    };
    const std::string build_id = SymbolTable(path).build_id();
    for (const std::string& identity : {std::string(), of_file, of_contents, std::string("# of another version\n")}) {
        EXPECT_EQ(module_of(identity), build_id) << identity;
    }
    std::filesystem::last_write_time(path, time + std::chrono::seconds(1));
    EXPECT_EQ(module_of(of_contents), build_id) << "it is still the same";
    EXPECT_EQ(module_of(of_file).front(), '-');
    EXPECT_EQ(module_of("# build-id 00\n").front(), '-');
    std::filesystem::remove(path);
    EXPECT_EQ(module_of(of_contents).front(), '-');
}

}  // namespace
}  // namespace critpath::archive
