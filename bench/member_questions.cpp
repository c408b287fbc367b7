// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what it costs to answer the members of an instance, when each of them asks who released it: of a prefix
// (MPI_Scan), and of a non-blocking operation that somebody's time outside of MPI held up.
#include "replayer/rules/member_query.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace
{

using namespace critpath::replayer::rules;

constexpr Ns leave{105'000'000};

/// They come in a random order within 10 ms, and are outside of MPI until then.
std::vector<MemberInfo> members(std::uint32_t number)
{
    constexpr Ns first{95'000'000};
    std::vector<MemberInfo> result;
    for (std::uint32_t rank = 0; rank < number; ++rank)
        result.push_back(
            {{{{rank}, {7}}, first + Ns{rank * std::uint64_t{7'919} % 10'000'000}}, Ns{1000}, rank, false, true});
    return result;
}

MemberQuery prefix(const MemberInfo& asker)
{
    MemberQuery query{};
    query.call = asker.enter.call;
    query.enter = query.since = asker.enter.time;
    query.leave = leave;
    query.rank = asker.rank;
    query.shape = critpath::functions::CollectiveShape::Prefix;
    query.may_depend = query.may_release = true;
    query.limit = Ns{1000};
    return query;
}

MemberQuery held_up(const MemberInfo& asker)
{
    MemberQuery query{};
    query.call = asker.enter.call;
    query.enter = asker.enter.time;
    query.leave = leave;
    query.rank = asker.rank;
    query.returns = true;
    query.completion = Ns{20'000};
    query.limit = Ns{80'000};
    query.tolerance = Ns{2'500};
    return query;
}

void ask(benchmark::State& state, MemberQuery (*question)(const MemberInfo&))
{
    const std::vector<MemberInfo> all = members(static_cast<std::uint32_t>(state.range(0)));
    const ClockUncertainty clocks;
    for (auto _ : state) {
        const InstanceMembers instance(all);
        for (const MemberInfo& member : all)
            benchmark::DoNotOptimize(answer(question(member), instance, clocks));
    }
    state.SetComplexityN(state.range(0));
}

}  // namespace

BENCHMARK_CAPTURE(ask, prefix, prefix)
    ->RangeMultiplier(8)
    ->Range(256, 131'072)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
BENCHMARK_CAPTURE(ask, held_up, held_up)
    ->RangeMultiplier(8)
    ->Range(256, 131'072)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

BENCHMARK_MAIN();
