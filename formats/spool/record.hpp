// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the layout of the spool: what a wrapper leaves behind for the archive. One file a thread. Its newest records, of
// 64 bytes, stand on a stage, which is written through a shared mapping, so that they survive the process; whenever the
// stage is full they are packed into a frame behind it. Nothing here allocates or needs the C++ runtime.
//
//   SPOOL/<rank>.<thread>.calls     SpoolHeader (4096 bytes), the stage, then frames of packed records (packed.hpp)
//   SPOOL/<rank>.<thread>.samples   SpoolHeader (4096 bytes), then raw perf_event records (see SampleFormat)
//   SPOOL/<rank>.maps               /proc/self/maps, to name the addresses, with a line about each binary
//   SPOOL/<rank>.unloads            what it said before libraries were unloaded; only if there were any
//   SPOOL/<rank>.files              which of the first two kinds there are
//
// In <rank>.maps a line behind one of executable memory tells the binary there from others that may have its path
// later:
// "# build-id <hex>", of what was loaded, or "# file <size> <time>" (bytes; of its last change, ns since the epoch) of
// one without. Spools of older versions have none, and then what is found at the path is trusted.
//
// <rank>.unloads is text: parts in the order of time, each a line "= <until> <unloaded>" (ns of the clock, and how many
// libraries went; 20 digits each) and then the lines of executable memory, as in <rank>.maps. A part holds for all
// times after the part before it and up to `until`, when what it has was unloaded; <rank>.maps for those after the
// last. Behind them "? <unloaded>" counts libraries that went without a note.
//
// <rank>.files is text: a line "<thread>.calls" or "<thread>.samples" for each such file, behind its making. What is
// listed and not there has been lost since.
//
// Records stand in the order of their leave: those of the frames, then those of the stage. On the stage readers stop at
// the first record whose kind is Empty: the writer sets `kind` last. If such a record has an `enter` that is later than
// all leaves before it, the thread was in a call of `function` when the process ended.
//
// A process is <rank> of MPI_COMM_WORLD; <thread> counts from 0 (the thread that called MPI_Init).
#pragma once

#include "formats/spool/stack_image.hpp"
#include "formats/support/longest_chains.hpp"

#include <cstddef>
#include <cstdint>

namespace critpath::spool
{

inline constexpr std::uint64_t magic = 0x4c4f4f5053504331;  // "1CPSPOOL", little endian
inline constexpr std::uint32_t version = 17;
inline constexpr std::size_t header_size = 4096;
inline constexpr std::size_t thread_name_size = 16;
inline constexpr std::size_t max_counters = 7;
inline constexpr std::size_t max_events = 6;  // that are counted beside the sampled one

enum class RecordKind : std::uint8_t {
    Empty = 0,
    Call,          // one MPI call (struct Record)
    Completions,   // up to two finished requests of the Call before it (struct CompletionsRecord)
    Communicator,  // a communicator became known (struct CommunicatorRecord), followed by its members
    Members,       // up to 14 world ranks of the Communicator before it (struct MembersRecord)
    Tool,          // [enter, leave] is the collector's own time (struct Record, no function)
    Off,           // [enter, leave] was not recorded because the user said so (struct Record, no function)
    CallPath,      // return addresses of the calls that name this path (struct CallPathRecord)
    Counters,      // counters at the enter or the leave of the Call behind it (struct CountersRecord)
    Object,        // a window or a file became known (struct ObjectRecord)
    Clock,         // the clock was compared with another one (struct ClockRecord)
    Skipped,       // operations that were not recorded count all the same (struct SkippedRecord)
    Grid,          // the Cartesian topology of the Communicator before it (struct GridRecord)
    Graph,         // up to 14 in-neighbours in the graph topology of the Communicator before it (struct GraphRecord)
    Started,       // a persistent collective that the Call before it has started (struct Record, as of Icollective)
};

inline constexpr RecordKind last_kind = RecordKind::Started;

/// Bits of Record::flags and Completion::flags.
enum Flag : std::uint8_t {
    flag_none = 0,
    flag_success = 1,          // Test*, *probe: the flag came back true
    flag_replaces = 1,         // what accumulates: by MPI_REPLACE
    flag_any_source = 2,       // posted with MPI_ANY_SOURCE
    flag_any_tag = 4,          // posted with MPI_ANY_TAG
    flag_cancelled = 8,        // completion of a cancelled request
    flag_receive = 16,         // the request or message is a receive (else a send)
    flag_null_peer = 32,       // peer is MPI_PROC_NULL: no message
    flag_failed = 64,          // the call returned an error
    flag_has_completion = 128  // the receive half of the call follows as one Completions record (Sendrecv)
};

/// Return addresses of the path to a call of MPI; what is further out is missing.
inline constexpr std::uint32_t deepest_path = longest_chain_to_call;

/// Where the callers of a sampled instruction come from.
enum class CallGraph : std::uint32_t {
    None,           // they are not asked for
    FramePointers,  // the kernel's walk over frame pointers; the first of them from a slice of the stack
    Dwarf,          // a copy of the stack, and the unwind information of the binaries
};

/// As CallGraph, for people.
inline constexpr const char* call_graph_names[] = {"none", "fp", "dwarf"};

/// How to read the perf_event records of a .samples file: sample_type is PERF_SAMPLE_IP | TID | TIME | CPU | PERIOD |
/// READ, with CALLCHAIN for CallGraph::FramePointers, with REGS_USER if `registers` is not 0, and with STACK_USER if
/// `stack_bytes` is not 0, where a copy of the stack is what StackImage::pack() makes of it (stack_image.hpp).
/// read_format is fixed at PERF_FORMAT_GROUP | TOTAL_TIME_ENABLED | TOTAL_TIME_RUNNING, and sample_id_all is set: all
/// other records end in { u32 pid, tid; u64 time; u32 cpu, 0 }. The group is the sampled event and those of `events`
/// that `counted_events` has, in their order (of page faults, those of user code only, where `kernel` is 0); a sample
/// with another number of values has lost one. Values are those since the events were opened, not scaled. Times are of
/// the header's clock, but that of the kernel: SpoolHeader::time_offset is to be added.
///
/// PERF_RECORD_SWITCH says when the thread left its processor (PERF_RECORD_MISC_SWITCH_OUT; with ..._PREEMPT it was
/// still able to run, which is also so after sched_yield) and when it came back. A ring that overflows loses switches
/// as it loses samples; an out may then have no in. A thread that is not sampled has no switches either. Among these
/// records there may be some of our own: struct RespiteRecord, BlockedRecord, RunDelayRecord and DeepStackRecord.
///
/// Where the kernel refuses perf_event, the signal handler of a timer ("cpu-timer",
/// collector/sampling/thread_timer.hpp) writes the same records, but no switches; page faults are those of the whole
/// thread. A sample stands for one or two of `own_period`; `counted` has all that have passed. The instruction is of
/// user code, also for time in the kernel.
///
/// A thread may be shorter than a period. So all but the first one of a process begin with a period of any length up to
/// their own: their first sample comes as likely as they are long. When it has come, they get their own, soon; what
/// samples stand for is known by their counts (collector/archive/first_samples.hpp).
struct SampleFormat {
    char event[32];              // "cycles", "cpu-clock" or "cpu-timer"; empty: not sampled
    std::uint64_t period;        // of the event: ns for cpu-clock and cpu-timer, counts otherwise; of all threads
    std::uint64_t own_period;    // of this one, a tenth more or less at most: what its samples have
    std::uint64_t first_period;  // of its first samples, any part of that; 0: they have it, too
    std::uint64_t counted;       // total of the event over the thread's life (on close)
    std::uint64_t time_running;  // ns for which the event counted (on close)
    std::uint64_t page_faults;   // over the thread's life (on close)
    std::uint32_t kernel;        // 1: time in the kernel is sampled too
    std::uint32_t why_not;       // errno of perf_event_open where `event` is empty
    std::uint64_t registers;     // of user code: sample_regs_user, by the kernel's numbers (asm/perf_regs.h)
    std::uint32_t stack_bytes;   // of the user's stack: sample_stack_user
    CallGraph call_graph;
    std::uint32_t timer_stopped;  // 1: its timer was off, or its event closed, before the thread ended (on close)
    std::uint32_t precise_ip;     // as that of perf_event_attr: how close to its instruction a sample of an event is
    std::uint32_t run_delay;      // 1: the kernel tells how long the thread waits for processors
    std::uint32_t padding;
    std::uint64_t counted_events;  // bit i: events[i] is counted on this thread
    char events[max_events][24];   // that were to be counted, by perf's names; empty behind the last
};

/// Between two of these the events of the thread were disabled, because it switched too often: there are neither
/// samples nor switches. It looks like a record of perf_event, with a number that the kernel does not use.
struct RespiteRecord {
    static constexpr std::uint32_t number = 0x63700001;

    enum Change : std::uint16_t {
        Ends,
        Begins,
        BeginsInWait,   // it ends when the thread has what it waits for in MPI
        RestedInWaits,  // whole ones: since the last such record; `time` is how long they were, in ns
    };

    std::uint32_t type;  // `number`
    Change change;
    std::uint16_t size;
    std::uint64_t time;
};

/// Where a thread was blocked: what it was found to do after its last switch. Likewise. A copy of its stack follows, as
/// in a sample.
struct BlockedRecord {
    static constexpr std::uint32_t number = 0x63700002;
    static constexpr std::uint64_t registers = std::uint64_t{3} << stack_pointer_number;  // as SampleFormat::registers

    std::uint32_t type;      // `number`
    std::uint16_t is_timed;  // 1: its system call ends after a while, whatever happens
    std::uint16_t size;
    std::uint64_t since;          // the time of that switch
    std::int64_t system_call;     // its number; -1: in none, as in a page fault
    std::uint64_t stack_pointer;  // of user code,
    std::uint64_t instruction;    // likewise
};
static_assert(offsetof(BlockedRecord, instruction) == offsetof(BlockedRecord, stack_pointer) + sizeof(std::uint64_t));

/// How long a thread was able to run but had no processor, by the kernel's count: what began with a preemption, and
/// what began when it was woken, which no switch tells. Likewise. It counts what ended with a processor in (since,
/// until], all of it. Of times without such a record nothing is known, or it is next to nothing.
struct RunDelayRecord {
    static constexpr std::uint32_t number = 0x63700003;

    std::uint32_t type;  // `number`
    std::uint16_t padding;
    std::uint16_t size;
    std::uint64_t since, until;
    std::uint64_t waited;  // ns; at the least, where it had respites in waits meanwhile
};

/// What stood on the thread's stack beyond the copies of its samples, while these are cut. Likewise. It is an image of
/// those words only that a call chain may need: what may be a return address, and what points further out on the same
/// stack. Here are those that differ from the image before, as pairs (DeepWord) behind this header, in descending order
/// of their addresses. An image of more than fits has several records one behind the other. While it was read the
/// thread went on.
struct DeepStackRecord {
    static constexpr std::uint32_t number = 0x63700004;

    enum Part : std::uint16_t {
        Last = 0,
        More = 1,   // the next record has more of this image
        Whole = 2,  // a bit: nothing of the image before holds any more, and nobody has looked for a while
    };

    std::uint32_t type;   // `number`
    std::uint16_t part;   // bits of Part
    std::uint16_t size;   // with the pairs
    std::uint64_t since;  // when the image was begun,
    std::uint64_t until;  // and when it was ready
};

struct DeepWord {
    std::uint64_t address;
    std::uint64_t word;  // 0: nothing that may be needed stands there any more
};

/// Values of Record::peer for collectives that are not a rank. The last two are for inter-communicators.
enum Root : std::int32_t {
    root_none = -1,
    root_in_my_group = -2,  // the root is another rank of this group, which has no part in the data
    root_is_me = -3,        // the data goes to, or comes from, the remote group
};

/// One MPI call. Which fields mean something depends on the semantic class of `function`:
///
///   class                     comm  peer         tag   bytes     request            extra
///   Send                      yes   dest         yes   sent      -                  -
///   Recv                      yes   source (1)   (1)   received  -                  -
///   Mrecv (12)                yes   source (1)   (1)   received  message id         -
///   Sendrecv                  yes   dest         yes   sent      -                  - (2)
///   Isend                     yes   dest         yes   sent      request id         -
///   Irecv                     yes   source (3)   (3)   posted    request id         -
///   Imrecv (12)               yes   source       yes   posted    request id         message id
///   Isendrecv                 yes   -            -     -         -                  - (4)
///   Pready                    -     -            -     -         -                  - (4)
///   Start                     as Isend or Irecv (flag_receive tells which), extra: SendMode (14)
///   Startall                  -     -            -     -         -                  - (4)
///   Probe, Mprobe, Iprobe, Improbe (5)
///                             yes   source (1)   (1)   received  message id (M*)    -
///   Wait*, Test*              -     -            -     -         -                  - (6)
///   Request_get_status, Parrived
///                             -     -            -     -         -                  -
///   Cancel, Request_free      -     -            -     -         request id (13)    -
///   Collective                yes   root or -1   -     sent      -                  received
///   CommCreate, CommCreateGroup
///                             parent -           -     -         -                  new comm id + 1, or 0
///   CommIdup                  parent -           -     -         request id         new comm id + 1, or 0
///   CommFree                  yes   -            -     -         -                  -
///   CommDynamic               parent root        -     -         -                  new comm id + 1, or 0
///   Icollective               yes   root or -1   -     sent      request id         received
///   WinCreate                 yes   -            win   exposed   -                  -
///   WinFree, WinComplete, WinWait, WinTest (5), WinSync
///                             yes   -            win   -         -                  -
///   WinFence                  yes   -            win   -         -                  assertions
///   WinStart, WinPost         yes   -            win   -         -                  assertions (8)
///   WinLock                   yes   target (9)   win   -         -                  1 exclusive, 2 shared
///   WinUnlock, WinFlush       yes   target (9)   win   -         -                  -
///   RmaPut, RmaGet, RmaAtomic yes   target       win   to it     request id or 0    from it
///   FileOpen, FileClose, FileMeta
///                             yes   -            file  -         -                  -
///   FileIo, FileIoAll, FileIoOrdered, FileEnd
///                             yes   -            file  written   -                  read
///   FileIio, FileIioAll, FileBegin (10)
///                             yes   -            file  to write  request id         to read
///   Init, Finalize, Local, CollectiveInit, Pcontrol, Abort (11)
///                             -     -            -     -         -                  -
///
///   (1) from the status; the flags tell wildcards   (2) the receive half follows: flag_has_completion, count = 1
///   (3) as posted, -1 for wildcards (flags tell)    (4) one completion slot a started request (Pready: once all is
///   ready) follows: as Completion,
///       with `bytes`, `peer`, `tag`, `comm` and `mode` of the post (none for PROC_NULL), then a Started record each
///       collective; count = number of both
///   (5) Iprobe, Improbe: only with flag_success; without it see (7)
///   (6) Wait*, and Test* with flag_success: count = number of completions that follow. Completions of PROC_NULL
///       requests are left out
///   (7) Test*, Request_get_status, Parrived, Iprobe, Improbe without flag_success (and without flag_failed) are poll
///   runs, of tests also those that had no active request: count
///       = number of polls, enter of the first, leave of the last; nothing follows. So is WinTest. Where several take
///       turns, each has a record with its number, and the last of these records ends with the last poll of all.
///       `extra` of that one: ns between polls from its own first one on, of gaps that are longer than
///       functions::least_gap_of_polls
///   (8) Members records follow that list the world ranks of the group, `count` ranks in all; -1 stands for a process
///       of another MPI_COMM_WORLD
///   (9) -1, in a function for all: all of them      (10) FileBegin has no request
///   (11) Abort is written before the call: its leave is its enter. `extra` of Pcontrol: the level
///   (12) with flag_null_peer if the probe is not in the trace: then the message counts in a SkippedRecord
///   (13) a request that Request_get_status has found finished is completed by Request_free: then as Wait
///   (14) of a collective, or of partitioned communication: as Startall. A partitioned send is posted by the Pready of
///        its last partition. Tags of partitioned messages are -2 less the tag: a space of their own
///
/// `win` and `file` are ids of ObjectRecords of this process, -1 if unknown; `comm` is the communicator that the window
/// or file was made on; where that is unknown, what has a target has flag_null_peer. Bytes of files are those of the
/// status where the call has one, but never more than it was asked to move.
///
/// `comm` is -1 also for a communicator that cannot be described by ranks of MPI_COMM_WORLD (dynamic processes);
/// its messages and non-blocking collectives have flag_null_peer, and their completions are left out. The root of a
/// collective is a rank of `comm`, or one of the Root values.
/// A call with flag_failed has moved nothing but what its completions say (a truncated receive has no flag_failed). A
/// call that was left by a jump or an exception is one, too; it lasts until the thread called MPI again, or ended.
///
/// Ranks are ranks of `comm`; for an inter-communicator, of its remote group. Request ids count from 1 within
/// the process and name one post (each start of a persistent request has its own).
struct Record {
    RecordKind kind;  // written last
    std::uint8_t flags;
    std::uint16_t function;  // functions::FunctionId
    std::int32_t comm;       // id of a CommunicatorRecord of this process; -1: none
    std::uint64_t enter;     // ns, clock of SpoolHeader::clock_id
    std::uint64_t leave;     // ns
    std::int32_t peer;
    std::int32_t tag;
    std::uint64_t bytes;
    std::uint64_t extra;
    std::uint64_t request;
    std::uint32_t count;     // slots in the Completions records that follow; for a poll run: number of polls
    std::uint32_t callpath;  // id of a CallPathRecord of this thread; 0: not recorded
};
static_assert(sizeof(Record) == 64);

/// What a request stands for.
enum class Operation : std::uint8_t {
    Message,
    Collective,  // of a non-blocking collective: `comm` only, the rest stands in the post
    Rma,         // MPI_Rput and its kin
    File,        // `bytes`: moved
    NewComm,     // MPI_Comm_idup: `comm` (the parent) only
};

/// Two slots for finished (or, behind Startall, Isendrecv and Pready, started) requests.
struct CompletionsRecord {
    RecordKind kind;           // Completions
    std::uint8_t slots;        // used slots: 1 or 2
    std::uint8_t flags[2];     // Flag
    std::uint8_t mode[2];      // functions::SendMode of a started send
    Operation operation[2];    // what was finished
    std::uint64_t request[2];  // request id
    std::uint64_t bytes[2];    // received (from the status), or sent
    std::int32_t peer[2];      // actual source, or dest
    std::int32_t tag[2];
    std::int32_t comm[2];
};
static_assert(sizeof(CompletionsRecord) == 64);

/// A communicator as this process knows it. `gid` is the same on every member (docs/ALGORITHM, "Communicator
/// identity"), so that the archive can unify communicators without having been told about each other's ids.
/// The Members records that follow list `size` world ranks in rank order, unless `is_range` says that they are
/// the world ranks first, first + stride, ...
struct CommunicatorRecord {
    RecordKind kind;        // Communicator
    std::uint8_t is_range;  // 1: no Members records follow; members are first + i * stride
    std::uint8_t is_inter;  // 1: inter-communicator; members are those of the remote group
    std::uint8_t padding;
    std::int32_t comm;  // id within this process; 0 is MPI_COMM_WORLD, 1 is MPI_COMM_SELF
    std::uint64_t gid[2];
    std::uint64_t parent_gid[2];  // zero for MPI_COMM_WORLD and MPI_COMM_SELF
    std::int32_t size;
    std::int32_t rank;  // of this process (in its local group)
    std::int32_t first, stride;
    char padding2[8];
};
static_assert(sizeof(CommunicatorRecord) == 64);

struct MembersRecord {
    RecordKind kind;  // Members
    std::uint8_t count;
    std::uint8_t padding[2];
    std::int32_t world_rank[14];
    std::int32_t padding2;
};
static_assert(sizeof(MembersRecord) == 64);

/// A communicator is a grid of processes; behind its Members records. Ranks are in row-major order.
struct GridRecord {
    static constexpr int most_dimensions = 14;

    RecordKind kind;  // Grid
    std::uint8_t dimensions;
    std::uint16_t periodic;  // bit i: dimension i is
    std::int32_t comm;
    std::int32_t size[most_dimensions];
};
static_assert(sizeof(GridRecord) == 64);

/// A communicator has a graph topology: whom this process gets something from in its neighbourhood collectives. Behind
/// its Members records, as many as are needed; one with `count` 0 if there is nobody.
struct GraphRecord {
    RecordKind kind;  // Graph
    std::uint8_t count;
    std::uint8_t padding[2];
    std::int32_t comm;
    std::int32_t in_neighbour[14];  // ranks of the communicator, in MPI's order, also repeatedly
};
static_assert(sizeof(GraphRecord) == 64);

/// The path by which the application came to a call: return addresses, innermost first. A path of more than seven is
/// continued in the next records, which have the same id. Written before the first Call that names it; ids count from 1
/// within the thread. Addresses are of this process (SPOOL/<rank>.maps); a path may be cut at its outer end, in the
/// extreme to its first address, which is all that is asked for with --callpath=site.
struct CallPathRecord {
    RecordKind kind;     // CallPath
    std::uint8_t count;  // addresses in this record: 1 to 7
    std::uint8_t padding[2];
    std::uint32_t id;
    std::uint64_t address[7];
};
static_assert(sizeof(CallPathRecord) == 64);

/// Values of the counters that SpoolHeader::counters names, since the thread began to record. Stands before the Call
/// that it belongs to: one record for its enter, then one for its leave. Either may be missing: of a poll run only the
/// enter is counted, of the poll that ends it only the leave, of MPI_Init nothing.
struct CountersRecord {
    RecordKind kind;        // Counters
    std::uint8_t count;     // of values
    std::uint8_t at_leave;  // 0: at the enter, 1: at the leave
    std::uint8_t padding[5];
    std::int64_t value[7];
};
static_assert(sizeof(CountersRecord) == 64);

/// A window or a file. `gid` is the same on every member, as for communicators.
struct ObjectRecord {
    enum Type : std::uint8_t { Window = 1, File = 2 };
    RecordKind kind;  // Object
    Type type;
    std::uint8_t padding[2];
    std::int32_t id;  // within this process and type, from 0
    std::int32_t comm;
    std::uint32_t function;  // FunctionId of the call that made it
    std::uint64_t gid[2];
    char name[32];  // of a file: the end of its path, NUL-terminated
};
static_assert(sizeof(ObjectRecord) == 64);

/// At `time`, the clock of the process `reference` (a world rank) minus ours was in [low, high]. Written by every
/// process, on one of its threads, also by those that share the reference's clock (low = high = 0).
struct ClockRecord {
    RecordKind kind;  // Clock
    std::uint8_t padding[3];
    std::int32_t reference;
    std::uint64_t time;      // ns of our clock
    std::int64_t low, high;  // ns
    std::int32_t domain;     // smallest world rank with the same clock
    std::int32_t padding2;
    char padding3[24];
};
static_assert(sizeof(ClockRecord) == 64);

/// Operations that this process posted while the recording was off or in an attribute callback, or that end unseen (a
/// freed receive): without them, those that are recorded before and after would be paired with the wrong
/// ones. Of a receive it counts where it was posted, but only once it has its message, which may be long after.
struct SkippedRecord {
    enum What : std::uint8_t { Send, Receive, Collective };
    RecordKind kind;     // Skipped
    std::uint8_t slots;  // used slots: 1 to 3
    What what[3];
    std::uint8_t padding[3];
    std::uint64_t since;  // ns: when nothing was recorded any more, or the post; what is entered until then came before
    std::int32_t comm[3];
    std::int32_t peer[3];   // of messages: destination or actual source,
    std::int32_t tag[3];    // and tag
    std::int32_t count[3];  // of operations; negative: so many of those reported before do not count
};
static_assert(sizeof(SkippedRecord) == 64);

/// Why something was not counted on a process, although it was to be.
enum class Refusal : std::uint8_t {
    None,
    NotSupported,  // this machine does not have it, or has it and it never counts
    NotPermitted,
    TooMany,      // it cannot be counted together with those before it
    NotByTimers,  // the samples are those of timers, as the user asked
    NoPapi,       // the library is missing, or of another version
    InUse,        // the application uses PAPI itself
    Failed,       // for any other reason
};

/// As Refusal, for people: critpath.refused_events.
inline constexpr const char* refusal_names[] = {
    "",        "not supported",       "not permitted", "too many at once", "not with timers",
    "no PAPI", "used by application", "failed"};

struct RefusedEvent {
    char name[23];  // empty behind the last
    Refusal why;
};

/// First page of every spool file; written when the file is made, the fields below the line when it is closed.
struct SpoolHeader {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t record_size;      // 64; 0 for .samples
    std::uint64_t functions_hash;   // FNV-1a of the names in functions::table, in order
    std::int32_t rank, size;        // in MPI_COMM_WORLD
    std::int32_t thread, clock_id;  // clock_id: clockid_t of all times
    std::int64_t pid, tid;
    std::uint64_t process_start;  // ns: first moment of the collector in this process, before main()
    std::uint64_t thread_start;   // ns
    std::uint64_t realtime;       // ns since the epoch at process_start
    char host[256];
    char boot_id[64];    // processes with equal boot_id and equal time_offset share the clock
    char command[1024];  // application and arguments, NUL-separated, double NUL at the end (may be cut)
    SampleFormat samples;
    std::int64_t time_offset;         // ns that a time namespace adds to the kernel's own clock (time_namespaces(7))
    std::uint32_t counter_count;      // of a CountersRecord
    std::uint32_t left_out;           // bit g: calls of functions::Group(g) are not recorded, as the user asked
    char counters[max_counters][48];  // their names, then those that were asked for and refused
    std::uint64_t stage_bytes;        // of a .calls file: behind this header; frames follow
    // ---- on close
    std::uint64_t records;               // written records; 0 while open. Readers go on until Empty
    std::uint64_t lost;                  // records (at any time), or samples of those of `counted`, that did not fit
    std::uint64_t thread_end;            // ns
    std::uint32_t closed;                // 1 after a regular close
    char thread_name[thread_name_size];  // as the kernel has it (pthread_setname_np), terminated; empty: not known
    // ---- whenever the stage was drained
    std::uint64_t first_record;  // of the stage, in the thread's recording: those before it are in frames
    // ---- from the beginning on
    Refusal counter_refusal[max_counters];        // of `counters`, on this process
    RefusedEvent refused_events[max_events + 1];  // of samples, with the one to sample first; of a .samples file
};
static_assert(sizeof(SpoolHeader) <= header_size);

}  // namespace critpath::spool
