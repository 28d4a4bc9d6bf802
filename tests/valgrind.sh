#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the unit tests of a build without sanitizers under valgrind; fails on what it finds, and names where it says so.
#
#   tests/valgrind.sh BUILD [PATTERN]       unit_PATTERN of BUILD/tests, all by default
set -euo pipefail

build=${1:?usage: tests/valgrind.sh BUILD [PATTERN]} pattern=${2:-*}
logs=$build/valgrind
failed=0 count=0
command -v valgrind >/dev/null || { echo "valgrind is not installed"; exit 2; }
mkdir -p "$logs"
# It takes thirty times as long, and each class of fault has to happen once.
export CK_DEFAULT_TIMEOUT=600 ROWFERRY_SEEDS=40
for program in "$build"/tests/unit_$pattern; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    log=$logs/${program##*/}.log
    count=$((count + 1))
    if ! timeout 3600 valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
        "$program" >"$log" 2>&1; then
        echo "failed: ${program##*/}: $log"
        failed=$((failed + 1))
    fi
done
echo "valgrind: $count programs, $failed with faults"
[ "$failed" = 0 ] && [ "$count" -gt 0 ]
