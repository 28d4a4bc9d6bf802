# SPDX-License-Identifier: Apache-2.0
# How every source is compiled: C17, strict warnings as errors, hardening in release.

include(CheckCCompilerFlag)
include(CheckCSourceCompiles)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(ROWFERRY_SANITIZE "" CACHE STRING "sanitizers, comma separated (address,undefined or thread)")
option(ROWFERRY_COVERAGE "build for gcov" OFF)
option(ROWFERRY_FUZZ "build the fuzz targets for libFuzzer (clang)" OFF)
option(ROWFERRY_BENCH "build the benchmark programs" OFF)

add_compile_definitions(_GNU_SOURCE ROWFERRY_VERSION="${PROJECT_VERSION}")
add_compile_options(
    -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wstrict-prototypes
    -Wmissing-prototypes -Wcast-qual -Wwrite-strings -Wformat=2 -Wvla -Wundef
    -Wnull-dereference -Wimplicit-fallthrough -fno-common)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wduplicated-cond -Wduplicated-branches -Wlogical-op)
endif()

if(CMAKE_BUILD_TYPE STREQUAL "Release")
    set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
    if(ROWFERRY_BENCH)
        add_compile_options(-g1) # lines for the profiler
    else()
        add_link_options(-Wl,--strip-all) # only the profiler reads names, which are a tenth of the file
    endif()
    # What the compiler or the C library does not know is left out, or taken a level lower.
    set(CMAKE_REQUIRED_FLAGS "-Werror -O2")
    check_c_compiler_flag(-fstack-clash-protection ROWFERRY_STACK_CLASH)
    check_c_compiler_flag(-fcf-protection=full ROWFERRY_BRANCH_TARGETS) # x86 alone
    set(CMAKE_REQUIRED_FLAGS "-Werror -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_c_source_compiles("#include <stdio.h>\nint main(void) { return puts(\"\"); }" ROWFERRY_FORTIFY_3)
    unset(CMAKE_REQUIRED_FLAGS)
    add_compile_options(-fstack-protector-strong -fPIE -U_FORTIFY_SOURCE
        -D_FORTIFY_SOURCE=$<IF:$<BOOL:${ROWFERRY_FORTIFY_3}>,3,2>
        $<$<BOOL:${ROWFERRY_STACK_CLASH}>:-fstack-clash-protection>
        $<$<BOOL:${ROWFERRY_BRANCH_TARGETS}>:-fcf-protection=full>)
    # The hot path copies a few bytes at a time into buffers whose size is known at run time only. Level 3 checks
    # each of these copies, which is a third of the instructions for a narrow document.
    set_source_files_properties(${CMAKE_SOURCE_DIR}/src/document/bulk/encode.c PROPERTIES
        COMPILE_OPTIONS "-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2")
    # Packed relocations take 50 KB less; glibc reads them from 2.36 on, which Debian 12 has.
    add_link_options(-pie -Wl,-z,relro,-z,now -Wl,--gc-sections -Wl,-z,pack-relative-relocs -Wl,--compress-debug-sections=zlib)
    add_compile_options(-ffunction-sections -fdata-sections)
    # Nothing in the program unwinds its stack; a profiler has the debug lines.
    add_compile_options(-fno-asynchronous-unwind-tables -fno-unwind-tables)
endif()
if(ROWFERRY_SANITIZE)
    add_compile_options(-fsanitize=${ROWFERRY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${ROWFERRY_SANITIZE})
endif()
if(ROWFERRY_COVERAGE)
    add_compile_options(--coverage)
    add_link_options(--coverage)
endif()
