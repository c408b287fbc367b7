// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Binaries that end early or hold garbage: whatever is said of them, reading ends.
#include "formats/binary/plt_stubs.hpp"
#include "formats/binary/source_lines.hpp"
#include "tests/binary/subject.hpp"
#include "tests/binary/workbench.hpp"

#include <gtest/gtest.h>

#include <random>

namespace critpath::binary
{
namespace
{

class Damaged : public testing::Test
{
protected:
    Damaged()
    {
        write_subject(bench_);
        bench_.compile("subject.cpp", "libsubject.so", "-O2 -g");
        whole_ = bench_.read("libsubject.so");
        symbols_ = bench_.symbols("libsubject.so");
    }

    void ask(const std::string& text)
    {
        bench_.write("damaged.so", text);
        SourceLines lines;
        const Module module{bench_ / "damaged.so", ""};
        for (const auto& [name, address] : symbols_) {
            for (const SourceFrame& frame : lines.find(module, address)) {
                EXPECT_GE(frame.line, 0);
            }
            EXPECT_LE(lines.declarations(module, address).size(), whole_.size());
            EXPECT_LE(lines.function_ranges(module, address).size(), whole_.size());
        }
        const ElfFile file(bench_ / "damaged.so");
        const PltStubs stubs(file);
        for (const auto& [name, address] : symbols_) {
            EXPECT_TRUE(stubs.find(address) == nullptr || *stubs.find(address)->function != '\0');
        }
        EXPECT_TRUE(lines.state(module) == ModuleState::Found || lines.state(module) == ModuleState::NoLines);
    }

    Workbench bench_;
    std::string whole_;
    std::map<std::string, std::uint64_t> symbols_;
};

TEST_F(Damaged, CutAnywhere)
{
    for (std::size_t size = 0; size < whole_.size(); size += whole_.size() / 199) {
        SCOPED_TRACE(size);
        ask(whole_.substr(0, size));
    }
}

TEST_F(Damaged, OverwrittenAnywhere)
{
    const std::size_t piece = whole_.size() / 99;
    for (std::size_t at = 64; at + piece < whole_.size(); at += piece) {
        SCOPED_TRACE(at);
        ask(whole_.substr(0, at) + std::string(piece, '\xff') + whole_.substr(at + piece));
        ask(whole_.substr(0, at) + std::string(piece, '\0') + whole_.substr(at + piece));
    }
}

// Each of these blocks gives its child as the next one beside it: who follows both ways doubles the way each time.
TEST(DamagedBlocks, ThatAreBesideTheirOwnChildrenAreMetOnce)
{
    std::string text = R"(.text
.globl f
.type f,@function
f: nop
 nop
 ret
.Lend:
.size f,.-f
.section .debug_abbrev,"",@progbits
.uleb128 1; .uleb128 0x11; .byte 1; .uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7; .uleb128 0; .uleb128 0
.uleb128 2; .uleb128 0x2e; .byte 1; .uleb128 0x03; .uleb128 8; .uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7; .uleb128 0; .uleb128 0
.uleb128 3; .uleb128 0x0b; .byte 1; .uleb128 0x01; .uleb128 0x13; .uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7; .uleb128 0; .uleb128 0
.byte 0
.section .debug_info,"",@progbits
.Lunit: .long .Lunit_end-.Lversion
.Lversion: .value 4
.long 0
.byte 8
.uleb128 1; .quad f; .quad .Lend-f
.uleb128 2; .string "f"; .quad f; .quad .Lend-f
)";
    constexpr int blocks = 60;
    for (int i = 0; i < blocks; ++i) {
        const std::string here = std::to_string(i), child = std::to_string(i + 1);
        text += ".Lblock" + here + ": .uleb128 3; .long .Lblock" + child + "-.Lunit; .quad f; .quad .Lend-f\n";
    }
    text += ".Lblock" + std::to_string(blocks) + ": .zero " + std::to_string(blocks + 3) + "\n.Lunit_end:\n";
    const Workbench bench;
    bench.write("blocks.s", text);
    bench.compile("blocks.s", "libblocks.so", "");
    SourceLines lines;
    const Module module{bench / "libblocks.so", ""};
    const auto frames = lines.find(module, bench.symbols("libblocks.so").at("f"));
    ASSERT_EQ(frames.size(), 1U);
    EXPECT_EQ(frames[0].function, "f");
}

TEST_F(Damaged, WithWrongBytes)
{
    std::mt19937 random(20260101);
    for (int i = 0; i < 300; ++i) {
        std::string text = whole_;
        for (int byte = 0; byte < 8; ++byte) {
            text[64 + random() % (text.size() - 64)] = static_cast<char>(random());
        }
        SCOPED_TRACE(i);
        ask(text);
    }
}

}  // namespace
}  // namespace critpath::binary
