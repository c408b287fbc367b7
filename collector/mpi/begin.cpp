// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the beginning of a recording (lifecycle.hpp).
#include "collector/fortran/library.hpp"
#include "collector/mpi/callpath.hpp"
#include "collector/mpi/clock.hpp"
#include "collector/mpi/clock_sync.hpp"
#include "collector/mpi/control.hpp"
#include "collector/mpi/counters.hpp"
#include "collector/mpi/files.hpp"
#include "collector/mpi/lifecycle.hpp"
#include "collector/mpi/patience.hpp"
#include "collector/mpi/pmpi.hpp"
#include "collector/mpi/process.hpp"
#include "collector/mpi/thread.hpp"
#include "collector/mpi/unloads.hpp"
#include "collector/sampling/descriptors.hpp"
#include "collector/sampling/sampling.hpp"
#include "collector/sampling/time_namespace.hpp"
#include "formats/functions/functions.hpp"

#include <cerrno>
#include <climits>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

namespace critpath::preload
{

namespace
{

// A communicator of our own. Not a duplicate: that would run the application's attribute callbacks.
bool make_communicator()
{
    if (pmpi.Comm_split(handles.comm_world, 0, process.rank, &process.comm) != MPI_SUCCESS) {
        return false;
    }
    return pmpi.Comm_set_errhandler(process.comm, handles.errors_return) == MPI_SUCCESS &&
           pmpi.Comm_group(handles.comm_world, &process.world_group) == MPI_SUCCESS;
}

// The directory of `root` becomes everybody's. An empty one says that it has refused.
void share_trace(int root)
{
    char* trace = process.settings.trace;
    if (pmpi.Bcast(trace, PATH_MAX, handles.type_byte, root, process.comm) != MPI_SUCCESS) {
        trace[0] = '\0';
    }
}

// The launcher and the MPI library mostly agree on which process is rank 0. Where they do not, the directory comes to
// rank 0 from the process that cpcollect took for it.
void bring_trace_to_root()
{
    const int mine = process.settings.trace[0] != '\0' ? process.rank : INT_MAX;
    int owner = INT_MAX;
    if (pmpi.Allreduce(&mine, &owner, 1, handles.type_int, handles.op_min, process.comm) == MPI_SUCCESS && owner > 0 &&
        owner < process.size) {
        share_trace(owner);
    }
}

// What must be alike on all ranks is as rank 0 was told.
void share_settings()
{
    Settings& mine = process.settings;
    struct {
        CallPathMode callpath;
        bool starts_off;
        std::uint32_t groups;
        std::uint64_t range_begin, range_end;
        std::uint64_t clock_period_s;
        char counters[sizeof mine.counters];
    } all = {mine.callpath, mine.starts_off, mine.groups, mine.range_begin, mine.range_end, mine.clock_period_s, {}};
    std::memcpy(all.counters, mine.counters, sizeof all.counters);
    if (pmpi.Bcast(&all, sizeof all, handles.type_byte, 0, process.comm) == MPI_SUCCESS) {
        mine.callpath = all.callpath;
        mine.starts_off = all.starts_off;
        mine.groups = all.groups;
        mine.range_begin = all.range_begin;
        mine.range_end = all.range_end;
        mine.clock_period_s = all.clock_period_s;
        std::memcpy(mine.counters, all.counters, sizeof all.counters);
    }
}

// On rank 0. One recording a directory: `spool` and the archive are made once.
void make_spool_directory()
{
    char* trace = process.settings.trace;
    if (trace[0] == '\0' && process.settings.launcher_rank > 0) {
        if (process.settings.launcher_rank == 1) {  // for all others like it
            say(Text() << "cpcollect: the launcher and the MPI library of the application do not know each other: each "
                       << "process is rank 0 of " << process.size << ", and only the first is recorded; use the "
                       << "launcher of that MPI library, or srun with --mpi=pmi2 or --mpi=pmix");
        }
        return;
    }
    if (trace[0] == '\0') {
        if (!process.settings.is_told) {
            say(Text() << "cpcollect: CRITPATH_TRACE is not set, nothing will be recorded; start the application with "
                       << "cpcollect");
        }
        return;
    }
    const Text archive = Text() << trace << "/traces.otf2";
    const Text spool = Text() << trace << "/spool";
    const int error = access(archive.c_str(), F_OK) == 0 ? EEXIST : mkdir(spool.c_str(), 0777) != 0 ? errno : 0;
    if (error == EEXIST) {
        say(Text() << "cpcollect: " << trace << ": holds a recording already, nothing will be recorded; "
                   << "record each MPI program with a cpcollect of its own");
    } else if (error != 0) {
        say(Text() << "cpcollect: " << spool.c_str() << ": " << error_text(error)
                   << ", nothing will be recorded; choose a directory that can be written");
    }
    if (error != 0) {
        trace[0] = '\0';
    }
}

void fill_header()
{
    spool::SpoolHeader& header = process.header;
    header.magic = spool::magic;
    header.version = spool::version;
    header.record_size = sizeof(spool::Record);
    header.functions_hash = functions::table_hash();
    header.rank = process.rank;
    header.size = process.size;
    header.clock_id = clock_id;
    header.left_out = ~process.settings.groups & ((1U << functions::group_count) - 1);
    header.pid = process.pid;
    header.process_start = process.start;
    header.realtime = process.start_realtime;
    gethostname(header.host, sizeof header.host - 1);
    sampling::read_text("/proc/sys/kernel/random/boot_id", header.boot_id, sizeof header.boot_id);
    header.boot_id[std::strcspn(header.boot_id, "\n")] = '\0';
    header.time_offset = sampling::time_offset();
    sampling::read_text("/proc/self/cmdline", header.command, sizeof header.command - 1);
}

bool open_spool()
{
    const int error = open_main_thread();
    if (error != 0) {
        say(Text() << "cpcollect: " << process.spool << "/" << process.rank << ".0.calls: " << error_text(error)
                   << ", nothing will be recorded; choose a directory that every rank can write, with room for it");
    }
    return error == 0;
}

}  // namespace

bool agree(bool mine)
{
    const int value = mine ? 1 : 0;
    int result = 0;
    return pmpi.Allreduce(&value, &result, 1, handles.type_int, handles.op_min, process.comm) == MPI_SUCCESS &&
           result != 0;
}

void free_communicator()
{
    if (process.world_group != MPI_Group()) {
        pmpi.Group_free(&process.world_group);
    }
    if (process.comm != MPI_Comm()) {
        pmpi.Comm_free(&process.comm);
    }
}

namespace
{

// Once it is said that nothing will be recorded: an empty directory would tell less than none.
void leave_no_directory()
{
    if (process.settings.owner && process.settings.trace[0] != '\0') {
        rmdir(process.settings.trace);
    }
}

// Before anything is opened, and so before there is a communicator of the library.
bool all_may_open_files()
{
    const int mine = may_open_files() ? 1 : 0;
    int all = 0;
    if (pmpi.Allreduce(&mine, &all, 1, handles.type_int, handles.op_min, handles.comm_world) != MPI_SUCCESS) {
        return false;
    }
    if (all == 0 && process.rank == 0) {
        say(Text() << "cpcollect: too few files may be open for a recording beside the application, nothing will be "
                   << "recorded; raise the limit (ulimit -n)");
    }
    if (all == 0) {
        leave_no_directory();
    }
    return all != 0;
}

// Everything that may be refused, by this rank or by another.
bool open_recording()
{
    if (!resolve_mpi()) {
        return false;
    }
    int level = MPI_THREAD_SINGLE;
    const bool is_known = pmpi.Comm_size(handles.comm_world, &process.size) == MPI_SUCCESS &&
                          pmpi.Comm_rank(handles.comm_world, &process.rank) == MPI_SUCCESS &&
                          pmpi.Query_thread(&level) == MPI_SUCCESS;
    const Patience patience(process.size > 1 ? process.settings.patience_s : 0);
    if (is_known && !all_may_open_files()) {
        return false;
    }
    if (!is_known || !make_communicator()) {
        say(Text() << "cpcollect: the MPI library refused to be asked, nothing will be recorded; "
                   << "rebuild critpath with the MPI library that the application uses");
        return false;
    }
    process.threads_in_mpi = level == MPI_THREAD_MULTIPLE;
    process.requests.set_shared_handle(handles.shared_request);
    process.requests.set_threads(process.threads_in_mpi);
    bring_trace_to_root();
    if (process.rank == 0) {
        make_spool_directory();
    }
    share_trace(0);
    if (process.settings.trace[0] == '\0') {
        return false;
    }
    const Text spool = Text() << process.settings.trace << "/spool";
    std::memcpy(process.spool, spool.c_str(), spool.size() + 1);
    share_settings();
    fill_header();
    negotiate_counters(process.header);
    if (process.settings.callpath == CallPathMode::Full) {
        find_unwinder();
    }
    if (agree(open_spool())) {
        return true;
    }
    close_threads(false);
    remove_spool_files();
    pmpi.Barrier(process.comm);
    if (process.rank == 0) {
        remove_spool_directory();
    }
    leave_no_directory();
    return false;
}

}  // namespace

void begin_recording()
{
    process.is_mpi = true;
    process.phase = Phase::Off;
    if (!open_recording()) {
        free_communicator();
        stop_unloads();
        sampling::finish();
        process.sampling = false;
        return;
    }
    copy_maps();
    open_unloads();
    sampling::open_files(process.spool, process.header);
    Thread* thread = attach_thread();
    if (thread != nullptr) {
        process.communicators.start(thread->spool);
    }
    start_clocks();
    control.start(process.settings);
    fortran::resolve(fortran::Where::Linked);
    process.phase = Phase::Recording;
}

}  // namespace critpath::preload
