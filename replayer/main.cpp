// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns cpreplay: the phases of a replay, in order, and what is said about them.
#include "collector/archive/recover.hpp"
#include "formats/binary/debug_file.hpp"
#include "formats/otf2/reader.hpp"
#include "formats/result/checksum.hpp"
#include "formats/result/failed_replay.hpp"
#include "formats/result/lock.hpp"
#include "formats/result/result.hpp"
#include "formats/result/segments.hpp"
#include "formats/support/last_words.hpp"
#include "formats/support/standard_output.hpp"
#include "formats/support/terminal.hpp"
#include "replayer/attribute/attribute.hpp"
#include "replayer/attribute/segments_file.hpp"
#include "replayer/clocks/clocks.hpp"
#include "replayer/clocks/tighten.hpp"
#include "replayer/exchange.hpp"
#include "replayer/huge_pages.hpp"
#include "replayer/load/load.hpp"
#include "replayer/options.hpp"
#include "replayer/paged_memory.hpp"
#include "replayer/pair/call_costs.hpp"
#include "replayer/peers/peers.hpp"
#include "replayer/phase.hpp"
#include "replayer/restore/visits.hpp"
#include "replayer/sources/sources.hpp"
#include "replayer/summary.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace fs = std::filesystem;

namespace
{

/// Of an application that died, or had no room for the archive, there are only the raw records.
void recover(const Phases& phases, const fs::path& trace)
{
    if (!archive::can_be_recovered(trace)) {
        return;
    }
    archive::RecoverOptions options;
    options.only_local = true;
    const archive::Recovered recovered = archive::recover(trace, options);
    if (recovered.is_made_already) {
        return;
    }
    for (const std::string& note : recovered.notes) {
        phases.note(note);
    }
    phases.note(fmt::format("{}: the recording was left without an archive; made it of the raw records ({} calls){}",
                            trace.string(), recovered.totals.calls, recovered.is_spool_kept ? ", which are kept" : ""));
}

/// Process 0 chooses, so that all look at the same trace even while another is being recorded.
fs::path locate(Phases& phases, const Replay& replay, const Options& options)
{
    std::string anchor;
    phases.run("open", Scope::Local, [&] {
        if (replay.rank == 0) {
            const fs::path trace = options.trace ? *options.trace : newest_trace(".");
            recover(phases, trace);
            anchor = otf2::find_anchor(trace).string();
        }
    });
    auto length = static_cast<int>(anchor.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, replay.comm);
    anchor.resize(static_cast<std::size_t>(length));
    MPI_Bcast(anchor.data(), length, MPI_CHAR, 0, replay.comm);
    return anchor;
}

/// Beside the result, where there has to be room anyway.
std::unique_ptr<PagedMemory> page_memory(const Replay& replay, std::optional<std::uint64_t> bytes)
{
    if (!bytes) {
        return nullptr;
    }
    const fs::path directory = fs::path(replay.trace) / result::directory_name;
    std::error_code ignored;  // there will be no file
    fs::create_directories(directory, ignored);
    return std::make_unique<PagedMemory>(directory, *bytes);
}

void load_trace(Phases& phases, Replay& replay, const fs::path& anchor, const Options& options,
                std::unique_ptr<PagedMemory>& paged)
{
    load::Summary summary;
    phases.run("load", Scope::Local, [&] {
        paged = page_memory(replay, options.memory);
        summary = load::load(anchor, replay);
        phases.remark(fmt::format("{} events here, {:.0f} ns each", summary.events,
                                  summary.events == 0 ? 0 : 1e9 * summary.seconds / double(summary.events)));
    });
    const int ranks = static_cast<int>(replay.definitions.processes.size());
    if (replay.size > ranks) {
        phases.note(fmt::format("{} processes for {} traced {}: {} {} idle; use mpirun -n {}", replay.size, ranks,
                                ranks == 1 ? "rank" : "ranks", replay.size - ranks,
                                replay.size - ranks == 1 ? "stays" : "stay", ranks));
    }
    if (const std::size_t others = summary.no_ranks.size(); others > 0) {
        phases.note(fmt::format("{} {} of the trace {} no rank of MPI and left out: {}{}", others,
                                others == 1 ? "process" : "processes", others == 1 ? "is" : "are",
                                summary.no_ranks.front(), others == 1 ? "" : ", ..."));
    }
    if (on_any(replay.comm, summary.other_run)) {
        phases.note("events of some locations lie outside of the time of the run, as the definitions have it: files of "
                    "several runs may have been mixed");
    }
    phases.run("clocks", Scope::Collective, [&] {
        load::refuse_times_far_apart(replay);
        clocks::Findings found = clocks::compare(replay, summary.clock_domains_known);
        clocks::tighten(replay, found);
        if (const std::string warning = clocks::warning(found); !warning.empty()) {
            phases.note(warning);
        }
        if (found.distrusted > 0) {
            phases.note(
                fmt::format("what the trace says of {} of its {} clocks contradicts its messages, and is not used",
                            found.distrusted, found.domains));
        }
        if (found.domains > 1) {
            phases.remark(fmt::format("{} clocks, known to {:.1f} us, corrected by {:.1f} us", found.domains,
                                      static_cast<double>(found.uncertainty.count()) / 1000,
                                      static_cast<double>(found.correction.count()) / 1000));
        }
    });
}

/// Once all predecessors are known, only sums of what happened are wanted: the path needs room for itself. Of messages,
/// it is asked again who was preempted, and what was sampled, while the path waited for them. Collective.
void forget_operations(Replay& replay, std::vector<ProcessWindows>& windows, Collectives& collectives)
{
    windows = {};
    collectives.members.forget();
    collectives.open = {};
    const bool needs_messages = replay.definitions.has_samples || knows_preemption(replay);
    for (model::ProcessTrace& trace : replay.processes) {
        trace.collectives = model::CollectiveCalls();
        if (!needs_messages) {
            trace.sends = model::Sends();
            trace.receives = model::Receives();
        }
    }
}

void write_files(const Replay& replay, const Predecessors& predecessors, const Path& path, Attributed& attributed)
{
    const std::int64_t begin = path.begin.count();
    const std::int64_t makespan = path.makespan.count();
    const auto header = result::make_header(result::segments_format, attributed.numbers.segments, begin, makespan);
    auto& facts = attributed.profile.facts;
    facts[std::string(result::segments_checksum_fact)] =
        write_segments(replay.comm, replay.trace, header, [&](const VisitBlock& visit) {
            for_each_block(replay, predecessors, path, attributed.numbers, attributed.call_paths, visit);
        });
    facts[std::string(result::attribution_checksum_fact)] =
        write_attributions(replay.comm, replay.trace, begin, makespan, attributed.attributions);
    facts[std::string(result::counts_checksum_fact)] =
        write_counts(replay.comm, replay.trace, begin, makespan,
                     replay.definitions.has_samples ? replay.definitions.counted.size() : 0, attributed.counts);
    facts[std::string(result::totals_checksum_fact)] =
        write_totals(replay.comm, replay.trace, begin, makespan, attributed.totals);
    facts[std::string(result::computed_checksum_fact)] =
        write_computed(replay.comm, replay.trace, begin, makespan, attributed.computed);
    attributed.profile.properties["tool_version"] = CRITPATH_VERSION;
    if (replay.rank != 0)
        return;
    result::write(replay.trace, attributed.profile, [&] { publish_records(replay.trace); });
    result::unmark_failed_replay(replay.trace);
}

void write_result(const Phases& phases, const Replay& replay, const Predecessors& predecessors, const Path& path,
                  Attributed& attributed)
{
    std::optional<result::Lock> lock;
    if (replay.rank == 0)
        lock.emplace(replay.trace, [&] {
            phases.note(fmt::format(
                "{}: another cpreplay is writing its result there; this one waits until that has ended", replay.trace));
        });
    try {
        write_files(replay, predecessors, path, attributed);
    } catch (...) {
        if (replay.rank == 0)
            discard_records(replay.trace);
        throw;
    }
}

/// Without them, functions could lack their names.
void look_for_debug_directories(const Phases& phases)
{
    for (const fs::path& directory : binary::debug_directories()) {
        std::error_code ignored;  // what cannot be looked at cannot be searched
        if (!fs::is_directory(directory, ignored)) {
            phases.note(fmt::format("{}: no directory; CRITPATH_DEBUG_PATH says to look for debug files there",
                                    directory.string()));
        }
    }
}

/// `replay` comes with its processes.
void run(Phases& phases, const Options& options, Replay& replay)
{
    look_for_debug_directories(phases);
    replay.rules = options.rules;
    const fs::path anchor = locate(phases, replay, options);
    replay.trace = anchor.has_parent_path() ? anchor.parent_path().string() : ".";
    std::unique_ptr<PagedMemory> paged;
    load_trace(phases, replay, anchor, options, paged);
    phases.run("cut", Scope::Collective, [&] {
        load::complete(replay);
        if (replay.incomplete) {
            phases.remark(fmt::format("incomplete, {} calls left out", replay.incomplete->cut_calls));
        }
    });

    rules::Calibration calibration;
    Pairs pairs;
    std::vector<ProcessWindows> windows;
    std::optional<Collectives> collectives;  // made of the trace, so not before it is loaded
    std::vector<ProcessAnswers> answers;
    Predecessors predecessors;
    Path path;
    Stretches stretches;
    Attributed attributed;
    phases.run("pair", Scope::Collective, [&] {
        calibration.clocks = rules::ClockUncertainty(replay.definitions);
        calibration.calls = calibrate_calls(replay);
        pairs = options.engine.pair(replay, calibration);
        phases.remark(fmt::format("{} messages", pairs.messages));
    });
    phases.run("one-sided", Scope::Collective,
               [&] { windows = one_sided(replay, calibration, learn_one_sided(replay, calibration)); });
    phases.run("collect", Scope::Collective, [&] {
        answers = first_answers(replay, calibration.calls);
        collectives.emplace(collect(replay, calibration, options.engine.reduce_instances,
                                    conclude_at_once(replay, calibration, answers)));
        phases.remark(fmt::format("{} collective operations", collectives->counts.all));
    });
    phases.run("resolve", Scope::Collective, [&] {
        predecessors = resolve(replay, pairs, windows, *collectives, calibration, std::move(answers),
                               [&] { forget_operations(replay, windows, *collectives); });
    });
    phases.run("restore", Scope::Collective, [&] {
        path = restore(replay, predecessors, options.engine.walk_path);
        phases.remark(fmt::format("{} changes of location", path.hops));
    });
    phases.run("peers", Scope::Collective, [&] {
        stretches = compare_with_peers(replay, predecessors, path);
        phases.remark(fmt::format("{} places", stretches.stretches.size()));
    });
    phases.run("attribute", Scope::Collective, [&] {
        attributed = attribute(replay, {pairs, *collectives, predecessors, stretches}, path);
        phases.remark(fmt::format("{} segments", attributed.numbers.segments));
    });
    phases.run("sources", Scope::Collective, [&] { add_sources(replay, attributed.profile); });
    phases.run("write", Scope::Collective, [&] { write_result(phases, replay, predecessors, path, attributed); });
    int had_no_room = PagedMemory::had_no_room() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &had_no_room, 1, MPI_INT, MPI_LOR, replay.comm);
    if (had_no_room != 0) {
        phases.note(fmt::format("{}: no room there for all that --memory keeps out of memory, or the file system can "
                                "promise none; the rest stayed in memory",
                                replay.trace));
    }
    phases.print_timings(options.timings);
    if (replay.rank == 0 && !options.quiet) {
        print_checked(summary(attributed.profile, replay.trace));
    }
}

/// A file that is not by what the trace in its directory is found: a slip of the hand, say, that says nothing of it.
bool is_beside_anchor(const fs::path& given)
{
    constexpr const char* usual = "traces.otf2";
    std::error_code ignored;  // what cannot be looked at is not there
    if (fs::is_directory(given, ignored)) {
        return false;
    }
    const bool has_usual = fs::exists(given.parent_path() / usual, ignored);
    return has_usual ? given.filename() != usual : given.extension() != ".otf2";
}

/// What cpreport shows then is not what this replay should have said.
void remember_failure(const Phases& phases, const Options& options, const Replay& replay, const Stopped& stopped)
{
    if (options.trace && is_beside_anchor(*options.trace)) {
        return;
    }
    const std::string trace = !replay.trace.empty() ? replay.trace : options.trace ? options.trace->string() : "";
    if (replay.rank == 0 && stopped.code() == ExitCode::BadTrace && !trace.empty() &&
        result::mark_failed_replay(trace, stopped.words())) {
        phases.note(fmt::format("{}: the result there is of an earlier replay", trace));
    }
}

/// Many launchers end the other processes as soon as one ends badly: after a barrier, all has been said.
int end(const CommandLine& command_line)
{
    constexpr std::array launchers = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_PROCID"};
    const bool launched =
        std::any_of(launchers.begin(), launchers.end(), [](const char* name) { return std::getenv(name) != nullptr; });
    int rank = 0;
    if (launched) {
        MPI_Init(nullptr, nullptr);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    ExitCode code = command_line.code;
    if (rank == 0 && code != ExitCode::Done) {
        fmt::print(stderr, "{}", command_line.words);
    } else if (rank == 0) {
        try {
            print_checked(command_line.words);
        } catch (const Failure& failure) {
            fmt::print(stderr, "cpreplay: {}\n", printable(failure.what()));
            code = failure.code();
        }
    }
    if (launched) {
        MPI_Finalize();
    }
    return static_cast<int>(code);
}

int main(int argc, char** argv)
{
    keep_memory();
    const CommandLine command_line = parse_command_line(argc, argv);
    if (command_line.stop) {
        return end(command_line);
    }
    MPI_Init(&argc, &argv);
    Replay replay;
    replay.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(replay.comm, &replay.rank);
    MPI_Comm_size(replay.comm, &replay.size);
    catch_crashes("cpreplay", replay.rank != 0);
    std::signal(SIGPIPE, SIG_IGN);  // who reads the summary may have gone; the result is there
    Phases phases(replay.comm, command_line.options.progress);
    ExitCode code = ExitCode::Done;
    try {
        run(phases, command_line.options, replay);
    } catch (const Stopped& stopped) {
        code = stopped.code();
        remember_failure(phases, command_line.options, replay, stopped);
    } catch (const Failure& failure) {  // of process 0, once all is done
        phases.note(failure.what());
        code = failure.code();
    }
    phases.close();
    MPI_Finalize();
    return static_cast<int>(code);
}

}  // namespace

}  // namespace critpath::replayer

int main(int argc, char** argv)
{
    return critpath::replayer::main(argc, argv);
}
