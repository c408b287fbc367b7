// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how our function table appears in OTF2: the role of a function's region and the collective operation that
// its records name. The names of our attributes and properties stand here too (formats/FORMAT.md).
#pragma once

#include "formats/functions/functions.hpp"

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>

namespace critpath::otf2
{

OTF2_RegionRole region_role(functions::FunctionId function);

/// The operation of the MPI_COLLECTIVE_END, NON_BLOCKING_COLLECTIVE_COMPLETE or RMA_COLLECTIVE_END records of
/// `function`; nothing for functions that write none. MPI_Init, the creation of communicators, windows and files and
/// what belongs to a file as a whole count as collectives; what is not collective over a communicator that existed
/// before (Comm_create_group, Intercomm_create, Comm_join) does not.
std::optional<OTF2_CollectiveOp> collective_operation(functions::FunctionId function);

/// Whether a window-creating function allocates the memory, too; such a window is freed with its memory.
bool allocates(functions::FunctionId function);

/// The value of Attribute::Operation for what a function like MPI_Iallreduce does, and the function that does what a
/// value stands for (FunctionId::none: there is none).
std::uint8_t operation_number(functions::FunctionId non_blocking);
functions::FunctionId non_blocking_function(std::uint8_t operation);

OTF2_RmaAtomicType atomic_type(functions::FunctionId function, bool replaces);

/// Our attributes; the value is the OTF2 reference of the definition in the traces that we write.
enum class Attribute : OTF2_AttributeRef {
    Mode,
    Message,
    Source,
    Tag,
    Comm,
    Offset,
    Period,
    Reason,
    BytesRead,
    BytesWritten,
    File,
    Assertions,
    PageFaults,
    Processor,
    Skipped,
    Dest,
    Counted,
    InDegree,
    BlockedIn,
    WaitsFor,
    Operation,
    BetweenPolls,
};

/// Value of Attribute::Reason where the user had switched the recording off.
inline constexpr const char* user_reason = "user";

/// Bits of Attribute::Assertions: those of MPI_Win_fence, _start, _post, whatever their values in mpi.h.
enum Assertion : std::uint32_t {
    assert_no_check = 1,
    assert_no_store = 2,
    assert_no_put = 4,
    assert_no_precede = 8,
    assert_no_succeed = 16,
};

struct AttributeInfo {
    const char* name;
    const char* description;
    OTF2_Type type;
};

inline constexpr AttributeInfo attribute_table[] = {
    {"critpath.mode", "send mode: 1 standard, 2 buffered, 3 synchronous, 4 ready", OTF2_TYPE_UINT8},
    {"critpath.message", "matched-probe message within the process", OTF2_TYPE_UINT64},
    {"critpath.source", "source of the probed message, or of those that were skipped", OTF2_TYPE_INT32},
    {"critpath.tag", "tag of the probed message, or of those that were skipped", OTF2_TYPE_INT32},
    {"critpath.comm", "communicator of the probed message, of the posted collective, or of what was skipped",
     OTF2_TYPE_COMM},
    {"critpath.offset", "virtual address of the sampled instruction in its binary", OTF2_TYPE_UINT64},
    {"critpath.period", "period of the sample, in units of the generator", OTF2_TYPE_UINT64},
    {"critpath.reason", "why nothing was measured", OTF2_TYPE_STRING},
    {"critpath.bytes_read", "bytes that the call, or what it completed, read from a file", OTF2_TYPE_UINT64},
    {"critpath.bytes_written", "bytes that the call, or what it completed, wrote to a file", OTF2_TYPE_UINT64},
    {"critpath.file", "end of the path of the file", OTF2_TYPE_STRING},
    {"critpath.assertions", "1 NOCHECK, 2 NOSTORE, 4 NOPUT, 8 NOPRECEDE, 16 NOSUCCEED", OTF2_TYPE_UINT32},
    {"critpath.page_faults", "page faults of the thread since its sample before", OTF2_TYPE_UINT64},
    {"critpath.processor", "the other processor on which the thread came back", OTF2_TYPE_UINT32},
    {"critpath.skipped", "operations that count although they were not recorded", OTF2_TYPE_INT32},
    {"critpath.dest", "destination of the messages that were skipped", OTF2_TYPE_INT32},
    {"critpath.counted", "for so many millionths of the time since the sample before, events were counted",
     OTF2_TYPE_UINT32},
    {"critpath.in_degree", "so many in-neighbours in the graph topology follow", OTF2_TYPE_UINT32},
    {"critpath.blocked_in", "where the thread was found while it was blocked", OTF2_TYPE_CALLING_CONTEXT},
    {"critpath.waits_for", "what for: 1 another thread, 2 a while at most, 3 one of these, 0 something else",
     OTF2_TYPE_UINT8},
    {"critpath.operation", "the collective operation that was started: OTF2's number; of neighbours: 128 more",
     OTF2_TYPE_UINT8},
    {"critpath.between_polls", "ns between the polls that one record stands for, where that is most of it",
     OTF2_TYPE_UINT64},
};

constexpr const AttributeInfo& info(Attribute attribute)
{
    return attribute_table[static_cast<OTF2_AttributeRef>(attribute)];
}

/// The parameter of the records that tell an in-neighbour in a graph topology: its name, and its reference in the
/// traces that we write.
inline constexpr const char* in_neighbour_parameter = "critpath.in_neighbour";
inline constexpr OTF2_ParameterRef in_neighbour_reference = 0;

/// Property of the calling context of an MPI call: where its caller makes it, a virtual address in the binary.
inline constexpr const char* call_site_property = "critpath.call_site";

/// Region that call chains of samples begin with that do not reach the first function of their thread.
inline constexpr const char* unknown_callers_region = "[unknown callers]";

/// Regions that a thread is in while it has no processor: it was able to run, or it waited for something.
inline constexpr const char* preempted_region = "[preempted]";
inline constexpr const char* blocked_region = "[blocked]";

/// Archive property that says which ranks' recordings did not end in MPI_Finalize, and how they did.
inline constexpr const char* incomplete_property = "CRITPATH::INCOMPLETE";

/// Archive property that says how close samples are to their instructions, as perf_event_attr::precise_ip: of the rank
/// where that is least.
inline constexpr const char* precise_ip_property = "CRITPATH::PRECISE_IP";

/// Archive property that says where the callers of samples come from: spool::call_graph_names, and
/// behind dwarf, with a comma, the bytes of the stack that are copied if these are not the usual.
inline constexpr const char* call_graph_property = "CRITPATH::CALL_GRAPH";

/// Archive property that says which groups of MPI functions the user did not want to be recorded
/// (functions::group_names, with commas): time in them looks like computation.
inline constexpr const char* left_out_property = "CRITPATH::LEFT_OUT";

/// Archive property that says about which communicators the ranks disagree, so that their operations do not match.
inline constexpr const char* inconsistent_property = "CRITPATH::INCONSISTENT";

/// Name and value of the archive property that says which version of formats/FORMAT.md a trace follows.
inline constexpr const char* version_property = "CRITPATH::VERSION";
inline constexpr int format_version = 2;
inline constexpr const char* module_property = "CRITPATH::MODULE::";

}  // namespace critpath::otf2
