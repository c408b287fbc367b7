// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Binaries that end early or hold garbage: whatever is said of them, reading ends.
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
