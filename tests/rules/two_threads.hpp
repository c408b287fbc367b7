// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a rank of two threads, of which nothing but samples and times without a processor tells who waits for whom.
#pragma once

#include "analysis/division/threads.hpp"
#include "tests/builder/replayed.hpp"
#include "tests/rules/windows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace critpath::tests
{

using model::ContextId;

inline constexpr const char* gomp = "/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0";
inline constexpr const char* libc = "/usr/lib/x86_64-linux-gnu/libc.so.6";

/// Contexts of one process, whose functions lie in binaries of these names.
class Functions
{
public:
    explicit Functions(model::Definitions& definitions) : definitions_(&definitions) {}

    ContextId add(const std::string& name, const std::string& module, ContextId parent = ContextId::none())
    {
        model::Region region;
        region.role = model::RegionRole::Sampled;
        region.name = name;
        region.module = module;
        return add(region, parent);
    }
    /// Of MPI.
    ContextId add(FunctionId function)
    {
        model::Region region;
        region.function = function;
        region.name = functions::info(function).name;
        return add(region, ContextId::none());
    }

private:
    ContextId add(const model::Region& region, ContextId parent)
    {
        definitions_->regions.push_back(region);
        const auto last = [](const auto& items) { return static_cast<std::uint32_t>(items.size() - 1); };
        definitions_->contexts.push_back({{last(definitions_->regions)}, parent});
        return {last(definitions_->contexts)};
    }

    model::Definitions* definitions_;
};

/// One rank of two threads, of which the first calls MPI and ends at 1000 us.
class TwoThreads : public testing::Test
{
protected:
    TwoThreads()
    {
        Program program(1);
        program[0].sample(1, "main", 0);
        program.finish(1000);
        replay_ = load(program, MPI_COMM_SELF, replayer::Rules::Arrival);
        add_thread();
        const auto calls = static_cast<std::uint32_t>(thread(0).calls.size());
        replay_.processes[0].numbers = model::CallNumbers({0}, {0, calls});
        thread(0).samples.clear();
    }

    model::LocationTrace& thread(std::size_t i) { return replay_.processes[0].locations[i]; }
    void sample(std::size_t i, std::int64_t time, ContextId context, std::int64_t weight)
    {
        thread(i).samples.push_back({from_us(time), context, 0, from_us(weight).count(), 0});
    }
    /// Of all samples of a thread.
    void counts(std::size_t i, std::int64_t each)
    {
        replay_.definitions.counted = {"instructions"};
        while (thread(i).sample_counts.size() < thread(i).samples.size())
            thread(i).sample_counts.push_back(std::array{each}, false);
    }
    /// One more thread, which does not call MPI.
    void add_thread()
    {
        auto& locations = replay_.definitions.processes[0].locations;
        const model::LocationId id{static_cast<std::uint32_t>(locations.size())};
        model::LocationTrace added;
        added.location = id;
        added.end = from_us(1000);
        replay_.definitions.locations.push_back({fmt::format("rank 0 thread {}", id.value), {0}, id.value, 0});
        locations.push_back(id);
        replay_.processes[0].locations.push_back(added);
    }

    /// Of the first thread, which only look whether something has come.
    void add_calls(const std::vector<std::pair<int, int>>& times)
    {
        Program program(1);
        program[0].sample(1, "main", 0);
        for (const auto& [enter, leave] : times)
            program[0].call(FunctionId::MPI_Iprobe, {enter, leave});
        program.finish(1000);
        thread(0).calls = load(program, MPI_COMM_SELF, replayer::Rules::Arrival).processes[0].locations[0].calls;
        const auto number = static_cast<std::uint32_t>(thread(0).calls.size());
        replay_.processes[0].numbers = model::CallNumbers({0}, {0, number});
    }

    /// The first thread looks at 100, 200, ... whether something has come, in two ways by turns.
    void add_calls_of_two_kinds()
    {
        const ContextId kinds[] = {functions_.add(FunctionId::MPI_Iprobe), functions_.add(FunctionId::MPI_Improbe)};
        std::vector<std::pair<int, int>> times;
        for (int t = 100; t < 1000; t += 100)
            times.emplace_back(t, t + 1);
        add_calls(times);
        model::Calls calls;
        for (std::size_t i = 0; i < thread(0).calls.size(); ++i)
            calls.add(thread(0).calls.enter(i), thread(0).calls.leave(i), kinds[i % 2]);
        thread(0).calls = calls;
    }

    /// "300, 10": time of the path by thread, us.
    static std::string threads(const Replayed& r)
    {
        const division::Window all{0, r.fact("makespan_ns")};
        std::vector<std::int64_t> us_of;
        for (const auto& time : division::time_of_threads(r.profile, {r.segments, r.attributions}, all).threads)
            us_of.push_back(time.path / 1000);
        return fmt::format("{}", fmt::join(us_of, ", "));
    }

    /// On the path, by row: "count of us, known".
    static std::map<std::string, std::string> counted(const Replayed& r)
    {
        std::map<std::string, std::string> words;
        for (const model::EventCount& e : r.profile.path_events)
            words[r.profile.row(e.call_path).name] =
                fmt::format("{} of {}, {}", e.count, e.ns / 1000, e.known_ns / 1000);
        return words;
    }
    Replayed run()
    {
        Replayed result = replay(replay_);
        std::int64_t sum = 0;
        for (const model::CallPathTime& time : result.profile.path) {
            EXPECT_GE(time.ns, 0);
            sum += time.ns;
        }
        EXPECT_EQ(sum, 1'000'000) << "rows are not the path";
        expect_windows_of(result, 1);
        return result;
    }

    replayer::Replay replay_;
    Functions functions_{replay_.definitions};
};

}  // namespace critpath::tests
