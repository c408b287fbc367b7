// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which functions a stretch is time of, and how long its thread waits for others, where the program says it.
#include "tests/builder/replayed.hpp"
#include "tests/rules/steps.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace critpath::tests
{
namespace
{

using model::ContextId;
using model::Ns;

/// Of the stretch between two calls of MPI_Barrier, by `name_of(call path)`.
template <class NameOf>
std::map<std::string, model::StretchCode> code_by(const Replayed& r, NameOf name_of)
{
    std::map<std::string, model::StretchCode> sums;
    for (const model::StretchCode& c : r.profile.stretch_code) {
        const model::Stretch& s = r.profile.stretches.at(c.stretch);
        if (function(r, s.before) != "MPI_Barrier" || function(r, s.after) != "MPI_Barrier")
            continue;
        sums[name_of(c.call_path)].add(c);
    }
    return sums;
}

std::map<std::string, model::StretchCode> code_by_row(const Replayed& r)
{
    return code_by(r, [&](model::CallPathId id) { return r.profile.row(id).name; });
}

using Words = std::map<std::string, std::string>;

/// "all, spinning, blocked", us.
Words code(const Replayed& r)
{
    Words words;
    for (const auto& [name, c] : code_by_row(r))
        words[name] = fmt::format("{}, {}, {}", c.ns / us, c.spinning_ns / us, c.blocked_ns / us);
    return words;
}

/// "all, of peers", us, by call path: "main > solve".
Words code_by_call_path(const Replayed& r)
{
    const auto name_of = [&](model::CallPathId id) {
        std::string name = r.profile.row(id).name;
        while ((id = r.profile.call_paths[id.value].parent).valid())
            name = r.profile.row(id).name + " > " + name;
        return name;
    };
    Words words;
    for (const auto& [name, c] : code_by(r, name_of))
        words[name] = fmt::format("{}, {}", c.ns / us, c.peers_ns / us);
    return words;
}

/// Of peers.
std::map<std::string, std::int64_t> of_peers(const Replayed& r)
{
    std::map<std::string, std::int64_t> times;
    for (const auto& [name, c] : code_by_row(r))
        times[name] = c.peers_ns / us;
    return times;
}

using Times = std::map<std::string, std::int64_t>;

/// Rank 1 is the slow one in all steps but the second.
TEST(Code, IsThatOfTheRanksOnThePathAtThePlace)
{
    Program p(3);
    std::int64_t time = 10;
    for (int rank = 0; rank < 3; ++rank) {
        p[rank].sample(5, "start", 9);
        p[rank].collective(FunctionId::MPI_Barrier, {9, time});
    }
    for (int step = 0; step < 4; ++step) {
        const int slow = step == 1 ? 2 : 1;
        for (int rank = 0; rank < 3; ++rank) {
            p[rank].sample(time + 20, "solve", 30);
            p[rank].sample(time + 35, rank == slow ? "build" : "other", 10);
            if (rank == slow) {
                p[rank].sample(time + 80, "solve", 40);
                p[rank].off({time + 40, time + 50}, true);
            }
            p[rank].collective(FunctionId::MPI_Barrier, {time + (rank == slow ? 100 : 50), time + 102});
        }
        time += 102;
    }
    for (int rank = 0; rank < 3; ++rank) {
        p[rank].sample(time + 40, "solve", 1);
        p[rank].collective(FunctionId::MPI_Allreduce, {time + 50, time + 51});
    }
    p.finish(time + 60);
    const Replayed r = replay(p);
    EXPECT_EQ(code(r), (Words{{"solve", "280, 0, 0"}, {"build", "40, 0, 0"}, {"[preempted]", "40, 0, 0"}}));
    std::uint64_t samples = 0;
    for (const model::StretchCode& c : r.profile.stretch_code)
        samples += c.stretch == 0 ? c.samples : 0;
    EXPECT_EQ(samples, 4U * 3);
    // Of the 8 gaps that are not on the path, each has 30 us of "solve"; and of as many as are on the path
    EXPECT_EQ(of_peers(r), (Times{{"solve", 4 * 30}, {"build", 0}, {"[preempted]", 0}}));
}

/// In each second step, all have more to do, and rank 1 is the slow one; in the others, rank 2 is, which comes by
/// another call. What rank 1 has more is "own", not what the steps have more.
TEST(Code, OfPeersIsThatOfTheSameOccurrences)
{
    Program p(3);
    std::int64_t time = 10;
    for (int rank = 0; rank < 3; ++rank)
        p[rank].collective(FunctionId::MPI_Barrier, {9, time});
    for (int step = 0; step < 4; ++step) {
        const int all = step % 2 == 1 ? 60 : 10, own = 30;
        const int end = step % 2 == 1 ? all + own : 200;
        for (int rank = 0; rank < 2; ++rank) {
            p[rank].sample(time + all - 1, "all", all);
            if (rank == 1)
                p[rank].sample(time + all + own - 1, "own", own);
            p[rank].collective(FunctionId::MPI_Barrier, {time + all + (rank == 1 ? own : 0), time + end + 1});
        }
        p[2].call(FunctionId::MPI_Iprobe, {time + 2, time + 3});
        p[2].collective(FunctionId::MPI_Barrier, {time + (step % 2 == 1 ? 10 : end), time + end + 1});
        time += end + 1;
    }
    p.finish(time + 5);
    const Replayed r = replay(p);
    EXPECT_EQ(code(r), (Words{{"all", "120, 0, 0"}, {"own", "60, 0, 0"}}));
    EXPECT_EQ(of_peers(r), (Times{{"all", 120}, {"own", 0}}));
    for (const model::Stretch& s : r.profile.stretches)
        if (function(r, s.before) == "MPI_Barrier" && function(r, s.after) == "MPI_Barrier") {
            EXPECT_EQ(s.gaps, 2);
            EXPECT_EQ(s.code_gaps, 2);
        }
}

/// All read for 30 us, and are blocked; the others nap for 20 us, rank 1 for 100.
TEST(Code, OfPeersIsAlsoWhereTheyAreBlocked)
{
    Program p(3);
    for (int rank = 0; rank < 3; ++rank) {
        const int back = rank == 1 ? 160 : 80;
        p[rank].collective(FunctionId::MPI_Barrier, {5, 10});
        p[rank].sample(20, {"main", "step", "read"}, 10);
        p[rank].off({20, 50}, false);
        p[rank].sample(52, {"main", "step", "read"}, 2);
        p[rank].sample(60, {"main", "step", "nap"}, 8);
        p[rank].off({60, back}, false);
        p[rank].sample(back + 2, {"main", "step", "nap"}, 2);
        p[rank].collective(FunctionId::MPI_Barrier, {back + 5, 170});
    }
    p.finish(180);
    EXPECT_EQ(code_by_call_path(replay(p)), (Words{{"main > step > read", "12, 12"},
                                                   {"main > step > read > [blocked]", "30, 30"},
                                                   {"main > step > nap", "10, 10"},
                                                   {"main > step > nap > [blocked]", "100, 20"}}));
}

/// On rank 1, which the path is on, "exp" works for "build" and for "solve"; on the others for "solve" and "check".
TEST(Code, IsByWhoCallsIt)
{
    Program p(3);
    for (int rank = 0; rank < 3; ++rank) {
        p[rank].collective(FunctionId::MPI_Barrier, {5, 10});
        p[rank].sample(20, {"main", "solve", "exp"}, 10);
        if (rank == 1)
            p[rank].sample(90, {"main", "build", "exp"}, 70);
        else
            p[rank].sample(40, {"main", "check", "exp"}, rank == 0 ? 20 : 10);
        p[rank].sample(rank == 1 ? 95 : 55, std::vector<std::string>{"main", rank == 1 ? "build" : "other"}, 5);
        p[rank].collective(FunctionId::MPI_Barrier, {rank == 1 ? 110 : 60, 111});
    }
    p.finish(120);
    EXPECT_EQ(code_by_call_path(replay(p)), (Words{{"main > solve > exp", "10, 10"},
                                                   {"main > build > exp", "70, 0"},
                                                   {"main > check > exp", "0, 15"},
                                                   {"main > build", "5, 0"}}));
}

/// By instruction, only what the thread on the path does itself; of peers, all of the functions that the path is in.
TEST(Code, IsKnownByAddress)
{
    Program p(3);
    for (int rank = 0; rank < 3; ++rank) {
        const bool is_slow = rank == 1;
        p[rank].collective(FunctionId::MPI_Barrier, {5, 10});
        p[rank].sample(20, {"main", "solve"}, 10, 0x10);
        p[rank].sample(30, {"main", "check", "solve"}, 10, is_slow ? 0x10 : 0x20);
        p[rank].sample(40, {"main", is_slow ? "build" : "other"}, 10, 0x30);
        if (is_slow) {
            p[rank].sample(80, {"main", "solve"}, 40, 0x18);
            p[rank].sample(85, {"main", "solve"}, 5, 0);  // nobody knows where
        }
        p[rank].collective(FunctionId::MPI_Barrier, {is_slow ? 100 : 60, 101});
    }
    p.finish(120);
    const Replayed r = replay(p);
    Words words;
    for (const model::StretchAddress& a : r.profile.stretch_addresses)
        if (a.stretch == 0)
            words[fmt::format("{} {:#x}", r.profile.rows.at(a.row.value).name, a.address)] =
                fmt::format("{}, {}, {}", a.ns / us, a.samples, a.peers_ns / us);
    EXPECT_EQ(words, (Words{{"solve 0x10", "20, 2, 10"},
                            {"solve 0x18", "40, 1, 0"},
                            {"solve 0x20", "0, 0, 10"},
                            {"build 0x30", "10, 1, 0"}}));
}

TEST(Code, OfPeersIsNotKnownWithoutSamples)
{
    Program p(3);
    for (int rank = 0; rank < 3; ++rank) {
        const int work = rank == 1 ? 100 : 50;
        p[rank].collective(FunctionId::MPI_Barrier, {5, 10});
        if (rank < 2)
            p[rank].sample(10 + work - 1, "solve", work);
        p[rank].collective(FunctionId::MPI_Barrier, {10 + work, 111});
    }
    p.finish(120);
    const Replayed r = replay(p);
    EXPECT_EQ(of_peers(r), (Times{{"solve", 50}})) << "rank 2 has none, and does not count";
    EXPECT_EQ(r.profile.stretches.at(0).code_gaps, 1);
}

TEST(Code, OfATraceWithoutSamplesIsThatOfItsRegions)
{
    Program p(2);
    for (int rank = 0; rank < 2; ++rank) {
        p[rank].collective(FunctionId::MPI_Barrier, {5, 10});
        p[rank].region(20, "solve");
        p[rank].region(70, "");
        p[rank].collective(FunctionId::MPI_Barrier, {rank == 0 ? 60 : 100, 101});
    }
    p.finish(110);
    const Replayed r = replay(p);
    EXPECT_EQ(code(r), (Words{{"solve", "50, 0, 0"}}));
    EXPECT_EQ(of_peers(r), (Times{{"solve", 40}}));
}

/// Two ranks that meet at 10, 1010 and 2010 us; rank 1 has two threads, and is on the path between these.
class CodeOfThreads : public testing::Test
{
protected:
    CodeOfThreads()
    {
        Program program(2);
        for (int rank = 0; rank < 2; ++rank) {
            program[rank].sample(1, "main", 0);
            program[rank].collective(FunctionId::MPI_Barrier, {5, 10});
            program[rank].collective(FunctionId::MPI_Barrier, {rank == 1 ? 1008 : 110, 1010});
            program[rank].collective(FunctionId::MPI_Barrier, {rank == 1 ? 2008 : 1210, 2010});
        }
        program.finish(2020);
        replay_ = load(program, MPI_COMM_SELF, replayer::Rules::Arrival);
        add_thread(1);
        main_ = add("main", "/bin/app");
        spin_ = add("gomp_barrier_wait", "/lib/libgomp.so.1");
        loop_ = add("loop", "/bin/app");
    }

    /// Behind the first one of the process.
    model::LocationTrace& add_thread(std::uint32_t process)
    {
        const auto number = static_cast<std::uint32_t>(replay_.definitions.locations.size());
        model::LocationTrace second;
        second.location = {number};
        second.end = Ns{2020 * us};
        replay_.definitions.locations.push_back({fmt::format("rank {} thread 1", process), {process}, 1, 0});
        replay_.definitions.processes[process].locations.push_back({number});
        model::ProcessTrace& trace = replay_.processes[process];
        trace.locations.push_back(second);
        const auto calls = static_cast<std::uint32_t>(trace.locations[0].calls.size());
        trace.numbers = model::CallNumbers({process}, {0, calls});
        return trace.locations.back();
    }

    ContextId add(const std::string& name, const std::string& module)
    {
        model::Definitions& definitions = replay_.definitions;
        model::Region region;
        region.role = model::RegionRole::Sampled;
        region.name = name;
        region.module = module;
        definitions.regions.push_back(region);
        definitions.contexts.push_back(
            {{static_cast<std::uint32_t>(definitions.regions.size() - 1)}, ContextId::none()});
        return {static_cast<std::uint32_t>(definitions.contexts.size() - 1)};
    }
    model::LocationTrace& thread(std::size_t i) { return replay_.processes[1].locations[i]; }
    /// At the instruction that has the number of its function.
    void sample(model::LocationTrace& thread, std::int64_t time, ContextId context, std::int64_t weight)
    {
        thread.samples.push_back({Ns{time * us}, context, 0, weight * us, context.value});
    }

    replayer::Replay replay_;
    ContextId main_, spin_, loop_;
};

TEST_F(CodeOfThreads, WhatIsBlockedForTheOtherIsItsCode)
{
    for (const std::int64_t begin : {10, 1010}) {
        sample(thread(0), begin + 100, main_, 100);
        sample(thread(0), begin + 190, main_, 90);
        thread(0).off.push_back({Ns{(begin + 190) * us}, Ns{(begin + 990) * us}, false});
        for (int t = 100; t <= 600; t += 100)
            sample(thread(1), begin + 200 + t, loop_, 100);
        thread(1).off.push_back({Ns{(begin + 810) * us}, Ns{(begin + 910) * us}, true});
    }
    const Replayed r = replay(replay_);
    // Of 800 us, the other works for 600 us, and lacks a processor for 100.
    EXPECT_EQ(code(r), (Words{{"main", "380, 0, 0"},
                              {"loop", "1200, 0, 1200"},
                              {"[preempted]", "200, 0, 200"},
                              {"[blocked]", "200, 0, 0"}}));
    ASSERT_EQ(r.profile.stretch_addresses.size(), 1U) << "of the other thread, none";
    EXPECT_EQ(r.profile.stretch_addresses[0].address, main_.value);
    EXPECT_EQ(r.profile.stretch_addresses[0].ns, 380 * us);
    EXPECT_EQ(r.profile.stretches.at(0).own_blocked_ns, 1600 * us);
    EXPECT_EQ(r.profile.stretches.at(0).peers_spinning_ns, 0);
    EXPECT_EQ(r.profile.stretches.at(0).peers_threads_preempted_ns, 0);  // they have no threads
    EXPECT_EQ(of_peers(r), (Times{{"main", 0}, {"loop", 0}, {"[preempted]", 0}, {"[blocked]", 0}}));
}

TEST_F(CodeOfThreads, ThreadsOfPeersMayLackAProcessor)
{
    sample(thread(0), 200, main_, 100);
    thread(0).off.push_back({Ns{300 * us}, Ns{900 * us}, false});
    sample(thread(1), 400, loop_, 100);
    thread(1).off.push_back({Ns{500 * us}, Ns{700 * us}, true});

    model::LocationTrace& other = add_thread(0);
    model::LocationTrace& first = replay_.processes[0].locations[0];
    // Of 70 us, it works for 40 and lacks a processor for 20; of 60, without a sample, it lacks one for 50.
    sample(first, 25, main_, 15);
    first.off = {{Ns{30 * us}, Ns{100 * us}, false}, {Ns{1100 * us}, Ns{1160 * us}, false}};
    sample(other, 70, loop_, 40);
    other.off = {{Ns{75 * us}, Ns{95 * us}, true}, {Ns{1105 * us}, Ns{1155 * us}, true}};

    const Replayed r = replay(replay_);
    EXPECT_EQ(of_peers(r).at("main"), 15);
    EXPECT_EQ(of_peers(r).at("loop"), 0) << "of other threads";
    EXPECT_EQ(of_peers(r).at("[blocked]"), 10 + 10);
    EXPECT_EQ(r.profile.stretches.at(0).gaps, 2);
    EXPECT_EQ(r.profile.stretches.at(0).peers_threads_preempted_ns, 70 * us);
    EXPECT_EQ(code(r).at("[preempted]"), "200, 0, 200");
}

TEST_F(CodeOfThreads, WhatSpinsForTheOtherIsItsCodeAsFarAsThatWorks)
{
    for (const std::int64_t begin : {10, 1010}) {
        sample(thread(0), begin + 100, main_, 100);
        for (int t = 200; t <= 900; t += 100)
            sample(thread(0), begin + t, spin_, 100);
        for (int t = 200; t <= 700; t += 100)
            sample(thread(1), begin + t, loop_, 100);
        // The other rank spins, too, of which the path knows nothing.
        sample(replay_.processes[0].locations[0], begin + 50, spin_, 30);
    }
    const Replayed r = replay(replay_);
    EXPECT_EQ(code(r),
              (Words{{"main", "200, 0, 0"}, {"loop", "1200, 1200, 0"}, {"[waiting for threads]", "400, 400, 0"}}));
    EXPECT_EQ(r.profile.stretches.at(0).gaps, 2);
    EXPECT_EQ(r.profile.stretches.at(0).peers_spinning_ns, 60 * us);  // of two gaps
}

/// It goes to the other thread's code on the path. Peers know nothing of that, so that it lacks a processor here.
TEST_F(CodeOfThreads, WhoSpinsAfterItLackedAProcessorDoesNoneOfTheOthersCode)
{
    sample(thread(0), 200, main_, 100);
    thread(0).off.push_back({Ns{300 * us}, Ns{800 * us}, true});
    sample(thread(0), 900, spin_, 100);
    for (int t = 400; t <= 700; t += 100)
        sample(thread(1), t, loop_, 100);
    const Replayed r = replay(replay_);
    const Words words = code_by_call_path(r);
    EXPECT_EQ(words.at("[preempted]"), "400, 0");
    std::int64_t on_path = 0;
    for (const auto& time : r.profile.path)
        if (r.profile.row(time.call_path).name == "loop")
            on_path += time.ns / us;
    EXPECT_GE(on_path, 400);
}

TEST_F(CodeOfThreads, ThreadsThatCallMpiAreCounted)
{
    EXPECT_EQ(replay(replay_).fact("threads_calling_mpi"), 0);
    thread(1).calls.add(Ns{20 * us}, Ns{30 * us}, thread(0).calls.context(0));
    EXPECT_EQ(replay(replay_).fact("threads_calling_mpi"), 1);
}

}  // namespace
}  // namespace critpath::tests
