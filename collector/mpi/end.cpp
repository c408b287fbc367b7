// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the end of a recording (lifecycle.hpp).
#include "collector/archive/archive.h"
#include "collector/mpi/clock_sync.hpp"
#include "collector/mpi/files.hpp"
#include "collector/mpi/lifecycle.hpp"
#include "collector/mpi/pmpi.hpp"
#include "collector/mpi/process.hpp"
#include "collector/mpi/thread.hpp"
#include "collector/mpi/unloads.hpp"
#include "collector/sampling/event_names.hpp"
#include "collector/sampling/sampling.hpp"
#include "collector/sampling/withheld.hpp"

#include <cerrno>
#include <climits>
#include <cstring>
#include <iterator>

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

namespace critpath::preload
{

namespace
{

constexpr char archive_library[] = "libcritpath-archive.so";

using WriteArchive = decltype(&critpath_archive_write);

// The archive library as the launcher named it, or beside this one.
Text archive_path()
{
    Text path;
    Dl_info here;
    if (process.settings.archive[0] != '\0') {
        path << process.settings.archive;
    } else if (dladdr(reinterpret_cast<void*>(&end_recording), &here) != 0 && here.dli_fname != nullptr) {
        static char directory[PATH_MAX];
        std::strncpy(directory, here.dli_fname, sizeof directory - 1);
        char* slash = std::strrchr(directory, '/');
        if (slash != nullptr) {
            slash[1] = '\0';
            path << directory;
        }
        path << archive_library;
    } else {
        path << archive_library;
    }
    return path;
}

WriteArchive load_archive_library()
{
    void* library = dlopen(archive_path().c_str(), RTLD_NOW | RTLD_LOCAL);
    void* function = library == nullptr ? nullptr : dlsym(library, CRITPATH_ARCHIVE_SYMBOL);
    if (function == nullptr) {
        const char* error = dlerror();
        say(Text() << "cpcollect: rank " << process.rank
                   << ": the archive cannot be written: " << (error == nullptr ? archive_path().c_str() : error)
                   << "; allow more open files, or check the installation of critpath");
    }
    return reinterpret_cast<WriteArchive>(function);
}

// Relative to the current directory where that is shorter to type.
const char* short_trace()
{
    static char cwd[PATH_MAX];
    const char* trace = process.settings.trace;
    if (getcwd(cwd, sizeof cwd) == nullptr) {
        return trace;
    }
    const std::size_t length = std::strlen(cwd);
    const bool below = std::strncmp(trace, cwd, length) == 0 && trace[length] == '/' && trace[length + 1] != '\0';
    return below ? trace + length + 1 : trace;
}

void say_kept()
{
    say(Text() << "cpcollect: the raw records are kept in " << process.spool << "; next: cpcollect recover "
               << sampling::ShellWord{short_trace()});
}

Text& operator<<(Text& text, double size)  // in bytes
{
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (size >= 1024 && unit < 4) {
        size /= 1024;
        ++unit;
    }
    const auto tenths = static_cast<std::uint64_t>(size * 10);
    text << tenths / 10;
    if (unit > 0) {
        text << "." << tenths % 10;
    }
    return text << " " << units[unit];
}

void explain_missing_samples(int error)
{
    Text line;
    line << "cpcollect: no samples: ";
    sampling::explain_refusal(line, error);
    say(line);
}

void explain_timers(int error)
{
    Text line;
    line << "cpcollect: samples are those of timers, without [preempted] and [blocked]: ";
    sampling::explain_refusal(line, error);
    say(line);
}

// Of each of these, the worst that any rank has to say.
struct Complaints {
    int sampling_error;  // why there are no samples, 0 if nothing is wrong
    int timers;          // why samples are those of timers, although nobody asked for them; 0 if they are not
    int lost_signal;     // timers have stopped before the end
    int lost_events;     // the application has closed the descriptors of perf_events
    int cut_paths;       // calls of a rank that have not got the whole path that they should have
    int unnoted;         // libraries that were unloaded, and cannot be named
    int why_lost;        // errno of what kept records from being written, 0 if nothing did
    int unwritten;       // the same of samples,
    int unmapped;        // and of what names functions
    int events[sampling::event_name_count];  // errno by event: why it could not be counted with samples
};

Complaints worst_complaints(int unmapped)
{
    const std::uint64_t cut_paths = incomplete_paths();
    const std::uint64_t unnoted = unnoted_unloads();
    constexpr int all = sizeof(Complaints) / sizeof(int);
    Complaints mine = {process.sampling ? sampling::refused() : 0,
                       process.sampling ? sampling::replaced() : 0,
                       process.sampling && sampling::lost_signal() ? 1 : 0,
                       process.sampling && sampling::lost_events() ? 1 : 0,
                       cut_paths < INT_MAX ? static_cast<int>(cut_paths) : INT_MAX,
                       unnoted < INT_MAX ? static_cast<int>(unnoted) : INT_MAX,
                       why_records_were_lost(),
                       process.sampling ? sampling::unwritten() : 0,
                       unmapped,
                       {}};
    for (std::uint32_t i = 0; process.sampling && i < sampling::event_name_count; ++i) {
        mine.events[i] = sampling::refused_event(i);
    }
    Complaints worst = {};
    pmpi.Allreduce(&mine, &worst, all, handles.type_int, handles.op_max, process.comm);
    return worst;
}

const char* why_not_counted(int error)
{
    switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return "this machine does not count it";
    case EACCES:
    case EPERM:
        return "the kernel does not permit it; lower /proc/sys/kernel/perf_event_paranoid to 1 or less";
    case ENXIO:
        return "timers count page faults only";
    case EBUSY:
    case EINVAL:
        return "it cannot be counted together with the others; ask for fewer";
    default:
        return error_text(error);
    }
}

void warn_of_events(const Complaints& worst)
{
    for (std::uint32_t i = 0; i < sampling::event_name_count; ++i) {
        if (worst.events[i] != 0) {
            say(Text() << "cpcollect: event " << sampling::event_names[i].name << ": "
                       << why_not_counted(worst.events[i]) << " (recorded without it)");
        }
    }
}

void warn_of_lost_samples(const critpath_archive_summary& summary, int unwritten)
{
    Text line;
    line << "cpcollect: ";
    if (summary.lost_samples > 0) {
        line << summary.lost_samples << " of " << summary.samples + summary.lost_samples
             << " samples were lost, since ";
    } else {  // there is no file that could tell how many
        line << "samples are missing, since ";
    }
    if (unwritten != 0) {
        line << "they could not be written (" << error_text(unwritten) << "); " << remedy(unwritten);
    } else {
        line << "the thread that keeps them came too late: use no more ranks and threads than processors, or sample "
                "less often (-F)";
    }
    say(line);
}

// What another recording can do about it.
void warn_of_cut_samples(const critpath_archive_summary& summary)
{
    const sampling::Callers& callers = process.settings.callers;
    Text line;
    line << "cpcollect: of " << summary.cut_samples * 100 / summary.samples
         << " % of the samples it is not known where their functions were called (\"[unknown callers]\"); ";
    if (callers.call_graph == spool::CallGraph::FramePointers) {
        line << "--call-graph=dwarf, the default, tells those of binaries without frame pointers, too";
    } else if (callers.stack_bytes < spool::StackImage::largest_copy) {
        line << "--call-graph=dwarf," << static_cast<std::uint64_t>(spool::StackImage::largest_copy)
             << " copies the most of the stack, and --call-graph=fp tells them of binaries with frame pointers";
    } else {
        line << "as much of the stack was copied as can be, and what was seen beyond does not tell: record for longer "
                "(it takes a second), or build with -fno-omit-frame-pointer and record with --call-graph=fp";
    }
    say(line);
}

void warn(const critpath_archive_summary& summary, const Complaints& worst)
{
    if (worst.sampling_error != 0) {
        explain_missing_samples(worst.sampling_error);
    } else if (worst.timers != 0 && !process.settings.quiet) {
        explain_timers(worst.timers);
    }
    if (worst.lost_signal != 0) {
        say(Text() << "cpcollect: timers stopped when the application cancelled a thread, and samples end there: what "
                      "came later is [not sampled]; let the kernel sample (perf_event_open)");
    }
    if (worst.lost_events != 0) {
        say(Text()
            << "cpcollect: the application closed descriptors that are not its own, perf_events of this recording "
               "among them, and samples end there: what came later is [not sampled]; close only what was opened, "
               "or record with --sampler=timer");
    }
    warn_of_events(worst);
    if (summary.inconsistent[0] != '\0') {
        say(Text() << "cpcollect: ranks disagree about communicators: " << summary.inconsistent
                   << "; the analysis of operations on them will be wrong: please report this defect of critpath");
    }
    if (summary.lost_records > 0) {
        say(Text() << "cpcollect: " << summary.lost_records << " records could not be written ("
                   << error_text(worst.why_lost) << "), and the analysis ends where they begin; "
                   << remedy(worst.why_lost));
    }
    if (summary.lost_samples > 0 || worst.unwritten != 0) {
        warn_of_lost_samples(summary, worst.unwritten);
    }
    constexpr std::uint64_t few_samples = 100;
    constexpr std::uint64_t cut_part = 4;  // of the samples: more than one such part is worth a word
    if (summary.samples >= few_samples && summary.cut_samples > summary.samples / cut_part) {
        warn_of_cut_samples(summary);
    }
    if (worst.unmapped != 0) {
        say(Text() << "cpcollect: functions of some ranks have no names, since the list of their binaries could not be "
                      "written ("
                   << error_text(worst.unmapped) << "); " << remedy(worst.unmapped));
    }
    constexpr std::uint64_t part = 10;             // of the time: more than one such part is worth a word,
    constexpr std::uint64_t much = 2'000'000'000;  // and more than this, ns of all threads
    if (summary.sampled_ns > 0 && summary.respite_ns > summary.sampled_ns / part && summary.respite_ns > much) {
        say(Text() << "cpcollect: no samples in " << summary.respite_ns * 100 / summary.sampled_ns
                   << " % of the time, because threads gave up their processors too often to record that at no cost; "
                   << "use no more ranks (times threads) than cores, see whether they wait for a disk, or expect [not "
                      "sampled]");
    }
    if (worst.unnoted > 0) {
        say(Text() << "cpcollect: as many as " << static_cast<std::uint64_t>(worst.unnoted)
                   << " libraries of a rank were unloaded and not noted, because there was no room, or too many of "
                      "them: samples of them have other names, or none; keep libraries loaded to see their names");
    }
    if (worst.cut_paths > 0) {
        say(Text() << "cpcollect: call paths: as many as " << static_cast<std::uint64_t>(worst.cut_paths)
                   << " calls of a rank have only their innermost address, because there were too many different ones; "
                      "--callpath=site records this much everywhere");
    }
}

void summarise(const critpath_archive_summary& summary, const Complaints& worst)
{
    const char* trace = short_trace();
    if (!process.settings.quiet) {
        Text line;
        line << "cpcollect: " << process.size << " ranks, " << summary.calls << " calls, " << summary.samples
             << " samples, " << static_cast<double>(summary.bytes);
        say(line << " in " << trace);
    }
    warn(summary, worst);
    if (!process.settings.quiet) {
        say(Text() << "cpcollect: next: mpirun -n " << process.size << " cpreplay " << sampling::ShellWord{trace});
    }
}

bool write_archive(critpath_archive_summary& summary)
{
    const WriteArchive write = load_archive_library();
    if (!agree(write != nullptr)) {
        return false;
    }
    const critpath_archive_request request = {process.settings.trace, process.spool, process.rank, numbered_threads()};
    const sampling::Withheld size(SIGXFSZ);  // also of the threads that the library makes
    const bool written = write(&request, process.comm, &summary) == 0;
    if (!written && process.rank == 0) {
        say(Text() << "cpcollect: " << (summary.error[0] != '\0' ? summary.error : "the archive could not be written"));
    }
    return written;
}

// What follows "MPI_Init was never called".
const char* why_nothing_was_recorded()
{
    if (pmpi_init_was_looked_up()) {
        return " but through pointers to PMPI functions, nothing was recorded; link the application, or what it "
               "loads, to the MPI library";
    }
    // Not find_scope(): that opens libraries, and here the process ends.
    if (dlsym(RTLD_DEFAULT, "PMPI_Session_init") != nullptr) {
        return ", nothing was recorded; give cpcollect the MPI program itself (one with MPI_Session_init alone is not "
               "recorded)";
    }
    return ", nothing was recorded; give cpcollect the MPI program itself";
}

}  // namespace

void end_recording()
{
    if (process.phase != Phase::Recording) {
        return;
    }
    process.phase = Phase::Off;
    stop_unloads();
    finish_clocks();
    close_threads(true);
    sampling::finish();
    const Complaints worst = worst_complaints(copy_maps());
    static critpath_archive_summary summary;
    if (write_archive(summary)) {
        remove_spool_files();
        pmpi.Barrier(process.comm);
        if (process.rank == 0) {
            remove_spool_directory();
            summarise(summary, worst);
        }
    } else if (process.rank == 0) {
        say_kept();
    }
    free_communicator();
}

void end_of_process()
{
    const Settings& settings = process.settings;
    if (process.phase == Phase::Recording) {
        process.phase = Phase::Off;
        // First of all: the launcher of MPI ends those that have not returned when the first process has.
        if (process.rank == 0) {
            say(Text() << "cpcollect: the application ended without MPI_Finalize");
            say_kept();
        }
        close_threads(false);
        sampling::finish();
        return;
    }
    if (process.phase == Phase::Loaded) {
        if (process.sampling) {
            sampling::finish();
        }
        // Only an empty directory can be removed: if something that this program started was recorded, all is well.
        if (settings.owner && settings.trace[0] != '\0' && rmdir(settings.trace) == 0) {
            say(Text() << "cpcollect: " << program_invocation_name << ": MPI_Init was never called"
                       << why_nothing_was_recorded());
        }
    }
}

}  // namespace critpath::preload
