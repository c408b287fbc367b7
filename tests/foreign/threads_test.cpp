// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Who waits for whom among the threads of a process: teams and their barriers, threads that are created and waited
// for, and locks, in the records that Score-P writes. Times are us; location 0 is the main thread of the only rank.
#include "tests/foreign/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace critpath::test
{
namespace
{

using ::testing::HasSubstr;

constexpr const char* barrier = "!$omp barrier @app.c:3";

/// The records of threads.
class Threads
{
public:
    Threads(TinyTrace& trace, std::uint32_t threads) : trace_(trace)
    {
        trace.paradigm(barrier, OTF2_PARADIGM_OPENMP);
        trace.role(barrier, OTF2_REGION_ROLE_BARRIER);
        trace.thread(0).enter(0, "main");
        for (std::uint32_t thread = 1; thread < threads; ++thread) {
            trace.thread(0, thread);
        }
    }

    TinyThread& operator[](std::uint32_t thread) { return trace_.thread(0, thread); }

    void fork(std::uint32_t thread, std::uint64_t time)
    {
        write(thread,
              [=](OTF2_EvtWriter* w) { return OTF2_EvtWriter_ThreadFork(w, nullptr, time, OTF2_PARADIGM_OPENMP, 2); });
    }
    void join(std::uint32_t thread, std::uint64_t time)
    {
        write(thread,
              [=](OTF2_EvtWriter* w) { return OTF2_EvtWriter_ThreadJoin(w, nullptr, time, OTF2_PARADIGM_OPENMP); });
    }
    void begin(std::uint32_t thread, std::uint64_t time, OTF2_CommRef team = 7)
    {
        write(thread, [=](OTF2_EvtWriter* w) { return OTF2_EvtWriter_ThreadTeamBegin(w, nullptr, time, team); });
    }
    void end(std::uint32_t thread, std::uint64_t time, OTF2_CommRef team = 7)
    {
        write(thread, [=](OTF2_EvtWriter* w) { return OTF2_EvtWriter_ThreadTeamEnd(w, nullptr, time, team); });
    }
    void at_barrier(std::uint32_t thread, std::uint64_t arrive, std::uint64_t depart)
    {
        (*this)[thread].enter(arrive, barrier).leave(depart, barrier);
    }
    using Record = OTF2_ErrorCode (*)(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp, OTF2_CommRef,
                                      std::uint64_t);
    void single(std::uint32_t thread, Record record, std::uint64_t time, std::uint64_t number)
    {
        write(thread, [=](OTF2_EvtWriter* w) { return record(w, nullptr, time, 5, number); });
    }
    using LockRecord = OTF2_ErrorCode (*)(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp, OTF2_Paradigm,
                                          std::uint32_t, std::uint32_t);
    void lock(std::uint32_t thread, LockRecord record, std::uint64_t time, std::uint32_t order)
    {
        write(thread, [=](OTF2_EvtWriter* w) { return record(w, nullptr, time, OTF2_PARADIGM_OPENMP, 3, order); });
    }

private:
    void write(std::uint32_t thread, const std::function<OTF2_ErrorCode(OTF2_EvtWriter*)>& record)
    {
        trace_.thread(0, thread).write(record);
    }

    TinyTrace& trace_;
};

void finalize(TinyTrace& t, std::uint64_t time)
{
    t.thread(0).enter(time, "MPI_Finalize").leave(time + 1, "MPI_Finalize");
}

TEST_F(Foreign, ThePathLeadsThroughTheSlowestThreadOfATeam)
{
    const tests::Replayed r = replay(1, [](TinyTrace& t) {
        Threads threads(t, 3);
        threads.fork(0, 100);
        threads.begin(0, 100);
        threads.at_barrier(0, 300, 605);
        threads.end(0, 605);
        for (const std::uint32_t worker : {1U, 2U}) {
            threads.begin(worker, 110);
            threads[worker].enter(110, "loop").leave(worker == 1 ? 600 : 400, "loop");
            threads.at_barrier(worker, worker == 1 ? 600 : 400, 605);
            threads.end(worker, 605);
        }
        threads.join(0, 606);
        finalize(t, 800);
    });
    EXPECT_EQ(r.path(), "compute 0: 0-100 | threads 0>1: 100-110 | compute 1: 110-600 | threads 1>0: 600-605 | "
                        "compute 0: 605-800");
    EXPECT_EQ(r.path_us("loop"), 490);
    EXPECT_EQ(r.path_us("[threads]"), 15);
    EXPECT_EQ(r.fact("ignored_thread_records"), 0);
    EXPECT_EQ(r.profile.processes[0].calls, 1U);  // MPI_Finalize
}

// Without barriers in the trace, the last to leave the team counts; but some tools let workers say so only when they
// are needed again.
TEST_F(Foreign, AJoinWaitsForTheLastThatLeftTheTeamBefore)
{
    const tests::Replayed r = replay(1, [](TinyTrace& t) {
        Threads threads(t, 3);
        threads.fork(0, 100);
        threads.begin(0, 100);
        threads.end(0, 300);
        threads.begin(1, 110);
        threads.end(1, 500);
        threads.begin(2, 110);
        threads.end(2, 700);
        threads.join(0, 502);
        finalize(t, 800);
    });
    EXPECT_EQ(r.path(), "compute 0: 0-100 | threads 0>1: 100-110 | compute 1: 110-500 | threads 1>0: 500-502 | "
                        "compute 0: 502-800");
}

TEST_F(Foreign, ATeamWithinATeam)
{
    const tests::Replayed r = replay(1, [](TinyTrace& t) {
        Threads threads(t, 3);
        threads.fork(0, 100);
        threads.begin(0, 100);
        threads.begin(1, 110);
        threads.fork(1, 200);  // the worker becomes the master of another team
        threads.begin(1, 200, 8);
        threads.begin(2, 210, 8);
        threads.end(1, 220, 8);
        threads.end(2, 400, 8);
        threads.join(1, 401);
        threads.end(0, 300);
        threads.end(1, 500);
        threads.join(0, 502);
        finalize(t, 800);
    });
    EXPECT_EQ(r.path(), "compute 0: 0-100 | threads 0>1: 100-110 | compute 1: 110-200 | threads 1>2: 200-210 | "
                        "compute 2: 210-400 | threads 2>1: 400-401 | compute 1: 401-500 | threads 1>0: 500-502 | "
                        "compute 0: 502-800");
}

TEST_F(Foreign, ThreadsThatAreCreatedAndWaitedFor)
{
    const auto with = [&](std::uint64_t wait_begins) {
        return replay(1, [=](TinyTrace& t) {
            Threads threads(t, 2);
            threads.single(0, OTF2_EvtWriter_ThreadCreate, 100, 4);
            threads.single(1, OTF2_EvtWriter_ThreadBegin, 120, 4);
            threads.single(1, OTF2_EvtWriter_ThreadEnd, 500, 4);
            threads[0].enter(wait_begins, "pthread_join");
            threads.single(0, OTF2_EvtWriter_ThreadWait, 610, 4);
            threads[0].leave(611, "pthread_join");
            finalize(t, 800);
        });
    };
    EXPECT_EQ(with(300).path(), "compute 0: 0-100 | threads 0>1: 100-120 | compute 1: 120-500 | threads 1>0: 500-610 | "
                                "compute 0: 610-800");
    std::filesystem::remove_all(scratch_.path() / "trace");
    EXPECT_EQ(with(600).path(), "compute 0: 0-800");  // it had ended before
}

TEST_F(Foreign, ALockIsWaitedFor)
{
    const tests::Replayed r = replay(1, [](TinyTrace& t) {
        Threads threads(t, 2);
        threads.fork(0, 0);
        threads.begin(0, 0);
        threads.begin(1, 0);
        threads.lock(1, OTF2_EvtWriter_ThreadAcquireLock, 100, 1);
        threads.lock(1, OTF2_EvtWriter_ThreadReleaseLock, 500, 1);
        threads.end(1, 500);
        threads[0].enter(200, "!$omp critical");
        threads.lock(0, OTF2_EvtWriter_ThreadAcquireLock, 505, 2);
        threads.lock(0, OTF2_EvtWriter_ThreadReleaseLock, 550, 2);
        threads[0].leave(550, "!$omp critical");
        threads.end(0, 600);
        threads.join(0, 600);
        finalize(t, 800);
    });
    EXPECT_EQ(r.path(), "compute 1: 0-500 | threads 1>0: 500-505 | compute 0: 505-800");
}

// What the threads of a process do leaves its messages alone.
TEST_F(Foreign, TeamsBetweenMessages)
{
    const tests::Replayed r = replay(2, [](TinyTrace& t) {
        Threads threads(t, 2);
        threads.fork(0, 100);
        threads.begin(0, 100);
        threads.begin(1, 100);
        threads.at_barrier(0, 150, 400);
        threads.at_barrier(1, 400, 400);
        threads.end(0, 400);
        threads.end(1, 400);
        threads.join(0, 400);
        threads[0].enter(450, "MPI_Send").send(450, "world", 1, 0, 8).leave(451, "MPI_Send");
        t.thread(1).enter(0, "main").enter(10, "MPI_Recv").recv(453, "world", 0, 0, 8).leave(453, "MPI_Recv");
        finalize(t, 460);
        t.thread(1).enter(800, "MPI_Finalize").leave(801, "MPI_Finalize");
    });
    EXPECT_EQ(r.path(), "compute 0: 0-100 | compute 1: 100-400 | compute 0: 400-450 | transfer 0>2: 450-453 | "
                        "compute 2: 453-800");
}

// ------------------------------------------------------------------------------------- programs with a known path

/// Parallel regions with barriers, as they would run on a machine that needs 2 us to start a worker and 1 us to leave
/// a barrier.
class TeamProgram
{
public:
    explicit TeamProgram(std::uint32_t seed) : random_(seed), threads_(2 + random_() % 4)
    {
        std::uint64_t time = 0;
        for (std::size_t region = 0; region < 1 + random_() % 5; ++region) {
            time += 1 + below(50);
            Region& made = regions_.emplace_back(Region{time, {}});
            std::vector<std::uint64_t> ready(threads_, time + 2);
            ready[0] = time;
            for (std::size_t phase = 0; phase < 1 + random_() % 4; ++phase) {
                for (std::uint64_t& t : ready) {
                    t += 1 + below(20);
                }
                made.arrivals.push_back(ready);
                ready.assign(threads_, *std::ranges::max_element(ready) + 1);
            }
            time = ready[0];
        }
        end_ = time + 1 + below(50);
    }

    void write(TinyTrace& t) const
    {
        Threads threads(t, threads_);
        for (const Region& region : regions_) {
            threads.fork(0, region.fork);
            for (std::uint32_t thread = 0; thread < threads_; ++thread) {
                threads.begin(thread, region.fork + (thread == 0 ? 0 : 2));
                for (const auto& arrivals : region.arrivals) {
                    threads.at_barrier(thread, arrivals[thread], exit(arrivals));
                }
                threads.end(thread, exit(region.arrivals.back()));
            }
            threads.join(0, exit(region.arrivals.back()));
        }
        finalize(t, end_);
    }

    /// Backwards from the end, always to whoever came last to the barrier.
    [[nodiscard]] std::string path() const
    {
        std::string words;
        std::uint32_t on = 0;
        std::uint64_t until = end_;
        const auto jump = [&](std::uint32_t from, std::uint64_t begin, std::uint64_t end) {
            words = fmt::format(" | threads {}>{}: {}-{} | compute {}: {}-{}", from, on, begin, end, on, end, until) +
                    words;
            on = from;
            until = begin;
        };
        for (auto region = regions_.rbegin(); region != regions_.rend(); ++region) {
            for (auto arrivals = region->arrivals.rbegin(); arrivals != region->arrivals.rend(); ++arrivals) {
                const std::uint64_t last = exit(*arrivals) - 1;
                if ((*arrivals)[on] < last) {
                    const auto found = std::ranges::find(arrivals->rbegin(), arrivals->rend(), last);  // the largest
                    jump(static_cast<std::uint32_t>(arrivals->rend() - found - 1), last, last + 1);
                }
            }
            if (on != 0) {
                jump(0, region->fork, region->fork + 2);
            }
        }
        return until > 0 ? fmt::format("compute 0: 0-{}", until) + words : words.substr(3);
    }

private:
    struct Region {
        std::uint64_t fork;
        std::vector<std::vector<std::uint64_t>> arrivals;  // by barrier and thread
    };

    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    static std::uint64_t exit(const std::vector<std::uint64_t>& arrivals)
    {
        return *std::ranges::max_element(arrivals) + 1;
    }

    std::mt19937 random_;
    std::uint32_t threads_;
    std::vector<Region> regions_;
    std::uint64_t end_;
};

TEST_F(Foreign, RandomTeamsHaveThePathThatTheirProgramHas)
{
    std::size_t with_workers = 0;
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
        const TeamProgram program(seed);
        const replayer::Replay& loaded = load(1, [&](TinyTrace& t) { program.write(t); });
        EXPECT_EQ(tests::replay(loaded).path(), program.path()) << "seed " << seed;
        for (const replayer::WalkPath walk : {replayer::pass_token, replayer::walk_segments, replayer::lift}) {
            const replayer::Engine engine{replayer::literal_engine.pair, replayer::literal_engine.reduce_instances,
                                          walk};
            EXPECT_EQ(tests::replay(loaded, tests::knows_nothing, engine).path(), program.path()) << "seed " << seed;
        }
        with_workers += program.path().find("threads") != std::string::npos ? 1 : 0;
        std::filesystem::remove_all(scratch_.path() / "trace");
    }
    EXPECT_GT(with_workers, 50U);
}

// Records of a recording that began in the middle, or that contradict each other.
TEST_F(Foreign, TeamsWithoutTheirBeginAreLeftAlone)
{
    const tests::Replayed r = replay(1, [](TinyTrace& t) {
        Threads threads(t, 2);
        threads.at_barrier(0, 10, 20);
        threads.end(0, 30);
        threads.join(0, 40);
        threads.begin(1, 10);
        threads.at_barrier(1, 15, 20);
        threads.end(1, 50);
        threads.single(1, OTF2_EvtWriter_ThreadBegin, 60, 9);
        threads.single(0, OTF2_EvtWriter_ThreadWait, 70, 9);
        threads.lock(0, OTF2_EvtWriter_ThreadAcquireLock, 75, 0);
        threads.lock(1, OTF2_EvtWriter_ThreadAcquireLock, 75, 7);
        threads.fork(0, 80);
        finalize(t, 90);
    });
    EXPECT_EQ(r.path(), "compute 0: 0-90");
}

}  // namespace
}  // namespace critpath::test
