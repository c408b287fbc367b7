// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/result/samples.hpp"

#include "formats/result/checksum.hpp"
#include "formats/result/result.hpp"
#include "formats/result/segments.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>

namespace critpath::samples
{

namespace
{

namespace fs = std::filesystem;
using model::CallPathId;
using model::ProcessId;
using model::RowId;
using model::RowKind;
using model::SegmentKind;

constexpr std::int64_t ms = 1'000'000;

/// Adds segments one after the other, and their sums to the profile.
class PathBuilder
{
public:
    explicit PathBuilder(Sample& sample) : sample_(sample) {}

    void add(SegmentKind kind, std::int64_t ns, std::uint32_t location, std::uint32_t from, std::uint32_t function,
             std::uint64_t bytes = 0, bool unsure = false)
    {
        sample_.segments.push_back({time_, time_ + ns, bytes, location, from, function, static_cast<std::uint8_t>(kind),
                                    static_cast<std::uint8_t>(unsure ? 1 : 0), 0});
        time_ += ns;
        hops_ += location != from ? 1 : 0;
        unsure_ns_ += unsure ? ns : 0;
        unsure_ += unsure ? 1 : 0;
        const std::uint32_t process = sample_.profile.location_process.at(location);
        sample_.profile.processes.at(process).path_ns += ns;
        const bool has_no_function = kind == SegmentKind::Compute || kind == SegmentKind::StartDelay;
        const RowId row = has_no_function ? RowId::none() : sample_.profile.row_of({function});
        for (model::KindTime& sum : sample_.profile.kinds) {
            if (sum.kind == kind && sum.function == row && sum.process.value == process) {
                sum.ns += ns;
                ++sum.segments;
                return;
            }
        }
        sample_.profile.kinds.push_back({kind, row, ProcessId{process}, ns, 1});
    }

    void finish()
    {
        auto& facts = sample_.profile.facts;
        facts["makespan_ns"] = time_;
        facts["path_ns"] = time_;
        facts["begin_ns"] = 1'000'000'007;
        facts["segments"] = static_cast<std::int64_t>(sample_.segments.size());
        facts["hops"] = hops_;
        facts["low_confidence_ns"] = unsure_ns_;
        facts["low_confidence_segments"] = unsure_;
        facts["led_by_doubt_ns"] = 3 * unsure_ns_;
        facts["processes"] = static_cast<std::int64_t>(sample_.profile.processes.size());
        facts["locations"] = static_cast<std::int64_t>(sample_.profile.locations.size());
        facts["schema_version"] = result::schema_version;
    }

private:
    Sample& sample_;
    std::int64_t time_ = 0;
    std::int64_t hops_ = 0;
    std::int64_t unsure_ns_ = 0;
    std::int64_t unsure_ = 0;  // segments
};

void add_ranks(Sample& sample, std::uint32_t ranks, std::int64_t lifetime_ns)
{
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::string name = fmt::format("rank {}", rank);
        sample.profile.processes.push_back({name, fmt::format("node{:02}", rank / 2 + 1), lifetime_ns,
                                            lifetime_ns * (4 - rank % 4) / 10, 0, 0, 100, 0});
        sample.profile.locations.push_back(name);
        sample.profile.location_process.push_back(rank);
        sample.profile.computed_ns.push_back(lifetime_ns - sample.profile.processes.back().mpi_ns);
    }
}

/// Two stretches: one that takes longer on rank 1, and one that only rank 2 has.
void add_stretches(model::Profile& profile)
{
    model::Stretch longer;
    longer.before_site = 0x1234;
    longer.after_site = 0x1300;
    longer.before = {7};
    longer.after = {6};
    longer.path_ns = longer.looked_at_ns = 2600 * ms;
    longer.looked_at = 20;
    longer.others_at_work_ns = 1500 * ms;
    longer.most_times = 30;
    longer.most_times_rank = 1;
    longer.second_times = 25;
    longer.second_times_rank = 3;
    longer.all_times = 100;
    longer.ranks_there = 4;
    longer.gaps = longer.compared = 20;
    longer.compared_by = static_cast<std::int64_t>(model::ComparedBy::CallAfter);
    longer.telling = 19;
    longer.slowest = 18;
    longer.much_longer = 15;
    longer.counted = longer.counted_instructions = 18;
    longer.counted_cycles = 19;
    longer.own_instructions = longer.own_cycles = 20;
    longer.sampled = 1;
    longer.compared_ns = 2600 * ms;
    longer.peers_ns = 1600 * ms;
    longer.instructions_ns = 900 * ms;
    longer.cycles_ns = 150 * ms;
    longer.frequency_ns = -100 * ms;
    longer.all_cycles_ns = 30 * ms;
    longer.preempted_ns = 20 * ms;
    longer.instructions_error_ns = longer.cycles_error_ns = longer.frequency_error_ns = 50 * ms;
    longer.fewest_samples = 22;
    longer.fewest_samples_rank = 3;
    longer.own_preempted_ns = 60 * ms;
    longer.page_faults = 5000;
    longer.peers_page_faults = 70;
    longer.migrations = 900;
    longer.peers_migrations = 30;
    longer.cache_misses_ns = longer.branch_misses_ns = 2500 * ms;
    longer.cache_misses = 7'300'000;
    longer.peers_cache_misses = 1'200'000;
    longer.work_spread_ns = 150 * ms;
    longer.preempted_spread_ns = 40 * ms;
    longer.blocked_spread_ns = 9 * ms;
    longer.cache_misses_error = 90'000'000;
    longer.branch_misses = 2'100'000;
    longer.peers_branch_misses = 2'000'000;
    longer.branch_misses_error = 40'000'000;
    longer.peers_spinning_ns = 40 * ms;
    longer.peers_threads_preempted_ns = 30 * ms;
    longer.code_gaps = 60;
    longer.ranks = 4;
    longer.nodes = 2;
    longer.occurrences = 25;
    longer.rank_variance = 60'000'000;
    longer.noise_variance = 5'000'000;
    longer.node_variance = 1'000'000;
    longer.node_rest_variance = 59'500'000;
    longer.slow_ranks = 1;
    longer.slowest_rank = 1;
    longer.fastest_rank = 3;
    longer.fastest_time = 580'000'000;
    longer.costliest_ns = 90 * ms;
    longer.costliest_rank = 1;
    longer.costliest_begin_ns = 3210 * ms;
    longer.costliest_length_ns = 170 * ms;
    model::Stretch alone;
    alone.before = {6};
    alone.after = {5};
    alone.path_ns = alone.looked_at_ns = 2000 * ms;
    alone.looked_at = 1;
    alone.gaps = 1;
    alone.ranks = 1;
    alone.nodes = 1;
    alone.occurrences = 1;
    alone.slow_ranks = 1;
    alone.slowest_rank = 0;
    alone.fastest_rank = 2;
    alone.fastest_time = 1'000'000'000;
    profile.stretches = {longer, alone};
    profile.stretch_shares = {{0, ProcessId{1}, 2350 * ms, 18, 950 * ms},
                              {0, ProcessId{2}, 250 * ms, 2, 50 * ms},
                              {1, ProcessId{2}, 2000 * ms, 1, 0}};
    for (const model::StretchShare& share : profile.stretch_shares) {
        if (share.stretch != 0)
            continue;
        model::StretchRank& rank = profile.stretch_ranks.emplace_back();
        rank.stretch = share.stretch;
        rank.process = share.process;
        for (const model::DifferenceNumber& number : model::difference_numbers)
            rank.*number.member = longer.*number.member * share.longer_ns / longer.longer_ns();
        rank.compared_ns = rank.looked_at_ns = share.ns;
        rank.peers_ns = share.ns - share.longer_ns;
    }
    profile.stretch_code = {{0, CallPathId{0}, 620 * ms, 600, 0, 0, 610 * ms},
                            {0, CallPathId{2}, 1900 * ms, 1900, 330 * ms, 0, 1000 * ms},
                            {0, CallPathId{9}, 80 * ms, 0, 0, 0},
                            {1, CallPathId{3}, 700 * ms, 3, 0, 0}};
    profile.stretch_addresses = {{0, RowId{0}, 4400, 600 * ms, 580, 590 * ms},
                                 {0, RowId{0}, ~std::uint64_t{0}, 20 * ms, 20, 0},
                                 {1, RowId{1}, 4409, 0, 0, 10 * ms}};
}

/// A call path for each row, by the same number: those of `callers` below another one, the others roots.
void add_call_paths(model::Profile& profile, const std::map<std::uint32_t, std::uint32_t>& callers = {})
{
    for (std::uint32_t row = 0; row < profile.rows.size(); ++row) {
        const auto caller = callers.find(row);
        profile.call_paths.push_back(
            {RowId{row}, caller == callers.end() ? CallPathId::none() : CallPathId{caller->second}});
    }
}

/// Of phased_run(): a ms has 1000 instructions in "setup", 2000 in "solve" (from 6.5 s on, scaled), and 500 in
/// MPI_Allreduce; and a page fault in ten of "setup", none in MPI_Allreduce, and who knows how many in "solve".
void add_counts(Sample& sample)
{
    sample.profile.events = {"instructions", "page-faults"};
    sample.counts = model::CountTable(2);
    const auto add = [&](std::uint32_t location, std::int64_t begin, std::int64_t end, std::uint64_t address,
                         std::uint32_t function, bool is_scaled, std::int64_t instructions, std::int64_t faults) {
        const model::CountPlace nowhere{0, CallPathId::none().value, model::CountOwner::None};
        sample.counts.push_back({begin * ms,
                                 (end - begin) * ms,
                                 begin * ms,
                                 end * ms,
                                 {address, function, model::CountOwner::Function},
                                 nowhere,
                                 location,
                                 is_scaled ? model::CountInterval::scaled : 0,
                                 (end - begin) * ms},
                                std::array{instructions, faults});
    };
    constexpr std::uint32_t setup = 1, solve = 2, allreduce = 3;
    add(0, 0, 4000, 0x1139, setup, false, 4'000'000, 400);
    add(0, 9000, 9100, 0x1139, setup, false, 50'000, 0);
    add(0, 9200, 9500, 0x1139, setup, false, 150'000, 0);
    add(0, 9500, 10'000, 0x1139, setup, false, 500'000, 50);
    add(1, 4200, 6000, 0x1150, solve, false, 3'600'000, model::unknown_count);
    add(1, 6500, 9000, 0x1160, solve, true, 5'000'000, model::unknown_count);
    sample.profile.path_events = {{{setup}, {0}, 0, 4'500'000, 4500 * ms, 4500 * ms, 0, 3'562'500'000},
                                  {{setup}, {0}, 1, 450, 4500 * ms, 4500 * ms, 0, 361'111},
                                  {{solve}, {1}, 0, 8'600'000, 4300 * ms, 4300 * ms, 2500 * ms, 4'413'953'488},
                                  {{solve}, {1}, 1, 0, 4300 * ms, 0, 0},
                                  {{allreduce}, {0}, 0, 200'000, 400 * ms, 400 * ms, 0},
                                  {{allreduce}, {0}, 1, 0, 400 * ms, 400 * ms, 0}};
}

}  // namespace

TemporaryDirectory::TemporaryDirectory()
{
    std::string name = (fs::temp_directory_path() / "critpath-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
        throw std::runtime_error("cannot make a temporary directory");
    path_ = name;
}

TemporaryDirectory::~TemporaryDirectory()
{
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

Sample sampled_run()
{
    Sample sample;
    model::Profile& p = sample.profile;
    add_ranks(sample, 4, 9950 * ms);
    const std::string app = "/home/user/bin/halo";
    p.rows = {
        {RowKind::Sampled, "exchange", app, "", 0},                                                      // 0
        {RowKind::Sampled, "rare", app, "", 0},                                                          // 1
        {RowKind::Sampled, "solver::Stencil<double, 3>::apply(solver::Grid const&)", app, "", 0},        // 2
        {RowKind::Sampled, "memcpy", "/usr/lib/x86_64-linux-gnu/libc.so.6", "", 0},                      // 3
        {RowKind::Sampled, "opal_progress", "/usr/lib/x86_64-linux-gnu/libopen-pal.so.40.30.2", "", 0},  // 4
        {RowKind::Mpi, "MPI_Allreduce", "MPI", "", 0},                                                   // 5
        {RowKind::Mpi, "MPI_Recv", "MPI", "", 0},                                                        // 6
        {RowKind::Mpi, "MPI_Send", "MPI", "", 0},                                                        // 7
        {RowKind::Pseudo, "[measurement]", "", "", 0},                                                   // 8
        {RowKind::Pseudo, "[not sampled]", "", "", 0},                                                   // 9
        {RowKind::Pseudo, "[start delay]", "", "", 0},                                                   // 10
        {RowKind::Pseudo, "[transfer]", "", "", 0},                                                      // 11
    };
    add_call_paths(p, {{3, 0}, {6, 0}, {7, 0}, {11, 6}});
    p.modules = {{app, "1f2e3d", true, false}, {"/usr/lib/x86_64-linux-gnu/libc.so.6", ""}};
    p.source_files = {"/home/user/src/halo.cpp", "/home/user/src/pack.hpp"};
    p.source_functions = {{"pack(double const*)", 1, 20}, {"exchange", 0, 30}};
    p.source_frames = {{0, 0x1139, 0, 1, 22}, {0, 0x1139, 1, 0, 33}, {0, 0x1150, 1, 0, 35}};
    add_stretches(p);
    p.addresses = {{CallPathId{0}, 0x1139, 1000 * ms, 1000}, {CallPathId{0}, 0x1150, 500 * ms, 500}};
    p.total_addresses = {{CallPathId{0}, 0x1139, 3000 * ms, 3000}, {CallPathId{0}, 0x1150, 500 * ms, 500}};
    p.events = {"page-faults", "cycles", "instructions"};
    p.path_events = {
        {CallPathId{0}, ProcessId{1}, 0, 40, 1500 * ms, 1500 * ms, 0, 1500},
        {CallPathId{0}, ProcessId{1}, 1, 4'500'000'000, 1500 * ms, 1500 * ms, 0, 3'000'000'000},
        {CallPathId{0}, ProcessId{1}, 2, 9'000'000'000, 1500 * ms, 1500 * ms, 0, 6'100'000'000},
        {CallPathId{2}, ProcessId{1}, 0, 60, 4000 * ms, 4000 * ms, 0, 20'000},
        {CallPathId{2}, ProcessId{1}, 1, 12'000'000'000, 4000 * ms, 4000 * ms, 1000 * ms, 3'000'000'000},
        {CallPathId{2}, ProcessId{1}, 2, 3'000'000'000, 4000 * ms, 4000 * ms, 1000 * ms, 900'000'000},
        {CallPathId{2}, ProcessId{2}, 1, 3'000'000'000, 2000 * ms, 1000 * ms, 0, 3'000'000'000},
        {CallPathId{2}, ProcessId{2}, 2, 1'000'000'000, 2000 * ms, 1000 * ms, 0, 1'000'000'000},
        {CallPathId{3}, ProcessId{2}, 2, 0, 700 * ms, 0, 0},
        {CallPathId{7}, ProcessId{1}, 2, 300'000'000, 100 * ms, 100 * ms, 0, 4'000'000'000},
    };
    p.path = {{CallPathId{0}, ProcessId{1}, 1500 * ms, 1500}, {CallPathId{1}, ProcessId{2}, 2 * ms, 2},
              {CallPathId{2}, ProcessId{1}, 4000 * ms, 4000}, {CallPathId{2}, ProcessId{2}, 2000 * ms, 2000},
              {CallPathId{3}, ProcessId{2}, 700 * ms, 700},   {CallPathId{5}, ProcessId{3}, 500 * ms, 0},
              {CallPathId{7}, ProcessId{1}, 100 * ms, 0},     {CallPathId{8}, ProcessId{1}, 50 * ms, 0},
              {CallPathId{9}, ProcessId{2}, 298 * ms, 0},     {CallPathId{10}, ProcessId{1}, 50 * ms, 0},
              {CallPathId{11}, ProcessId{2}, 800 * ms, 0}};
    const ProcessId all = ProcessId::none();
    p.totals = {{CallPathId{0}, all, 5000 * ms, 5000},
                {CallPathId{1}, all, 9 * ms, 9},
                {CallPathId{2}, all, 14'000 * ms, 14'000},
                {CallPathId{3}, all, 1200 * ms, 1200},
                {CallPathId{4}, all, 16'500 * ms, 16'500, 0, 0, 12'000 * ms}};
    PathBuilder path(sample);
    path.add(SegmentKind::StartDelay, 50 * ms, 1, 1, RowId::none().value);
    path.add(SegmentKind::Compute, 3000 * ms, 1, 1, RowId::none().value);
    path.add(SegmentKind::Mpi, 250 * ms, 1, 1, 7);
    path.add(SegmentKind::Delay, 100 * ms, 1, 1, 7);
    path.add(SegmentKind::Compute, 2350 * ms, 1, 1, 7);
    path.add(SegmentKind::Tool, 50 * ms, 1, 1, 7);
    path.add(SegmentKind::Transfer, 800 * ms, 2, 1, 6, 1 << 20, true);
    path.add(SegmentKind::Mpi, 250 * ms, 2, 2, 6);
    path.add(SegmentKind::Compute, 2650 * ms, 2, 2, 6);
    path.add(SegmentKind::Collective, 500 * ms, 3, 2, 5);
    path.finish();
    p.facts["samples"] = 36'709;
    p.facts["path_samples"] = 8202;
    p.facts["calls"] = 400;
    p.properties = {{"command", "./halo --size 512"},
                    {"event", "cpu-clock"},
                    {"period", "1000000"},
                    {"period_unit", "ns"},
                    {"rules", "arrival"},
                    {"tool_version", "0.1.0"}};
    return sample;
}

Sample traced_run()
{
    Sample sample;
    model::Profile& p = sample.profile;
    add_ranks(sample, 2, 40 * ms);
    p.locations.emplace_back("rank 1 thread 1");
    p.location_process.push_back(1);
    p.computed_ns = {36 * ms, 28 * ms, 9 * ms};
    p.rows = {
        {RowKind::Region, "main", "", "main.c", 12},
        {RowKind::Region, "work", "", "work.c", 7},
        {RowKind::Mpi, "MPI_Recv", "MPI", "", 0},
        {RowKind::Pseudo, "[transfer]", "", "", 0},
    };
    add_call_paths(p, {{3, 2}});
    p.path = {{CallPathId{0}, ProcessId{0}, 5 * ms, 0},
              {CallPathId{1}, ProcessId{0}, 30 * ms, 0},
              {CallPathId{2}, ProcessId{1}, 4 * ms, 0},
              {CallPathId{3}, ProcessId{1}, 1 * ms, 0}};
    const ProcessId all = ProcessId::none();
    p.totals = {{CallPathId{0}, all, 9 * ms, 0}, {CallPathId{1}, all, 42 * ms, 0}, {CallPathId{2}, all, 29 * ms, 0}};
    PathBuilder path(sample);
    path.add(SegmentKind::Compute, 35 * ms, 0, 0, RowId::none().value);
    path.add(SegmentKind::Transfer, 1 * ms, 1, 0, 2, 8);
    path.add(SegmentKind::Mpi, 4 * ms, 1, 1, 2);
    path.finish();
    sample.attributions = {{0, 5 * ms, 0, 0, 0, 0, model::AttributionKind::Computation},
                           {5 * ms, 30 * ms, 0, 1, 0, 0, model::AttributionKind::Computation}};
    p.facts["unmatched_sends"] = 1;
    p.facts["ignored_records"] = 12;
    p.facts["clock_violations"] = 0;
    p.clocks = {{"node01", 1, 35 * ms, 12 * ms, 35 * ms, 1, 0, 0, true},
                {"node02", 1, 5 * ms, 0, 1 * ms, 3, 50'000, 12'000, true}};
    p.facts["clock_domains"] = 2;
    p.facts["clock_uncertainty_ns"] = 12'000;
    p.facts["clock_correction_ns"] = 50'000;
    p.facts["clock_decided_ns"] = 12 * ms;
    p.facts["clock_doubted_ns"] = 36 * ms;
    p.facts["clocks_unknown"] = 0;
    p.properties = {{"rules", "enter"}, {"tool_version", "0.1.0"}};
    return sample;
}

/// Of phased_run(): both ranks are in "setup" for 4 s, and one for the last; in between, one is in "solve". Rank 0 is
/// outside of MPI from 0 s to 5.5 s and in the last half one, rank 1 to 2.2 s and from 4.2 s to 9 s.
void add_totals(Sample& sample)
{
    constexpr std::uint32_t setup = 1, solve = 2;
    const auto computes = [](std::uint32_t rank, std::uint32_t part) {
        return rank == 0 ? part < 55 || part >= 95 : part < 22 || (part >= 42 && part < 90);
    };
    for (std::uint32_t slot = 0; slot < model::TimeSlots::number; ++slot) {
        const std::uint32_t part = slot / model::ComputedParts::slots;
        const bool is_in_setup = slot < 400 || slot >= 900;
        const std::int64_t threads = slot < 400 ? 2 : 1;
        const std::int64_t computing = int{computes(0, part)} + int{computes(1, part)};
        sample.totals.push_back(
            {slot, is_in_setup ? setup : solve, threads * 10 * ms, static_cast<std::uint64_t>(threads), 0, 0});
        if (computing > 0)
            sample.totals.push_back({slot, CallPathId::none().value, computing * 10 * ms, 0, 0, 0});
    }
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        model::ComputedParts& computed = sample.computed.emplace_back(model::ComputedParts{rank, 0, {}});
        for (std::uint32_t part = 0; part < model::ComputedParts::number; ++part)
            computed.ns[part] = computes(rank, part) ? 100 * ms : 0;
    }
    sample.profile.facts["totals_checksum"] = static_cast<std::int64_t>(result::checksum(sample.totals, 0));
    sample.profile.facts["computed_checksum"] = static_cast<std::int64_t>(result::checksum(sample.computed, 0));
}

Sample phased_run()
{
    Sample sample;
    model::Profile& p = sample.profile;
    add_ranks(sample, 2, 10'000 * ms);
    const std::string app = "/home/user/bin/phased";
    p.rows = {
        {RowKind::Sampled, "main", app, "", 0},         // 0
        {RowKind::Sampled, "setup", app, "", 0},        // 1
        {RowKind::Sampled, "solve", app, "", 0},        // 2
        {RowKind::Mpi, "MPI_Allreduce", "MPI", "", 0},  // 3
        {RowKind::Mpi, "MPI_Recv", "MPI", "", 0},       // 4
        {RowKind::Pseudo, "[not sampled]", "", "", 0},  // 5
        {RowKind::Pseudo, "[preempted]", "", "", 0},    // 6
        {RowKind::Pseudo, "[transfer]", "", "", 0},     // 7
    };
    const CallPathId root = CallPathId::none();
    p.call_paths = {{{0}, root}, {{1}, {0}}, {{2}, {0}}, {{3}, {0}}, {{6}, {3}},
                    {{4}, {0}},  {{7}, {5}}, {{6}, {0}}, {{5}, root}};
    constexpr std::uint32_t setup = 1, solve = 2, allreduce = 3, in_allreduce = 4, recv = 5, transfer = 6,
                            preempted = 7;
    p.modules = {{app, "1f2e3d"}};
    p.path = {{{setup}, {0}, 4500 * ms, 450},     {{solve}, {1}, 4300 * ms, 430}, {{allreduce}, {0}, 400 * ms, 0},
              {{in_allreduce}, {0}, 100 * ms, 0}, {{transfer}, {1}, 200 * ms, 0}, {{preempted}, {1}, 500 * ms, 0}};
    const ProcessId all = ProcessId::none();
    p.totals = {{{setup}, all, 9000 * ms, 900}, {{solve}, all, 5000 * ms, 500}};
    p.addresses = {{CallPathId{1}, 0x1139, 4500 * ms, 450},
                   {CallPathId{2}, 0x1150, 1800 * ms, 180},
                   {CallPathId{2}, 0x1160, 2500 * ms, 250}};

    PathBuilder path(sample);
    path.add(SegmentKind::Compute, 4000 * ms, 0, 0, RowId::none().value);
    path.add(SegmentKind::Transfer, 200 * ms, 1, 0, recv, 1 << 20);
    path.add(SegmentKind::Compute, 4800 * ms, 1, 1, recv);
    path.add(SegmentKind::Collective, 500 * ms, 0, 1, allreduce);
    path.add(SegmentKind::Compute, 500 * ms, 0, 0, allreduce);
    path.finish();

    using model::AttributionKind;
    const auto add_samples = [&](std::int64_t begin, std::int64_t end, std::uint32_t rank, std::uint32_t function,
                                 std::uint64_t address) {
        for (std::int64_t time = begin; time < end; time += 10)
            sample.attributions.push_back({time * ms, 10 * ms, address, function, rank, 1, AttributionKind::Sample});
    };
    const auto add_preemption = [&](std::int64_t begin, std::int64_t length, std::uint32_t rank, std::uint32_t place,
                                    AttributionKind kind) {
        sample.attributions.push_back({begin * ms, length * ms, 0, place, rank, 0, kind});
    };
    const auto add_inside = [&](std::int64_t begin, std::int64_t end, std::uint32_t rank, std::uint32_t function,
                                AttributionKind kind = AttributionKind::Inside) {
        for (std::int64_t time = begin; time < end; time += 10)
            sample.attributions.push_back({time * ms, 10 * ms, 0, function, rank, 0, kind});
    };
    add_samples(0, 4000, 0, setup, 0x1139);
    add_inside(4000, 4100, 0, setup);
    add_inside(9000, 9100, 0, solve);
    add_preemption(9100, 100, 0, in_allreduce, AttributionKind::Call);
    add_inside(9200, 9400, 0, setup, AttributionKind::Spinning);
    add_samples(9500, 10'000, 0, setup, 0x1139);
    add_inside(4150, 4200, 1, solve);
    add_samples(4200, 6000, 1, solve, 0x1150);
    add_preemption(6000, 500, 1, preempted, AttributionKind::Computation);
    add_samples(6500, 9000, 1, solve, 0x1160);

    add_counts(sample);
    add_totals(sample);
    p.total_addresses = {{CallPathId{1}, 0x1139, 9000 * ms, 900},
                         {CallPathId{2}, 0x1150, 1800 * ms, 180},
                         {CallPathId{2}, 0x1160, 3200 * ms, 320}};
    p.facts["samples"] = 1400;
    p.facts["path_samples"] = p.facts["independent_samples"] = 880;
    p.facts["attribution_checksum"] = static_cast<std::int64_t>(result::checksum(sample.attributions, 0));
    p.facts["counts_checksum"] = static_cast<std::int64_t>(result::checksum(sample.counts.records(), 0));
    p.properties = {{"command", "./phased"}, {"event", "cpu-clock"}, {"period", "10000000"},
                    {"period_unit", "ns"},   {"rules", "arrival"},   {"tool_version", "0.1.0"}};
    return sample;
}

Sample timed_run()
{
    Sample sample = sampled_run();
    model::Profile& p = sample.profile;
    p.properties["event"] = "cpu-timer";
    p.properties["period"] = "5025125";
    p.properties["call_graph"] = "dwarf";
    for (int i = 0; i < 20; ++i)
        p.properties["command"] += " --option value";
    p.facts["samples"] = 123'456'789;
    p.facts["clock_domains"] = 1024;
    p.facts["clock_uncertainty_ns"] = p.facts["clock_correction_ns"] = 12'345'678;
    p.facts["stopped_timers"] = 1;
    return sample;
}

Sample recursive_run()
{
    Sample sample;
    model::Profile& p = sample.profile;
    add_ranks(sample, 1, 1000 * ms);
    const std::string app = "/home/user/bin/tree";
    p.rows = {{RowKind::Sampled, "main", app, "", 0},
              {RowKind::Sampled, "visit", app, "", 0},
              {RowKind::Sampled, "walk", app, "", 0},
              {RowKind::Mpi, "MPI_Barrier", "MPI", "", 0}};
    constexpr RowId main{0}, visit{1}, walk{2}, barrier{3};
    const auto add = [&](RowId row, CallPathId parent, std::int64_t ns, std::uint64_t samples) {
        const CallPathId path{static_cast<std::uint32_t>(p.call_paths.size())};
        p.call_paths.push_back({row, parent});
        p.path.push_back({path, ProcessId{0}, ns, samples});
        p.totals.push_back({path, ProcessId::none(), ns, samples});
        return path;
    };
    CallPathId caller = add(main, CallPathId::none(), 60 * ms, 6);
    constexpr int levels = 12;
    for (int level = 0; level < levels; ++level) {
        caller = add(walk, caller, 20 * ms, 2);
        add(visit, caller, 50 * ms, 5);
    }
    add(barrier, caller, 100 * ms, 0);
    PathBuilder path(sample);
    path.add(SegmentKind::Compute, 900 * ms, 0, 0, RowId::none().value);
    path.add(SegmentKind::Mpi, 100 * ms, 0, 0, static_cast<std::uint32_t>(p.call_paths.size() - 1));
    path.finish();
    p.facts["samples"] = p.facts["path_samples"] = p.facts["independent_samples"] = 90;
    p.properties = {{"command", "./tree"}, {"event", "cpu-clock"}, {"period", "10000000"}, {"period_unit", "ns"}};
    return sample;
}

Sample awkward_run()
{
    Sample sample;
    model::Profile& p = sample.profile;
    add_ranks(sample, 1, 100 * ms);
    p.processes[0].node = "node with spaces, and \"quotes\"";
    const std::string deep = "/opt/a/very/long/path/that/nobody/wants/to/see/libfävorité-solvers-and-more.so.12.3.4";
    p.rows = {
        {RowKind::Sampled, "", "", "", 0},
        {RowKind::Sampled, "a,b;\"c\"\n\td", deep, "", 0},
        {RowKind::Sampled, "bad\xff\xfeutf8\x1b[31m", deep, "", 0},
        {RowKind::Sampled,
         "boost::fusion::for_each<boost::mpl::vector<a::very<long_argument>, another::one>, "
         "(anonymous namespace)::Visitor>::operator()<unsigned long>(std::map<std::string, int> const&, int) const",
         deep, "", 0},
        {RowKind::Sampled, "void ns::operator<< <char>(std::ostream&, ns::Type<int> const&, ns::AnotherTypeOfThing)",
         deep, "", 0},
        {RowKind::Sampled, "計算する関数の名前がとても長いのでここで切らなければならない関数計算する関数の名前", deep,
         "", 0},
        {RowKind::Sampled, std::string(4000, 'x'), deep, "", 0},
    };
    add_call_paths(p);
    for (std::uint32_t row = 0; row < p.rows.size(); ++row) {
        p.path.push_back({CallPathId{row}, ProcessId{0}, 10 * ms + row * ms, 10 + row});
        p.totals.push_back({CallPathId{row}, ProcessId::none(), 10 * ms + row * ms, 10 + row});
        const std::int64_t begin =
            sample.attributions.empty() ? 0 : sample.attributions.back().begin + sample.attributions.back().ns;
        sample.attributions.push_back({begin, 10 * ms + row * ms, 0, row, 0, 0, model::AttributionKind::Computation});
    }
    PathBuilder path(sample);
    path.add(SegmentKind::Compute, 91 * ms, 0, 0, RowId::none().value);
    path.finish();
    p.properties = {{"command", "./a 'b c' \x1b[2J"},
                    {"event", "cycles"},
                    {"period", "2000003"},
                    {"period_unit", "count"},
                    {"precise_ip", "0"}};
    return sample;
}

Sample empty_run()
{
    Sample sample;
    add_ranks(sample, 1, 0);
    PathBuilder(sample).finish();
    return sample;
}

Sample large_run(std::uint32_t ranks, std::uint32_t functions, std::uint64_t segments)
{
    Sample sample;
    model::Profile& p = sample.profile;
    add_ranks(sample, ranks, 1000 * ms);
    for (std::uint32_t row = 0; row < functions; ++row) {
        p.rows.push_back({RowKind::Sampled, fmt::format("ns::Class{0}<int>::function_{0}(double const*)", row),
                          fmt::format("/usr/lib/libpart{}.so.1", row % 20), "", 0});
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
            p.path.push_back({CallPathId{row}, ProcessId{rank}, (row + 1) * ms, row + 1});
        p.totals.push_back({CallPathId{row}, ProcessId::none(), (row + 1) * ms * ranks * 2, (row + 1) * ranks * 2});
    }
    add_call_paths(p);
    for (std::uint64_t i = 0; i < segments; ++i) {
        const auto begin = static_cast<std::int64_t>(i) * 1000;
        const auto location = static_cast<std::uint32_t>(i % ranks);
        sample.segments.push_back({begin, begin + 1000, 0, location, location, RowId::none().value, 1, 0, 0});
    }
    p.facts["makespan_ns"] = static_cast<std::int64_t>(segments) * 1000;
    p.facts["segments"] = static_cast<std::int64_t>(segments);
    p.facts["schema_version"] = result::schema_version;
    return sample;
}

std::vector<unsigned char> read_bytes(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_bytes(const fs::path& path, const std::vector<unsigned char>& bytes)
{
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file)
        throw std::runtime_error("cannot write " + path.string());
}

void write_result(const fs::path& trace, const Sample& sample)
{
    result::write(trace, sample.profile);
    const auto fact = [&](const char* key) {
        const auto found = sample.profile.facts.find(key);
        return found == sample.profile.facts.end() ? 0 : found->second;
    };
    const auto write = [&](const fs::path& file, const result::RecordFormat& format, auto records) {
        const std::span<const std::byte> content = std::as_bytes(records);
        const result::RecordHeader header =
            result::make_header(format, content.size() / format.record_size, fact("begin_ns"), fact("makespan_ns"));
        std::vector<unsigned char> bytes(sizeof header + content.size());
        std::memcpy(bytes.data(), &header, sizeof header);
        if (!content.empty())
            std::memcpy(bytes.data() + sizeof header, content.data(), content.size());
        write_bytes(file, bytes);
    };
    write(result::segments_path(trace), result::segments_format, std::span(sample.segments));
    write(result::attribution_path(trace), result::attribution_format, std::span(sample.attributions));
    write(result::counts_path(trace), result::counts_format(sample.profile.events.size()),
          sample.counts.records().words());
    write(result::totals_path(trace), result::totals_format, std::span(sample.totals));
    write(result::computed_path(trace), result::computed_format, std::span(sample.computed));
}

}  // namespace critpath::samples
