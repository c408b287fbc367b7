// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The same library with all symbols, stripped to its dynamic symbols, and without section headers at all.
#include "collector/archive/address_map.hpp"
#include "collector/archive/contexts.hpp"
#include "collector/archive/symbols.hpp"
#include "formats/binary/demangle.hpp"
#include "tests/scratch.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <dlfcn.h>

namespace critpath::archive
{
namespace
{

constexpr int hidden_one = 0;
constexpr int hidden_two = 1;
constexpr int visible = 2;
constexpr int aliased = 3;

class Subject
{
public:
    explicit Subject(const char* path) : path_(path), library_(dlopen(path, RTLD_NOW | RTLD_LOCAL))
    {
        if (library_ != nullptr) {
            address_ = reinterpret_cast<std::uintptr_t (*)(int)>(dlsym(library_, "subject_address"));
        }
        std::ifstream maps("/proc/self/maps");
        std::stringstream text;
        text << maps.rdbuf();
        maps_ = text.str();
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

TEST(Contexts, BuildATreeAndCutItWhereNothingIsMapped)
{
    const Subject subject(SUBJECT_FULL);
    ContextTree tree{AddressMap(subject.maps())};
    const std::uint64_t leaf = subject.address(hidden_one) + 1;
    const std::uint64_t middle = subject.address(hidden_two) + 4;
    const std::uint64_t root = subject.address(visible) + 4;
    const std::vector<std::uint64_t> chain = {leaf, middle, root, 0x8, middle};
    const Leaf first = tree.add(chain);
    const Leaf again = tree.add(chain);
    const Leaf shorter = tree.add(std::span(chain).first(3));
    EXPECT_EQ(first.context, again.context);
    EXPECT_EQ(first.context, shorter.context);
    const Context& context = tree.contexts()[first.context];
    EXPECT_EQ(context.depth, 2U);
    EXPECT_EQ(binary::demangle(tree.functions()[context.function].canonical_name),
              "subject::(anonymous namespace)::hidden_one(int)");
    const SymbolTable symbols(SUBJECT_FULL);
    EXPECT_EQ(first.offset, subject.in_binary(hidden_one, symbols) + 1);
    EXPECT_EQ(tree.contexts().size(), 3U);
    const Leaf unknown = tree.add({});
    EXPECT_EQ(tree.functions()[tree.contexts()[unknown.context].function].canonical_name, "[unknown]");
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
    const Context& leaf = tree.contexts()[tree.add(chain).context];
    EXPECT_EQ(tree.functions()[tree.contexts()[leaf.parent].function].canonical_name, symbols.find(start)->name);
}

}  // namespace
}  // namespace critpath::archive
