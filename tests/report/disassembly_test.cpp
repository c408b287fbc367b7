// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What objdump is asked for, of this program itself.
#include "analysis/report/disassembly.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/auxv.h>

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

/// Jumps of a function of its own into itself.
std::size_t named_jumps(const std::string& path, const std::string& symbol, std::uint64_t begin, std::uint64_t end)
{
    const auto instructions = report::disassemble(path, begin, end);
    if (!instructions)
        return 0;
    return static_cast<std::size_t>(std::ranges::count_if(*instructions, [&](const report::Instruction& i) {
        return i.text.find(" <" + symbol + "+0x") != std::string::npos;
    }));
}

extern "C" [[gnu::noinline]] int jumps_within_itself(int n)
{
    volatile int sum = 0;
    for (int i = 0; i < n; ++i)
        sum = sum + (i % 3 == 0 ? i : -i);
    return sum;
}

/// Of a stripped program, objdump knows some imported or exported symbol, however far before the address.
TEST(Disassembly, NoSymbolNamesWhatIsBehindItsEnd)
{
    const std::string path = std::filesystem::read_symlink(itself);
    const std::string stripped = testing::TempDir() + "stripped_test_program";
    ASSERT_EQ(std::system(("strip -o '" + stripped + "' '" + path + "'").c_str()), 0);
    ASSERT_NE(jumps_within_itself(3), 1);
    // Where it is in the file: as far from the entry point as in memory.
    const auto function = reinterpret_cast<std::uint64_t>(&jumps_within_itself);
    const std::uint64_t begin = function - getauxval(AT_ENTRY) + entry_point();
    EXPECT_GT(named_jumps(path, "jumps_within_itself", begin, begin + 256), 0U);
    const auto instructions = report::disassemble(stripped, begin, begin + 64);
    std::filesystem::remove(stripped);
    ASSERT_TRUE(instructions);
    for (const report::Instruction& i : *instructions)
        EXPECT_EQ(i.text.find("+0x"), std::string::npos) << i.text;
}

}  // namespace
}  // namespace critpath::tests
