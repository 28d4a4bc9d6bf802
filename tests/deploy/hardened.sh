#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hardened.sh SOURCE BUILD: builds the release program in the folder BUILD and checks the claims of SECURITY.md.
set -euo pipefail

source=$1 build=$2
fail() { echo "hardened: $*"; exit 1; }
for tool in readelf objdump nm; do
    command -v "$tool" >/dev/null || { echo "skip: $tool (Debian package binutils) is not here"; exit 77; }
done
cmake -S "$source" -B "$build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D BUILD_TESTING=OFF \
    -D CMAKE_EXPORT_COMPILE_COMMANDS=ON >"$build.log" 2>&1 || { tail -20 "$build.log"; fail 'cmake'; }
cmake --build "$build" --target rowferry >>"$build.log" 2>&1 || { tail -20 "$build.log"; fail 'the build'; }
program=$build/rowferry

# has PATTERN COMMAND...: returns true if the command's output matches the pattern
has() { grep -Eq -- "$1" <<<"$("${@:2}" 2>/dev/null)"; }
has '^ *Type: +DYN' readelf -hW "$program" || fail 'it is not position-independent'
has 'FLAGS_1.* PIE' readelf -dW "$program" || fail 'it is no PIE'
has 'FLAGS_1.* NOW' readelf -dW "$program" || fail 'symbols are bound lazily'
has 'GNU_RELRO' readelf -lW "$program" || fail 'it has no RELRO'
if has 'GNU_STACK.* RWE' readelf -lW "$program"; then fail 'its stack is executable'; fi
has ' __stack_chk_fail@' nm -D "$program" || fail 'it has no stack protector'
has ' __[a-z]+_chk@' nm -D "$program" || fail 'its calls are not fortified'

# flags without an easily visible effect
commands=$build/compile_commands.json
for flag in STACK_CLASH:-fstack-clash-protection FORTIFY_3:-D_FORTIFY_SOURCE=3 BRANCH_TARGETS:-fcf-protection=full; do
    if grep -q "^ROWFERRY_${flag%%:*}:INTERNAL=1" "$build/CMakeCache.txt"; then
        grep -q -- "${flag#*:} " "$commands" || fail "it is compiled without ${flag#*:}"
    else
        echo "hardened: this compiler does not know ${flag#*:}"
    fi
done
if grep -q '^ROWFERRY_BRANCH_TARGETS:INTERNAL=1' "$build/CMakeCache.txt"; then
    targets=$(objdump -d "$program" | grep -c endbr || true)
    [ "$targets" -gt 1000 ] || fail "only $targets functions are marked as targets of indirect calls"
    # the linker drops the mark of the program if one object, such as the C library's crt1.o, has none
    if has 'IBT' readelf -nW "$(cc -print-file-name=crt1.o)"; then
        has 'IBT, SHSTK' readelf -nW "$program" || fail 'it is not marked for IBT and SHSTK'
    fi
fi

# no failpoints that the environment can enable
if strings -a "$program" | grep -E 'ROWFERRY_FAILPOINT|checkpoint_before_commit'; then fail 'it has failpoints'; fi
ROWFERRY_FAILPOINT='nonsense' "$program" completion bash >/dev/null || fail 'it hears ROWFERRY_FAILPOINT'

size=$(stat -c %s "$program")
[ "$size" -le 1310720 ] || fail "it has $size bytes, more than 1.25 MiB"
echo "hardened: $size bytes"
