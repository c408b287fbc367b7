# SPDX-License-Identifier: BSD-3-Clause
# Finds everything that critpath is built from; all of it is in Debian 12 (scripts/packages.txt).

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(MPI REQUIRED COMPONENTS C CXX)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(SQLite3 REQUIRED)
pkg_check_modules(OTF2 REQUIRED IMPORTED_TARGET otf2)
pkg_check_modules(DW REQUIRED IMPORTED_TARGET libdw libelf)

if(CRITPATH_TESTS)
    find_package(GTest REQUIRED)
endif()
if(CRITPATH_BENCH)
    find_package(benchmark REQUIRED)
endif()
