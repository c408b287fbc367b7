// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What samples stand for where the path goes to whoever was just interrupted by one.
#include "tests/builder/replayed.hpp"
#include "tests/rules/steps.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

namespace critpath::tests
{
namespace
{

/// The samples of a rank, one in each period of its processor time.
class Sampler
{
public:
    Sampler(Program& program, int rank, std::int64_t period, std::int64_t first)
        : program_(program), rank_(rank), period_(period), left_(first)
    {
    }

    /// Computes from `time` on; returns the end, which is `delay` later for each sample.
    std::int64_t compute(const std::string& function, std::int64_t time, std::int64_t length, std::int64_t delay)
    {
        std::int64_t end = time + length;
        for (; left_ < length; left_ += period_) {
            program_[rank_].sample(time + left_, function, period_);
            end += delay;
            ++samples_[function];
        }
        left_ -= length;
        return end;
    }
    [[nodiscard]] std::int64_t samples_in(const std::string& function) { return samples_[function]; }

private:
    Program& program_;
    int rank_;
    std::int64_t period_, left_;
    std::map<std::string, std::int64_t> samples_;
};

/// Both ranks work as long in one phase, so that who was interrupted is late; in the other one, rank 1 has four times
/// as much to do. By construction both phases have as much of the path.
TEST(SampleWeights, WhereRanksAreBalancedSamplesAreNotMoreTime)
{
    constexpr std::int64_t steps = 60, work = 1000, delay = 5;
    Program p(2);
    std::array<Sampler, 2> samplers = {Sampler(p, 0, 3700, 1234), Sampler(p, 1, 3700, 345)};
    std::int64_t time = 10;
    for (int rank = 0; rank < 2; ++rank)
        p[rank].collective(FunctionId::MPI_Barrier, {5, time});
    std::int64_t unequal = 0, equal = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
        const auto meet = [&](FunctionId function, const std::string& name, std::array<std::int64_t, 2> works) {
            std::array<std::int64_t, 2> ends{};
            for (std::size_t rank = 0; rank < 2; ++rank)
                ends[rank] = samplers[rank].compute(name, time, works[rank], delay);
            const std::int64_t last = std::max(ends[0], ends[1]), leave = last + 2;
            for (int rank = 0; rank < 2; ++rank)
                p[rank].collective(function, {ends[static_cast<std::size_t>(rank)], leave});
            const std::int64_t longest = last - time;
            time = leave;
            return longest;
        };
        unequal += meet(FunctionId::MPI_Allreduce, "unequal", {work / 4, work});
        equal += meet(FunctionId::MPI_Barrier, "equal", {work, work});
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    // Nearly all that were taken in "equal" are on the path.
    const std::int64_t in_equal = samplers[0].samples_in("equal") + samplers[1].samples_in("equal");
    const std::int64_t in_unequal = samplers[1].samples_in("unequal");
    ASSERT_GT(r.fact("path_samples"), in_unequal + in_equal * 3 / 4);
    EXPECT_NEAR(static_cast<double>(r.path_us("unequal")), static_cast<double>(unequal), 10);
    EXPECT_NEAR(static_cast<double>(r.path_us("equal")), static_cast<double>(equal), 10);
    EXPECT_NEAR(static_cast<double>(r.path_us("[not sampled]")), 0, 10);
    EXPECT_NEAR(static_cast<double>(r.total_us("equal")), static_cast<double>(2 * equal), 3700);
    EXPECT_GE(r.total_us("unequal"), r.path_us("unequal"));
}

/// One place, where ranks are balanced in the first half of the run, and rank 1 has more to do in the second one.
TEST(SampleWeights, PartsOfTheRunAreToldApart)
{
    constexpr std::int64_t steps = 200, work = 1000, delay = 5;
    Program p(2);
    std::array<Sampler, 2> samplers = {Sampler(p, 0, 3700, 1234), Sampler(p, 1, 3700, 345)};
    std::int64_t time = 10;
    std::array<std::int64_t, 2> took = {0, 0};
    for (std::int64_t step = 0; step < steps; ++step) {
        const bool is_balanced = step < steps / 2;
        std::array<std::int64_t, 2> ends{};
        for (std::size_t rank = 0; rank < 2; ++rank)
            ends[rank] = samplers[rank].compute(is_balanced ? "first" : "second", time,
                                                is_balanced || rank == 1 ? work : work / 4, delay);
        const std::int64_t last = std::max(ends[0], ends[1]), leave = last + 2;
        for (int rank = 0; rank < 2; ++rank)
            p[rank].collective(FunctionId::MPI_Barrier, {ends[static_cast<std::size_t>(rank)], leave});
        took[is_balanced ? 0 : 1] += last - time;
        time = leave;
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    EXPECT_NEAR(static_cast<double>(r.path_us("first")), static_cast<double>(took[0]), 0.03 * steps * work / 2);
    EXPECT_NEAR(static_cast<double>(r.path_us("second")), static_cast<double>(took[1]), 0.03 * steps * work / 2);
}

/// One call where two kinds of work meet in turn: short steps that take both ranks as long, and long ones of which rank
/// 1 has more. Lengths vary by a fifth.
TEST(SampleWeights, KindsOfWorkAtOneCallAreToldApartByTheirLengths)
{
    constexpr std::int64_t turns = 60, steps = 9, work = 400, delay = 5;
    Program p(2);
    std::array<Sampler, 2> samplers = {Sampler(p, 0, 3700, 1234), Sampler(p, 1, 3700, 345)};
    std::int64_t time = 10;
    std::array<std::int64_t, 2> took = {0, 0};
    for (std::int64_t step = 0; step < turns * (steps + 1); ++step) {
        const bool is_long = step % (steps + 1) == steps;
        const std::int64_t longer = step * 7 % 20;  // hundredths
        std::array<std::int64_t, 2> ends{};
        for (std::size_t rank = 0; rank < 2; ++rank)
            ends[rank] =
                samplers[rank].compute(is_long ? "rebuild" : "smooth", time,
                                       (is_long ? rank == 1 ? 6 * work : work : work) * (100 + longer) / 100, delay);
        const std::int64_t last = std::max(ends[0], ends[1]), leave = last + 2;
        for (int rank = 0; rank < 2; ++rank)
            p[rank].collective(FunctionId::MPI_Barrier, {ends[static_cast<std::size_t>(rank)], leave});
        took[is_long ? 1 : 0] += last - time;
        time = leave;
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    EXPECT_NEAR(static_cast<double>(r.path_us("smooth")), static_cast<double>(took[0]),
                0.02 * static_cast<double>(took[0]));
    EXPECT_NEAR(static_cast<double>(r.path_us("rebuild")), static_cast<double>(took[1]),
                0.02 * static_cast<double>(took[1]));
}

/// Samples of unequal weight say less of a share than as many equal ones (Kish).
TEST(SampleWeights, EqualSamplesWouldBeFewer)
{
    Program p(1);
    std::int64_t time = 0;
    const auto work = [&](const std::string& name, std::int64_t length, int samples, FunctionId next) {
        for (int i = 0; i < samples; ++i)
            p[0].sample(time + 1 + i, name, 1000);
        time += length;
        p[0].collective(next, {time, time + 1});
        time += 1;
    };
    work("start", 10, 0, FunctionId::MPI_Barrier);
    work("a", 15'000, 30, FunctionId::MPI_Allreduce);
    work("b", 45'000, 30, FunctionId::MPI_Barrier);
    p.finish(time);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path_us("a"), 15'000);
    EXPECT_EQ(r.total_us("a"), 15'000);  // all is on the path
    // No more than chance leaves out of 30: the upper end of the interval of their number.
    const double most = 30 + 1.96 * 1.96 / 2 + 1.96 * std::sqrt(30 + 1.96 * 1.96 / 4);
    EXPECT_NEAR(static_cast<double>(r.path_us("b")), 1000 * most, 2);
    EXPECT_NEAR(static_cast<double>(r.path_us("[not sampled]")), 45'010 - 1000 * most, 2);
    const double a = 500, b = 1000 * most / 30;
    const double equal = 30 * (a + b) * (a + b) / (a * a + b * b);
    EXPECT_NEAR(static_cast<double>(r.fact("equal_samples_ppm")), equal / 60 * 1e6, 100);
}

/// Of a place with few samples, their number is chance: all such places have the same weight.
TEST(SampleWeights, PlacesWithFewSamplesAreOne)
{
    Program p(1);
    std::int64_t time = 0;
    constexpr int places = 12;
    for (int place = 0; place < places; ++place) {
        p[0].called_from({"main", "step" + std::to_string(place)}, 0x100U + static_cast<unsigned>(place));
        if (place % 4 == 0)
            p[0].sample(time + 500, std::string("f").append(std::to_string(place)), 4000);
        time += 1000;
        p[0].collective(FunctionId::MPI_Barrier, {time, time + 1});
        time += 1;
    }
    p.finish(time);
    const Replayed r = replay(p);
    for (const char* function : {"f0", "f4", "f8"})
        EXPECT_EQ(r.path_us(function), places * 1000 / 3);
    EXPECT_EQ(r.path_us("[not sampled]"), 0);
    EXPECT_EQ(r.fact("equal_samples_ppm"), 1'000'000);
}

/// Many places with few samples each, all of them on the path, where rank 1 has as many samples as its time would have,
/// and rank 0 twice as many: the time of each is divided among its own samples.
TEST(SampleWeights, RanksWithManySmallPlacesAreToldApart)
{
    constexpr int places = 64;
    constexpr std::int64_t length = 1000, period = 2000;
    Program p(2);
    std::int64_t time = 0;
    for (int place = 0; place < places; ++place) {
        const int at_work = place % 2;
        for (int rank = 0; rank < 2; ++rank)
            p[rank].called_from({"main", "step" + std::to_string(place)}, 0x100U + static_cast<unsigned>(place));
        if (at_work == 0 || place % 4 == 1)
            p[at_work].sample(time + length / 2, at_work == 0 ? "often" : "seldom", period);
        for (int rank = 0; rank < 2; ++rank)
            p[rank].collective(FunctionId::MPI_Barrier,
                               {rank == at_work ? time + length : time + 1, time + length + 1});
        time += length + 1;
    }
    p.finish(time);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    EXPECT_NEAR(static_cast<double>(r.path_us("often")), places / 2 * length, 40);
    EXPECT_NEAR(static_cast<double>(r.path_us("seldom")), places / 2 * length, 40);
}

}  // namespace
}  // namespace critpath::tests
