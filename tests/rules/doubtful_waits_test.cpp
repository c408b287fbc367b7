// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the path says where it is in doubt whether a thread of it waited for another one. Times are in us.
#include "tests/rules/two_threads.hpp"

namespace critpath::tests
{
namespace
{

/// Thread 0 is blocked from 300 to 500, between calls at 100 and 1000, as it was seen for another thread. Thread 1
/// calls MPI as well.
class DoubtfulWaits : public TwoThreads
{
protected:
    void load_threads(std::int64_t enter, std::int64_t leave)
    {
        Program program(1);
        program[0].call(FunctionId::MPI_Pack, {100, 110});
        program[0].sample(1, "main", 0);
        program[0].blocked({300, 500}, model::WaitsFor::Thread);
        program.finish(1000);
        replay_ = load(program, MPI_COMM_SELF, replayer::Rules::Arrival);
        add_thread();
        const model::Calls calls = std::exchange(thread(0).calls, {});
        thread(0).calls.add(calls.enter(0), calls.leave(0), calls.context(0));
        thread(0).calls.add_point(from_us(500));
        thread(0).calls.add(calls.enter(1), calls.leave(1), calls.context(1));
        thread(1).calls.add(from_us(enter), from_us(leave), calls.context(0));
        replay_.processes[0].numbers = model::CallNumbers({0}, {0, 3, 4});
    }
};

TEST_F(DoubtfulWaits, AreOfLowConfidenceAndLeadWhatComesBefore)
{
    load_threads(150, 900);
    const Replayed r = run();
    EXPECT_EQ(r.path(), "compute 0: 0-100 | mpi 0: 100-110 | compute 0: 110-300 | compute? 0: 300-500 | "
                        "compute 0: 500-1000");
    EXPECT_EQ(r.path_us("[blocked]"), 200);
    EXPECT_EQ(r.fact("low_confidence_ns"), 200'000);
    EXPECT_EQ(r.fact("led_by_doubt_ns"), 500'000);
}

TEST_F(DoubtfulWaits, AreNoneIfTheOtherThreadIsFound)
{
    load_threads(490, 900);
    const Replayed r = run();
    EXPECT_EQ(r.path(), "compute 1: 0-490 | threads? 1>0: 490-500 | compute 0: 500-1000");
    EXPECT_EQ(r.fact("low_confidence_ns"), 10'000);
}

}  // namespace
}  // namespace critpath::tests
