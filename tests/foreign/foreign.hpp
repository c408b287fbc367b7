// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the way of a small archive into memory, and through all phases.
#pragma once

#include "replayer/load/load.hpp"
#include "tests/builder/replayed.hpp"
#include "tests/load/tiny_trace.hpp"
#include "tests/scratch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace critpath::test
{

class Foreign : public testing::Test
{
protected:
    using Write = std::function<void(TinyTrace&)>;
    static constexpr std::uint64_t microseconds = 1'000'000;  // ticks a second

    /// Writes an archive on `ranks` ranks, whose main threads are there already, and loads all of it.
    const replayer::Replay& load(std::uint32_t ranks, const Write& write, std::uint64_t ticks_per_second = microseconds,
                                 std::uint64_t first_tick = 0)
    {
        TinyTrace trace(scratch_.path() / "trace", ranks, ticks_per_second, first_tick);
        for (std::uint32_t r = 0; r < ranks; ++r) {
            trace.thread(r);
        }
        write(trace);
        trace.close();
        replay_ = {};
        replay_.comm = MPI_COMM_SELF;
        replayer::load::load(trace.anchor(), replay_);
        return replay_;
    }

    tests::Replayed replay(std::uint32_t ranks, const Write& write, std::uint64_t ticks_per_second = microseconds)
    {
        return tests::replay(load(ranks, write, ticks_per_second));
    }

    Scratch scratch_;
    replayer::Replay replay_;
};

}  // namespace critpath::test
