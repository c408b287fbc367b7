// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a group of hardware events counts, from the raw samples of a thread through the archive and the loader to the
// table of the result. Times are ns.
#include "collector/archive/recover.hpp"
#include "replayer/load/load.hpp"
#include "tests/archive/spool_builder.hpp"
#include "tests/builder/replayed.hpp"
#include "tests/scratch.hpp"

#include <fmt/format.h>
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
}

}  // namespace
}  // namespace critpath::test
