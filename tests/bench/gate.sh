#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counts instructions under callgrind and compares them with gate.expected: per document for the encoder, per
# item for the response reader, per row for a whole sync of 20,000 rows, and in total for one with nothing to do.
# Fails at more than 3 % above; more than 3 % below asks to lower the figure.
#
#   tests/bench/gate.sh [BUILD-FOLDER]       a release build with ROWFERRY_BENCH; default: build one
#
# The figures belong to the compiler that the file names; with another one they are not checked. For the syncs
# only rowferry's own code counts, not the libraries. Also checks two figures with wide margins, which do not
# depend on the compiler: the speed of a sync relative to COPY, and its memory.
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/servers/common.sh
. "$top/tests/servers/common.sh"
# shellcheck source=tests/bench/measure.sh
. "$here/measure.sh"

build=${1:-}
rows=20000 documents=1000 items=20000
warm_up=100 # encoder encodes a tenth more before it measures
least_of_copy=0.3 most_cpu=1.5 most_mib=32
dir='' uri='' url='' sink_pid=''

prepare() {
    need valgrind valgrind
    need psql postgresql-client
    need jq jq
    if [ -z "$build" ]; then
        build=$top/build/bench
        cmake -S "$top" --preset bench >/dev/null
    fi
    cmake --build "$build" --target encoder answers sink rowferry -- --quiet
    dir=$(mktemp -d "${TMPDIR:-/tmp}/rowferry-gate.XXXXXX")
    chmod 755 "$dir" # the database server has a user of its own
    trap finish EXIT
    trap 'exit 130' INT TERM HUP
}

finish() {
    local rc=$?
    trap - EXIT
    [ -z "$sink_pid" ] || stop_pid "$sink_pid" TERM 5
    "$top/tests/servers/postgres" stop --dir "$dir/postgres" >&2 || true
    rm -rf "$dir"
    exit "$rc"
}

# Prints the compiler that built the folder, as named in gate.expected.
compiler() {
    local path
    path=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
    "$path" --version | head -1 | sed 's/^[^ ]* //'
}

# Prints instructions under callgrind, divided by $1. $2...: options, program and arguments
collected() {
    local count=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
        awk -v n="$count" '/Collected/ { printf "%.0f\n", $NF / n; found = 1 } END { exit !found }'
}

# Counts only instructions within encode_upsert.
of_encoder() {
    collected $((documents + warm_up)) --toggle-collect=encode_upsert "$build/tests/bench/encoder" "$1" "$documents"
}

of_answers() {
    collected "$items" --toggle-collect=answer_begin --toggle-collect=answer_feed --toggle-collect=answer_end \
        "$build/tests/bench/answers" "${1#answer-}" "$items"
}

# Counts instructions of the program itself in all threads; they vary by a few thousand per thread.
of_program() {
    valgrind --tool=callgrind --callgrind-out-file="$dir/callgrind" "$build/rowferry" -c "$dir/rowferry.json" \
        --no-progress sync >"$dir/log" 2>&1 || { cat "$dir/log" >&2; die 'sync failed'; }
    awk -v object="$build/rowferry" '
        /^ob=/ {
            if (match($0, /\([0-9]+\)/)) id = substr($0, RSTART, RLENGTH)
            if ($0 ~ " ") { name = $0; sub(/^ob=[^ ]* /, "", name); named[id] = name }
            ours = named[id] == object
        }
        /^cob=.* / { id2 = $0; sub(/^cob=/, "", id2); sub(/ .*/, "", id2); name = $0; sub(/^cob=[^ ]* /, "", name); named[id2] = name }
        /^calls=/ { getline; next }
        /^[0-9+*-]/ && ours { sum += $2 }
        END { print sum }' "$dir/callgrind"
}

begin_sync() {
    [ -n "$uri" ] || {
        uri=$("$top/tests/servers/postgres" start --dir "$dir/postgres" --set autovacuum=off 2>/dev/null)
        make_table public "$rows"
    }
    start_sink
    configure '{"readers": 1}'
    begin_anew
}

# $1: sync (instructions per row) or idle (total)
of_sync() {
    begin_sync
    if [ "$1" = idle ]; then
        rf sync
        of_program >"$dir/sum"
        cat "$dir/sum"
    else
        of_program >"$dir/sum"
        awk -v n="$rows" '{ printf "%.0f\n", $1 / n }' "$dir/sum"
    fi
    stop_sink
}

instructions() {
    case $1 in
    sync | idle) of_sync "$1" ;;
    answer-*) of_answers "$1" ;;
    *) of_encoder "$1" ;;
    esac
}

verdict() { # actual expected
    awk -v a="$1" -v e="$2" 'BEGIN {
        print (a > e * 1.03 ? "worse" : (a < e * 0.97 ? "better" : "same")) }'
}

judge() {
    local subject expected actual now result=0
    while read -r subject expected; do
        instructions "$subject" >"$dir/figure"
        actual=$(cat "$dir/figure")
        now=$(verdict "$actual" "$expected")
        case $now in
        worse) result=1; now="more than 3 % above" ;;
        better) now="more than 3 % below: lower the figure in tests/bench/gate.expected" ;;
        same) now=good ;;
        esac
        [ "$1" = yes ] || now="not judged"
        printf '%-14s %8s instructions, expected %8s: %s\n' "$subject" "$actual" "$expected" "$now"
    done < <(grep -v -e '^#' -e '^compiler' "$here/gate.expected")
    [ "$1" = no ] || return "$result"
}

# Takes the best of five pairs, because other load makes a machine slower, never faster.
judge_ratios() {
    local number
    for number in 1 2 3 4 5; do
        begin_sync
        BENCH_TABLE=events measure table >"$dir/copy"
        measure rowferry >"$dir/run"
        stop_sink
        jq -c --slurpfile copy "$dir/copy" '{of_copy: (.rows_per_second / $copy[0].rows_per_second),
            cpu: (.cpu_seconds_per_million / ($copy[0] | .cpu_seconds_per_million + .database_cpu_seconds_per_million)), rss: .peak_rss_mib}' "$dir/run" >>"$dir/ratios"
    done
    jq -rs --argjson least "$least_of_copy" --argjson cpu "$most_cpu" --argjson rss "$most_mib" '
        {of_copy: (map(.of_copy) | max), cpu: (map(.cpu) | min), rss: (map(.rss) | max)}
        | "sync            \(.of_copy * 100 | round / 100) of the rate of COPY (least \($least)), \(.cpu * 100 | round / 100) of its CPU (most \($cpu)), " +
          "\(.rss | round) MiB (most \($rss)): \(if .of_copy >= $least and .cpu <= $cpu and .rss <= $rss then "good" else "beyond" end)"' \
        "$dir/ratios" | tee "$dir/judged"
    grep -q ': good$' "$dir/judged"
}

main() {
    local expected_compiler result=0
    prepare
    expected_compiler=$(sed -n 's/^compiler //p' "$here/gate.expected")
    if [ "$(compiler)" = "$expected_compiler" ]; then
        judge yes || result=1
    else
        printf 'the figures are those of "%s"; this is "%s": nothing is judged\n' "$expected_compiler" "$(compiler)"
        judge no
    fi
    judge_ratios || result=1
    exit "$result"
}

main
