// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the vocabulary of MPI functions: what each one is called, which semantic class it belongs to, which
// send mode or collective shape it has. Generated from functions.table; shared by the recorder (which stores
// the FunctionId), the archive (which writes the name) and the replayer (which looks the name up again).
// Header-only and free of the C++ runtime, because the preload library uses it.
#pragma once

#include <cstdint>
#include <string_view>

namespace critpath::functions
{

/// What a function does to the program's communication; chooses wrapper template and replay rule.
enum class SemanticClass : std::uint8_t {
    Local,  // no communication: only its time matters; also everything that is not in the table
    Init,
    Finalize,
    Send,
    Recv,
    Mrecv,
    Sendrecv,
    BufferDetach,
    Isend,
    Irecv,
    Imrecv,
    Isendrecv,
    SendInit,
    RecvInit,
    PsendInit,
    PrecvInit,
    Pready,    // some partitions, or the last ones
    Parrived,  // whether one partition has come
    Start,
    Startall,
    Cancel,
    RequestFree,
    Probe,
    Iprobe,
    Mprobe,
    Improbe,
    Wait,
    Waitall,
    Waitany,
    Waitsome,
    Test,
    Testall,
    Testany,
    Testsome,
    RequestGetStatus,
    Collective,
    CommCreate,
    CommCreateGroup,
    CommIdup,
    CommFree,
    CommDynamic,  // processes meet, perhaps of another MPI_COMM_WORLD
    Icollective,
    CollectiveInit,  // of a persistent one; MPI_Start begins it
    WinCreate,
    WinFree,
    WinFence,
    WinStart,
    WinPost,
    WinComplete,
    WinWait,
    WinTest,
    WinLock,  // also of all targets, as WinUnlock and WinFlush
    WinUnlock,
    WinFlush,
    WinSync,
    RmaPut,  // with or without a request, as RmaGet and RmaAtomic
    RmaGet,
    RmaAtomic,
    FileOpen,
    FileClose,
    FileMeta,       // collective, moves no data
    FileIo,         // one process, blocking
    FileIoAll,      // collective, blocking
    FileIoOrdered,  // collective, in rank order
    FileIio,        // one process, non-blocking
    FileIioAll,     // collective, non-blocking
    FileBegin,      // split collective
    FileEnd,
    Pcontrol,
    Abort,
};

/// What a user may include in a recording or leave out of it.
enum class Group : std::uint8_t {
    Always,        // without it the others could not be understood: life cycle, communicators, control
    PointToPoint,  // messages, probes, and the completion of every kind of request
    Collective,
    Rma,
    Io,
    Local,
};
inline constexpr int group_count = 6;

/// What users call them; Always has no name.
inline constexpr const char* group_names[group_count] = {"", "p2p", "collective", "rma", "io", "local"};

constexpr Group group_of(SemanticClass semantic_class)
{
    using enum SemanticClass;
    switch (semantic_class) {
    case Local:
        return Group::Local;
    case Init:
    case Finalize:
    case CommCreate:
    case CommCreateGroup:
    case CommIdup:
    case CommFree:
    case CommDynamic:
    case Pcontrol:
    case Abort:
        return Group::Always;
    case Collective:
    case Icollective:
    case CollectiveInit:
        return Group::Collective;
    case WinCreate:
    case WinFree:
    case WinFence:
    case WinStart:
    case WinPost:
    case WinComplete:
    case WinWait:
    case WinTest:
    case WinLock:
    case WinUnlock:
    case WinFlush:
    case WinSync:
    case RmaPut:
    case RmaGet:
    case RmaAtomic:
        return Group::Rma;
    case FileOpen:
    case FileClose:
    case FileMeta:
    case FileIo:
    case FileIoAll:
    case FileIoOrdered:
    case FileIio:
    case FileIioAll:
    case FileBegin:
    case FileEnd:
        return Group::Io;
    default:
        return Group::PointToPoint;
    }
}

/// Functions in which a thread may stand until somebody else has done something: not those that only ask.
constexpr bool may_wait(SemanticClass semantic_class)
{
    using enum SemanticClass;
    switch (semantic_class) {
    case Send:
    case Recv:
    case Mrecv:
    case Sendrecv:
    case BufferDetach:
    case Probe:
    case Mprobe:
    case Wait:
    case Waitall:
    case Waitany:
    case Waitsome:
    case Collective:
    case CommCreate:
    case CommCreateGroup:
    case CommFree:
    case CommDynamic:
    case WinCreate:
    case WinFree:
    case WinFence:
    case WinStart:
    case WinPost:
    case WinComplete:
    case WinWait:
    case WinLock:
    case WinUnlock:
    case WinFlush:
    case RmaPut:
    case RmaGet:
    case RmaAtomic:
    case FileOpen:
    case FileClose:
    case FileMeta:
    case FileIoAll:
    case FileIoOrdered:
    case FileEnd:
        return true;
    default:
        return false;
    }
}

/// Functions at which computation ends that others may depend on: in all others a thread goes on whatever they do, as
/// in transfers, whose epoch ends elsewhere.
constexpr bool may_meet_others(SemanticClass semantic_class)
{
    using enum SemanticClass;
    switch (semantic_class) {
    case Init:
    case Finalize:
        return true;
    case RmaPut:
    case RmaGet:
    case RmaAtomic:
        return false;
    default:
        return may_wait(semantic_class);
    }
}

/// Functions behind which a loop may read its own memory, to see what others have stored there.
constexpr bool may_look_at_memory(SemanticClass semantic_class)
{
    return semantic_class == SemanticClass::WinSync || semantic_class == SemanticClass::WinUnlock;
}

/// Functions that look whether something has come, and do not wait for it.
constexpr bool is_poll(SemanticClass semantic_class)
{
    using enum SemanticClass;
    switch (semantic_class) {
    case Parrived:
    case Iprobe:
    case Improbe:
    case Test:
    case Testall:
    case Testany:
    case Testsome:
    case RequestGetStatus:
    case WinTest:
        return true;
    default:
        return false;
    }
}

/// ns: as long takes what stands between two of them, recording included, where nothing is done but to look.
inline constexpr int least_gap_of_polls = 500;

/// Functions that make a communicator, if they do not fail.
constexpr bool makes_communicator(SemanticClass semantic_class)
{
    using enum SemanticClass;
    return semantic_class == CommCreate || semantic_class == CommCreateGroup || semantic_class == CommIdup ||
           semantic_class == CommDynamic;
}

/// Functions that take their turn in the order of collective operations on a communicator. Those that end a split
/// collective do not, nor does CommDynamic where what it makes is known.
constexpr bool is_on_communicator(SemanticClass semantic_class)
{
    using enum SemanticClass;
    switch (semantic_class) {
    case Init:
    case Collective:
    case Icollective:
    case CommCreate:
    case CommIdup:
    case CommFree:
    case CommDynamic:
    case FileOpen:
    case FileClose:
    case FileMeta:
    case FileIoAll:
    case FileIoOrdered:
    case FileIioAll:
    case FileBegin:
        return true;
    default:
        return false;
    }
}

/// Send mode (MPI-3.1, 3.4).
enum class SendMode : std::uint8_t { None, Standard, Buffered, Synchronous, Ready };

/// Who depends on whom in a collective operation (MPI-3.1, 5.1; dependency sets in docs/ALGORITHM.md).
enum class CollectiveShape : std::uint8_t {
    None,
    AllToAll,    // every member waits for every other
    OneToAll,    // the members wait for the root
    AllToOne,    // the root waits for the members
    Prefix,      // member i waits for the members before it
    Neighbour,   // member i waits for its in-neighbours
    DataDriven,  // no dependency by the standard, but an implementation may synchronise
};

struct FunctionInfo {
    const char* name;
    SemanticClass semantic_class;
    SendMode mode;
    CollectiveShape shape;
};

/// Index into `table`. The order is the order of functions.table; it is not stable between versions, so files
/// that outlive a run store names.
enum class FunctionId : std::uint16_t {
#define CRITPATH_FUNCTION(name, semantic_class, mode, shape) name,
#include "functions.inc"
#undef CRITPATH_FUNCTION
    count,
    none = 0xffff,
};

inline constexpr FunctionInfo table[] = {
#define CRITPATH_FUNCTION(name, semantic_class, mode, shape)                                                           \
    {#name, SemanticClass::semantic_class, SendMode::mode, CollectiveShape::shape},
#include "functions.inc"
#undef CRITPATH_FUNCTION
};

/// Of a function of the table.
constexpr const FunctionInfo& info(FunctionId id)
{
    return table[static_cast<std::uint16_t>(id)];
}

/// Of any function: Local, if the table does not have it.
constexpr SemanticClass semantic_class(FunctionId id)
{
    return id < FunctionId::count ? info(id).semantic_class : SemanticClass::Local;
}

/// Of the function of that name.
constexpr SemanticClass semantic_class(std::string_view name)
{
    for (const FunctionInfo& function : table)
        if (function.name == name)
            return function.semantic_class;
    return SemanticClass::Local;
}

/// Names the order of the table: FNV-1a over the characters of all names, in order, without separators. A spool can
/// only be read with the table with which it was written.
constexpr std::uint64_t table_hash()
{
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const FunctionInfo& function : table) {
        for (const char* c = function.name; *c != '\0'; ++c) {
            hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001b3U;
        }
    }
    return hash;
}

}  // namespace critpath::functions
