# SPDX-License-Identifier: Apache-2.0
# room(NAME [USES room...] [LIBRARIES target...]): one static library of every *.c in src/NAME and its folders.
# Public headers are in include/rowferry/NAME; a header beside the sources is private to the room, which includes it as
# "FOLDER/header.h".
function(room name)
    cmake_parse_arguments(ROOM "" "" "USES;LIBRARIES" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.c)
    if(NOT sources)
        set(sources ${CMAKE_BINARY_DIR}/generated/${name}_empty.c)
        file(CONFIGURE OUTPUT ${sources} CONTENT "extern int ${name}_is_empty;\n")
    endif()
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/include PRIVATE ${CMAKE_SOURCE_DIR}/src/${name})
    list(TRANSFORM ROOM_USES PREPEND "rf_" OUTPUT_VARIABLE uses)
    target_link_libraries(${name} PUBLIC ${uses} PRIVATE ${ROOM_LIBRARIES})
    add_library(rf_${name} ALIAS ${name})
endfunction()

# program(NAME FROM folder... [USES room...] [LIBRARIES target...]): one executable of every *.c in these folders.
function(program name)
    cmake_parse_arguments(PROGRAM "" "" "FROM;USES;LIBRARIES" ${ARGN})
    list(TRANSFORM PROGRAM_FROM PREPEND "${CMAKE_SOURCE_DIR}/" OUTPUT_VARIABLE folders)
    list(TRANSFORM folders APPEND "/*.c" OUTPUT_VARIABLE patterns)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
    if(NOT sources)
        message(STATUS "${PROGRAM_FROM} is empty: no program ${name}")
        return()
    endif()
    add_executable(${name} ${sources})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/include ${folders})
    list(TRANSFORM PROGRAM_USES PREPEND "rf_" OUTPUT_VARIABLE uses)
    target_link_libraries(${name} PRIVATE ${uses} ${PROGRAM_LIBRARIES})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endfunction()
