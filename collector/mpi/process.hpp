// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the preload library knows about the process that it was loaded into: what the launcher asked for, when the
// process began, its rank, whether it records.
#pragma once

#include "collector/mpi/communicators.hpp"
#include "collector/mpi/objects.hpp"
#include "collector/mpi/requests.hpp"
#include "collector/mpi/skipped.hpp"
#include "collector/sampling/descriptors.hpp"
#include "collector/sampling/sampling.hpp"
#include "collector/sampling/text.hpp"
#include "formats/spool/record.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include <limits.h>
#include <sys/types.h>

namespace critpath::preload
{

using sampling::Text;

/// How much of the way to an MPI call is recorded with it.
enum class CallPathMode : std::uint8_t { None, Site, Full };

/// What cpcollect asked for: CRITPATH_* in the environment.
struct Settings {
    char trace[PATH_MAX] = {};      // directory; one rank is told, mostly rank 0, and MPI_Init tells the others
    char archive[PATH_MAX] = {};    // archive library; empty: beside this library
    std::uint32_t frequency = 0;    // samples a second and thread
    std::uint64_t buffer_kb = 128;  // of one thread's stage
    CallPathMode callpath = CallPathMode::None;
    sampling::Sampler sampler = sampling::Sampler::Auto;
    sampling::Callers callers{spool::CallGraph::Dwarf};  // of samples
    char events[512] = {};                               // that samples count, likewise with commas
    char counters[512] = {};                             // names of PAPI events, with commas between them
    std::uint32_t groups = ~0U;                          // functions that are recorded: bit functions::Group
    std::uint64_t range_begin = 0;    // recorded from the leave of this collective of all ranks on (0: from the start),
    std::uint64_t range_end = ~0ULL;  // up to the leave of this one
    bool starts_off = false;          // records nothing before MPI_Pcontrol(1)
    std::uint64_t clock_period_s = 60;  // between two comparisons of clocks in a long run; 0: only at its ends
    std::uint64_t launcher_rank = 0;    // which process of its launcher this one is, as far as cpcollect could tell
    std::uint64_t patience_s = 10;      // with ranks that do not come to MPI_Init's agreement, before a word is said
    bool kernel_timer = false;          // the clock is always asked of the kernel (clock.hpp)
    bool quiet = false;
    bool is_told = false;  // cpcollect has started this, and has said so itself if nothing can be recorded
    bool owner = false;    // this process was started by the launcher that made the trace directory
};

enum class Phase : int {
    Loaded,  // before MPI_Init
    Recording,
    Off,        // MPI_Init has said no, or MPI_Finalize is over
    Abandoned,  // child of fork()
};

struct Process {
    Settings settings;
    std::atomic<Phase> phase = Phase::Loaded;
    bool is_mpi = false;          // MPI_Init was called
    bool threads_in_mpi = false;  // MPI_THREAD_MULTIPLE: the tables below need their lock
    bool sampling = false;
    int rank = -1;
    int size = 0;
    int stderr_copy = -1;                  // the stderr that the process had at start
    sampling::FileIdentity stderr_file{};  // which file that is
    pid_t pid = 0;
    std::uint64_t start = 0;           // first moment of this library, in ns of clock_id
    std::uint64_t loaded = 0;          // and when it let the application go on
    std::uint64_t start_realtime = 0;  // the same, in ns since the epoch
    char spool[PATH_MAX] = {};
    spool::SpoolHeader header = {};  // of a spool file of this process, without the thread's part
    MPI_Comm comm{};                 // of the library, over all ranks
    MPI_Group world_group{};
    std::atomic<int> lock = 0;  // of the tables below (TableLock): who holds it, 0: nobody
    std::atomic<bool> lock_has_waiters = false;
    Requests requests;
    Communicators communicators;
    Objects windows{spool::ObjectRecord::Window};
    Objects files{spool::ObjectRecord::File};
    HandleTable<spool::Record> messages;  // taken by MPI_Mprobe and MPI_Improbe: the record of the probe
    std::uint64_t next_message = 1;
    Skipped skipped;
};
extern Process process;

/// False where the process may open so few files that the library's own would be missed by MPI or the application: then
/// it opens none.
bool may_open_files();

/// One line on the stderr that the process had at start.
void say(const Text& line);

}  // namespace critpath::preload
