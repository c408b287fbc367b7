# SPDX-License-Identifier: BSD-3-Clause
#
# The Fortran wrappers, as a part of the preload library.

set(fortran ${PROJECT_SOURCE_DIR}/collector/fortran)
set(fortran_generated fortran_symbols.inc fortran_bodies.hpp fortran_regular.inc fortran_entries.inc)
list(TRANSFORM fortran_generated PREPEND ${generated}/)
add_custom_command(
    OUTPUT ${fortran_generated}
    COMMAND Python3::Interpreter -B generate.py ${functions}/functions.table ${declarations} ${CRITPATH_MPI} ${generated}
    DEPENDS ${fortran}/generate.py ${fortran}/bindings.py ${PROJECT_SOURCE_DIR}/collector/mpi/generate.py
            ${functions}/table.py ${functions}/functions.table ${declarations}
    WORKING_DIRECTORY ${fortran}
    COMMENT "Generating the Fortran wrappers"
    VERBATIM)
target_sources(critpath-preload PRIVATE
    ${fortran}/convert.cpp ${fortran}/library.cpp ${fortran}/wrappers_completion.cpp
    ${fortran}/wrappers_lifecycle.cpp ${fortran}/wrappers_regular.cpp ${fortran}/wrappers_requests.cpp
    ${fortran_generated})
