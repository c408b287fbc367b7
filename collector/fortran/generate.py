# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Fortran wrappers of the preload library from functions.table.

usage: generate.py functions.table declarations mpi directory          as of collector/mpi/generate.py

    fortran_symbols.inc  CRITPATH_FORTRAN(symbol) for each Fortran binding that is wrapped
    fortran_bodies.hpp   for each function its type in Fortran, and the function that wraps it
    fortran_regular.inc  those of these functions that follow from the semantic class
    fortran_entries.inc  what is exported: one entry a binding

What is recorded after the call is the same as in C and stands in collector/mpi/generate.py: here are only the
conversions of what it needs. The irregular functions (BY_HAND) stand in wrappers_*.cpp. Arguments as Fortran passes
them have names that begin with f_. The output depends on these arguments alone.
"""

import importlib.util
import re
import sys
from pathlib import Path

from bindings import aliases, arguments, has_ierror, strings, symbols

collector = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(collector.parent / "formats" / "functions"))
from table import offered, read_table  # noqa: E402

specification = importlib.util.spec_from_file_location("c_wrappers", collector / "mpi" / "generate.py")
c_wrappers = importlib.util.module_from_spec(specification)
specification.loader.exec_module(c_wrappers)

BY_HAND = """
    init finalize abort pcontrol mrecv imrecv improbe startall request_free request_get_status
    wait waitall waitany waitsome test testall testany testsome
""".split()

# Where it differs from C, or where C has it by hand.
AFTER = c_wrappers.AFTER | {
    "start": "record_start(call, result, request);",
    "cancel": "record_cancel(call, result, request);",
    "mprobe": "record_matched(call, result, source, tag, comm, message, own.get());",
    "comm_idup": "record_comm_idup(call, result, comm, newcomm, request);",
    "file_open": "record_file_open(call, result, comm, f_filename, trimmed(f_filename, filename_length), fh);",
    "comm_free": "record_comm_free(call, result, taken_handle, taken);",
}
AFTER_FUNCTION = {
    "MPI_Comm_create_group": "record_comm_create_group(call, result, comm, tag, newcomm);",
    "MPI_Intercomm_create": "record_intercomm_create(call, result, local_comm, tag, newintercomm);",
}

# Handles that the call takes away, as they were before.
TAKEN = """\
    const {type} taken_handle = call.follows() ? from_fortran<{type}>(*f_{name}) : {type}();
    const auto taken = {look_up};
"""
TAKEN_LOOK_UP = {
    "comm_free": "call.follows() ? process.communicators.id(taken_handle) : -1",
    "win_free": "taken_window(call, &taken_handle)",
    "file_close": "taken_file(call, &taken_handle)",
}

BODY = """
void {own}({parameters})
{{
{scalars}    Call call(FunctionId::{name}, caller);
{before}    Ierror ierror(f_ierror);
    {keep}call.run([&] {{
        function({passed});
        return ierror.value();
    }}{hits});
    if (call.{followed}()) {{
{conversions}        {after}
    }}
{behind}}}
"""

# The compiler hides what no header of MPI declares.
ENTRY = """
extern "C" __attribute__((visibility("default"))) void {symbol}({parameters})
{{
    {own}Function* const function = real<{own}Function>(index_{symbol});
    if (function == nullptr) {{
        report_missing(critpath::preload::FunctionId::{name}, {ierror});
        return;
    }}
    {own}(CRITPATH_CALLER, function{arguments});
}}
"""

ALIAS = 'extern "C" void {alias}({parameters}) __attribute__((visibility("default"), alias("{symbol}")));\n'


IERROR = "MPI_Fint* f_ierror"


def parameters(function):
    """As the bindings pass them. One that has no ierror is given one all the same, which it does not look at."""
    listed = [f"{a.type} f_{a.name}" for a in arguments(function)]
    return [*listed, IERROR, *(f"std::size_t {name}_length" for name in strings(function))]


def names(declarations):
    return [d.split()[-1] for d in declarations]


def body_parameters(function):
    return ", ".join(["const Caller& caller", f"{function.own_name}Function* function", *parameters(function)])


SCALARS = ("int", "MPI_Aint", "MPI_Offset", "MPI_Count")


def convert(argument):
    """Declares what C calls by the name of the argument. Runs after the call."""
    name, fortran = argument.name, f"f_{argument.name}"
    kind = argument.c_type
    if kind == "void *":
        return f"void* const {name} = to_buffer({fortran});"
    if kind in ("int *", "int []", "MPI_Aint []", "MPI_Aint *"):
        return f"const auto* const {name} = {fortran};"
    if kind == "MPI_Request *":
        return (
            f"const MPI_Request c_{name} = after<MPI_Request>(result, {fortran});\n"
            f"        const RequestVariable {name}(&c_{name}, {fortran});"
        )
    handle, _, pointer = kind.partition(" ")
    if pointer == "*":
        return f"const {handle} c_{name} = after<{handle}>(result, {fortran});\n        const {handle}* const {name} = &c_{name};"
    if pointer == "":
        return f"const {handle} {name} = from_fortran<{handle}>(*{fortran});"
    raise ValueError(f"{name}: no conversion of {kind}")


def type_arrays(function):
    """Of MPI_Alltoallw and its kin: as many types as there are partners."""
    neighbours = "true" if "eighbor" in function.name else "false"
    return [
        f"TypeArrays types(call.thread(), result, comm, {neighbours}, f_sendbuf, f_sendtypes, f_recvtypes);",
        "if (!types.good()) {\n            call.write();\n            return;\n        }",
        "const MPI_Datatype* const sendtypes = types.send();",
        "const MPI_Datatype* const recvtypes = types.receive();",
    ]


def used_arguments(function, after):
    used = set(re.findall(r"\b[a-z]\w*\b", after))
    return [a for a in arguments(function) if a.name in used]


def scalars(function, after):
    """Numbers, taken before the call: programs give parts of the status as source and tag of the receive."""
    used = [a for a in used_arguments(function, after) if a.c_type in SCALARS]
    return "".join(f"    const {a.c_type} {a.name} = *f_{a.name};\n" for a in used)


def conversions(function, after):
    elsewhere = (*SCALARS, "MPI_Status *", "MPI_Datatype []")
    listed = [convert(a) for a in used_arguments(function, after) if a.c_type not in elsewhere]
    if function.has("sendtypes"):
        listed += type_arrays(function)
    return "".join(f"        {line}\n" for line in listed)


def body(function):
    semantic_class = function.semantic_class
    c_arguments = ", ".join(p.name for p in function.parameters)
    known = {"name": function.name, "short": function.short_name, "own": function.own_name, "arguments": c_arguments}
    after = AFTER_FUNCTION.get(function.name) or AFTER[semantic_class]
    after = after.format(**known, **c_wrappers.roles(function)) if "{" in after else after
    after = after.replace("__builtin_return_address(0)", "caller.site")
    before = behind = ""
    passed = [{"f_ierror": "ierror.get()"}.get(n, n) for n in names(parameters(function))]
    if function.has("status"):
        before = f"    FortranStatus own(f_status, {c_wrappers.needs_status(function)});\n"
        passed = ["own.fortran()" if n == "f_status" else n for n in passed]
    if semantic_class == "pready":
        before = c_wrappers.ready(function, "from_fortran<MPI_Request>(*f_request)", "*f_{}".format)
    if semantic_class in TAKEN_LOOK_UP:
        (argument,) = arguments(function)
        before = TAKEN.format(
            type=argument.c_type.split()[0], name=argument.name, look_up=TAKEN_LOOK_UP[semantic_class]
        )
    if c_wrappers.is_all_to_all(function):
        behind = (
            "    if (watching_clocks) {\n        watch_clocks(call, result, from_fortran<MPI_Comm>(*f_comm));\n    }\n"
        )
    return BODY.format(
        **known | {"passed": ", ".join(passed)},
        parameters=body_parameters(function),
        scalars=scalars(function, after),
        keep="const int result = " if "result" in after + behind else "",
        before=before,
        conversions=conversions(function, after),
        hits=f", f_{c_wrappers.hits(function)}" if c_wrappers.hits(function) else "",
        followed=c_wrappers.condition(function),
        after=after,
        behind=behind,
    )


def entries(function, mpi):
    listed = parameters(function)
    passed = "".join(f", {n}" for n in names(listed))
    ierror = "f_ierror"
    if not has_ierror(function, mpi):
        listed.remove(IERROR)
        ierror = "nullptr"
        passed = passed.replace("f_ierror", ierror)
    signature = ", ".join(listed)
    text = ""
    for symbol, is_f08 in symbols(function, mpi):
        text += ENTRY.format(
            symbol=symbol,
            name=function.name,
            own=function.own_name,
            parameters=signature,
            ierror=ierror,
            arguments=passed,
        )
        text += "".join(ALIAS.format(alias=a, symbol=symbol, parameters=signature) for a in aliases(symbol, is_f08))
    return text


def declaration(function):
    return (
        f"using {function.own_name}Function = void({', '.join(parameters(function))});\n"
        f"void {function.own_name}({body_parameters(function)});\n"
    )


def main(table, declarations, mpi, directory):
    all_functions = offered(read_table(table), Path(declarations).read_text())
    functions = [f for f in all_functions if symbols(f, mpi)]
    output = Path(directory)
    regular = [f for f in functions if f.semantic_class not in BY_HAND]
    listed = [symbol for f in functions for symbol, _ in symbols(f, mpi)]
    (output / "fortran_symbols.inc").write_text("".join(f"CRITPATH_FORTRAN({s})\n" for s in listed))
    (output / "fortran_bodies.hpp").write_text("".join(declaration(f) for f in all_functions))
    (output / "fortran_regular.inc").write_text("".join(body(f) for f in regular))
    (output / "fortran_entries.inc").write_text("".join(entries(f, mpi) for f in functions))


if __name__ == "__main__":
    main(*sys.argv[1:])
