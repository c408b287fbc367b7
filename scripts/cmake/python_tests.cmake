# SPDX-License-Identifier: BSD-3-Clause

# critpath_python_tests(area FILES name... [SERIAL name...] [MEASURES_TIME] [TIMEOUT seconds] [ENVIRONMENT NAME=value...])
#
# Each method `test_<case>` of a class `<Class>(....Case)` in test_<name>.py is a test "<area>.<class>.<case>". MEASURES_TIME:
# as in critpath_test. SERIAL: files in which the answer is a time, so that nothing else may take the cores. All know where
# the tools and mpiexec are.
function(critpath_python_tests area)
    cmake_parse_arguments(ARG "MEASURES_TIME" "TIMEOUT" "FILES;SERIAL;ENVIRONMENT" ${ARGN})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 600)
    endif()
    set(environment E2E_BIN=${PROJECT_BINARY_DIR}/bin E2E_WORKLOADS=${PROJECT_BINARY_DIR}/workloads
                    E2E_MPIEXEC=${MPIEXEC_EXECUTABLE} ${ARG_ENVIRONMENT})
    foreach(file IN LISTS ARG_FILES)
        set(script ${CMAKE_CURRENT_SOURCE_DIR}/test_${file}.py)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
        file(STRINGS ${script} lines REGEX "^(class [A-Za-z]+\\([a-z]+\\.Case\\)|    def test_)")
        set(class "")
        foreach(line IN LISTS lines)
            if(line MATCHES "^class ([A-Za-z]+)")
                set(class ${CMAKE_MATCH_1})
            elseif(line MATCHES "def (test_([a-z_0-9]+))")
                string(TOLOWER "${area}.${class}.${CMAKE_MATCH_2}" name)
                # Debian's interpreter: the one that Debian's otf2, mpi4py and numpy modules belong to.
                add_test(NAME ${name} COMMAND /usr/bin/python3 -B ${script} ${class}.${CMAKE_MATCH_1})
                set_tests_properties(${name} PROPERTIES LABELS e2e PROCESSORS 2 SKIP_RETURN_CODE 77
                                                        TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "${environment}")
                if(file IN_LIST ARG_SERIAL)
                    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
                endif()
                if(ARG_MEASURES_TIME)
                    set_tests_properties(${name} PROPERTIES LABELS "e2e;measures_time")
                endif()
            endif()
        endforeach()
    endforeach()
endfunction()
