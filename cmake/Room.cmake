# SPDX-License-Identifier: Apache-2.0
# room(NAME [USES room...] [LIBRARIES target...]): one static library of every *.c in src/NAME and its folders.
# Public headers are in include/rowferry/NAME; a header beside the sources is private to the room, which includes it as
# "FOLDER/header.h".
function(room name)
    cmake_parse_arguments(ROOM "" "" "USES;LIBRARIES" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.c)
    list(FILTER sources EXCLUDE REGEX "/main\\.c$")
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/include PRIVATE ${CMAKE_SOURCE_DIR}/src/${name})
    list(TRANSFORM ROOM_USES PREPEND "rf_" OUTPUT_VARIABLE uses)
    target_link_libraries(${name} PUBLIC ${uses} PRIVATE ${ROOM_LIBRARIES})
    add_library(rf_${name} ALIAS ${name})
endfunction()

# program(NAME FROM path... [USES room...] [LIBRARIES target...]): one executable of these files, and of every *.c in
# these folders.
function(program name)
    cmake_parse_arguments(PROGRAM "" "" "FROM;USES;LIBRARIES" ${ARGN})
    foreach(path IN LISTS PROGRAM_FROM)
        if(path MATCHES "\\.c$")
            list(APPEND sources ${CMAKE_SOURCE_DIR}/${path})
        else()
            file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${path}/*.c)
            list(APPEND sources ${found})
            list(APPEND folders ${CMAKE_SOURCE_DIR}/${path})
        endif()
    endforeach()
    add_executable(${name} ${sources})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/include ${folders})
    list(TRANSFORM PROGRAM_USES PREPEND "rf_" OUTPUT_VARIABLE uses)
    target_link_libraries(${name} PRIVATE ${uses} ${PROGRAM_LIBRARIES})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endfunction()
