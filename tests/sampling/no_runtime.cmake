# SPDX-License-Identifier: BSD-3-Clause
# Fails if the library refers to the C++ runtime, to an allocator, to stdio or to a sanitizer.
execute_process(COMMAND ${NM} --undefined-only ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES " U clock_gettime")
    message(FATAL_ERROR "${LIBRARY}: no list of its undefined symbols could be made")
endif()
string(REGEX MATCHALL " U (_ZSt|_ZNSt|_ZNKSt|_Zn|_Zd|__cxa|__gxx|__asan|__ubsan|malloc|calloc|realloc|free|fopen|fputs|[a-z]*printf|std)[^\n]*"
       forbidden "${symbols}")
if(forbidden)
    message(FATAL_ERROR "${LIBRARY} refers to${forbidden}; the preload library must not")
endif()
