# SPDX-License-Identifier: BSD-3-Clause
"""What the Fortran bindings of the functions in functions.table look like to the linker: names and parameters.

`mpif.h` and `use mpi` call mpi_send_, `use mpi_f08` calls mpi_send_f08_; both pass everything by reference, handles and
statuses as integers, and the lengths of strings by value behind everything else. Compilers with another convention for
names (capitals, no underscore) are not served: mpi_send and MPI_SEND are names that programs use for functions of their
own, and a preloaded library must not stand in for those.

Open MPI: the bindings call PMPI_Send, which no C wrapper sees, so all of them are wrapped.
MPICH: the bindings call MPI_Send, and the C wrapper of that records. Except those of `use mpi_f08` for functions without
choice buffers: these are Fortran, and call PMPI_Barrier. Only they are wrapped.
"""

import re
from dataclasses import dataclass

# `use mpi` calls these if the base address is a type(c_ptr).
C_POINTER_VARIANTS = ("MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared")


@dataclass(frozen=True)
class Argument:
    """One argument of the Fortran binding: `type` is its C type, `name` the standard's name, `c_type` the type in the C
    binding, without `const` and without the name."""

    type: str
    name: str
    c_type: str


def c_type(parameter):
    """The type in the C binding, without const and name: "int", "int *", "MPI_Datatype []"."""
    declaration = re.sub(r"\bconst\s+", "", parameter.declaration)
    return re.sub(rf"\b{parameter.name}\b", "", declaration).strip()


def arguments(function):
    """Of the Fortran binding, without ierror and without the lengths of strings."""
    if function.semantic_class == "init":
        parameters = [p for p in function.parameters if p.name not in ("argc", "argv")]
    else:
        parameters = [p for p in function.parameters if p.name != "..."]
    return [Argument(fortran_type(c_type(p)), p.name, c_type(p)) for p in parameters]


def fortran_type(type_in_c):
    base = type_in_c.split()[0]
    if base == "char":
        return "char*"
    if base == "void":
        return "void*"
    return f"{base}*" if base in ("MPI_Aint", "MPI_Offset", "MPI_Count") else "MPI_Fint*"


def strings(function):
    """Names of the arguments whose lengths follow at the end."""
    return [a.name for a in arguments(function) if a.type == "char*"]


def has_ierror(function, mpi):
    """MPI_Pcontrol has none in the standard, but has one in MPICH."""
    return function.semantic_class != "pcontrol" or mpi == "MPICH"


def symbols(function, mpi):
    """Names of the bindings that are wrapped, each with whether it is that of `use mpi_f08`. The name of MPI's own
    entry is the same with "p" before it."""
    name = function.linked_name.lower()
    if mpi == "MPICH":
        has_buffer = any(a.type == "void*" and a.name not in ("baseptr",) for a in arguments(function))
        is_wrapped = not has_buffer or function.semantic_class == "buffer_detach"
        binding = f"{function.name.lower()}_f08_large_" if function.is_large else f"{name}_f08_"
        return [(binding, True)] if is_wrapped else []
    if function.is_large:
        return []  # no version of Open MPI that is known has them
    variants = [(f"{name}_", False), (f"{name}_f08_", True)]
    if function.name in C_POINTER_VARIANTS:
        variants.append((f"{name}_cptr_", False))
    return variants


def aliases(symbol, is_f08):
    """Other names of the same binding: compilers after the convention of f2c put two underscores."""
    return [] if is_f08 else [f"{symbol}_"]


def exported(functions, mpi):
    """All names that the preload library defines for Fortran."""
    names = []
    for function in functions:
        for symbol, is_f08 in symbols(function, mpi):
            names += [symbol, *aliases(symbol, is_f08)]
    return names
