// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What objdump is asked for, of this program itself.
#include "analysis/report/disassembly.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace critpath::tests
{
namespace
{

constexpr char itself[] = "/proc/self/exe";

/// Where it begins to run, as its file has it.
std::uint64_t entry_point()
{
    Elf64_Ehdr header{};
    std::ifstream(itself, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof header);
    return header.e_entry;
}

/// A range may end inside an instruction, where the size of a function is a guess.
TEST(Disassembly, TheLastInstructionIsWhole)
{
    const std::string path = std::filesystem::read_symlink(itself);
    const std::uint64_t begin = entry_point();
    const auto all = report::disassemble(path, begin, begin + 32);
    ASSERT_TRUE(all);
    ASSERT_GE(all->size(), 3U);
    std::size_t long_ones = 0;
    for (std::size_t i = 0; i + 1 < all->size(); ++i) {
        for (std::uint64_t end = (*all)[i].address + 1; end < (*all)[i + 1].address; ++end) {
            const auto some = report::disassemble(path, begin, end);
            ASSERT_TRUE(some);
            ASSERT_EQ(some->size(), i + 1);
            EXPECT_EQ(some->back().text, (*all)[i].text) << "cut at " << end;
            ++long_ones;
        }
    }
    EXPECT_GT(long_ones, 0U);
}

}  // namespace
}  // namespace critpath::tests
