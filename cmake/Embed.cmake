# SPDX-License-Identifier: Apache-2.0
# embed(ROOM DIR KIND): every DIR/*.KIND becomes one text of the table `ROOM_KIND` in a generated
# source of the room, so that the SQL that runs is the SQL that people read (see base/embed.h).
function(embed room dir kind)
    file(GLOB files CONFIGURE_DEPENDS ${dir}/*.${kind})
    set(out ${CMAKE_BINARY_DIR}/generated/${room}_${kind}.c)
    add_custom_command(
        OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -D OUT=${out} -D TABLE=${room}_${kind} "-DFILES=${files}"
                -P ${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake
        DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake
        VERBATIM)
    set_source_files_properties(${out} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
    target_sources(${room} PRIVATE ${out})
endfunction()
