// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how our function table appears in OTF2: the role of a function's region and the collective operation that
// its records name. The names of our attributes and properties stand here too (formats/FORMAT.md).
#pragma once

#include "formats/functions/functions.hpp"

#include <otf2/otf2.h>

#include <optional>

namespace critpath::otf2
{

OTF2_RegionRole region_role(functions::FunctionId function);

/// The operation of the MPI_COLLECTIVE_END records of `function`; nothing for functions that write none.
/// MPI_Init and the creation of communicators count as collectives; what is not collective over a communicator
/// that existed before (Comm_create_group, Intercomm_create, Comm_idup) does not.
std::optional<OTF2_CollectiveOp> collective_operation(functions::FunctionId function);

/// Our attributes; the value is the OTF2 reference of the definition in the traces that we write.
enum class Attribute : OTF2_AttributeRef { Mode, Message, Source, Tag, Comm, Offset, Period };

struct AttributeInfo {
    const char* name;
    const char* description;
    OTF2_Type type;
};

inline constexpr AttributeInfo attribute_table[] = {
    {"critpath.mode", "send mode: 1 standard, 2 buffered, 3 synchronous, 4 ready", OTF2_TYPE_UINT8},
    {"critpath.message", "matched-probe message within the process", OTF2_TYPE_UINT64},
    {"critpath.source", "source of the probed message", OTF2_TYPE_INT32},
    {"critpath.tag", "tag of the probed message", OTF2_TYPE_INT32},
    {"critpath.comm", "communicator of the probed message", OTF2_TYPE_COMM},
    {"critpath.offset", "virtual address of the sampled instruction in its binary", OTF2_TYPE_UINT64},
    {"critpath.period", "period of the sample, in units of the generator", OTF2_TYPE_UINT64},
};

constexpr const AttributeInfo& info(Attribute attribute)
{
    return attribute_table[static_cast<OTF2_AttributeRef>(attribute)];
}

/// Name and value of the archive property that says which version of formats/FORMAT.md a trace follows.
inline constexpr const char* version_property = "CRITPATH::VERSION";
inline constexpr int format_version = 1;
inline constexpr const char* module_property = "CRITPATH::MODULE::";

}  // namespace critpath::otf2
