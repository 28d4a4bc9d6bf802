#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lets each allocation of the unit tests fail once; an allocation is identified by its call path. The test may fail then, but
# nothing may crash, and no sanitizer may report anything. An abort must state that memory is exhausted.
#
#   torture_units.sh LIBRARY PROGRAM...     $ROWFERRY_STRIDE (40) and $ROWFERRY_OFFSET choose as in boundaries.h, but 25 times fewer,
#                                           from every sixteenth program
set -uo pipefail

library=$1
shift
stride=${ROWFERRY_STRIDE:-40} offset=${ROWFERRY_OFFSET:-0}
[ "$stride" = 1 ] || stride=$((stride * 25))
work=$(mktemp -d "${TMPDIR:-/tmp}/rowferry-units.XXXXXX")
trap 'rm -rf "$work"' EXIT
programs=0 nth=0 hits=0 missed=0 wrong=0
export CK_FORK=no ROWFERRY_SEEDS=1 ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0

# run PROGRAM SETTING: runs it for at most ten seconds and returns its exit code. A test of a worker may catch TERM.
run() {
    rm -f "$work/log"
    { env LD_PRELOAD="$library" ROWFERRY_TEST_BOUNDARY="$2" timeout -k 5 10 "$1" >"$work/out" 2>&1; } 2>/dev/null
}

# is_good END CALL: succeeds if the exit code is permitted. 0 and 1 come from Check, 2 if Check itself has no memory.
is_good() {
    case $1 in
    0 | 1) ! grep -q 'Sanitizer\|runtime error: ' "$work/out" ;;
    2) grep -q '/check_[a-z]*\.c:' "$work/out" ;;
    134) grep -q 'rowferry: out of memory' "$work/out" ;;
    139) [[ $2 == "strdup libjson-c.so"* || $2 == *" libgssapi_krb5.so"* ]] ;; # tests/README.md
    *) false ;;
    esac
}

# try PROGRAM SITE CALL
try() {
    local rc=0
    run "$1" "once memory $work/log $2 1 12" || rc=$?
    if [ -s "$work/log" ]; then hits=$((hits + 1)); else missed=$((missed + 1)); fi
    is_good "$rc" "$3" || {
        wrong=$((wrong + 1))
        printf '%s: without memory at %s: exit code %d\n' "$(basename "$1")" "$3" "$rc"
        tail -3 "$work/out"
    }
}

index=0
for program in "$@"; do
    index=$((index + 1))
    [ "$stride" = 1 ] || [ $(((index + offset) % 16)) = 0 ] || continue
    # a test that must abort needs its own process, and some tests are slow
    run "$program" "count memory $work/log 0 0 0" || continue
    programs=$((programs + 1))
    grep -v '^by ' "$work/log" >"$work/calls"
    while read -r site call; do
        try "$program" "$site" "$call"
    done < <(awk -v nth="$nth" -v offset="$offset" -v stride="$stride" '(nth + NR + offset) % stride == 0 || nth + NR == 1' "$work/calls")
    nth=$((nth + $(wc -l <"$work/calls")))
done
echo "boundary unit tests, once memory ENOMEM: $((hits + missed)) of $nth calls of $programs programs, $hits hit, $missed did not come again, $wrong wrong"
[ "$wrong" = 0 ] && [ "$hits" -gt 0 ]
