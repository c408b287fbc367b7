# SPDX-License-Identifier: BSD-3-Clause
"""Writes what the preload library takes from functions.table.

usage: generate.py functions.table declarations mpi directory

    declarations  the text of mpi.h, preprocessed: says which functions the library has
    mpi           "Open MPI" or "MPICH"

    pmpi.inc      CRITPATH_PMPI(name, function) for each PMPI function that the library calls; name: Send, Send_c
    wrappers.inc  the wrappers of the regular semantic classes
    wrapped.inc   CRITPATH_WRAPPED(name) for each MPI function that has a wrapper
    exports.map   linker version script: what the library exports

The wrappers of the irregular classes (BY_HAND) stand in wrappers_*.cpp, those for Fortran in collector/fortran. The
output depends on these arguments alone.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "formats" / "functions"))
from table import offered, read_table  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fortran"))
import bindings  # noqa: E402

# Called by the library itself, not wrapped.
HELPERS = """
    Cart_get Cartdim_get Comm_group Comm_rank Comm_remote_group Comm_remote_size Comm_set_errhandler Comm_size Comm_test_inter
    Dist_graph_neighbors Dist_graph_neighbors_count Error_class Get_elements_x Graph_neighbors Graph_neighbors_count
    Group_free Group_size Group_translate_ranks Query_thread Request_get_status Test_cancelled Topo_test Type_size_x
""".split()

BY_HAND = """
    init finalize mprobe improbe start startall cancel request_free request_get_status
    wait waitall waitany waitsome test testall testany testsome comm_create_group comm_idup pcontrol abort
""".split()

# What follows the call of PMPI, by semantic class.
AFTER = {
    "send": "record_send(call, result, {count}, {datatype}, dest, tag, comm);",
    "recv": "record_receive(call, result, source, tag, comm, own.get());",
    "sendrecv": "record_sendrecv(call, result, {count}, {datatype}, dest, sendtag, source, recvtag, comm, own.get());",
    "buffer_detach": "call.write();",
    "isend": "record_isend(call, result, {count}, {datatype}, dest, tag, comm, request);",
    "irecv": "record_irecv(call, result, {count}, {datatype}, source, tag, comm, request);",
    "isendrecv": "record_isendrecv(call, result, {count}, {datatype}, dest, sendtag, {receive_count}, {receive_type}, "
    "source, recvtag, comm, request);",
    "psend_init": "record_psend_init(call, result, partitions, count, datatype, dest, tag, comm, request);",
    "precv_init": "record_precv_init(call, result, partitions, count, datatype, source, tag, comm, request);",
    "pready": "record_pready(call, result, ready);",
    "parrived": "record_parrived(call, result, result == MPI_SUCCESS && *flag != 0, partition, request, __builtin_return_address(0));",
    "send_init": "record_send_init(call, result, {count}, {datatype}, dest, tag, comm, request);",
    "mrecv": "record_mrecv(call, result, taken, own.get());",
    "imrecv": "record_imrecv(call, result, taken, count, datatype, request);",
    "recv_init": "record_recv_init(call, result, {count}, {datatype}, source, tag, comm, request);",
    "probe": "record_probe(call, result, source, tag, comm, own.get());",
    "iprobe": "record_iprobe(call, result, result == MPI_SUCCESS && *flag != 0, source, tag, comm, own.get(), __builtin_return_address(0));",
    "collective": "record_collective(call, result, {root}, comm, "
    "[&](const VolumeOf& volume) {{ return volume.{short}({arguments}); }});",
    "icollective": "record_icollective(call, result, {root}, comm, request, "
    "[&](const VolumeOf& volume) {{ return volume.{blocking}({blocking_arguments}); }});",
    "collective_init": "record_collective_init(call, result, FunctionId::{non_blocking}, {root}, comm, request, "
    "[&](const VolumeOf& volume) {{ return volume.{blocking}({blocking_arguments}); }});",
    "local": "call.write();",
    "comm_create": "record_comm_create(call, result, {parent}, {child});",
    "comm_free": "record_comm_free(call, result, freed, id);",
    "comm_dynamic": "record_comm_dynamic(call, result, {root}, {comm}, {child});",
    "win_create": "record_win_create(call, result, {size}, comm, win);",
    "win_free": "record_win_free(call, result, taken);",
    "win_fence": "record_win(call, result, assert, win);",
    **dict.fromkeys(("win_complete", "win_wait", "win_sync"), "record_win(call, result, no_assertions, win);"),
    **dict.fromkeys(("win_start", "win_post"), "record_win_group(call, result, group, assert, win);"),
    "win_test": "record_win_test(call, result, win, flag, __builtin_return_address(0));",
    "win_lock": "record_win_lock(call, result, {lock_type}, {target}, win);",
    **dict.fromkeys(("win_unlock", "win_flush"), "record_win_target(call, result, {target}, win);"),
    **dict.fromkeys(
        ("rma_put", "rma_get", "rma_atomic"), "record_rma(call, result, target_rank, {to}, {back}, win, {request});"
    ),
    "file_open": "record_file_open(call, result, comm, filename, fh);",
    "file_close": "record_file_close(call, result, taken);",
    "file_meta": "record_file(call, result, fh);",
    **dict.fromkeys(
        ("file_io", "file_io_all", "file_io_ordered"),
        "record_file_io(call, result, FileData::{data}, fh, count, datatype, own.get());",
    ),
    **dict.fromkeys(
        ("file_iio", "file_iio_all"),
        "record_file_iio(call, result, FileData::{data}, fh, count, datatype, {request});",
    ),
    "file_begin": "record_file_begin(call, result, FileData::{data}, fh, count, datatype);",
    "file_end": "record_file_end(call, result, FileData::{data}, fh, own.get());",
}

WRAPPER = """
{prototype}
{{
    Call call(FunctionId::{name});
{before}    const int result = call.run([&] {{ return next_mpi.{own}({arguments}); }}{hits});
    if (call.{condition}()) {{
        {after}
    }}
{behind}    return result;
}}
"""

# What makes or takes away an object, which may be used after a callback in which that happened.
FOLLOWED = """
    comm_create comm_create_group comm_dynamic comm_idup comm_free win_create win_free file_open file_close
""".split()

# What counts although a callback makes it, so that what comes later is matched with what belongs to it.
COUNTED = "send recv sendrecv collective".split()

# The handle is gone after the call, and another thread may get it again at once.
TAKEN = {
    "comm_free": """\
    const MPI_Comm freed = call.follows() && comm != nullptr ? *comm : MPI_Comm();
    const std::int32_t id = call.follows() ? process.communicators.id(freed) : -1;
""",
    "win_free": "    const auto taken = taken_window(call, win);\n",
    "file_close": "    const auto taken = taken_file(call, fh);\n",
    **dict.fromkeys(
        ("mrecv", "imrecv"),
        "    const TakenMessage taken(call, call.recorded() && message != nullptr ? *message : MPI_Message());\n",
    ),
}

# What they make ready, before the call.
READY = "    const ReadyPartitions ready(call, {partitions}, {request});\n"

# Calls that return a status: an own one stands in where the application ignores it.
OWN_STATUS = "    OwnStatus own(status, {needed});\n"

# Collectives in which every rank waits for every other: where clocks may be compared, also if nothing is recorded.
WATCH_CLOCKS = "    watch_clocks(call, result, comm);\n"


def prototype(function):
    parameters = ", ".join(p.declaration for p in function.parameters) or "void"
    return f'extern "C" int {function.linked_name}({parameters})'


def only(function, role, names):
    """The name of the one parameter that plays a role."""
    if len(names) != 1:
        raise ValueError(f"{function.name}: expected one parameter as {role}, found {names}")
    return names[0]


def elements(function):
    """What a one-sided transfer brings to the target, and what it brings back (MPI-3.1, 11.3)."""
    target = "target_count, target_datatype" if function.has("target_count") else "1, datatype"
    result = "result_count, result_datatype" if function.has("result_count") else "1, datatype"
    if function.semantic_class == "rma_put":
        return {"to": f"Elements{{{target}}}", "back": "Elements{}"}
    if function.semantic_class == "rma_get":
        return {"to": "Elements{}", "back": f"Elements{{{target}}}"}
    return {
        "to": f"operands({target}, op)" if function.has("op") else f"Elements{{{target}}}",
        "back": f"Elements{{{result}}}" if function.has("result_addr") else "Elements{}",
    }


def ready(function, request, value):
    """READY, for MPI_Pready and its kin. `value` says how a parameter is read."""
    present = {p.name for p in function.parameters}
    partitions = "1"
    if "length" in present:
        partitions = value("length")
    elif "partition_high" in present:
        partitions = f"{value('partition_high')} - {value('partition_low')} + 1"
    return READY.format(partitions=partitions, request=request)


def roles(function):
    """The parameters that differ in name between functions of one class."""
    present = {p.name for p in function.parameters}
    found = {
        "count": "sendcount" if "sendcount" in present else "count",
        "datatype": "sendtype" if "sendtype" in present else "datatype",
        "receive_count": "recvcount" if "recvcount" in present else "count",
        "receive_type": "recvtype" if "recvtype" in present else "datatype",
        "root": "root" if "root" in present else "no_root",
        "comm": "comm" if "comm" in present else "handles.comm_null",
        "request": "request" if "request" in present else "nullptr",
        "size": "size" if "size" in present else "0",
        "target": "rank" if "rank" in present else "all_targets",
        "lock_type": "lock_type" if "lock_type" in present else "MPI_LOCK_SHARED",
        "data": {"read": "Read", "write": "Written"}.get(function.keys.get("io")),
    }
    if function.semantic_class == "icollective":
        found["blocking"] = function.short_name.removeprefix("I").capitalize()
    if function.semantic_class == "collective_init":
        found["blocking"] = function.short_name.removesuffix("_init")
        found["non_blocking"] = f"MPI_I{found['blocking'].lower()}"
    if "blocking" in found:
        own = ("info", "request")
        found["blocking_arguments"] = ", ".join(p.name for p in function.parameters if p.name not in own)
    if function.semantic_class.startswith("rma_"):
        found |= elements(function)
    if function.semantic_class in ("comm_create", "comm_dynamic"):
        by_type = {"MPI_Comm ": [], "MPI_Comm *": []}
        for p in function.parameters:
            by_type.setdefault(p.declaration.removesuffix(p.name), []).append(p.name)
        found["child"] = only(function, "new communicator", by_type["MPI_Comm *"])
        if function.semantic_class == "comm_create":
            found["parent"] = only(function, "parent", by_type["MPI_Comm "])
    return found


def condition(function):
    """What the function's Call says if there is something to do after the call."""
    if function.semantic_class in FOLLOWED:
        return "follow"
    return "counts" if function.semantic_class in COUNTED else "recorded"


def needs_status(function):
    """Before the call."""
    also = " || call.is_in_callback()" if function.semantic_class in COUNTED else ""
    return f"call.recorded(){also}"


def hits(function):
    """The argument that says whether a poll has found anything."""
    return "flag" if function.semantic_class in ("iprobe", "win_test", "parrived") else None


def is_all_to_all(function):
    return function.semantic_class == "collective" and function.keys.get("shape") == "nxn"


def wrapper(function):
    arguments = ", ".join(p.name for p in function.parameters)
    names = {"name": function.name, "short": function.short_name, "own": function.own_name, "arguments": arguments}
    after = AFTER[function.semantic_class].format(**names, **roles(function))
    before = TAKEN.get(function.semantic_class, "")
    if function.semantic_class == "pready":
        before = ready(function, "request", str)
    if function.has("status"):
        before += OWN_STATUS.format(needed=needs_status(function))
        names["arguments"] = arguments.replace("status", "own.get()")
    return WRAPPER.format(
        **names,
        prototype=prototype(function),
        before=before,
        hits=f", {hits(function)}" if hits(function) else "",
        condition=condition(function),
        after=after,
        behind=WATCH_CLOCKS if is_all_to_all(function) else "",
    )


# Functions of the C library that are interposed, too.
OTHERS = ("dlclose", "dlsym", "execl", "execle", "execlp", "execv", "execve", "execvp", "execvpe", "fexecve",
          "pthread_create", "sched_yield", "sigaltstack", "thrd_create")


def main(table, declarations, mpi, directory):
    functions = offered(read_table(table), Path(declarations).read_text())
    output = Path(directory)
    pmpi = {name: f"MPI_{name}" for name in HELPERS} | {f.own_name: f.linked_name for f in functions}
    regular = [f for f in functions if f.semantic_class not in BY_HAND]
    exported = [f.linked_name for f in functions] + bindings.exported(functions, mpi)
    exports = "".join(f"        {name};\n" for name in (*exported, *OTHERS))
    (output / "pmpi.inc").write_text("".join(f"CRITPATH_PMPI({n}, P{pmpi[n]})\n" for n in sorted(pmpi)))
    (output / "wrapped.inc").write_text("".join(f"CRITPATH_WRAPPED({f.linked_name})\n" for f in functions))
    (output / "wrappers.inc").write_text("".join(wrapper(f) for f in regular))
    (output / "exports.map").write_text(
        "{\n    global:\n" + exports + "    local:\n        *;\n};\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
