# SPDX-License-Identifier: BSD-3-Clause
"""Writes functions.inc, the function table as X-macro rows for C++ (see functions.hpp).

usage: generate.py functions.table functions.inc
"""

import sys
from pathlib import Path

from table import read_table


def camel(word):
    return "".join(part.capitalize() for part in word.split("_"))


SHAPES = {"nxn": "AllToAll", "1xn": "OneToAll", "nx1": "AllToOne", "data": "DataDriven"}


def row(function):
    mode = camel(function.keys.get("mode", "none"))
    shape = function.keys.get("shape", "none")
    shape = SHAPES.get(shape, camel(shape))
    return f"CRITPATH_FUNCTION({function.name}, {camel(function.semantic_class)}, {mode}, {shape})\n"


def main(table, output):
    Path(output).write_text("".join(row(f) for f in read_table(table)))


if __name__ == "__main__":
    main(*sys.argv[1:])
