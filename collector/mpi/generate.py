# SPDX-License-Identifier: BSD-3-Clause
"""Writes what the preload library takes from functions.table.

usage: generate.py functions.table directory

    pmpi.inc      CRITPATH_PMPI(name) for each PMPI function that the library calls
    wrappers.inc  the wrappers of the regular semantic classes, one template a class
    exports.map   linker version script: what the library exports

The wrappers of the irregular classes (BY_HAND) stand in wrappers_*.cpp. The output depends on the table alone.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "formats" / "functions"))
from table import read_table  # noqa: E402

# Called by the library itself, not wrapped.
HELPERS = """
    Cartdim_get Comm_group Comm_rank Comm_remote_group Comm_remote_size Comm_set_errhandler Comm_size Comm_test_inter
    Dist_graph_neighbors_count Get_elements_x Graph_neighbors_count Group_free Group_size Group_translate_ranks
    Query_thread Test_cancelled Topo_test Type_size_x
""".split()

BY_HAND = """
    init finalize mrecv imrecv mprobe improbe start startall cancel request_free request_get_status
    wait waitall waitany waitsome test testall testany testsome comm_create_group comm_idup
""".split()

# Not wrapped yet.
PENDING = """
    icollective comm_dynamic local pcontrol abort
    win_create win_free win_fence win_start win_post win_complete win_wait win_test win_lock win_unlock win_flush
    win_sync rma_put rma_get rma_atomic
    file_open file_close file_meta file_io file_io_all file_io_ordered file_iio file_iio_all file_begin file_end
""".split()

# What follows the call of PMPI, by semantic class.
AFTER = {
    "send": "record_send(call, result, {count}, {datatype}, dest, tag, comm);",
    "recv": "record_receive(call, result, source, tag, comm, own.get());",
    "sendrecv": "record_sendrecv(call, result, {count}, {datatype}, dest, sendtag, source, recvtag, comm, own.get());",
    "buffer_detach": "call.write();",
    "isend": "record_isend(call, result, {count}, {datatype}, dest, tag, comm, request);",
    "irecv": "record_irecv(call, result, {count}, {datatype}, source, tag, comm, request);",
    "send_init": "record_send_init(call, result, {count}, {datatype}, dest, tag, comm, request);",
    "recv_init": "record_recv_init(call, result, {count}, {datatype}, source, tag, comm, request);",
    "probe": "record_probe(call, result, source, tag, comm, own.get());",
    "iprobe": "record_iprobe(call, result, *flag, source, tag, comm, own.get(), __builtin_return_address(0));",
    "collective": "record_collective(call, result, {root}, comm, "
    "[&](const VolumeOf& volume) {{ return volume.{short}({arguments}); }});",
    "comm_create": "record_comm_create(call, result, {parent}, {child});",
}

WRAPPER = """
{prototype}
{{
    Call call(FunctionId::{name});
    const int result = call.run([&] {{ return pmpi.{short}({arguments}); }});
    if (call.recorded()) {{
        {after}
    }}
    return result;
}}
"""

# Calls that return a status: an own one stands in where the application ignores it.
STATUS_WRAPPER = """
{prototype}
{{
    Call call(FunctionId::{name});
    OwnStatus own(status, call.recorded());
    const int result = call.run([&] {{ return pmpi.{short}({arguments}); }});
    if (call.recorded()) {{
        {after}
    }}
    return result;
}}
"""

# The handle is gone after the call, and another thread may get it again at once.
COMM_FREE_WRAPPER = """
{prototype}
{{
    Call call(FunctionId::{name});
    const MPI_Comm freed = call.recorded() && comm != nullptr ? *comm : MPI_Comm();
    const std::int32_t id = call.recorded() ? process.communicators.id(freed) : -1;
    const int result = call.run([&] {{ return pmpi.{short}({arguments}); }});
    if (call.recorded()) {{
        record_comm_free(call, result, freed, id);
    }}
    return result;
}}
"""

TEMPLATES = {"comm_free": COMM_FREE_WRAPPER}


def prototype(function):
    parameters = ", ".join(p.declaration for p in function.parameters) or "void"
    return f'extern "C" int {function.name}({parameters})'


def only(function, role, names):
    """The name of the one parameter that plays a role."""
    if len(names) != 1:
        raise ValueError(f"{function.name}: expected one parameter as {role}, found {names}")
    return names[0]


def roles(function):
    """The parameters that differ in name between functions of one class."""
    present = {p.name for p in function.parameters}
    found = {
        "count": "sendcount" if "sendcount" in present else "count",
        "datatype": "sendtype" if "sendtype" in present else "datatype",
        "root": "root" if "root" in present else "no_root",
    }
    if function.semantic_class == "comm_create":
        by_type = {"MPI_Comm ": [], "MPI_Comm *": []}
        for p in function.parameters:
            by_type.setdefault(p.declaration.removesuffix(p.name), []).append(p.name)
        found["parent"] = only(function, "parent", by_type["MPI_Comm "])
        found["child"] = only(function, "new communicator", by_type["MPI_Comm *"])
    return found


def wrapper(function):
    arguments = ", ".join(p.name for p in function.parameters)
    names = {"name": function.name, "short": function.short_name, "arguments": arguments}
    template = TEMPLATES.get(function.semantic_class)
    if template is None:
        has_status = function.has("status")
        template = STATUS_WRAPPER if has_status else WRAPPER
        names["after"] = AFTER[function.semantic_class].format(**names, **roles(function))
        if has_status:
            names["arguments"] = arguments.replace("status", "own.get()")
    return template.format(prototype=prototype(function), **names)


def main(table, directory):
    functions = [f for f in read_table(table) if f.semantic_class not in PENDING]
    output = Path(directory)
    pmpi = sorted({f.short_name for f in functions} | set(HELPERS))
    regular = [f for f in functions if f.semantic_class not in BY_HAND]
    exports = "".join(f"        {f.name};\n" for f in functions)
    (output / "pmpi.inc").write_text("".join(f"CRITPATH_PMPI({name})\n" for name in pmpi))
    (output / "wrappers.inc").write_text("".join(wrapper(f) for f in regular))
    (output / "exports.map").write_text(
        "{\n    global:\n" + exports + "        pthread_create;\n    local:\n        *;\n};\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
