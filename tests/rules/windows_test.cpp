// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A part of the run is divided as the whole of it is: the window that is the whole run has the rows of the replay, the
// windows that the run is cut into have them together, and where it is known what was done when, a window has that.
#include "analysis/division/counts.hpp"
#include "analysis/division/threads.hpp"
#include "analysis/division/totals.hpp"
#include "analysis/division/windows.hpp"
#include "tests/builder/replayed.hpp"
#include "tests/rules/windows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

namespace critpath::tests
{
namespace
{

using division::Parts;
using division::Window;

division::PathRecords records_of(const Replayed& r)
{
    return {r.segments, r.attributions};
}

/// What is in a profile that a window has, too.
std::string window_text(model::Profile profile)
{
    const std::map<std::string, std::int64_t> facts = {
        {"path_ns", profile.facts.at("path_ns")}, {"independent_samples", profile.facts.at("independent_samples")}};
    profile.facts = facts;
    profile.totals.clear();
    profile.total_addresses.clear();
    profile.stretches.clear();
    profile.stretch_shares.clear();
    profile.stretch_ranks.clear();
    return text(profile);
}

model::Profile in_window(const Replayed& r, Window window)
{
    model::Profile profile = r.profile;
    division::restrict_to(profile, division::divide(r.profile, records_of(r), std::span(&window, 1)).front());
    return profile;
}

/// "f 20 | [transfer] 3": path time of the rows in the window, us.
std::string rows(const Replayed& r, std::int64_t begin, std::int64_t end)
{
    const model::Profile profile = in_window(r, {begin * us, end * us});
    std::map<std::string, std::int64_t> sums;
    std::int64_t all = 0;
    for (const model::CallPathTime& time : profile.path) {
        sums[profile.row(time.call_path).name] += time.ns;
        all += time.ns;
    }
    EXPECT_EQ(all, (end - begin) * us);
    std::string words;
    for (const auto& [name, ns] : sums)
        words += fmt::format("{}{} {}", words.empty() ? "" : " | ", name, static_cast<double>(ns) / us);
    return words;
}

/// The sums of `parts` by their keys.
auto sums_of(const std::vector<Parts>& parts)
{
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::int64_t, std::uint64_t>> path;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::pair<std::int64_t, std::uint64_t>> addresses;
    std::map<std::tuple<int, std::uint32_t, std::uint32_t>, std::int64_t> kinds;
    std::map<std::size_t, std::tuple<std::int64_t, std::int64_t, std::int64_t>> processes;
    std::uint64_t independent = 0;
    for (const Parts& part : parts) {
        for (const auto& t : part.path) {
            auto& [ns, samples] = path[{t.call_path.value, t.process.value}];
            ns += t.ns;
            samples += t.samples;
        }
        for (const auto& a : part.addresses) {
            auto& [ns, samples] = addresses[{a.call_path.value, a.address}];
            ns += a.ns;
            samples += a.samples;
        }
        for (const auto& k : part.kinds)
            kinds[{static_cast<int>(k.kind), k.function.value, k.process.value}] += k.ns;
        for (std::size_t i = 0; i < part.process_path_ns.size(); ++i) {
            auto& [path_ns, time, sampled] = processes[i];
            path_ns += part.process_path_ns[i];
            if (!part.coverage.empty()) {
                time += part.coverage[i].time;
                sampled += part.coverage[i].sampled;
            }
        }
        independent += part.independent_samples;
    }
    return std::tuple(path, addresses, kinds, processes, independent);
}

/// By window, call path, process and event: count, ns, known, scaled.
using CountKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
using CountWords = std::map<CountKey, std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>>;

void add(CountWords& sums, const CountKey& key, const model::EventAmount& amount)
{
    auto& [count, ns, known_ns, scaled_ns] = sums[key];
    count += amount.count;
    ns += amount.ns;
    known_ns += amount.known_ns;
    scaled_ns += amount.scaled_ns;
}

std::vector<CountWords> counts_in(const Replayed& r, std::span<const Window> windows)
{
    std::vector<CountWords> result;
    for (const auto& places : division::divide_counts(r.profile, r.segments, r.counts.records(), windows)) {
        CountWords& words = result.emplace_back();
        for (const division::PlaceCounts& place : places)
            for (std::uint32_t event = 0; event < place.events.size(); ++event)
                add(words, {place.call_path.value, r.profile.location_process[place.location], event},
                    place.events[event]);
        std::erase_if(words, [](const auto& item) { return item.second == CountWords::mapped_type{}; });
    }
    return result;
}

CountWords sums_of(const std::vector<CountWords>& parts)
{
    CountWords sums;
    for (const CountWords& part : parts)
        for (const auto& [key, amounts] : part) {
            const auto& [count, ns, known_ns, scaled_ns] = amounts;
            add(sums, key, {count, ns, known_ns, scaled_ns});
        }
    return sums;
}

/// As the table of the result has them.
CountWords counts_of_run(const Replayed& r)
{
    CountWords words;
    for (const model::EventCount& e : r.profile.path_events)
        add(words, {e.call_path.value, e.process.value, e.event}, {e.count, e.ns, e.known_ns, e.scaled_ns});
    return words;
}

/// By call path, of all ranks: ns, samples, those of other threads and in calls; and below none() what they computed.
using TotalWords = std::map<std::uint32_t, std::tuple<std::int64_t, std::uint64_t, std::int64_t, std::int64_t>>;

void add(TotalWords& sums, const model::CallPathTime& time)
{
    auto& [ns, samples, others_ns, in_calls_ns] = sums[time.call_path.value];
    ns += time.ns;
    samples += time.samples;
    others_ns += time.other_threads_ns;
    in_calls_ns += time.in_calls_ns;
}

TotalWords totals_of_run(const Replayed& r)
{
    TotalWords words;
    for (const model::CallPathTime& time : r.profile.totals)
        add(words, time);
    for (const std::int64_t ns : r.profile.computed_ns)
        add(words, {model::CallPathId::none(), {}, ns});
    return words;
}

std::vector<TotalWords> totals_in(const Replayed& r, std::span<const Window> windows)
{
    std::vector<TotalWords> result;
    for (const division::TotalsIn& in :
         division::totals_in(r.fact("makespan_ns"), r.profile.call_paths.size(), r.totals, windows)) {
        TotalWords& words = result.emplace_back();
        for (const model::CallPathTime& time : in.totals)
            add(words, time);
        add(words, {model::CallPathId::none(), {}, in.computed_ns});
    }
    return result;
}

/// Parts add up to the whole, and each is as it is alone. (A run that is shorter than 1000 ns has slots of no length.)
void expect_totals_of(const Replayed& r, std::span<const Window> windows)
{
    const Window all{0, r.fact("makespan_ns")};
    EXPECT_EQ(totals_in(r, std::span(&all, 1)).front(), totals_of_run(r));
    TotalWords sums;
    const std::vector<TotalWords> parts = totals_in(r, windows);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        for (const auto& [call_path, amounts] : parts[i]) {
            const auto& [ns, samples, others_ns, in_calls_ns] = amounts;
            add(sums, {{call_path}, {}, ns, samples, others_ns, 0, in_calls_ns});
        }
        EXPECT_EQ(totals_in(r, windows.subspan(i, 1)).front(), parts[i]);
    }
    EXPECT_EQ(sums, totals_of_run(r));
    const auto computed_in = [&](const Window& window) {
        return division::computed_in(all.end, r.profile.locations.size(), r.computed, window);
    };
    EXPECT_EQ(computed_in(all), r.profile.computed_ns);
    std::vector<std::int64_t> computed(r.profile.locations.size(), 0);
    for (const Window& window : windows)
        for (std::size_t i = 0; const std::int64_t ns : computed_in(window))
            computed[i++] += ns;
    EXPECT_EQ(computed, r.profile.computed_ns);
}

}  // namespace

void expect_windows_of(const Replayed& r, std::uint32_t seed)
{
    const std::int64_t makespan = r.fact("makespan_ns");
    EXPECT_EQ(window_text(in_window(r, {0, makespan})), window_text(r.profile));

    const Window all{0, makespan};
    EXPECT_EQ(counts_in(r, std::span(&all, 1)).front(), counts_of_run(r));
    const std::vector<Parts> whole = division::divide(r.profile, records_of(r), std::span(&all, 1));
    std::mt19937 random(seed);
    for (const std::int64_t number : {2, 3, 17, 200}) {
        std::vector<std::int64_t> cuts = {0, makespan};
        for (std::int64_t i = 1; i < number; ++i)
            cuts.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(makespan)));
        std::sort(cuts.begin(), cuts.end());
        std::vector<Window> windows;
        for (std::size_t i = 1; i < cuts.size(); ++i)
            if (cuts[i] > cuts[i - 1])
                windows.push_back({cuts[i - 1], cuts[i]});
        const std::vector<Parts> parts = division::divide(r.profile, records_of(r), windows);
        EXPECT_EQ(sums_of(parts), sums_of(whole)) << "seed " << seed << ", " << windows.size() << " windows";
        const std::vector<CountWords> counts = counts_in(r, windows);
        EXPECT_EQ(sums_of(counts), counts_of_run(r));
        expect_totals_of(r, windows);
        for (std::size_t i = 0; i < windows.size(); ++i) {
            EXPECT_EQ(counts_in(r, std::span(&windows[i], 1)).front(), counts[i]);
            // Alone as among others, and without remainder.
            const std::vector<Parts> alone = division::divide(r.profile, records_of(r), std::span(&windows[i], 1));
            EXPECT_EQ(sums_of(alone), sums_of({parts[i]}));
            std::int64_t sum = 0;
            for (const model::CallPathTime& time : in_window(r, windows[i]).path) {
                EXPECT_GE(time.ns, 0);
                sum += time.ns;
            }
            EXPECT_EQ(sum, windows[i].length());
            const division::ThreadTimes times = division::time_of_threads(r.profile, records_of(r), windows[i]);
            for (const division::ThreadTime& time : times.threads) {
                EXPECT_GE(time.computed, 0);
                EXPECT_GE(time.path, time.computed);
                sum -= time.path;
            }
            for (const division::GivenTime& given : times.given) {
                EXPECT_LE(given.ns, given.of_ns);
                EXPECT_LE(given.ns, times.threads[given.to].computed);
                EXPECT_GT(given.samples, 0U);
            }
            EXPECT_EQ(sum, 0) << "the time of threads is not that of the path";
        }
    }
}

namespace
{

// Rank 0 computes "a", then "b"; rank 1 goes on with "c" when its message has come.
TEST(Windows, HaveWhatWasDoneInThem)
{
    Program p(2);
    for (int t = 5; t < 200; t += 10)
        p[0].sample(t, t < 100 ? "a" : "b", 10);
    p[0].send({200, 201}, 1);
    p[1].recv({10, 210}, 0);
    for (int t = 215; t < 300; t += 10)
        p[1].sample(t, "c", 10);
    p.finish(300);
    const Replayed r = replay(p);
    EXPECT_EQ(rows(r, 0, 100), "a 100");
    EXPECT_EQ(rows(r, 50, 150), "a 50 | b 50");
    EXPECT_EQ(rows(r, 100, 200), "b 100");
    EXPECT_EQ(rows(r, 202, 206), "[transfer] 4");
    EXPECT_EQ(rows(r, 190, 220), "[transfer] 10 | b 10 | c 10");
    EXPECT_EQ(rows(r, 210, 300), "c 90");
    EXPECT_EQ(rows(r, 210, 214), "[not sampled] 4");
    EXPECT_EQ(rows(r, 214, 218), "c 4");  // one sample, and no more time than there is
    expect_windows_of(r, 1);
}

/// "f 20 | MPI_Send 3 | computed 40": time of all ranks in the window, us.
std::string all_ranks(const Replayed& r, std::int64_t begin, std::int64_t end)
{
    const Window window{begin * us, end * us};
    EXPECT_EQ(division::totals_known(r.fact("makespan_ns"), window), division::TotalsKnown::Exactly);
    std::map<std::string, std::int64_t> sums;
    const TotalWords totals = totals_in(r, std::span(&window, 1)).front();
    for (const auto& [call_path, amounts] : totals) {
        const model::CallPathId id{call_path};
        sums[id.valid() ? r.profile.row(id).name : "computed"] += std::get<0>(amounts);
    }
    std::string words;
    for (const auto& [name, ns] : sums)
        words += fmt::format("{}{} {}", words.empty() ? "" : " | ", name, static_cast<double>(ns) / us);
    return words;
}

// As the test before the last, with another message that rank 1 waits for no more. A slot is 0.3 us.
TEST(Windows, HaveWhatAllRanksDidInThem)
{
    Program p(2);
    for (int t = 5; t < 200; t += 10)
        p[0].sample(t, t < 100 ? "a" : "b", 10);
    p[0].send({200, 201}, 1);
    p[1].recv({30, 210}, 0);
    for (int t = 215; t < 300; t += 10)
        p[1].sample(t, "c", 10);
    p.finish(300);
    const Replayed r = replay(p);
    EXPECT_EQ(all_ranks(r, 0, 30), "a 30 | computed 60");
    EXPECT_EQ(all_ranks(r, 30, 60), "MPI_Recv 30 | a 30 | computed 30");
    EXPECT_EQ(all_ranks(r, 90, 120), "MPI_Recv 30 | a 10 | b 20 | computed 30");
    EXPECT_EQ(all_ranks(r, 180, 210), "MPI_Recv 30 | MPI_Send 1 | b 20 | computed 29");
    EXPECT_EQ(all_ranks(r, 210, 300), "c 90 | computed 180");
    EXPECT_EQ(all_ranks(r, 0, 300), "MPI_Recv 180 | MPI_Send 1 | a 100 | b 100 | c 90 | computed 419");
    // What lies between the ends of slots is spread over them evenly.
    EXPECT_EQ(division::totals_known(300 * us, {0, 30 * us + 1}), division::TotalsKnown::Interpolated);
    EXPECT_EQ(division::totals_known(300 * us, {1, 300}), division::TotalsKnown::Not);
    const Window window{150, 30 * us + 150};
    const auto in = division::totals_in(300 * us, r.profile.call_paths.size(), r.totals, std::span(&window, 1));
    EXPECT_EQ(in.front().computed_ns, 2 * 29'850 + 150);
    // Of each rank, by hundredths: 3 us.
    EXPECT_EQ(division::computed_known(300 * us, {0, 90 * us}), division::TotalsKnown::Exactly);
    EXPECT_EQ(division::computed_known(300 * us, {300, 90 * us}), division::TotalsKnown::Interpolated);
    EXPECT_EQ(division::computed_known(300 * us, {300, 3 * us}), division::TotalsKnown::Not);
    EXPECT_EQ(division::computed_in(300 * us, 2, r.computed, {0, 90 * us}),
              (std::vector<std::int64_t>{90 * us, 30 * us}));
    EXPECT_EQ(division::computed_in(300 * us, 2, r.computed, {198 * us, 300 * us}),
              (std::vector<std::int64_t>{101 * us, 90 * us}));
    EXPECT_EQ(division::computed_in(300 * us, 2, r.computed, {29 * us, 31 * us}),
              (std::vector<std::int64_t>{2 * us, us}));
    expect_windows_of(r, 5);
}

TEST(Windows, CutIntervalsWithoutAProcessorExactly)
{
    const Replayed r = replay_off_the_processor();
    EXPECT_EQ(rows(r, 190, 250), "[not sampled] 10 | [preempted] 50");
    EXPECT_EQ(rows(r, 250, 355), "[blocked] 5 | [not sampled] 50 | [preempted] 50");
    EXPECT_EQ(rows(r, 405, 420), "MPI_Allreduce 5 | [preempted] 10");
    EXPECT_EQ(rows(r, 440, 460), "MPI_Allreduce 1 | [not sampled] 9 | [preempted] 10");
    expect_windows_of(r, 2);
}

TEST(Windows, OfUserRegions)
{
    Program p(2);
    p[0].region(0, "main");
    p[0].region(20, "heavy");
    p[0].region(45, "main");
    p[0].send({50, 51}, 1);
    p[1].recv({10, 53}, 0);
    p[1].call(FunctionId::MPI_Irecv, {60, 62});
    p[0].finish(80);
    p[1].finish(100);
    const Replayed r = replay(p);
    EXPECT_EQ(rows(r, 10, 30), "heavy 10 | main 10");
    EXPECT_EQ(rows(r, 40, 52), "[transfer] 2 | heavy 5 | main 5");
    EXPECT_EQ(rows(r, 55, 65), "MPI_Irecv 2 | [compute] 8");
    expect_windows_of(r, 3);
}

/// Ranks that compute, by samples or by regions, lose their processor and talk to each other.
void run_at_random(Program& program, std::uint32_t seed, bool samples)
{
    std::mt19937 random(seed);
    const auto draw = [&](std::uint32_t below) { return static_cast<std::int64_t>(random() % below); };
    std::int64_t now = 0;
    for (int round = 0; round < 15; ++round) {
        std::int64_t last = now;
        std::vector<std::int64_t> arrival;
        for (int r = 0; r < program.ranks(); ++r) {
            Rank& rank = program[r];
            const std::int64_t end = now + 20 + draw(200);
            const std::string function(1, static_cast<char>('a' + draw(4)));
            if (samples) {
                for (std::int64_t t = now + draw(10); t < end; t += 10)
                    rank.sample(t, {"main", function}, 5 + draw(10), static_cast<std::uint64_t>(draw(3)));
                if (end - now > 100)
                    rank.off({now + 40, now + 60 + draw(30)}, draw(2) == 0);
            } else {
                rank.region(now, draw(3) == 0 ? "" : "main");
                rank.region(now + 10, function);
            }
            arrival.push_back(end);
            last = std::max(last, end);
        }
        for (int r = 0; r < program.ranks(); ++r) {
            const std::int64_t enter = arrival[static_cast<std::size_t>(r)];
            program[r].called_from({"main", round % 2 == 0 ? "even" : "odd"});
            if (samples && last - enter > 20)
                program[r].off({enter + 2, last + 2}, draw(2) == 0);
            program[r].collective(FunctionId::MPI_Allreduce, {enter, last + 5});
        }
        now = last + 5;
    }
    program.finish(now + 10);
}

/// Ranks that count a steady 3 (rank 0), 4, 5 ... a ns while they have a processor; of some samples, counts are
/// unknown.
void count_steadily(Program& program, std::uint32_t seed)
{
    std::mt19937 random(seed);
    for (int r = 0; r < program.ranks(); ++r) {
        const model::LocationTrace location = program.trace(r).locations.front();
        std::int64_t since = 0;
        for (const model::Sample& sample : location.samples) {
            const std::int64_t time = sample.time.count();
            std::int64_t ran = time - since;
            for (const model::OffProcessor& off : location.off)
                ran -= division::length_in({since, time}, off.begin.count(), off.end.count());
            const bool is_known = random() % 10 != 0;
            program[r].counts(is_known ? (r + 3) * ran : model::unknown_count, random() % 5 == 0);
            since = time;
        }
    }
}

/// Of the path's segments in the window, by rank: when the thread had a processor in a segment that may count, ns.
std::map<std::uint32_t, std::int64_t> counting_time(const Replayed& r, const Program& program, const Window& window)
{
    std::map<std::uint32_t, std::int64_t> sums;
    for (const model::Segment& segment : r.segments) {
        const auto kind = static_cast<model::SegmentKind>(segment.kind);
        const Window part{std::max(window.begin, segment.begin), std::min(window.end, segment.end)};
        if (part.length() <= 0 || kind == model::SegmentKind::Transfer || kind == model::SegmentKind::StartDelay)
            continue;
        sums[segment.location] += part.length();
        const model::ProcessTrace trace = program.trace(static_cast<int>(segment.location));
        for (const model::OffProcessor& off : trace.locations.front().off)
            sums[segment.location] -= division::length_in(part, off.begin.count(), off.end.count());
    }
    std::erase_if(sums, [](const auto& item) { return item.second == 0; });
    return sums;
}

void expect_steady_counts(const Replayed& r, const Program& program)
{
    const std::int64_t makespan = r.fact("makespan_ns");
    for (std::int64_t i = 0; i < 7; ++i) {
        const Window window{makespan * i / 7, makespan * (i + 1) / 7};
        std::map<std::uint32_t, std::int64_t> time;
        const CountWords counts = counts_in(r, std::span(&window, 1)).front();
        for (const auto& [key, amounts] : counts) {
            const std::uint32_t rank = std::get<1>(key);
            const auto& [count, ns, known_ns, scaled_ns] = amounts;
            EXPECT_EQ(count, (rank + 3) * known_ns);
            EXPECT_LE(scaled_ns, known_ns);
            time[rank] += ns;
        }
        std::erase_if(time, [](const auto& item) { return item.second == 0; });
        EXPECT_EQ(time, counting_time(r, program, window));
    }
}

class RandomWindows : public testing::TestWithParam<std::uint32_t>
{
};

TEST_P(RandomWindows, AddUpToTheRun)
{
    for (const bool samples : {false, true}) {
        SCOPED_TRACE(samples ? "samples" : "regions");
        Program program(4);
        run_at_random(program, GetParam(), samples);
        if (samples)
            count_steadily(program, GetParam());
        const Replayed r = replay(program);
        expect_windows_of(r, GetParam());
        if (samples) {
            expect_steady_counts(r, program);
            EXPECT_TRUE(same_bytes(r.counts, replay_alone(program, replayer::Rules::Arrival).counts));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomWindows, testing::Range(1U, 9U));

}  // namespace
}  // namespace critpath::tests
