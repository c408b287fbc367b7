# SPDX-License-Identifier: BSD-3-Clause
# How targets are declared here: one function a kind of target, so that flags stand in one place.

add_library(critpath_options INTERFACE)
target_compile_options(critpath_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                                  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
if(CRITPATH_WERROR)
    target_compile_options(critpath_options INTERFACE -Werror)
endif()
if(CMAKE_UNITY_BUILD)
    # In files that are compiled together, GCC takes all of them for headers, in which this would be a mistake.
    target_compile_options(critpath_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()
target_include_directories(critpath_options INTERFACE ${PROJECT_SOURCE_DIR})

# Not for the preload library: the application that loads it is not sanitized.
add_library(critpath_sanitizers INTERFACE)
if(CRITPATH_SANITIZE)
    target_compile_options(critpath_sanitizers INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
                                                         -fno-omit-frame-pointer)
    target_link_options(critpath_sanitizers INTERFACE -fsanitize=address,undefined)
    target_compile_definitions(critpath_sanitizers INTERFACE CRITPATH_SANITIZED)
endif()
if(CRITPATH_FUZZ)
    target_compile_options(critpath_sanitizers INTERFACE -fsanitize=fuzzer-no-link)
endif()

# MPI headers without the C++ bindings of MPI-2.
add_library(critpath_mpi INTERFACE)
target_link_libraries(critpath_mpi INTERFACE MPI::MPI_C)
target_compile_definitions(critpath_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
if(CRITPATH_MPI STREQUAL "MPICH")
    # Its functions are declared with arrays of statuses, and its MPI_STATUSES_IGNORE is the number 1.
    target_compile_options(critpath_mpi INTERFACE -Wno-stringop-overflow)
endif()

# critpath_precompile(name kind)   If wanted: the target takes standard headers from what was compiled once for all targets
# of its kind: library, hot_library (below) or test. They differ in -fPIC, -fPIE and optimisation, which compiled headers
# must share.
if(CRITPATH_PRECOMPILE)
    file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "")
    set(standard_headers <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <span> <string>
                         <unordered_map> <utility> <vector> <fmt/format.h>)
    foreach(kind library hot_library)
        add_library(precompiled_${kind} STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled.cpp)
        target_link_libraries(precompiled_${kind} PRIVATE fmt::fmt critpath_options critpath_sanitizers)
        target_precompile_headers(precompiled_${kind} PRIVATE ${standard_headers})
    endforeach()
    target_compile_options(precompiled_hot_library PRIVATE -O1)
    if(CRITPATH_TESTS)
        file(WRITE ${PROJECT_BINARY_DIR}/precompiled_test.cpp "int main() {}\n")
        add_executable(precompiled_test ${PROJECT_BINARY_DIR}/precompiled_test.cpp)
        target_link_libraries(precompiled_test PRIVATE fmt::fmt GTest::gmock critpath_options critpath_sanitizers)
        target_compile_options(precompiled_test PRIVATE ${CRITPATH_TEST_OPTIONS})
        target_precompile_headers(precompiled_test PRIVATE ${standard_headers} <random> <gmock/gmock.h> <gtest/gtest.h>)
    endif()
endif()
function(critpath_precompile name kind)
    if(CRITPATH_PRECOMPILE)
        target_link_libraries(${name} PRIVATE fmt::fmt)
        if(kind STREQUAL test)  # With the same macros, also where nothing of GoogleTest is linked.
            target_compile_options(${name} PRIVATE $<TARGET_PROPERTY:GTest::gtest,INTERFACE_COMPILE_OPTIONS>)
        endif()
        target_precompile_headers(${name} REUSE_FROM precompiled_${kind})
    endif()
endfunction()

# critpath_library(name SOURCES a.cpp ... [LINK target ...] [ANY_MPI] [HOT])   a static library; header-only without SOURCES.
# ANY_MPI: it is the same with each MPI library, so that it can be taken from CRITPATH_LIBRARIES_FROM.
# HOT: tests spend so much time in it that it is optimised under sanitizers, too, where the others are only compiled fast.
function(critpath_library name)
    cmake_parse_arguments(ARG "ANY_MPI;HOT" "" "SOURCES;LINK" ${ARGN})
    if(ARG_SOURCES AND ARG_ANY_MPI AND CRITPATH_LIBRARIES_FROM)
        file(RELATIVE_PATH directory ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
        set(library ${CRITPATH_LIBRARIES_FROM}/${directory}/lib${name}.a)
        if(NOT EXISTS ${library})
            message(FATAL_ERROR "${library}: missing; build there first, or leave CRITPATH_LIBRARIES_FROM out")
        endif()
        add_library(${name} STATIC IMPORTED GLOBAL)
        # Not as system headers: in those, nothing is warned of.
        set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${library} IMPORTED_NO_SYSTEM TRUE)
        target_link_libraries(${name} INTERFACE ${ARG_LINK})
        target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
    elseif(ARG_SOURCES)
        add_library(${name} STATIC ${ARG_SOURCES})
        target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE critpath_options critpath_sanitizers)
        target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
        if(ARG_HOT AND CRITPATH_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "Debug")
            target_compile_options(${name} PRIVATE -O1)
            critpath_precompile(${name} hot_library)
        else()
            critpath_precompile(${name} library)
        endif()
        set_target_properties(${name} PROPERTIES UNITY_BUILD "$CACHE{CMAKE_UNITY_BUILD}")
    else()
        add_library(${name} INTERFACE)
        target_link_libraries(${name} INTERFACE ${ARG_LINK})
        target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
    endif()
endfunction()

# critpath_tool(name SOURCES a.cpp ... [LINK target ...])   an installed program, at the top of the build directory's bin/
function(critpath_tool name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE ${ARG_LINK} critpath_options critpath_sanitizers)
    target_compile_definitions(${name} PRIVATE CRITPATH_VERSION="${PROJECT_VERSION}")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# A subdirectory that is part of the build.
macro(critpath_part directory)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${directory}/CMakeLists.txt)
        add_subdirectory(${directory})
    endif()
endmacro()
