// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/load.hpp"

#include "formats/otf2/reader.hpp"
#include "formats/support/error.hpp"
#include "replayer/exchange.hpp"
#include "replayer/load/assemble.hpp"
#include "replayer/load/blocked_places.hpp"
#include "replayer/load/common_point.hpp"
#include "replayer/load/definitions.hpp"
#include "replayer/load/events.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

namespace critpath::replayer::load
{

using namespace model;

namespace
{

/// A missing file is found before anything is read.
void check_owned(const otf2::Reader& reader, const Definitions& definitions, const Replay& replay)
{
    for (const auto& location : definitions.locations) {
        if (replay.owns(location.process)) {
            reader.check_location(location.reference, location.events);
        }
    }
}

/// What lies outside of the time that the definitions give is of another run. In archives of others, that time need not
/// be exact; there, a file counts none of whose events is within it. Returns whether that is so.
bool is_of_other_run(const otf2::Reader& reader, const LoadedDefinitions& loaded, LocationId id,
                     const EventLoader& loader)
{
    const auto& run = loaded.vocabulary.run;
    const auto events = loader.interval();
    if (!run || !events) {
        return false;
    }
    constexpr Ns rounding = std::chrono::microseconds{100};  // of times of several clocks; runs are further apart
    const Ns first = run->begin == Ns{0} ? std::max(events->first, Ns{0}) : events->first;  // none is before 0 there
    const bool is_outside = first < run->begin - rounding || events->last > run->end + rounding;
    if (run->exact && is_outside) {
        const auto seconds = [&](Ns time) { return std::chrono::duration<double>(time - run->begin).count(); };
        fail(ExitCode::BadTrace,
             "{}: has events from {:.6f} s to {:.6f} s, but by the definitions the run ended at {:.6f} s: the file "
             "is of another run, or damaged; copy the whole trace again, or record the application again",
             reader.event_file(loaded.definitions.locations[id.value].reference).string(), seconds(events->first),
             seconds(events->last), seconds(run->end));
    }
    return events->last < run->begin || events->first > run->end;
}

ProcessTrace load_process(otf2::Reader& reader, const LoadedDefinitions& loaded, ProcessId process, Summary& summary)
{
    std::vector<LocationEvents> locations;
    const std::vector<LocationId>& ids = loaded.definitions.processes[process.value].locations;
    for (const LocationId id : ids) {
        const auto& location = loaded.definitions.locations[id.value];
        EventLoader loader(loaded, id);
        reader.read_events(location.reference, location.events, loader);
        summary.other_run = is_of_other_run(reader, loaded, id, loader) || summary.other_run;
        locations.push_back(loader.finish());
        place_blocked(locations.back().trace, ids.size() == 1);
        summary.events += location.events;
    }
    return assemble(process, std::move(locations));
}

}  // namespace

std::vector<int> distribute(std::size_t processes, int size)
{
    const std::size_t users = std::min(processes, static_cast<std::size_t>(size));
    std::vector<int> owner(processes);
    for (std::size_t p = 0; p < processes; ++p) {
        owner[p] = static_cast<int>(p * users / processes);
    }
    return owner;
}

Summary load(const std::filesystem::path& anchor, Replay& replay)
{
    const auto start = std::chrono::steady_clock::now();
    otf2::Reader reader(anchor);
    LoadedDefinitions loaded = read_definitions(reader, anchor.string());
    if (loaded.definitions.processes.empty()) {
        fail(ExitCode::BadTrace, "{}: no process is defined; record the application again", anchor.string());
    }
    Summary summary;
    summary.clock_domains_known = loaded.clock_domains_known;
    summary.no_ranks = std::move(loaded.no_ranks);
    replay.owner = distribute(loaded.definitions.processes.size(), replay.size);
    check_owned(reader, loaded.definitions, replay);
    for (std::uint32_t p = 0; p < replay.owner.size(); ++p) {
        if (replay.owns(ProcessId{p})) {
            replay.processes.push_back(load_process(reader, loaded, ProcessId{p}, summary));
        }
    }
    replay.definitions = std::move(loaded.definitions);
    summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return summary;
}

void refuse_times_far_apart(const Replay& replay)
{
    constexpr Ns year = std::chrono::hours{365 * 24};
    constexpr Ns most = 5 * year;  // no two nodes are started that far apart
    constexpr std::int64_t no_event = std::numeric_limits<std::int64_t>::max();
    std::int64_t bounds[] = {no_event, no_event};  // the earliest moment of all; minus the latest
    for (const ProcessTrace& process : replay.processes) {
        for (const LocationTrace& location : process.locations) {
            if (location.begin != Ns{0} || location.end != Ns{0}) {  // it has events
                bounds[0] = std::min(bounds[0], location.begin.count());
                bounds[1] = std::min(bounds[1], -location.end.count());
            }
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, bounds, 2, MPI_INT64_T, MPI_MIN, replay.comm);
    if (bounds[0] != no_event && Ns{-bounds[1] - bounds[0]} > most) {
        fail(ExitCode::BadTrace,
             "{}: its processes have events that are {} years apart by their clocks; record the application again, or "
             "copy the trace again",
             replay.trace, Ns{-bounds[1] - bounds[0]} / year);
    }
}

void complete(Replay& replay)
{
    cut_at_common_point(replay);
    bool is_single = true;
    for (const ProcessTrace& process : replay.processes) {
        for (std::size_t l = 1; l < process.locations.size(); ++l) {
            is_single = is_single && process.locations[l].calls.empty();
        }
    }
    replay.is_single_threaded = on_all(replay.comm, is_single);
}

}  // namespace critpath::replayer::load
