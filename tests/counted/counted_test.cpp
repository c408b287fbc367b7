// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a group of hardware events counts, from the raw samples of a thread through the archive and the loader to the
// table of the result. Times are ns.
#include "analysis/report/explain/explain.hpp"
#include "collector/archive/recover.hpp"
#include "replayer/load/load.hpp"
#include "tests/archive/spool_builder.hpp"
#include "tests/builder/replayed.hpp"
#include "tests/scratch.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <string>

namespace critpath::test
{
namespace
{

using functions::FunctionId;
using Group = SamplesBuilder::Group;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A process alone: it computes from 500 on, is in MPI_Send from 3000 to 4000, and ends at 9000.
class Counted : public testing::Test
{
protected:
    Counted()
    {
        header_.closed = 1;
        CallsBuilder calls;
        calls.call(FunctionId::MPI_Send, 3000, 4000);
        calls.call(FunctionId::MPI_Finalize, 9000, 9001);
        std::filesystem::create_directory(trace_ / "spool");
        calls.write(trace_ / "spool/0.0.calls", header_);
        std::strcpy(header_.samples.event, "cycles");
        header_.samples.period = 1000;
        header_.samples.counted = 8000;
        header_.samples.time_running = 8000;
        header_.samples.call_graph = spool::CallGraph::FramePointers;
        const char* names[] = {"page-faults", "instructions", "cache-misses"};
        for (std::size_t i = 0; i < std::size(names); ++i) {
            std::strcpy(header_.samples.events[i], names[i]);
        }
        header_.samples.counted_events = 7;
        header_.thread_end = 9000;
    }

    /// As the kernel writes it: with all that was counted until then.
    void sample(std::uint64_t time, const Group& group)
    {
        samples_.sample(time, 1000, {SamplesBuilder::user, 0x1000}, group);
    }

    /// By event and row: "count of ns, known, scaled".
    std::map<std::string, std::string> counts()
    {
        samples_.write(trace_ / "spool/0.0.samples", header_);
        archive::recover(trace_.path(), {});
        replayer::Replay loaded;
        loaded.comm = MPI_COMM_SELF;
        replayer::load::load(std::filesystem::path(trace_.path()) / "traces.otf2", loaded);
        profile_ = tests::replay(loaded).profile;
        std::map<std::string, std::string> words;
        for (const model::EventCount& e : profile_.path_events) {
            words[profile_.events[e.event] + " " + profile_.row(e.call_path).name] =
                fmt::format("{} of {}, {}, {}", e.count, e.ns, e.known_ns, e.scaled_ns);
        }
        return words;
    }

    Scratch trace_;
    spool::SpoolHeader header_ = make_header(0, 1, 0);
    SamplesBuilder samples_;
    model::Profile profile_;
};

using Words = std::map<std::string, std::string>;

TEST_F(Counted, FromTheSpoolToTheResult)
{
    // Cycles, page faults, instructions, cache misses.
    sample(1500, {1000, 1000, {1000, 1, 2000, 10}});
    sample(2500, {2000, 2000, {2000, 1, 4000, 20}});
    sample(3500, {3000, 2500, {2500, 1, 4300, 24}});  // half of the time: 1000, 0, 600, 8
    sample(4500, {4000, 3500, {3500, 3, 5300, 30}});
    sample(5500, {5000, 3540, {3540, 3, 5400, 31}});  // a twenty-fifth: not known
    sample(6500, {6000, 4540, {4540, 3, 8400, 43}});
    sample(7500, {7000, 5540, {5540, 3, 9400}});  // an event was lost
    sample(8500, {8000, 6540, {6540, 3, 9900}});
    EXPECT_EQ(counts(), (Words{{"cycles [unknown]", "4000 of 7500, 4000, 500"},
                               {"cycles MPI_Send", "1000 of 1000, 1000, 500"},
                               {"instructions [unknown]", "7800 of 7500, 4000, 500"},
                               {"instructions MPI_Send", "800 of 1000, 1000, 500"},
                               {"cache-misses [unknown]", "39 of 7500, 4000, 500"},
                               {"cache-misses MPI_Send", "7 of 1000, 1000, 500"},
                               {"page-faults [unknown]", "2 of 7500, 4000, 500"},
                               {"page-faults MPI_Send", "1 of 1000, 1000, 500"}}));
}

TEST_F(Counted, AThreadWithoutSomeEventsDoesNotKnowThem)
{
    header_.samples.counted_events = 2;  // instructions
    sample(4500, {4000, 4000, {4000, 8000}});
    EXPECT_EQ(counts(), (Words{{"cycles [unknown]", "3000 of 7500, 3000, 0"},
                               {"cycles MPI_Send", "1000 of 1000, 1000, 0"},
                               {"instructions [unknown]", "6000 of 7500, 3000, 0"},
                               {"instructions MPI_Send", "2000 of 1000, 1000, 0"},
                               {"page-faults [unknown]", "0 of 7500, 0, 0"},
                               {"page-faults MPI_Send", "0 of 1000, 0, 0"}}));
}

TEST_F(Counted, WithTheClockAsLeaderThereIsNothingButTheOthers)
{
    std::strcpy(header_.samples.event, "cpu-clock");
    header_.samples.counted_events = 5;
    std::strcpy(header_.samples.events[2], "cpu-migrations");
    sample(4500, {4000, 4000, {4000, 12, 4}});
    EXPECT_EQ(counts(), (Words{{"cpu-migrations [unknown]", "3 of 7500, 3000, 0"},
                               {"cpu-migrations MPI_Send", "1 of 1000, 1000, 0"},
                               {"page-faults [unknown]", "9 of 7500, 3000, 0"},
                               {"page-faults MPI_Send", "3 of 1000, 1000, 0"}}));
    EXPECT_FALSE(profile_.properties.contains("precise_ip")) << "a clock has no skid that anybody says";
}

/// Three ranks that come from MPI_Send to MPI_Finalize, rank 1 in twice the time. Nothing but their samples counts.
class CountedRanks : public testing::Test
{
protected:
    /// What is counted from one sample to the next, the leader first.
    struct Counts {
        std::uint64_t cycles, instructions, cache_misses = 0, branch_misses = 0;
    };

    /// Where and why, in words.
    std::string explanation(Counts of_rank_1, Counts of_others)
    {
        std::filesystem::create_directory(trace_ / "spool");
        for (int rank = 0; rank < 3; ++rank)
            write(rank, rank == 1 ? 200'000 : 100'000, rank == 1 ? of_rank_1 : of_others);
        archive::recover(trace_.path(), {});
        replayer::Replay loaded;
        loaded.comm = MPI_COMM_SELF;
        replayer::load::load(std::filesystem::path(trace_.path()) / "traces.otf2", loaded);
        profile_ = tests::replay(loaded).profile;
        return report::explain(profile_, 0).sentence(profile_, "run");
    }

    void write(int rank, std::uint64_t ns, Counts counts)
    {
        spool::SpoolHeader header = make_header(rank, 3, 0);
        header.closed = 1;
        CallsBuilder calls;
        calls.call(FunctionId::MPI_Send, 900, 1000);
        calls.call(FunctionId::MPI_Finalize, 1000 + ns, 1001 + ns);
        calls.write(trace_ / fmt::format("spool/{}.0.calls", rank), header);
        SamplesBuilder samples;
        for (std::uint64_t i = 1; i * 2500 < ns; ++i) {
            const std::uint64_t wobble = i % 2 == 0 ? 20 : 0;
            samples.sample(1000 + i * 2500, 1000, {SamplesBuilder::user, 0x1000},
                           {i * 2500,
                            i * 2500,
                            {i * counts.cycles + wobble, i * counts.instructions + wobble, i * counts.cache_misses,
                             i * counts.branch_misses}});
        }
        std::strcpy(header.samples.event, "cycles");
        std::strcpy(header.samples.events[0], "instructions");
        std::strcpy(header.samples.events[1], "cache-misses");
        std::strcpy(header.samples.events[2], "branch-misses");
        header.samples.counted_events = 7;
        header.samples.precise_ip = rank == 1 ? 1 : 2;
        header.samples.period = 1000;
        header.samples.counted = header.samples.time_running = ns;
        header.samples.call_graph = spool::CallGraph::FramePointers;
        header.thread_end = 1000 + ns;
        samples.write(trace_ / fmt::format("spool/{}.0.samples", rank), header);
    }

    Scratch trace_;
    model::Profile profile_;
};

TEST_F(CountedRanks, ARankThatMissesItsCaches)
{
    EXPECT_THAT(explanation({5000, 2000, 40, 4}, {5000, 4000, 4, 8}),
                AllOf(HasSubstr("on rank 1. It takes 100 % longer than on its peers (geometric mean): +100 % by more "
                                "cycles per instruction. Cache misses in 1,000 instructions: 20, on its peers 1. "
                                "Branch misses in 1,000 instructions: 2, on its peers 2 (not more)."),
                      HasSubstr("look at its memory accesses: where its data lie, and who shares its caches.")));
    EXPECT_EQ(profile_.properties["precise_ip"], "1") << "no more is promised than all ranks hold";
    const report::Explanation e = report::explain(profile_, 0);
    EXPECT_EQ(e.cause, report::Factor::Cycles);
    EXPECT_FALSE(e.untold);
    EXPECT_THAT(e.headline(), HasSubstr("(more cycles per instruction: cache misses)"));
}

TEST_F(CountedRanks, ARankWhoseInstructionsAreSlowWithoutMissingCaches)
{
    EXPECT_THAT(explanation({5000, 2000, 2, 4}, {5000, 4000, 4, 8}),
                AllOf(HasSubstr("+100 % by more cycles per instruction. Cache misses in 1,000 instructions: 1, on its "
                                "peers 1 (not more)."),
                      HasSubstr("look at what makes single instructions slow: data in a further cache"),
                      Not(HasSubstr("memory accesses"))));
    EXPECT_THAT(report::explain(profile_, 0).headline(), HasSubstr("(more cycles per instruction)"));
}

TEST_F(CountedRanks, ARankWhoseBranchesArePredictedWrongly)
{
    EXPECT_THAT(explanation({5000, 2000, 2, 40}, {5000, 4000, 4, 8}),
                HasSubstr("look at branches that depend on data"));
    EXPECT_THAT(report::explain(profile_, 0).headline(), HasSubstr("(more cycles per instruction: branch misses)"));
}

TEST_F(CountedRanks, ARankThatMissesCachesSeldomerThanMatters)
{
    // One in 40,000 instructions, on its peers one in 400,000.
    EXPECT_THAT(explanation({5'000'000, 2'000'000, 50, 0}, {5'000'000, 4'000'000, 10, 0}),
                HasSubstr("look at what makes single instructions slow: data in a further cache"));
}

TEST_F(CountedRanks, ARankThatIsThrottled)
{
    EXPECT_THAT(explanation({2500, 2000}, {5000, 4000}),
                HasSubstr("on rank 1. It takes 100 % longer than on its peers (geometric mean): +100 % by a lower "
                          "frequency of the processor."));
    EXPECT_EQ(report::explain(profile_, 0).cause, report::Factor::Frequency);
}

TEST_F(CountedRanks, ARankThatHasMoreToDo)
{
    EXPECT_THAT(explanation({5000, 4000}, {5000, 4000}), HasSubstr(": +100 % by more instructions"));
    EXPECT_EQ(report::explain(profile_, 0).cause, report::Factor::Instructions);
}

}  // namespace
}  // namespace critpath::test
