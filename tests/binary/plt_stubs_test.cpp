// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Stubs have the names that objdump gives them.
#include "formats/binary/plt_stubs.hpp"
#include "tests/binary/workbench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <string>

namespace critpath::binary
{
namespace
{

// By address.
std::map<std::uint64_t, std::string> stubs_by_objdump(const Workbench& bench, const std::string& binary)
{
    std::map<std::uint64_t, std::string> stubs;
    std::istringstream lines(bench.run("objdump --disassemble " + binary));
    const std::regex head("0*([0-9a-f]+) <(\\w+)@plt>:");
    for (std::string line; std::getline(lines, line);)
        if (std::smatch found; std::regex_match(line, found, head))
            stubs[std::stoull(found[1], nullptr, 16)] = found[2];
    return stubs;
}

class Plt : public testing::TestWithParam<const char*>
{
};

TEST_P(Plt, StubsHaveTheNamesOfWhatTheyCall)
{
#ifndef __x86_64__
    GTEST_SKIP() << "only the stubs of x86-64 are known";
#endif
    const Workbench bench;
    bench.write("calls.cpp", R"(
extern "C" int far(int);
int away(int);
using Call = int (*)(int);
Call taken() { return away; }  // which needs a pointer to it as well
int calls(int x) { return far(x) + away(x) + 1; }
)");
    bench.compile("calls.cpp", "libcalls.so", GetParam());
    const auto expected = stubs_by_objdump(bench, "libcalls.so");
    const auto has = [&](const std::string& name) {
        return std::ranges::any_of(expected, [&](const auto& stub) { return stub.second == name; });
    };
    ASSERT_TRUE(has("far") && has("_Z4awayi"));
    const ElfFile file(bench / "libcalls.so");
    const PltStubs stubs(file);
    for (const auto& [address, name] : expected) {
        for (const std::uint64_t at : {address, address + 7}) {
            ASSERT_NE(stubs.find(at), nullptr) << name;
            EXPECT_EQ(stubs.find(at)->function, name);
            EXPECT_EQ(stubs.find(at)->start, address);
        }
    }
    EXPECT_EQ(stubs.find(0), nullptr);
    EXPECT_EQ(stubs.find(bench.symbols("libcalls.so").at("_Z5callsi")), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Linkers, Plt,
                         testing::Values("-O2", "-O2 -Wl,-z,now", "-O2 -fcf-protection=full -Wl,-z,ibtplt"));

TEST(PltStubs, OfWhatIsNoBinaryThereAreNone)
{
    const ElfFile none;
    EXPECT_EQ(PltStubs(none).find(0), nullptr);
}

}  // namespace
}  // namespace critpath::binary
