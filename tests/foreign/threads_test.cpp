// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Who waits for whom among the threads of a process: teams and their barriers, threads that are created and waited
// for, and locks, in the records that Score-P writes. Times are us; location 0 is the main thread of the only rank.
#include "tests/foreign/foreign.hpp"

#include <algorithm>
#include <random>

namespace critpath::test
{
namespace
{

using testing::HasSubstr;

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
    /// A parallel region of threads 0, 1, ... with one barrier at its end, at which they arrive at these times.
    void region(std::uint64_t forked, std::uint64_t begun, const std::vector<std::uint64_t>& arrivals,
                std::uint64_t left)
    {
        fork(0, forked);
        for (std::uint32_t thread = 0; thread < arrivals.size(); ++thread) {
            begin(thread, thread == 0 ? forked : begun);
            at_barrier(thread, arrivals[thread], left);
            end(thread, left);
        }
        join(0, left);
    }
    void at_barrier(std::uint32_t thread, std::uint64_t arrive, std::uint64_t depart)
    {
        (*this)[thread].enter(arrive, barrier).leave(depart, barrier);
    }
    using Record = OTF2_ErrorCode (*)(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp, OTF2_CommRef,
                                      std::uint64_t);
    void single(std::uint32_t thread, Record record, std::uint64_t time, std::uint64_t number, OTF2_CommRef team = 5)
    {
        write(thread, [=](OTF2_EvtWriter* w) { return record(w, nullptr, time, team, number); });
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

/// Of no team, such records only say how long a thread lived: what it does in that time is nobody's but its own.
TEST_F(Foreign, AThreadLivesFromItsBeginToItsEnd)
{
    const tests::Replayed r = replay(1, [](TinyTrace& t) {
        Threads threads(t, 3);
        for (const std::uint32_t thread : {1U, 2U}) {
            threads.single(thread, OTF2_EvtWriter_ThreadBegin, 100 * thread, 0, OTF2_UNDEFINED_COMM);
            if (thread == 2)
                threads[2].enter(400, "loop").leave(600, "loop");
            threads.single(thread, OTF2_EvtWriter_ThreadEnd, 700, 0, OTF2_UNDEFINED_COMM);
        }
        finalize(t, 800);
    });
    EXPECT_EQ(r.path(), "compute 0: 0-800");
    EXPECT_EQ(r.profile.computed_ns, (std::vector<std::int64_t>{800 * tests::us, 600 * tests::us, 500 * tests::us}));
    EXPECT_EQ(r.fact("ignored_thread_records"), 0);
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
        t.paradigm("!$omp critical", OTF2_PARADIGM_OPENMP);
        threads[0].enter(200, "!$omp critical").metric(502);  // whatever is recorded meanwhile
        threads.lock(0, OTF2_EvtWriter_ThreadAcquireLock, 505, 2);
        threads.lock(0, OTF2_EvtWriter_ThreadReleaseLock, 550, 2);
        threads[0].leave(550, "!$omp critical");
        threads.end(0, 600);
        threads.join(0, 600);
        finalize(t, 800);
    });
    EXPECT_EQ(r.path(), "compute 1: 0-500 | threads 1>0: 500-505 | compute 0: 505-800");
}

// Only functions for that, and critical sections, are waits from their enter on: in others, threads work.
TEST_F(Foreign, ALockThatIsFreeIsNotWaitedFor)
{
    const tests::Replayed r = replay(1, [](TinyTrace& t) {
        t.paradigm("!$omp parallel", OTF2_PARADIGM_OPENMP);
        t.role("!$omp parallel", OTF2_REGION_ROLE_PARALLEL);
        Threads threads(t, 2);
        threads.lock(1, OTF2_EvtWriter_ThreadAcquireLock, 100, 1);
        threads.lock(1, OTF2_EvtWriter_ThreadReleaseLock, 300, 1);
        threads[0].enter(10, "!$omp parallel").metric(500);
        threads.lock(0, OTF2_EvtWriter_ThreadAcquireLock, 500, 2);
        threads[0].leave(600, "!$omp parallel");
        finalize(t, 800);
    });
    EXPECT_EQ(r.path(), "compute 0: 0-800");
}

// What the threads of a process do leaves its messages alone.
TEST_F(Foreign, TeamsBetweenMessages)
{
    const tests::Replayed r = replay(2, [](TinyTrace& t) {
        Threads threads(t, 2);
        threads.region(100, 100, {150, 400}, 400);
        threads[0].enter(450, "MPI_Send").send(450, "world", 1, 0, 8).leave(451, "MPI_Send");
        t.thread(1).enter(0, "main").enter(10, "MPI_Recv").recv(453, "world", 0, 0, 8).leave(453, "MPI_Recv");
        finalize(t, 460);
        t.thread(1).enter(800, "MPI_Finalize").leave(801, "MPI_Finalize");
    });
    EXPECT_EQ(r.path(), "compute 0: 0-100 | compute 1: 100-400 | compute 0: 400-450 | transfer 0>2: 450-453 | "
                        "compute 2: 453-800");
}

// ------------------------------------------------------------------------------------- programs with a known path

/// Parallel regions with barriers, on a machine that needs 2 us to start a worker and 1 us to leave a barrier.
class TeamProgram
{
public:
    explicit TeamProgram(std::uint32_t seed)
    {
        std::mt19937 random(seed);
        const auto upto = [&](std::uint64_t limit) { return 1 + random() % limit; };
        threads_ = static_cast<std::uint32_t>(1 + upto(4));
        regions_.resize(upto(5));
        for (Region& region : regions_) {
            region.serial = upto(50);
            region.work.resize(upto(4));
            for (auto& phase : region.work) {
                for (std::uint32_t thread = 0; thread < threads_; ++thread) {
                    phase.push_back(upto(20));
                }
            }
        }
        tail_ = upto(50);
    }

    /// Work of one thread between two barriers.
    struct Work {
        std::size_t region, phase;
        std::uint32_t thread;
        std::uint64_t begin, end;
    };

    struct Run {
        std::vector<std::uint64_t> forks;  // by region
        std::vector<Work> work;
        std::uint64_t end;
    };

    /// What happens when; `longer` takes 1 us more.
    [[nodiscard]] Run run(const Work* longer = nullptr) const
    {
        Run result{};
        std::uint64_t time = 0;
        for (std::size_t r = 0; r < regions_.size(); ++r) {
            time += regions_[r].serial;
            result.forks.push_back(time);
            std::vector<std::uint64_t> ready(threads_, time + 2);
            ready[0] = time;
            for (std::size_t phase = 0; phase < regions_[r].work.size(); ++phase) {
                std::uint64_t last = 0;
                for (std::uint32_t thread = 0; thread < threads_; ++thread) {
                    const bool is_longer =
                        longer != nullptr && longer->region == r && longer->phase == phase && longer->thread == thread;
                    const std::uint64_t end = ready[thread] + regions_[r].work[phase][thread] + (is_longer ? 1 : 0);
                    result.work.push_back({r, phase, thread, ready[thread], end});
                    last = std::max(last, end);
                }
                ready.assign(threads_, last + 1);
            }
            time = ready[0];
        }
        result.end = time + tail_;
        return result;
    }

    void write(TinyTrace& t) const
    {
        Threads threads(t, threads_);
        const Run happened = run();
        for (std::size_t r = 0; r < regions_.size(); ++r) {
            threads.fork(0, happened.forks[r]);
            for (std::uint32_t thread = 0; thread < threads_; ++thread) {
                threads.begin(thread, happened.forks[r] + (thread == 0 ? 0 : 2));
            }
            for (const Work& work : happened.work) {
                if (work.region == r) {
                    threads.at_barrier(work.thread, work.end, exit(happened, r, work.phase));
                }
            }
            const std::uint64_t end = exit(happened, r, regions_[r].work.size() - 1);
            for (std::uint32_t thread = 0; thread < threads_; ++thread) {
                threads.end(thread, end);
            }
            threads.join(0, end);
        }
        finalize(t, happened.end);
    }

private:
    struct Region {
        std::uint64_t serial;                          // us before it
        std::vector<std::vector<std::uint64_t>> work;  // us, by phase and thread
    };

    static std::uint64_t exit(const Run& happened, std::size_t region, std::size_t phase)
    {
        std::uint64_t last = 0;
        for (const Work& work : happened.work) {
            if (work.region == region && work.phase == phase) {
                last = std::max(last, work.end + 1);
            }
        }
        return last;
    }

    std::uint32_t threads_;
    std::vector<Region> regions_;
    std::uint64_t tail_;
};

/// The work of a program that the path leads through; at a barrier it also passes through the us of leaving it.
std::vector<TeamProgram::Work> on_path(const tests::Replayed& r, const TeamProgram::Run& run)
{
    std::vector<TeamProgram::Work> result;
    for (const TeamProgram::Work& work : run.work) {
        const bool is_there = std::ranges::any_of(r.segments, [&](const model::Segment& s) {
            return s.kind == static_cast<std::uint8_t>(model::SegmentKind::Compute) && s.location == work.thread &&
                   s.begin < static_cast<std::int64_t>(work.end * 1000) &&
                   s.end > static_cast<std::int64_t>(work.begin * 1000);
        });
        if (is_there) {
            result.push_back(work);
        }
    }
    return result;
}

// What is on the path has no slack: if it took longer, the run would.
TEST_F(Foreign, TheWorkOfTeamsThatIsOnThePathHasNoSlack)
{
#ifdef CRITPATH_SANITIZED
    constexpr std::uint32_t programs = 20;
#else
    constexpr std::uint32_t programs = 100;
#endif
    std::size_t of_workers = 0, off_path = 0;
    for (std::uint32_t seed = 0; seed < programs; ++seed) {
        const TeamProgram program(seed);
        const TeamProgram::Run run = program.run();
        const replayer::Replay& loaded = load(1, [&](TinyTrace& t) { program.write(t); });
        const tests::Replayed r = tests::replay(loaded);
        EXPECT_EQ(r.profile.facts.at("makespan_ns"), static_cast<std::int64_t>(run.end * 1000));
        const auto critical = on_path(r, run);
        for (const TeamProgram::Work& work : critical) {
            EXPECT_EQ(program.run(&work).end, run.end + 1)
                << "seed " << seed << ", region " << work.region << ", phase " << work.phase << ", thread "
                << work.thread << ": " << r.path();
            of_workers += work.thread > 0 ? 1 : 0;
        }
        off_path += run.work.size() - critical.size();
        for (const replayer::WalkPath walk : {replayer::pass_token, replayer::walk_segments, replayer::lift}) {
            const replayer::Engine engine{replayer::literal_engine.pair, replayer::literal_engine.reduce_instances,
                                          walk};
            EXPECT_EQ(tests::replay(loaded, tests::knows_nothing, engine).path(), r.path()) << "seed " << seed;
        }
        std::filesystem::remove_all(scratch_.path() / "trace");
    }
    EXPECT_GT(of_workers, 2 * programs);
    EXPECT_GT(off_path, 2 * programs);
}

// ------------------------------------------------------------------------------------------------ what is not whole

// Which barrier is which cannot be told then.
TEST_F(Foreign, ATeamWhoseMembersDisagreeIsCounted)
{
    const tests::Replayed r = replay(1, [](TinyTrace& t) {
        Threads threads(t, 2);
        threads.fork(0, 100);
        threads.begin(0, 100);
        threads.begin(1, 110);
        threads.at_barrier(0, 200, 905);
        threads.at_barrier(0, 1000, 1505);
        threads.at_barrier(1, 1500, 1505);  // and not the first
        threads.end(0, 1506);
        threads.end(1, 1506);
        threads.join(0, 1510);
        finalize(t, 2000);
    });
    EXPECT_EQ(r.path(), "compute 0: 0-2000");
    EXPECT_EQ(r.fact("ignored_thread_records"), 6);
}

// The fork of the second execution is inside of a call, so that its workers have none.
TEST_F(Foreign, AWorkerDoesNotJoinATeamThatIsOver)
{
    const tests::Replayed r = replay(1, [](TinyTrace& t) {
        Threads threads(t, 2);
        threads.region(100, 110, {200, 900}, 905);
        threads[0].enter(1000, "MPI_Reduce_local");
        threads.fork(0, 1100);
        threads.begin(0, 1100);
        threads.begin(1, 1110);
        threads.at_barrier(1, 1900, 1905);
        threads.end(0, 1906);
        threads.end(1, 1906);
        threads.join(0, 1910);
        threads[0].leave(2000, "MPI_Reduce_local");
        finalize(t, 3000);
    });
    EXPECT_EQ(r.path(), "compute 0: 0-100 | threads 0>1: 100-110 | compute 1: 110-900 | threads 1>0: 900-905 | "
                        "compute 0: 905-1000 | mpi 0: 1000-2000 | compute 0: 2000-3000");
    EXPECT_EQ(r.fact("ignored_thread_records"), 4 + 4);
    EXPECT_EQ(r.fact("calls"), 2);
}

// A poll may be guarded by a lock.
TEST_F(Foreign, LocksDoNotEndARunOfPolls)
{
    const tests::Replayed r = replay(2, [](TinyTrace& t) {
        Threads threads(t, 1);
        threads[0].enter(5000, "MPI_Send").send(5000, "world", 1, 0, 8).leave(5001, "MPI_Send");
        auto& other = t.thread(1);
        other.enter(0, "main").enter(1, "MPI_Irecv").irecv_request(1, 9).leave(2, "MPI_Irecv");
        std::uint32_t order = 0;
        const auto lock = [&](std::uint64_t time, Threads::LockRecord record) {
            other.write([&](OTF2_EvtWriter* w) { return record(w, nullptr, time, OTF2_PARADIGM_OPENMP, 3, order); });
        };
        for (std::uint64_t time = 10; time <= 5006; time += 3) {
            ++order;
            lock(time, OTF2_EvtWriter_ThreadAcquireLock);
            other.enter(time, "MPI_Test");
            if (time > 5003) {
                other.irecv(time + 1, "world", 0, 0, 8, 9);
            }
            other.leave(time + 2, "MPI_Test");
            lock(time + 2, OTF2_EvtWriter_ThreadReleaseLock);
        }
        finalize(t, 5010);
        other.enter(6000, "MPI_Finalize").leave(6001, "MPI_Finalize");
    });
    EXPECT_THAT(r.path(), HasSubstr("compute 0: 0-5000 | transfer 0>1: 5000-500"));
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
    EXPECT_EQ(r.fact("ignored_thread_records"), 2 + 1 + 1 + 2 + 1);
}

}  // namespace
}  // namespace critpath::test
