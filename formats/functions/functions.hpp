// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the vocabulary of MPI functions: what each one is called, which semantic class it belongs to, which
// send mode or collective shape it has. Generated from functions.table; shared by the recorder (which stores
// the FunctionId), the archive (which writes the name) and the replayer (which looks the name up again).
// Header-only and free of the C++ runtime, because the preload library uses it.
#pragma once

#include <cstdint>

namespace critpath::functions
{

/// What a function does to the program's communication; chooses wrapper template and replay rule.
enum class SemanticClass : std::uint8_t {
    Local,  // everything that is not in the table: no communication that we know of
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
    SendInit,
    RecvInit,
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
};

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

constexpr const FunctionInfo& info(FunctionId id)
{
    return table[static_cast<std::uint16_t>(id)];
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
