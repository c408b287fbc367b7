# SPDX-License-Identifier: BSD-3-Clause
include_guard(GLOBAL)

find_program(CRITPATH_POD2MAN pod2man DOC "Makes the manual pages")

# critpath_man(name)   builds and installs name.1 from name.pod in the current directory; without pod2man there are no
# manual pages, which is said once.
function(critpath_man name)
    if(NOT CRITPATH_POD2MAN)
        message(STATUS "pod2man not found: no manual page for ${name}")
        return()
    endif()
    set(page ${CMAKE_CURRENT_BINARY_DIR}/${name}.1)
    string(TOUPPER ${name} title)
    add_custom_command(
        OUTPUT ${page}
        # The date of the source, not of the build: equal sources give equal pages.
        COMMAND ${CMAKE_COMMAND} -E env POD_MAN_DATE= ${CRITPATH_POD2MAN} --errors=die --section=1 --name=${title}
                --center=critpath "--release=critpath ${PROJECT_VERSION}" ${name}.pod ${page}
        DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.pod
        WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
        COMMENT "Building ${name}.1"
        VERBATIM)
    add_custom_target(${name}-man ALL DEPENDS ${page})
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endfunction()
