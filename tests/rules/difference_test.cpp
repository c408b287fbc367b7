// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which functions are said to make the difference, in programs of which it is known; samples and lengths are drawn.
#include "analysis/report/explain/explain.hpp"
#include "tests/builder/replayed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace critpath::tests
{
namespace
{

using Random = std::mt19937;

/// As std::uniform_int_distribution, the same with any library.
std::int64_t drawn(Random& random, std::int64_t from, std::int64_t to)
{
    return from + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(to - from + 1));
}

/// What two ranks do again and again before they meet; all times in us.
struct Steps {
    int number;
    std::int64_t function, noise;  // each of four functions takes so long, and up to so much more or less
    std::int64_t period;           // of samples, about
    std::array<std::int64_t, 2> vary = {0, 0};
    bool is_vary_drawn = false;  // from 0 to twice that
    bool are_drawn = false;      // most samples, by the path: what is known of both sides is not alike
};
constexpr std::int64_t delay = 8;  // by a sample

/// What is sampled of a rank, which is late by that.
class Sampled
{
public:
    Sampled(Program& program, int rank, std::int64_t period, Random& random)
        : program_(program), rank_(rank), period_(drawn(random, period * 9 / 10, period * 11 / 10)),
          left_(drawn(random, 0, period_ - 1))
    {
    }
    /// Returns when it has done that.
    std::int64_t compute(const std::string& function, std::int64_t time, std::int64_t length)
    {
        std::int64_t end = time + length;
        for (; left_ < length; left_ += period_) {
            program_[rank_].sample(time + left_, {"main", function}, period_);
            end += delay;
        }
        left_ -= length;
        return end;
    }

private:
    Program& program_;
    int rank_;
    std::int64_t period_, left_;
};

/// The functions that are named for the difference, with their part of it.
std::vector<report::FunctionShare> difference_in(const Steps& steps, std::uint32_t seed)
{
    Random random(seed);
    Program p(2);
    std::vector<Sampled> ranks;
    std::int64_t time = 10;
    for (int rank = 0; rank < 2; ++rank) {
        ranks.emplace_back(p, rank, steps.period, random);
        p[rank].called_from({"main"}, 0);
        p[rank].collective(FunctionId::MPI_Alltoall, {5, time});
    }
    for (int step = 0; step < steps.number; ++step) {
        std::array<std::int64_t, 2> ends{};
        for (std::size_t rank = 0; rank < 2; ++rank) {
            ends[rank] = time;
            for (const char* function : {"A", "B", "C", "D"})
                ends[rank] = ranks[rank].compute(
                    function, ends[rank], drawn(random, steps.function - steps.noise, steps.function + steps.noise));
            if (const std::int64_t vary = steps.vary[rank]; vary > 0)
                ends[rank] =
                    ranks[rank].compute("vary", ends[rank], steps.is_vary_drawn ? drawn(random, 0, 2 * vary) : vary);
        }
        time = std::max(ends[0], ends[1]) + 2;
        for (int rank = 0; rank < 2; ++rank)
            p[rank].collective(FunctionId::MPI_Alltoall, {ends[static_cast<std::size_t>(rank)], time});
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    const auto found = std::ranges::find_if(r.profile.stretches, [](const model::Stretch& s) { return s.gaps > 1; });
    if (found == r.profile.stretches.end()) {
        ADD_FAILURE() << "no stretch";
        return {};
    }
    if (seed == 1) {
        EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    }
    EXPECT_EQ(found->code_gaps == 1, steps.are_drawn) << "seed " << seed;
    const report::Explanation e =
        report::explain(r.profile, static_cast<std::size_t>(found - r.profile.stretches.begin()));
    EXPECT_GT(e.excess, report::balanced_within) << "seed " << seed << ": there is a difference";
    double sum = 0;
    for (const report::FunctionShare& function : e.difference())
        sum += function.share;
    EXPECT_LE(sum, 1 + 1e-9) << "seed " << seed;
    return e.difference();
}

#ifdef CRITPATH_SANITIZED
constexpr std::uint32_t seeds = 4;
#else
constexpr std::uint32_t seeds = 20;
#endif

struct Named {
    std::uint32_t nothing = 0, vary = 0;  // nothing, and nothing but vary
    std::string words;                    // all of them
};

Named named_in(const Steps& steps)
{
    Named named;
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
        const std::vector<report::FunctionShare> functions = difference_in(steps, seed);
        named.nothing += functions.empty() ? 1 : 0;
        named.vary += functions.size() == 1 && functions[0].name == "vary" ? 1 : 0;
        std::vector<std::string> words;
        for (const report::FunctionShare& function : functions)
            words.push_back(fmt::format("{} {:.2f}", function.name, function.share));
        named.words += fmt::format("{}; ", fmt::join(words, ", "));
    }
    return named;
}

/// Both ranks do the same, and who was sampled is late: nearly all samples of the gaps are on the path.
TEST(Difference, IsInNoFunctionWhereGapsAreShorterThanThePeriod)
{
    const Named named = named_in({5000, 14, 4, 1000, {0, 0}, false, true});
    EXPECT_GE(named.nothing, seeds - 1) << named.words;
}

/// Nor where each gap has a sample, and no more are on the path than elsewhere.
TEST(Difference, IsInNoFunctionWhereAllOfThemDifferByChance)
{
    const Named named = named_in({150, 2000, 600, 6700});
    EXPECT_GE(named.nothing, seeds - 1) << named.words;
}

TEST(Difference, IsInTheFunctionThatOneRankHasMoreOf)
{
    const Named named = named_in({200, 2000, 100, 6700, {0, 2000}});
    EXPECT_GE(named.vary, seeds - 1) << named.words;
}

TEST(Difference, IsInTheFunctionThatDiffersFromTimeToTime)
{
    const Named named = named_in({500, 1500, 20, 6700, {3000, 3000}, true});
    EXPECT_GE(named.vary, seeds - 1) << named.words;
}

/// The path is on rank 1 whoever was sampled.
TEST(Difference, IsInTheFunctionThatOneRankHasMoreOfInShortGaps)
{
    const Named named = named_in({5000, 14, 4, 1000, {0, 40}});
    EXPECT_GE(named.vary, seeds - 1) << named.words;
}

}  // namespace
}  // namespace critpath::tests
