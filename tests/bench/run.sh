#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How fast, with how much CPU and memory: a first sync into a null sink, beside what PostgreSQL's own
# tools need for the same rows in the same run. See README.md.
#
#   tests/bench/run.sh [--rounds 3] [--rows 1000000] [--storm 30] [--json FILE] [--only reconcile|time]
#                      [--time-rounds 5] [--time-seconds 12] [--rest 60] [--full]
#
# --full: the time figures as they are promised, a minute each and ten minutes at rest (half an hour)
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=deploy/packages.sh
. "$top/deploy/packages.sh"
# shellcheck source=tests/servers/common.sh
. "$top/tests/servers/common.sh"
# shellcheck source=tests/bench/storm.sh
. "$here/storm.sh"
# shellcheck source=tests/bench/reconcile.sh
. "$here/reconcile.sh"
# shellcheck source=tests/bench/changes.sh
. "$here/changes.sh"

rounds=3 rows=1000000 storm_s=30 time_rounds=5 time_s=12 rest_s=60 json='' only='' dir='' url='' sink_pid=''
build=$top/build/bench
subjects=(B0 B0j B1 rowferry)

options() {
    while [ $# -gt 0 ]; do
        case $1 in
        --rounds) rounds=$2; shift 2 ;;
        --rows) rows=$2; shift 2 ;;
        --storm) storm_s=$2; shift 2 ;;
        --only) only=$2; shift 2 ;;
        --time-rounds) time_rounds=$2; shift 2 ;;
        --time-seconds) time_s=$2; shift 2 ;;
        --rest) rest_s=$2; shift 2 ;;
        --full) time_s=60 rest_s=600; shift ;;
        --json) json=$(readlink -f "$2"); shift 2 ;;
        *) usage "$0"; exit 2 ;;
        esac
    done
}

prepare() {
    install_packages /dev/null "${build_packages[@]}" check postgresql curl jq time
    cd "$top"
    cmake --preset bench >/dev/null
    cmake --build --preset bench --target rowferry devsearch sink latency -- --quiet
    dir=$(mktemp -d "${TMPDIR:-/tmp}/rowferry-bench.XXXXXX")
    chmod 755 "$dir" # the database server has a user of its own
    trap finish EXIT
    trap 'exit 130' INT TERM HUP
    uri=$(tests/servers/postgres start --dir "$dir/postgres" --set shared_buffers=1GB --set max_wal_size=4GB)
    say "loading $rows rows"
    psql -qX -v ON_ERROR_STOP=1 -v rows="$rows" "$uri" -f "$here/events.sql"
    session_end
}

finish() {
    local rc=$?
    trap - EXIT
    [ -z "$sink_pid" ] || stop_pid "$sink_pid" TERM 5
    "$top/tests/servers/postgres" stop --dir "$dir/postgres" || true
    rm -rf "$dir"
    exit "$rc"
}

start_sink() {
    rm -f "$dir/sink.out"
    "$build/tests/bench/sink" "$@" >"$dir/sink.out" &
    sink_pid=$!
    until [ -s "$dir/sink.out" ]; do sleep 0.02; done
    url=$(head -1 "$dir/sink.out")
}

# What the sink took, as JSON; every row has to be there.
stop_sink() {
    stop_pid "$sink_pid" TERM 5
    wait "$sink_pid" || true
    sink_pid=''
    taken=$(tail -1 "$dir/sink.out")
    [ "$(jq .upserts <<<"$taken")" = "$rows" ] || die "the sink took other than $rows rows: $taken"
}

# $1: limits as JSON, default none.
configure() {
    jq -n --arg uri "$uri" --arg url "$url" --arg state "$dir/state.db" --argjson limits "${1:-{\}}" '{
        source: {uri: $uri}, service: {url: $url}, state: {path: $state}, limits: $limits,
        pipelines: [{
            name: "events",
            from: {table: "public.events", key: ["id"]},
            to: {index: "events", mappings: {properties: {
                id: {type: "long"}, uuid: {type: "keyword"}, kind: {type: "keyword"},
                user_id: {type: "integer"}, amount: {type: "double"}, score: {type: "double"},
                active: {type: "boolean"}, created_at: {type: "date"}, day: {type: "date"},
                title: {type: "text"}, body: {type: "text"}, tags: {type: "keyword"},
                payload: {type: "object", dynamic: true}}}}}]}' >"$dir/rowferry.json"
}

# CPU seconds of the sessions that the server has ended so far.
database_cpu() {
    local pid ticks
    pid=$(head -1 "$dir/postgres/data/postmaster.pid")
    ticks=$(sed 's/.*) //' "/proc/$pid/stat" | awk '{ print $14 + $15 }')
    awk -v t="$ticks" -v hz="$(getconf CLK_TCK)" 'BEGIN { print t / hz }'
}

# A session ends after its client, and counts only then.
session_end() {
    until [ "$(psql -AtX "$uri" -c "select count(*) from pg_stat_activity where backend_type = 'client backend'")" = 1 ]; do
        sleep 0.05
    done
    sleep 0.1
}

# One line of JSON: seconds, CPU of the program and of the database, peak memory.
measure() {
    local subject=$1 before after
    before=$(database_cpu)
    BENCH_URI=$uri BENCH_URL=$url BENCH_PROGRAM=$build/rowferry BENCH_CONFIG=$dir/rowferry.json \
        /usr/bin/time -o "$dir/time" -f '%e %U %S %M' "$here/subject.sh" "$subject" >"$dir/log" 2>&1 ||
        { cat "$dir/log" >&2; die "$subject failed"; }
    session_end
    after=$(database_cpu)
    jq -cn --arg subject "$subject" --arg t "$(cat "$dir/time")" --argjson before "$before" --argjson after "$after" \
        --argjson rows "$rows" '($t | split(" ") | map(tonumber)) as $t | {
            subject: $subject, seconds: $t[0], rows_per_second: ($rows / $t[0]),
            cpu_seconds_per_million: (($t[1] + $t[2]) / $rows * 1e6),
            database_cpu_seconds_per_million: (($after - $before) / $rows * 1e6), peak_rss_mib: ($t[3] / 1024)}'
}

round() {
    local subject
    for subject in "${subjects[@]}"; do
        case $subject in B1 | rowferry) start_sink ;; esac
        if [ "$subject" = rowferry ]; then
            rm -f "$dir"/state.db*
            configure
            "$build/rowferry" -c "$dir/rowferry.json" source install >/dev/null 2>"$dir/log" ||
                { cat "$dir/log" >&2; die 'source install failed'; }
        fi
        measure "$subject" | tee -a "$dir/runs" >&2
        [ -z "$sink_pid" ] || stop_sink
    done
}

# Medians with their spread, and the two ratios that the design bounds.
summarise() {
    jq -s --arg machine "$(nproc) cores, $(awk '/MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)" \
        --arg postgresql "$(psql -AtX "$uri" -c 'show server_version')" \
        --arg rowferry "$("$build/rowferry" --version | head -1)" --arg commit "$(git -C "$top" rev-parse --short HEAD)" \
        --argjson bytes "$(psql -AtX "$uri" -c 'select round(avg(octet_length(row_to_json(e)::text))) from events e')" \
        --slurpfile storm "$dir/storm" --slurpfile reconcile "$dir/reconcile" --slurpfile time "$dir/time.json" \
        --argjson sent "$(jq '.bytes / .upserts | round' <<<"$taken")" --argjson rows "$rows" '
        def median: sort | .[length / 2 | floor];
        def of(f): {median: (map(f) | median), least: (map(f) | min), most: (map(f) | max)};
        (group_by(.subject) | map({key: .[0].subject, value: {
            rows_per_second: of(.rows_per_second), cpu_seconds_per_million: of(.cpu_seconds_per_million),
            database_cpu_seconds_per_million: of(.database_cpu_seconds_per_million),
            peak_rss_mib: of(.peak_rss_mib)}}) | from_entries) as $s
        | {machine: $machine, postgresql: $postgresql, rowferry: $rowferry, commit: $commit, rows: $rows,
           rounds: (length / ($s | length)), bytes_as_json: $bytes, bytes_sent_per_document: $sent,
           storm: $storm[0], reconcile: $reconcile[0], time: $time[0],
           of_B0: ($s.rowferry.rows_per_second.median / $s.B0.rows_per_second.median),
           of_B1: ($s.rowferry.rows_per_second.median / $s.B1.rows_per_second.median), subjects: $s}' "$dir/runs"
}

table() {
    jq -r '
        def n(d): . * pow(10; d) | round / pow(10; d);
        def cell(d): "\(.median | n(d)) (\(.least | n(d))-\(.most | n(d)))";
        "\(.rows) rows, \(.bytes_as_json) bytes as JSON, \(.bytes_sent_per_document) sent per document; \(.rounds) rounds, median (least-most)",
        "\(.machine), PostgreSQL \(.postgresql), \(.rowferry), commit \(.commit)", "",
        "| | rows/s | CPU-s per million | database CPU-s per million | peak RSS, MiB |", "| --- | --- | --- | --- | --- |",
        (.subjects | ("B0", "B0j", "B1", "rowferry") as $s | .[$s]
         | "| \($s) | \(.rows_per_second | cell(0)) | \(.cpu_seconds_per_million | cell(2)) | \(.database_cpu_seconds_per_million | cell(2)) | \(.peak_rss_mib | cell(1)) |"),
        "", (.storm | "node of four writers, queue of ten: \(.of_capacity | n(2)) of its capacity, \(.refused_share * 100 | n(1)) % refused;",
         "storm: \(.tries_in_storm) tries, then \(.after_of_before | n(2)) of the rate before; at most \(.most_in_flight) in flight"),
        "", "rowferry / B0 = \(.of_B0 | n(2)), rowferry / B1 = \(.of_B1 | n(2))"' "$1"
}

table_reconcile() {
    jq -r --arg rows "$rows" 'def n(d): . * pow(10; d) | round / pow(10; d);
        "", "reconcile of \($rows) keys: \(.seconds | n(2)) s = \(.of_copy | n(2)) x COPY of the keys in order (\(.copy_seconds | n(2)) s); CPU-s per million: " +
        "\(.cpu_seconds_per_million | n(2)), database \(.database_cpu_seconds_per_million | n(2)) (COPY \(.copy_database_cpu_seconds_per_million | n(2))); + \(.more_rss_mib | n(1)) MiB"' "$1"
}

main() {
    local number
    options "$@"
    prepare
    if [ "$only" = reconcile ]; then
        reconcile "$rounds" >"$dir/reconcile"
        [ -z "$json" ] || cp "$dir/reconcile" "$json"
        table_reconcile "$dir/reconcile"
        return
    fi
    if [ "$only" = time ]; then
        changes "$time_rounds" "$time_s" "$rest_s" >"$dir/time.json"
        [ -z "$json" ] || cp "$dir/time.json" "$json"
        table_changes "$dir/time.json"
        return
    fi
    for ((number = 1; number <= rounds; number++)); do
        say "round $number of $rounds"
        round
    done
    say "a storm of $storm_s s"
    storm "$storm_s" >"$dir/storm"
    reconcile "$rounds" >"$dir/reconcile"
    changes "$time_rounds" "$time_s" "$rest_s" >"$dir/time.json"
    summarise >"$dir/summary.json"
    [ -z "$json" ] || cp "$dir/summary.json" "$json"
    table "$dir/summary.json"
    table_reconcile "$dir/reconcile"
    table_changes "$dir/time.json"
}

main "$@"
