#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the targets for a while, starting from their corpora. Runs two targets per core, because
# some wait for servers and disks. Fails if a target reports an error.
#
#   tests/fuzz/run.sh [SECONDS [NAME]...]    seconds per target (30); only these (fuzz_NAME.c)
#
# Needs clang and its libFuzzer.
#
# Failing inputs are written to build/fuzz/found.
# To replay one: build/asan/tests/fuzz/fuzz_X FILE.
# Add an input that shows a bug to corpus/X together with the fix.
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
build=$top/build/fuzz found=$top/build/fuzz/found
seconds=${1:-30}
at_once=$(($(nproc) * 2))
shift $(($# > 0))

inputs() { sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$@"; }
edges() { sed -n 's/^#[0-9]*[[:space:]]*DONE *cov: \([0-9]*\).*/\1/p' "$@"; }
sum() { awk '{ n += $1 } END { print n + 0 }'; }

fuzz_one() {
    local target=$1 rc=0
    local name=${target##*/fuzz_} log=$found/${target##*/}.log
    mkdir -p "$build/corpus/$name"
    "$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=2048 \
        -artifact_prefix="$found/$name-" "$build/corpus/$name" "$top/tests/fuzz/corpus/$name" \
        >"$log" 2>&1 || rc=$?
    if [ "$rc" = 0 ]; then
        echo "fuzz: $name: $(inputs "$log") inputs, $(edges "$log") edges"
    else
        echo "failed: fuzz_$name: $(grep -m 1 -E 'not true|ERROR|runtime error' "$log")"
    fi
    return "$rc"
}

main() {
    local rc=0 target running=0
    cd "$top"
    mkdir -p "$found"
    rm -f "$found"/*.log
    cmake --preset fuzz >"$build/configure.log" 2>&1 || { tail -20 "$build/configure.log"; return 1; }
    cmake --build --preset fuzz -- --quiet
    for target in "$@"; do
        [ -x "$build/tests/fuzz/fuzz_$target" ] || { echo "fuzz: there is no fuzz_$target.c"; return 2; }
    done
    for target in "$build"/tests/fuzz/fuzz_*; do
        [ -f "$target" ] && [ -x "$target" ] || continue
        [ $# = 0 ] || [[ " $* " == *" ${target##*/fuzz_} "* ]] || continue
        if [ "$running" = "$at_once" ]; then
            wait -n || rc=1
            running=$((running - 1))
        fi
        fuzz_one "$target" &
        running=$((running + 1))
    done
    for (( ; running > 0; running--)); do
        wait -n || rc=1
    done
    echo "fuzz: $(inputs "$found"/*.log | wc -l) targets ended well," \
        "$(inputs "$found"/*.log | sum) inputs, $(edges "$found"/*.log | sum) edges"
    return "$rc"
}

main "$@"
