// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One library, taken apart into code and debug file, with the latter in each place where it may be.
#include "formats/binary/debug_file.hpp"
#include "formats/binary/demangle.hpp"
#include "tests/binary/workbench.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

namespace critpath::binary
{
namespace
{

using testing::ElementsAre;

std::span<const std::byte> bytes(std::string_view text)
{
    return std::as_bytes(std::span(text));
}

// libpart.so without, part.debug with symbols.
void make_parts(const Workbench& bench, bool with_id, int value = 1)
{
    bench.write("part.cpp", "extern \"C\" int part() { return " + std::to_string(value) + "; }\n");
    bench.compile("part.cpp", "libpart.so", with_id ? "-g -Wl,--build-id=sha1" : "-g -Wl,--build-id=none");
    bench.objcopy("--only-keep-debug libpart.so part.debug");
    bench.objcopy("--strip-all libpart.so");
}

// Links libpart.so to part.debug, which then goes away.
void link_parts(const Workbench& bench)
{
    bench.objcopy("--add-gnu-debuglink=part.debug libpart.so");
    std::filesystem::create_directory(bench / "away");
    std::filesystem::rename(bench / "part.debug", bench / "away/part.debug");
}

std::unique_ptr<ElfFile> search(const Workbench& bench, const std::vector<std::filesystem::path>& directories = {})
{
    const ElfFile binary(bench / "libpart.so");
    EXPECT_TRUE(binary);
    return find_debug_file(bench / "libpart.so", binary.build_id(), binary, directories);
}

void put(const Workbench& bench, const std::string& from, const std::string& to)
{
    std::filesystem::create_directories(std::filesystem::path(bench / to).parent_path());
    std::filesystem::copy_file(bench / from, bench / to);
}

TEST(Crc, IsTheOneOfDebugLinks)
{
    // The check value of CRC-32/ISO-HDLC.
    EXPECT_EQ(crc32(bytes("123456789")), 0xcbf43926U);
    EXPECT_EQ(crc32({}), 0U);
}

TEST(DebugDirectories, AreSeparatedByColons)
{
    ::setenv("CRITPATH_DEBUG_PATH", "/a/b::/c d:", 1);
    EXPECT_THAT(debug_directories(), ElementsAre("/a/b", "/c d"));
    ::unsetenv("CRITPATH_DEBUG_PATH");
    EXPECT_THAT(debug_directories(), ElementsAre());
}

TEST(DebugFile, IsFoundByBuildId)
{
    const Workbench bench;
    make_parts(bench, true);
    const std::string id = ElfFile(bench / "libpart.so").build_id();
    ASSERT_EQ(id.size(), 40U);
    EXPECT_EQ(bench.run("readelf -n libpart.so").find("Build ID: " + id) != std::string::npos, true);
    EXPECT_EQ(search(bench, {bench / "one"}), nullptr);
    put(bench, "part.debug", "one/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug");
    put(bench, "part.debug", "two/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug");
    put(bench, "part.debug", "three/libpart.so.debug");
    for (const char* directory : {"one", "two", "three"}) {
        const auto found = search(bench, {bench / "nowhere", bench / directory});
        ASSERT_NE(found, nullptr) << directory;
        EXPECT_EQ(found->build_id(), id);
    }
    // As well when the library is gone.
    EXPECT_NE(find_debug_file("/gone/libpart.so", id, ElfFile("/gone/libpart.so"), {{bench / "one"}}), nullptr);
}

TEST(DebugFile, OfAnotherBuildIsRefused)
{
    const Workbench bench;
    make_parts(bench, true, 1);
    put(bench, "part.debug", "old/libpart.so.debug");
    make_parts(bench, true, 2);
    const std::string id = ElfFile(bench / "libpart.so").build_id();
    put(bench, "old/libpart.so.debug", "old/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug");
    EXPECT_EQ(search(bench, {bench / "old"}), nullptr);
}

TEST(DebugFile, IsSaidNotToFit)
{
    const auto why = [](const Workbench& bench, const std::vector<std::filesystem::path>& directories) {
        const ElfFile binary(bench / "libpart.so");
        std::vector<std::string> words;
        for (const RefusedDebugFile& file :
             refused_debug_files(bench / "libpart.so", binary.build_id(), binary, directories)) {
            words.push_back(file.path.filename().string() + ": " + file.why);
        }
        return words;
    };
    for (const bool with_id : {true, false}) {
        const Workbench bench;
        make_parts(bench, with_id, 1);
        bench.write("part.debug", bench.read("part.debug") + " of an old build");
        put(bench, "part.debug", "old/libpart.so.debug");
        make_parts(bench, with_id, 2);
        EXPECT_THAT(why(bench, {bench / "none"}), ElementsAre());
        EXPECT_THAT(why(bench, {bench / "old", bench / "old"}),
                    ElementsAre(testing::StartsWith(with_id ? "libpart.so.debug: its build-id is another one"
                                                            : "libpart.so.debug: nothing tells that it is of this")));
        link_parts(bench);
        EXPECT_THAT(why(bench, {bench / "old"}),
                    ElementsAre(testing::HasSubstr(with_id ? "its build-id is another" : "its checksum is not the")));
        bench.write("none", "no binary");
        put(bench, "none", "text/libpart.so.debug");
        EXPECT_THAT(why(bench, {bench / "text"}), ElementsAre(testing::HasSubstr("it is no file of code")));
        put(bench, "away/part.debug", "good/part.debug");
        EXPECT_THAT(why(bench, {bench / "good"}), ElementsAre());
    }
}

TEST(DebugFile, IsFoundByDebugLink)
{
    for (const bool with_id : {false, true}) {
        for (const char* place : {"part.debug", ".debug/part.debug", "path/part.debug"}) {
            const Workbench bench;
            make_parts(bench, with_id);
            link_parts(bench);
            EXPECT_EQ(search(bench, {bench / "path"}), nullptr);
            put(bench, "away/part.debug", place);
            EXPECT_NE(search(bench, {bench / "path"}), nullptr) << place;
        }
    }
}

TEST(DebugFile, BelowADirectoryHasThePathOfTheBinary)
{
    const Workbench bench;
    make_parts(bench, false);
    link_parts(bench);
    put(bench, "away/part.debug", "root" + (bench / "part.debug"));
    EXPECT_NE(search(bench, {bench / "root"}), nullptr);
}

TEST(DebugFile, WithAnotherChecksumIsRefused)
{
    const Workbench bench;
    make_parts(bench, false, 1);
    link_parts(bench);
    put(bench, "away/part.debug", "part.debug");
    EXPECT_NE(search(bench), nullptr);
    std::string text = bench.read("part.debug");
    text.back() = static_cast<char>(text.back() ^ 1);
    bench.write("part.debug", text);
    EXPECT_EQ(search(bench), nullptr);
}

TEST(DebugFile, IsNotTheBinaryItself)
{
    const Workbench bench;
    make_parts(bench, true);
    const std::filesystem::path here = std::filesystem::path(bench / "libpart.so").parent_path();
    EXPECT_EQ(search(bench, {here}), nullptr);
}

TEST(ElfFile, IsEmptyForWhatIsNone)
{
    const Workbench bench;
    bench.write("text", "no binary");
    bench.write("empty", "");
    bench.run("mkfifo pipe");
    for (const char* name : {"text", "empty", "pipe", "missing", "."}) {
        const ElfFile file(bench / name);
        EXPECT_FALSE(file) << name;
        EXPECT_EQ(file.build_id(), "");
        EXPECT_FALSE(file.debug_link());
        EXPECT_TRUE(file.bytes().empty());
    }
    EXPECT_FALSE(ElfFile(std::vector<std::byte>()));
}

TEST(ElfFile, InMemoryIsTheSame)
{
    const Workbench bench;
    make_parts(bench, true);
    link_parts(bench);
    const std::string text = bench.read("libpart.so");
    const ElfFile file(bench / "libpart.so");
    const ElfFile memory({bytes(text).begin(), bytes(text).end()});
    EXPECT_EQ(memory.build_id(), file.build_id());
    EXPECT_EQ(memory.debug_link().value().name, "part.debug");
    EXPECT_EQ(memory.debug_link().value().crc, crc32(bytes(bench.read("away/part.debug"))));
}

TEST(Demangle, CopiesOfAFunctionAreIt)
{
    EXPECT_EQ(without_clones("inner.0.constprop.1"), "inner.0");
    EXPECT_EQ(without_clones("f(int) [clone .isra.0] [clone .cold]"), "f(int)");
    for (const char* name : {"step", "space::f(int)", "app+0x1200", ""}) {
        EXPECT_EQ(without_clones(name), name);
    }
}

TEST(Demangle, NamesOfSources)
{
    EXPECT_EQ(demangle("_ZN5space4callEid"), "space::call(int, double)");
    EXPECT_EQ(demangle("__solver_MOD_step"), "solver::step");
    EXPECT_EQ(demangle("__a_b_MOD_c_d"), "a_b::c_d");
    EXPECT_EQ(demangle("_ZN5space4callEid@plt"), "space::call(int, double)@plt");
    for (const char* name : {"main", "step_", "_Znotmangled", "__MOD_x", "__x_MOD_", "x_MOD_y", ""}) {
        EXPECT_EQ(demangle(name), name);
    }
}

}  // namespace
}  // namespace critpath::binary
