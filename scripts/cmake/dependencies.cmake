# SPDX-License-Identifier: BSD-3-Clause
# Finds everything that critpath is built from; all of it is in Debian 12 (scripts/packages.txt).

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(MPI REQUIRED COMPONENTS C)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(SQLite3 REQUIRED)
pkg_check_modules(OTF2 REQUIRED IMPORTED_TARGET otf2)
pkg_check_modules(DW REQUIRED IMPORTED_TARGET libdw libelf)
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)

if(CRITPATH_TESTS)
    find_package(GTest REQUIRED)
endif()
if(CRITPATH_BENCH)
    find_package(benchmark REQUIRED)
endif()

# Which MPI: the preload library fits the one it was built with.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_c_source_compiles("#include <mpi.h>
#ifndef OPEN_MPI
#error
#endif
int main(void) { return 0; }" CRITPATH_HAS_OPEN_MPI)
check_c_source_compiles("#include <mpi.h>
#ifndef MPICH_VERSION
#error
#endif
int main(void) { return 0; }" CRITPATH_HAS_MPICH)
unset(CMAKE_REQUIRED_LIBRARIES)
if(CRITPATH_HAS_OPEN_MPI)
    set(CRITPATH_MPI "Open MPI")
elseif(CRITPATH_HAS_MPICH)
    set(CRITPATH_MPI "MPICH")
else()
    message(FATAL_ERROR "${MPI_C_INCLUDE_DIRS}: neither Open MPI nor MPICH; give one of them with -DMPI_C_COMPILER=")
endif()
