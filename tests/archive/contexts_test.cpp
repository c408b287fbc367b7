// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Call chains as a tree.
#include "collector/archive/address_map.hpp"
#include "collector/archive/contexts.hpp"
#include "collector/archive/symbols.hpp"
#include "formats/binary/demangle.hpp"
#include "tests/archive/subject_library.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace critpath::archive
{
namespace
{

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
    EXPECT_TRUE(first.is_cut && again.is_cut);
    EXPECT_FALSE(tree.add({std::span(chain).first(3)}).is_cut);
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

// As of a program that is stripped, whose `main` has more on the stack than a sample copies.
TEST(Contexts, AChainThatEndsInWhatTheCLibraryStartedIsNotCutOff)
{
    const Subject subject(SUBJECT_STRIPPED);
    // By its name: sanitizers have some of the functions, too.
    void* const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    ASSERT_NE(libc, nullptr);
    const auto libc_address = [&](const char* name) { return reinterpret_cast<std::uintptr_t>(dlsym(libc, name)); };
    const std::uint64_t leaf = subject.address(hidden_one) + 1;
    const std::uint64_t main = subject.address(hidden_two) + 4;
    const std::uint64_t calls_main = libc_address("qsort") + 4, starts = libc_address("__libc_start_main") + 4;
    const std::vector<std::uint64_t> path = {leaf, main, calls_main, starts}, exit = {libc_address("exit") + 4, starts};
    const auto outermost = [](const ContextTree& tree, const Leaf& of) {
        std::uint32_t context = of.context;
        while (tree.contexts()[context].parent != Context::no_parent)
            context = tree.contexts()[context].parent;
        return tree.functions()[tree.contexts()[context].function].canonical_name;
    };
    ContextTree tree{AddressMap(subject.maps())};
    EXPECT_EQ(outermost(tree, tree.add({std::span(path).first(2), false})), "[unknown callers]");
    ContextTree started{AddressMap(subject.maps())};
    started.add({path});
    started.add({exit});
    const std::string name_of_main = outermost(started, started.add({std::span(path).subspan(1, 1)}));
    EXPECT_EQ(outermost(started, started.add({std::span(path).first(2), false})), name_of_main);
    EXPECT_NE(outermost(started, started.add({std::span(path).first(3), false})), "[unknown callers]");
    EXPECT_EQ(outermost(started, started.add({std::span(path).first(1), false})), "[unknown callers]");
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

}  // namespace
}  // namespace critpath::archive
