// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/reader.hpp"
#include "formats/otf2/trace_writer.hpp"
#include "replayer/load/load.hpp"
#include "tests/scratch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace critpath::test
{
namespace
{

using testing::AllOf;
using testing::Contains;

/// The names of the regions that are read from a trace in which functions have `names`.
std::vector<std::string> written_and_read(const std::vector<std::string>& names)
{
    const Scratch directory;
    otf2::TraceWriter trace(directory.path(), 1);
    const auto call = trace.mpi(functions::FunctionId::MPI_Finalize);
    trace.location(0).enter(10, call);
    trace.location(0).leave(20, call);
    for (const std::string& name : names) {
        trace.function(name, "app");
    }
    trace.close();

    replayer::Replay replay;
    replayer::load::load(otf2::find_anchor(directory.path()), replay);
    std::vector<std::string> read;
    for (const auto& region : replay.definitions.regions) {
        read.push_back(region.name);
    }
    return read;
}

TEST(TraceWriter, KeepsTheBeginningOfTextsThatAreLongerThanAChunk)
{
    constexpr std::size_t kept = 128 * 1024;
    const std::string longest(kept, 'f');
    EXPECT_THAT(written_and_read({longest, std::string(2 << 20, 'g')}),
                AllOf(Contains(longest), Contains(std::string(kept - 3, 'g').append("..."))));
}

TEST(TraceWriter, CutsNoCharacter)
{
    std::string name;
    while (name.size() < (1 << 20)) {
        name += "\u00e4";  // two bytes, the second of which is where the limit is
    }
    EXPECT_THAT(written_and_read({name}), Contains(name.substr(0, 128 * 1024 - 4).append("...")));
}

}  // namespace
}  // namespace critpath::test
