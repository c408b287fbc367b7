// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One stripped library, and what its debug file says afterwards. Where functions are, nm says.
#include "formats/binary/folded_names.hpp"
#include "formats/binary/function_names.hpp"
#include "formats/binary/source_lines.hpp"
#include "tests/binary/workbench.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::binary
{
namespace
{

// Two functions that only the debug file knows, of which another source has a namesake of one.
class Stripped
{
public:
    explicit Stripped(const std::string& options = "-Wl,--build-id=sha1", const std::string& value = "1")
    {
        bench.write("one.cpp",
                    "namespace grid { __attribute__((noinline, used)) static int twin(int x) { return x * 3 + " +
                        value +
                        "; }\n__attribute__((noinline, used)) static int alone(int x) { return x * 5; }\n"
                        "}\nint one(int x) { return grid::twin(x) + grid::alone(x); }\n");
        bench.write("two.cpp",
                    "namespace grid { __attribute__((noinline, used)) static int twin(int x) { return x * 7; } }\n"
                    "int two(int x) { return grid::twin(x); }\n");
        bench.compile("one.cpp two.cpp", "libgrid.so", "-g -O2 " + options);
        symbols = bench.symbols("libgrid.so");
        std::filesystem::create_directory(bench / "debug");
        bench.objcopy("--only-keep-debug libgrid.so debug/libgrid.so.debug");
        bench.objcopy("--strip-all libgrid.so");
        module = {bench / "libgrid.so", ElfFile(bench / "libgrid.so").identity()};
    }

    [[nodiscard]] std::string name(std::uint64_t start, std::span<const std::uint64_t> addresses = {}) const
    {
        FunctionNames names({bench / "debug"});
        return names.find(module, start, addresses).value_or("nothing");
    }
    [[nodiscard]] std::uint64_t alone() const { return symbols.at("_ZN4gridL5aloneEi"); }

    Workbench bench;
    std::map<std::string, std::uint64_t> symbols;
    Module module;
};

TEST(FunctionNames, AreThoseOfTheDebugFile)
{
    const Stripped library;
    EXPECT_EQ(library.name(library.alone()), "grid::alone(int)");
    EXPECT_EQ(library.name(library.alone() + 1), "grid::alone(int)");
    EXPECT_EQ(library.name(library.symbols.at("_Z3onei")), "one(int)");
    EXPECT_EQ(library.name(0xfffffff), "nothing");
    // nm's output has one address a name: that of either twin.
    const std::string twin = library.name(library.symbols.at("_ZN4gridL4twinEi"));
    EXPECT_TRUE(twin == "grid::twin(int) [one.cpp]" || twin == "grid::twin(int) [two.cpp]") << twin;
}

// The symbol table has no directories, debug information has.
TEST(FunctionNames, OfFilesThatAreCalledAlikeHaveAddresses)
{
    if (std::string(TEST_GNU_CXX).ends_with("NOTFOUND")) {
        GTEST_SKIP() << "g++, which gives such names, is not installed";
    }
    const Workbench bench;
    const std::string one = "__attribute__((noinline, used)) static int twin(int x) { return x * ";
    bench.write("a/util.cpp", one + "3; }\nint a(int x) { return twin(x); }\n");
    bench.write("b/util.cpp", one + "7; }\nint b(int x) { return twin(x); }\n");
    bench.write("c.cpp", one + "9; }\nint c(int x) { return twin(x); }\n");
    bench.compile("a/util.cpp b/util.cpp c.cpp", "libutil.so", "-g -O2 -Wl,--build-id=sha1");
    const Module module = {bench / "libutil.so", ElfFile(bench / "libutil.so").identity()};
    FunctionNames names;
    SourceLines lines;
    std::set<std::string> found;
    std::istringstream symbols(bench.run(TEST_NM " --defined-only libutil.so"));
    for (std::string address, type, name; symbols >> address >> type >> name;) {
        if (name != "_ZL4twini") {
            continue;
        }
        const std::uint64_t start = std::stoull(address, nullptr, 16);
        std::string text = names.find(module, start).value_or("nothing");
        const std::string mark = fmt::format(":{:#x}]", start);
        if (text.ends_with(mark)) {
            text.replace(text.size() - mark.size(), mark.size(), ":ADDRESS]");
        }
        found.insert(text + " " + lines.unit_file(module, start).substr((bench / "").size()));
    }
    EXPECT_EQ(found, (std::set<std::string>{"twin(int) [util.cpp:ADDRESS] a/util.cpp",
                                            "twin(int) [util.cpp:ADDRESS] b/util.cpp", "twin(int) [c.cpp] c.cpp"}));
}

// Its symbol table has neither the files nor the names: "twin.lto_priv.0".
TEST(FunctionNames, SurviveOptimisationAtLinkTime)
{
    const Workbench bench;
    const std::string one = "__attribute__((noinline, used)) static int twin(int x) { return x * ";
    bench.write("a/util.cpp", one + "3; }\nint a(int x) { return twin(x); }\n");
    bench.write("b/util.cpp", one + "7; }\nint b(int x) { return twin(x); }\n");
    bench.write("c.cpp", one + "9; }\n__attribute__((noinline, used)) static int alone(int x) { return x * 5; }\n" +
                             "int c(int x) { return twin(x) + alone(x); }\n");
    bench.compile_with(TEST_GNU_CXX, "a/util.cpp b/util.cpp c.cpp", "libutil.so", "-g -O2 -flto -Wl,--build-id=sha1");
    const Module module = {bench / "libutil.so", ElfFile(bench / "libutil.so").identity()};
    const std::string table = bench.run(TEST_NM " --defined-only libutil.so");
    ASSERT_NE(table.find("_ZL4twini.lto_priv."), std::string::npos) << table;
    FunctionNames names;
    SourceLines lines;
    std::set<std::string> found;
    std::istringstream symbols(table);
    for (std::string address, type, name; symbols >> address >> type >> name;) {
        const std::uint64_t start = std::stoull(address, nullptr, 16);
        if (name.starts_with("_ZL5alone")) {
            EXPECT_EQ(names.find(module, start), "alone(int)");
        }
        if (!name.starts_with("_ZL4twini")) {
            continue;
        }
        EXPECT_EQ(names.find(module, start), fmt::format("twin(int) [:{:#x}]", start));
        found.insert(lines.unit_file(module, start));
        const std::vector<std::string> files = lines.namesake_files(module, start);
        EXPECT_EQ(files.size(), 3U);
        EXPECT_EQ(std::set(files.begin(), files.end()),
                  (std::set{bench / "a/util.cpp", bench / "b/util.cpp", bench / "c.cpp"}));
    }
    EXPECT_EQ(found, (std::set{bench / "a/util.cpp", bench / "b/util.cpp", bench / "c.cpp"}));
}

// What the compiler does with functions that do the same, and with the part of one that is moved away. Other names of
// one function are none of its twins.
TEST(FunctionNames, OfWhatHasTheSameCodeAreAll)
{
    const Workbench bench;
    const auto alias = [](const std::string& name, const std::string& of, const std::string& more = "") {
        return "int " + name + "(int) __attribute__((alias(\"" + of + "\")" + more + "));\n";
    };
    bench.write("twins.cpp",
                "extern \"C\" {\nint solve(int x) { return x * 3; }\n" + alias("pack", "solve") +
                    alias("assemble", "solve") + alias("_pmpi", "solve") + alias("weaker", "solve", ", weak") +
                    alias("SOLVE_", "solve") + alias("__grid_MOD_fill", "solve") +
                    "int alone(int x) { return x * 5; }\n" + alias("__alone", "alone") +
                    alias("mpi_alone", "alone", ", weak") +
                    "}\nasm(\".text\\n.type solve.cold, @function\\nsolve.cold: nop\\n.size solve.cold, 1\");\n"
                    "struct Grid { __attribute__((noinline)) Grid(int x) : cells(x) {} int cells; };\n"
                    "__attribute__((weak)) int relax(int x) { return x * 7; }\n"
                    "int other(int x) __attribute__((alias(\"_Z5relaxi\")));\n"
                    "Grid make(int x) { return Grid(x); }\n");
    bench.compile("twins.cpp", "libtwins.so", "-O2 -Wl,--build-id=sha1");
    const std::map<std::string, std::uint64_t> symbols = bench.symbols("libtwins.so");
    const Module module = {bench / "libtwins.so", ElfFile(bench / "libtwins.so").identity()};
    FunctionNames names;
    const auto name = [&](const char* symbol) { return names.find(module, symbols.at(symbol)).value_or("nothing"); };
    const std::string all = "pack [= assemble = grid::fill = solve]";  // the shortest first
    EXPECT_EQ(name("solve"), all);
    EXPECT_EQ(name("assemble"), all);
    EXPECT_EQ(name("alone"), "alone");
    EXPECT_EQ(name("_Z5relaxi"), "other(int) [= relax(int)]");
    EXPECT_EQ(names.find(module, symbols.at("solve.cold")), all);
    const char* const constructor = "_ZN4GridC1Ei";  // clang makes one of both only
    EXPECT_EQ(name(symbols.contains(constructor) ? constructor : "_ZN4GridC2Ei"), "Grid::Grid(int)");
}

TEST(FunctionNames, WithTwinsAreTakenApart)
{
    using Functions = std::vector<std::string_view>;
    EXPECT_EQ(with_twins("a", {}), "a");
    const std::vector<std::string> three = {"b(int*) [3]", "c", "d"}, many(9, "b");
    const std::string name = with_twins("a [s1.c]", three);
    EXPECT_EQ(name, "a [s1.c] [= b(int*) [3] = c = d]");
    EXPECT_EQ(without_twins(name), "a [s1.c]");
    EXPECT_EQ(folded_functions(name), (Functions{"a [s1.c]", "b(int*) [3]", "c", "d"}));
    EXPECT_EQ(with_twins("a", many), "a [= b = b = b = b = ...]");
    EXPECT_EQ(folded_functions(with_twins("a", many)), (Functions{"a", "b", "b", "b", "b"}));
    EXPECT_EQ(folded_functions("A::operator=(A const&)"), Functions{"A::operator=(A const&)"});
    EXPECT_EQ(folded_functions("a [s1.c]"), Functions{"a [s1.c]"});
}

TEST(FunctionNames, AreOfAllThatWasSeenOfTheFunction)
{
    const Stripped library;
    const std::array<std::uint64_t, 2> own = {library.alone(), library.alone() + 1};
    EXPECT_EQ(library.name(library.alone(), own), "grid::alone(int)");
    const std::array<std::uint64_t, 2> mixed = {library.alone(), library.symbols.at("_Z3twoi")};
    EXPECT_EQ(library.name(library.alone(), mixed), "nothing");
    const std::array<std::uint64_t, 1> outside = {0xfffffff};
    EXPECT_EQ(library.name(library.alone(), outside), "nothing");
}

TEST(FunctionNames, AreOfTheBinaryThatRan)
{
    const Stripped library;
    std::filesystem::rename(library.bench / "libgrid.so", library.bench / "away.so");
    EXPECT_EQ(library.name(library.alone()), "grid::alone(int)") << "the debug file alone has the build-id";
    const Stripped other("-Wl,--build-id=sha1", "2");
    std::filesystem::copy_file(other.bench / "libgrid.so", library.bench / "libgrid.so");
    EXPECT_EQ(library.name(library.alone()), "grid::alone(int)");
    std::filesystem::copy_file(other.bench / "debug/libgrid.so.debug", library.bench / "debug/libgrid.so.debug",
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_EQ(library.name(library.alone()), "nothing");
}

TEST(FunctionNames, AreThoseOfTheBinaryIfItHasThemAgain)
{
    const Stripped library;
    std::filesystem::remove(library.bench / "debug/libgrid.so.debug");
    EXPECT_EQ(library.name(library.alone()), "nothing");
    library.bench.compile("one.cpp two.cpp", "libgrid.so", "-g -O2 -Wl,--build-id=sha1");
    EXPECT_EQ(ElfFile(library.bench / "libgrid.so").build_id(), library.module.build_id);
    EXPECT_EQ(library.name(library.alone()), "grid::alone(int)");
}

TEST(FunctionNames, WithoutABuildIdAreFoundByTheDebugLink)
{
    Stripped library("-Wl,--build-id=none");
    ASSERT_TRUE(library.module.build_id.starts_with('-'));
    EXPECT_EQ(library.name(library.alone()), "nothing") << "nothing says that the debug file belongs to it";
    library.bench.objcopy("--add-gnu-debuglink=debug/libgrid.so.debug libgrid.so");
    EXPECT_EQ(library.name(library.alone()), "nothing") << "it is another file than the one that ran";
    library.module.build_id = ElfFile(library.module.path).identity();
    EXPECT_EQ(library.name(library.alone()), "grid::alone(int)");
    for (const char* unknown : {"", "-"}) {
        library.module.build_id = unknown;
        EXPECT_EQ(library.name(library.alone()), "nothing") << unknown;
    }
}

}  // namespace
}  // namespace critpath::binary
