# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Shared by all parts: tables, the sink, a configuration, one run of one subject; sourced by run.sh.

# Creates the table of events.sql in its own schema. $1: schema, $2: rows.
make_table() {
    psql -qX "$uri" -c 'set client_min_messages = warning' -c "create schema if not exists $1"
    PGOPTIONS="-c search_path=$1" psql -qX -v ON_ERROR_STOP=1 -v rows="$2" "$uri" -f "$here/events.sql"
}

start_sink() {
    rm -f "$dir/sink.out"
    "$build/tests/bench/sink" "$@" >"$dir/sink.out" &
    sink_pid=$!
    until [ -s "$dir/sink.out" ]; do
        running "$sink_pid" || die 'the sink could not be started'
        sleep 0.02
    done
    url=$(head -1 "$dir/sink.out")
}

# Starts a sink with a latency of $1 milliseconds.
start_distant_sink() { start_sink --writers 64 --queue 64 --fixed-us $(($1 * 1000)); }

# Stops the sink and sets `taken` to its statistics as JSON. Every row must have arrived. $1: number, default all.
stop_sink() {
    stop_pid "$sink_pid" TERM 5
    wait "$sink_pid" || true
    sink_pid=''
    taken=$(tail -1 "$dir/sink.out")
    [ "$(jq .upserts <<<"$taken")" = "${1:-$rows}" ] || die "the sink took other than ${1:-$rows} rows: $taken"
}

# $1: limits as JSON, default none. $2: the table.
configure() {
    jq -n --arg uri "$uri" --arg url "$url" --arg state "$dir/state.db" --argjson limits "${1:-{\}}" \
        --arg table "${2:-public.events}" '{
        accept_admin: true, source: {uri: $uri}, service: {url: $url}, state: {path: $state}, limits: $limits,
        pipelines: [{
            name: "events",
            from: {table: $table, key: ["id"]},
            to: {index: "events", mappings: {properties: {
                id: {type: "long"}, uuid: {type: "keyword"}, kind: {type: "keyword"},
                user_id: {type: "integer"}, amount: {type: "double"}, score: {type: "double"},
                active: {type: "boolean"}, created_at: {type: "date"}, day: {type: "date"},
                title: {type: "text"}, body: {type: "text"}, tags: {type: "keyword"},
                payload: {type: "object", dynamic: true}}}}}]}' >"$dir/rowferry.json"
}

# Removes the state of an earlier sink and installs the change log.
begin_anew() {
    rm -f "$dir"/state.db*
    rf source install
}

rf() { "$build/rowferry" -c "$dir/rowferry.json" --no-progress "$@" >/dev/null 2>"$dir/log" || { cat "$dir/log" >&2; die "rowferry $1 failed"; }; }

# CPU seconds of the database sessions that have ended so far.
database_cpu() {
    local pid ticks
    pid=$(head -1 "$dir/postgres/data/postmaster.pid")
    ticks=$(sed 's/.*) //' "/proc/$pid/stat" | awk '{ print $14 + $15 }')
    awk -v t="$ticks" -v hz="$(getconf CLK_TCK)" 'BEGIN { print t / hz }'
}

# Waits for the sessions, which end after their clients and are counted only then.
session_end() {
    until [ "$(psql -AtX "$uri" -c "select count(*) from pg_stat_activity where backend_type = 'client backend'")" = 1 ]; do
        sleep 0.05
    done
    sleep 0.1
}

# Prints one line of JSON: seconds, CPU of the program and of the database, peak memory. $1: subject,
# $2: number of its rows, default all.
measure() {
    local subject=$1 count=${2:-$rows} before after rc=0 TIMEFORMAT='%3R %3U %3S'
    before=$(database_cpu)
    {
        time BENCH_URI=$uri BENCH_URL=$url BENCH_PROGRAM=$build/rowferry BENCH_CONFIG=$dir/rowferry.json \
            BENCH_FILE=$dir/bulk BENCH_POSTER=$build/tests/bench/poster BENCH_PYTHON=$dir/python/bin/python BENCH_NODE=$dir/node-client \
            BENCH_HERE=$here /usr/bin/time -o "$dir/rss" -f '%M' "$here/subject.sh" "$subject" >"$dir/log" 2>&1 || rc=$?
    } 2>"$dir/time"
    [ "$rc" = 0 ] || { cat "$dir/log" >&2; die "$subject failed"; }
    session_end
    after=$(database_cpu)
    jq -cn --arg subject "$subject" --arg t "$(cat "$dir/time") $(tail -1 "$dir/rss")" --argjson before "$before" \
        --argjson after "$after" --argjson rows "$count" '($t | split(" ") | map(tonumber)) as $t | {
            subject: $subject, rows: $rows, seconds: $t[0], rows_per_second: ($rows / $t[0]),
            cpu_seconds_per_million: (($t[1] + $t[2]) / $rows * 1e6),
            database_cpu_seconds_per_million: (($after - $before) / $rows * 1e6), peak_rss_mib: ($t[3] / 1024)}'
}

# Prints one line of JSON for $3 initial loads in a row with the current configuration: mean values, and the
# maximum memory. $1: subject, $2: rows, $3: times.
measure_loads() {
    local number
    rm -f "$dir/loads"
    for ((number = 1; number <= $3; number++)); do
        start_sink "${sink_options[@]}"
        jq --arg url "$url" '.service.url = $url' "$dir/rowferry.json" >"$dir/next.json"
        mv "$dir/next.json" "$dir/rowferry.json"
        begin_anew
        measure rowferry "$2" >>"$dir/loads"
        stop_sink "$2"
    done
    jq -cs --arg subject "$1" 'def mean(f): map(f) | add / length;
        {subject: $subject, rows: .[0].rows, seconds: mean(.seconds), rows_per_second: (.[0].rows / mean(.seconds)),
         cpu_seconds: (mean(.cpu_seconds_per_million) * .[0].rows / 1e6),
         database_cpu_seconds: (mean(.database_cpu_seconds_per_million) * .[0].rows / 1e6),
         cpu_seconds_per_million: mean(.cpu_seconds_per_million),
         database_cpu_seconds_per_million: mean(.database_cpu_seconds_per_million),
         peak_rss_mib: (map(.peak_rss_mib) | max)}' "$dir/loads"
}
sink_options=()

# jq functions for medians and their spread.
# shellcheck disable=SC2034
statistics='def median: sort | .[length / 2 | floor];
    def of(f): {median: (map(f) | median), least: (map(f) | min), most: (map(f) | max)};
    def n(d): . * pow(10; d) | round / pow(10; d);
    def cell(d): "\(.median | n(d)) (\(.least | n(d))-\(.most | n(d)))";'
