// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The same library with all symbols and stripped to its dynamic symbols.
#include "collector/archive/address_map.hpp"
#include "collector/archive/contexts.hpp"
#include "collector/archive/frame_table.hpp"
#include "collector/archive/module_file.hpp"
#include "collector/archive/runtime_code.hpp"
#include "collector/archive/symbols.hpp"
#include "formats/binary/demangle.hpp"
#include "formats/binary/plt_stubs.hpp"
#include "tests/archive/subject_library.hpp"
#include "tests/scratch.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

namespace critpath::archive
{
namespace
{

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

// Of this program: they have no symbols.
TEST(Symbols, StubsAreCalledByWhatTheyLeadTo)
{
#ifndef __x86_64__
    GTEST_SKIP() << "only the stubs of x86-64 are known";
#endif
    const std::string self = "/proc/self/exe";
    const SymbolTable symbols(self);
    const binary::ElfFile file(self);
    const binary::PltStubs stubs(file);
    for (const binary::PltStubs::Stub& stub : stubs.all()) {
        const auto found = symbols.find(stub.start);
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(found->name, std::string(stub.function) + "@plt");
        EXPECT_EQ(found->start, stub.start);
    }
    EXPECT_GT(stubs.all().size(), 10U);
    const Subject subject(SUBJECT_FULL);
    const SymbolTable full(SUBJECT_FULL);
    EXPECT_EQ(full.find(subject.in_binary(visible, full))->name.find("@plt"), std::string::npos);
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

/// Where the functions of a binary begin, by name: several times where parts of them were moved away.
std::map<std::string, std::set<std::uint64_t>> starts_by_name(const SymbolTable& symbols, std::uint64_t end)
{
    std::map<std::string, std::set<std::uint64_t>> starts;
    for (std::uint64_t at = 0; at < end; ++at) {
        if (const auto found = symbols.find(at); found && found->has_symbol) {
            starts[found->name].insert(found->start);
        }
    }
    return starts;
}

TEST(Symbols, PartsThatWereMovedAwayHaveTheNameOfTheirFunction)
{
    constexpr std::uint64_t end = 0x4000;  // of a small library
    const SymbolTable stripped(SUBJECT_COLD_STRIPPED);
    const auto starts = starts_by_name(SymbolTable(SUBJECT_COLD_FULL), end);
    int parts = 0;
    for (const char* name : {"split_one", "split_two", "split_seen"}) {
        const std::set<std::uint64_t>& pieces = starts.at(name);
        const bool is_seen = std::string_view(name) == "split_seen";
        std::string wanted = name;
        for (const std::uint64_t piece : pieces) {  // the linker puts moved parts first
            const auto found = stripped.find(piece);
            ASSERT_TRUE(found);
            EXPECT_EQ(found->start, piece);
            EXPECT_EQ(found->has_symbol, is_seen);
            if (!is_seen) {
                wanted = fmt::format("libsubject_cold_stripped.so+{:#x}", *pieces.rbegin());
            }
            EXPECT_EQ(found->name, wanted);
        }
        parts += static_cast<int>(pieces.size()) - 1;
    }
#ifdef __clang__
    if (parts == 0) {
        GTEST_SKIP() << "this clang moves no parts of functions away";
    }
#endif
    EXPECT_GT(parts, 0);
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
            EXPECT_EQ(binary::demangle(found->name) + found->mark, half.names[i]);
            const std::uint64_t address = subject.address(i);
            const Function& function = tree.functions()[tree.contexts()[tree.add({{&address, 1}}).context].function];
            EXPECT_EQ(function.canonical_name, found->name);
            EXPECT_EQ(function.mark, found->mark);
            keys.insert(function.key);
        }
    }
    EXPECT_EQ(keys.size(), 2U * functions);
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

// Code without .eh_frame: the rules are the same as of the code that has it.
TEST(FrameTable, ReadsWhatIsForDebuggersOnly)
{
    const test::Scratch scratch;
    const std::string without = scratch / "without.so";
    ASSERT_EQ(std::system((TEST_OBJCOPY " --remove-section .debug_frame " SUBJECT_DEBUG_FRAME " " + without).c_str()),
              0);
    const Subject subject(SUBJECT_DEBUG_FRAME);
    const Subject full(SUBJECT_FULL);
    const auto offset = [](const Subject& of) {
        const AddressMap map(of.maps());
        const MappedRange* range = map.find(of.address(visible));
        return of.address(visible) - range->start + range->offset;
    };
    FrameTable table(SUBJECT_DEBUG_FRAME);
    FrameTable of_full(SUBJECT_FULL);
    FrameTable of_without(without);
    const FrameRules* rules = table.find(offset(subject));
    const FrameRules* wanted = of_full.find(offset(full));
    ASSERT_NE(rules, nullptr);
    ASSERT_NE(wanted, nullptr);
    EXPECT_EQ(rules->return_register, wanted->return_register);
    EXPECT_EQ(rules->has_frame_pointer, wanted->has_frame_pointer);
    EXPECT_EQ(rules->end - rules->start, wanted->end - wanted->start);
    EXPECT_EQ(of_without.find(offset(subject)), nullptr);
    EXPECT_EQ(FrameTable(__FILE__).find(0x1000), nullptr);
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

// A copy that is renamed while it is loaded, and another binary that gets its name: what ran has one name, its own.
TEST(ModuleFile, ARenamedFileIsNotMistakenForItsSuccessor)
{
    const test::Scratch scratch;
    const std::string path = scratch / "libcopy.so";
    std::filesystem::copy_file(SUBJECT_FULL, path);
    const Subject subject(path.c_str());
    const std::string identity = "# build-id " + SymbolTable(path).build_id() + "\n";
    const auto identified_maps = [&] {
        std::istringstream lines(own_maps());
        std::string maps;
        for (std::string line; std::getline(lines, line);) {
            maps += line + "\n" + (line.find(path) == std::string::npos ? "" : identity);
        }
        return maps;
    };
    const std::string before = identified_maps();
    std::filesystem::rename(path, path + ".old");
    std::filesystem::copy_file(SUBJECT_TWINS, path);
    const AddressMap map(identified_maps(), "= 00000000000000000100 00000000000000000000\n" + before);
    const std::vector<std::uint64_t> chain = {subject.address(hidden_one) + 1};
    for (const bool is_own : {true, false}) {
        ContextTree tree(map, is_own ? RuntimeCode::of_this_process(0) : RuntimeCode());
        const Leaf leaf = tree.add({chain}, 0, 50);
        EXPECT_EQ(tree.add({chain}).context, leaf.context);
        const Function function = tree.functions()[tree.contexts()[leaf.context].function];
        EXPECT_EQ(function.module, path + ".old");
        EXPECT_EQ(binary::demangle(function.canonical_name), "subject::(anonymous namespace)::hidden_one(int)");
        EXPECT_TRUE(tree.unreadable().empty());
    }
    EXPECT_EQ(map.unseen_unloads(), 0U);
    // Where nobody has seen it being renamed, it has no names rather than wrong ones, or those that are in memory.
    for (const bool is_own : {true, false}) {
        ContextTree tree(AddressMap(before), is_own ? RuntimeCode::of_this_process(0) : RuntimeCode());
        const Function function = tree.functions()[tree.contexts()[tree.add({chain}).context].function];
        const bool is_named =
            binary::demangle(function.canonical_name) == "subject::(anonymous namespace)::hidden_one(int)";
        EXPECT_TRUE(is_named ? is_own : function.canonical_name.find("libcopy.so") != std::string::npos)
            << function.canonical_name;
    }
}

// Unloaded and then deleted: no map says so.
TEST(ModuleFile, AFileThatIsGoneIsSaidToBe)
{
    const test::Scratch scratch;
    const std::string path = scratch / "gone.so";
    for (const std::string identity : {"", "# build-id 00\n", "# file 1 2\n"}) {
        const AddressMap map("", "= 00000000000000000100 00000000000000000001\n10000-90000 r-xp 00000000 08:01 11   " +
                                     path + "\n" + identity);
        const std::vector<std::uint64_t> chain = {0x11000};
        for (const bool is_own : {true, false}) {
            ContextTree tree(map, is_own ? RuntimeCode::of_this_process(0) : RuntimeCode());
            const Leaf leaf = tree.add({chain}, 0, 50);
            const Function function = tree.functions()[tree.contexts()[leaf.context].function];
            EXPECT_EQ(function.module, path + (is_own ? " (deleted)" : ""));
            EXPECT_EQ(function.canonical_name, is_own ? "[gone.so (deleted)]" : "[gone.so]");
            EXPECT_EQ(tree.unreadable(), std::vector{path}) << identity;
        }
    }
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
