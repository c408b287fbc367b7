// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a test loads what it has just written.
#pragma once

#include "replayer/load/load.hpp"
#include "tests/load/tiny_trace.hpp"
#include "tests/scratch.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace critpath::test
{

class Load : public testing::Test
{
protected:
    /// Writes an archive on `ranks` ranks and loads all of it.
    const replayer::Replay& load(std::uint32_t ranks, const std::function<void(TinyTrace&)>& write,
                                 std::uint64_t ticks_per_second = 1'000'000'000)
    {
        TinyTrace trace(scratch_.path() / "trace", ranks, ticks_per_second);
        write(trace);
        trace.close();
        replay_ = {};
        replayer::load::load(trace.anchor(), replay_);
        return replay_;
    }

    static functions::FunctionId function(const replayer::Replay& replay, const model::LocationTrace& location,
                                          std::size_t call)
    {
        return replay.definitions.region(location.calls.context(call)).function;
    }

    Scratch scratch_;
    replayer::Replay replay_;
};

inline std::vector<model::Ns> leaves(const model::Calls& calls)
{
    std::vector<model::Ns> result;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        result.push_back(calls.leave(i));
    }
    return result;
}

inline std::vector<std::int64_t> ns(const std::vector<model::Ns>& times)
{
    std::vector<std::int64_t> result;
    for (const model::Ns time : times) {
        result.push_back(time.count());
    }
    return result;
}

}  // namespace critpath::test
