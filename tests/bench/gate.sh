#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counts the encoder's instructions per document under callgrind and compares them with gate.expected:
# more than 3 % above fails; more than 3 % below asks for the figure to be lowered.
#
#   tests/bench/gate.sh [BUILD-FOLDER]       a release build with ROWFERRY_BENCH; built where left out
#
# The figures belong to one compiler, which the file names; with another one nothing is judged.
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${1:-}
documents=1000
warm_up=100 # encoder encodes a tenth more before it measures

prepare() {
    command -v valgrind >/dev/null || { echo "gate.sh: needs valgrind" >&2; exit 2; }
    if [ -z "$build" ]; then
        build=$top/build/bench
        cmake -S "$top" --preset bench >/dev/null
        cmake --build "$build" --target encoder -- --quiet
    fi
}

# The compiler that built the folder, as gate.expected names it.
compiler() {
    local path
    path=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
    "$path" --version | head -1 | sed 's/^[^ ]* //'
}

# Only what encode_upsert does counts.
instructions() {
    valgrind --tool=callgrind --toggle-collect=encode_upsert --callgrind-out-file=/dev/null \
        "$build/tests/bench/encoder" "$1" "$documents" 2>&1 >/dev/null |
        awk -v n=$((documents + warm_up)) '/Collected/ { printf "%.0f\n", $NF / n; found = 1 }
                                           END { exit !found }'
}

verdict() { # actual expected
    awk -v a="$1" -v e="$2" 'BEGIN {
        print (a > e * 1.03 ? "worse" : (a < e * 0.97 ? "better" : "same")) }'
}

judge() {
    local table expected actual now result=0
    while read -r table expected; do
        actual=$(instructions "$table")
        now=$(verdict "$actual" "$expected")
        case $now in
        worse) result=1; now="more than 3 % above" ;;
        better) now="more than 3 % below: lower the figure in tests/bench/gate.expected" ;;
        same) now=good ;;
        esac
        [ "$1" = yes ] || now="not judged"
        printf '%-8s %6s instructions per document, expected %6s: %s\n' "$table" "$actual" "$expected" "$now"
    done < <(grep -v -e '^#' -e '^compiler' "$here/gate.expected")
    [ "$1" = no ] || return "$result"
}

prepare
expected_compiler=$(sed -n 's/^compiler //p' "$here/gate.expected")
if [ "$(compiler)" = "$expected_compiler" ]; then
    judge yes
else
    printf 'the figures are those of "%s"; this is "%s": nothing is judged\n' "$expected_compiler" "$(compiler)"
    judge no
fi
