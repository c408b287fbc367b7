// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// bad_input [FIRST [COUNT]]: damages so many small archives at random, from that number on, and replays each. Says what
// came of them, and of which there was no clear verdict.
// bad_input --make NUMBER DIRECTORY: makes one of them.
#include "tests/bad_input/random_cases.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <string_view>

using namespace critpath::bad_input;

namespace
{

#ifdef CRITPATH_SANITIZED
constexpr std::uint64_t memory = 0;  // it maps terabytes
#else
constexpr std::uint64_t memory = 4ULL << 30;
#endif

void print(const Report& report, std::uint64_t count)
{
    for (const auto& [message, times] : report.messages) {
        fmt::print("{:8} {}\n", times, message);
    }
    for (const std::string& wrong : report.wrong) {
        fmt::print("WRONG {}\n", wrong);
    }
    fmt::print("{} archives: {} accepted, {} refused, {} crashes contained, {} without a verdict\n", count,
               report.of(Verdict::Accepted), report.of(Verdict::Refused), report.of(Verdict::Contained),
               report.of(Verdict::Wrong));
}

}  // namespace

int main(int argc, char** argv)
try {
    const RandomCases cases;
    if (argc == 4 && std::string_view(argv[1]) == "--make") {
        const Case made = cases.make(std::strtoull(argv[2], nullptr, 10));
        write_archive(argv[3], made.archive);
        fmt::print("{}\n", made.words);
        return 0;
    }
    const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
    const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
    const Report report = judge_all(first, count, Depth::Replay, memory, [&](auto n) { return cases.make(n); });
    print(report, count);
    return report.of(Verdict::Wrong) == 0 ? 0 : 1;
} catch (const std::exception& error) {
    fmt::print(stderr, "bad_input: {}\n", error.what());
    return 2;
}
