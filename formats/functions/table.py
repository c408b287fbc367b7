# SPDX-License-Identifier: BSD-3-Clause
"""Reads functions.table: the one list of the MPI functions that critpath records."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path


@dataclass(frozen=True)
class Parameter:
    """One parameter of the C binding: `declaration` is legal C, `name` is the standard's name."""

    declaration: str
    name: str


@dataclass(frozen=True)
class Function:
    """One row. `keys` holds the key=value pairs of the second column."""

    name: str
    semantic_class: str
    keys: dict = field(hash=False)
    parameters: tuple = ()
    symbol: str = ""  # what the MPI library calls it, if that is not `name`
    is_large: bool = False  # the form with large counts (MPI_Send_c), which is recorded under the same name

    @property
    def short_name(self):
        return self.name.removeprefix("MPI_")

    @property
    def own_name(self):
        """Without MPI_, and another one for large counts."""
        return f"{self.short_name}_c" if self.is_large else self.short_name

    @property
    def linked_name(self):
        return self.symbol or self.name

    def has(self, *names):
        return all(any(p.name == n for p in self.parameters) for n in names)


def read_table(path):
    """Returns the rows in file order; raises ValueError with file and line on a malformed row."""
    functions = []
    for number, line in enumerate(Path(path).read_text().splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        columns = [c.strip() for c in line.split("|")]
        if len(columns) != 3:
            raise ValueError(f"{path}:{number}: expected 3 columns, found {len(columns)}")
        name, semantics, parameters = columns
        semantic_class, *pairs = semantics.split()
        functions.append(
            Function(name, semantic_class, dict(p.split("=") for p in pairs), _parameters(parameters))
        )
    names = [f.name for f in functions]
    repeated = {n for n in names if names.count(n) > 1}
    if repeated:
        raise ValueError(f"{path}: listed twice: {', '.join(sorted(repeated))}")
    return functions


def offered(functions, declarations):
    """Those of `functions` that an MPI library has: of what came after MPI-3.1, what `declarations` (the text of its
    header) name, or name as an extension (MPIX_Barrier_init for MPI_Barrier_init). With them the forms with large
    counts that it has."""
    declared = set(re.findall(r"\bMPIX?_\w+", declarations))
    found = []
    for function in functions:
        extension = function.name.replace("MPI_", "MPIX_")
        if "since" not in function.keys:
            found.append(function)
        elif function.name in declared:
            found.append(replace(function, parameters=_as_declared(function, declarations)))
        elif extension in declared:
            found.append(replace(function, symbol=extension))
        large = f"{function.name}_c"
        if large in declared:
            twin = replace(function, symbol=large, is_large=True)
            found.append(replace(twin, parameters=_as_declared(twin, declarations)))
    return found


def _as_declared(function, declarations):
    """The parameters with the types that a header gives to the numbers, and without what it has left out: MPICH 4.0 lacks
    the const of MPI_Pready_list's array."""
    declared = re.search(rf"\b{function.linked_name}\s*\(([^)]*)\)", declarations)[1].split(",")
    return tuple(_declared_as(p, there) for p, there in zip(function.parameters, declared, strict=True))


def _declared_as(parameter, there):
    declaration = parameter.declaration
    for number in ("MPI_Count", "MPI_Aint"):
        if number in there:
            declaration = re.sub(r"\bint\b", number, declaration)
    if "const" not in there:
        declaration = declaration.replace("const ", "")
    return replace(parameter, declaration=declaration)


def _parameters(text):
    if text == "void":
        return ()
    declarations = [d.strip() for d in text.split(",")]
    return tuple(Parameter(d, "..." if d == "..." else re.search(r"(\w+)\s*(\[\])?$", d).group(1)) for d in declarations)
