# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Time figures of `run`; sourced by run.sh. Measures how soon a single row arrives (latency.c, with devsearch).
# Then sends 20,000 changes a second to the null sink, which records the age of each row when it is acknowledged.
# Both are compared to the same work without a program in between.

changes_rows=200000 changes_a_transaction=200 changes_a_second=20000

# Prints lines of JSON. $1: rounds, $2: seconds per round, $3: idle seconds.
latency_lines() {
    local state=$dir/latency-servers servers=$top/tests/integration/servers
    TMPDIR=$dir "$servers" start "$state" >/dev/null 2>&1
    TMPDIR=$dir BENCH_ROUNDS=$1 BENCH_LATENCY_S=$2 BENCH_IDLE_S=$3 ROWFERRY_PROGRAM=$build/rowferry DEVSEARCH_PROGRAM=$build/devsearch \
        "$servers" run "$state" "$build/tests/bench/latency" >"$dir/latency.out" || { cat "$dir/latency.out" >&2; return 1; }
    "$servers" stop "$state"
    grep '^{' "$dir/latency.out"
}

# The stamp is taken before the statement begins, so the age includes the time of the commit.
changes_prepare() {
    psql -qX -v ON_ERROR_STOP=1 "$uri" <<SQL
set client_min_messages = warning;
drop table if exists stamped;
create table stamped as select e.*, 0::bigint as stamped from events e order by id limit $changes_rows;
alter table stamped add primary key (id);
vacuum (analyze, freeze) stamped;
SQL
    cat >"$dir/changes.sql" <<SQL
\\set at random(1, $((changes_rows - changes_a_transaction)))
update stamped set stamped = extract(epoch from clock_timestamp()) * 1000000 where id >= :at and id < :at + $changes_a_transaction;
SQL
}

# Makes changes for $1 seconds, $2 a second; prints the actual rate and the writer's mean time in milliseconds.
changes_write() {
    pgbench --no-vacuum --protocol=prepared --client=4 --rate=$(($2 / changes_a_transaction)) --time="$1" \
        --file="$dir/changes.sql" "$uri" 2>/dev/null |
        awk -v rows="$changes_a_transaction" '/^tps/ { tps = $3 } /^latency average/ { ms = $4 } /schedule lag: avg/ { lag = $6 }
            END { printf "{\"written_per_second\":%.0f,\"writer_ms\":%.2f}\n", tps * rows, ms - lag }'
}

# Runs one round of $1 seconds with $2 changes a second: the writer alone, then together with run.
changes_round() {
    local agent alone beside before ages late rss cpu # not in a subshell: the sink is the caller's to stop
    alone=$(changes_write "$1" "$2")
    start_sink
    configure
    jq '.pipelines[0] |= (.name = "stamped" | .from.table = "public.stamped" | .to.index = "stamped"
        | .to.mappings.properties = {stamped: {type: "long"}} + .to.mappings.properties)' "$dir/rowferry.json" >"$dir/changes.json"
    rm -f "$dir"/state.db*
    "$build/rowferry" -c "$dir/changes.json" source install >/dev/null 2>"$dir/log" || { cat "$dir/log" >&2; die 'source install failed'; }
    "$build/rowferry" -c "$dir/changes.json" run >/dev/null 2>"$dir/log" &
    agent=$!
    until grep -q event=following "$dir/log"; do
        running "$agent" || { cat "$dir/log" >&2; die 'run failed'; }
        sleep 0.1
    done
    changes_write 3 "$2" >/dev/null
    sleep 1
    curl -fsS "$url/_sink/ages" >/dev/null
    before=$(sink_field upserts) cpu=$(awk '{ print $14 + $15 }' "/proc/$agent/stat")
    beside=$(changes_write "$1" "$2")
    late=$(sink_field upserts)
    sleep 2
    ages=$(curl -fsS "$url/_sink")
    cpu=$(($(awk '{ print $14 + $15 }' "/proc/$agent/stat") - cpu))
    rss=$(awk '/VmHWM/ { print $2 }' "/proc/$agent/status")
    kill -TERM "$agent"
    wait "$agent"
    stop_pid "$sink_pid" TERM 5
    wait "$sink_pid" || true
    sink_pid=''
    "$build/rowferry" -c "$dir/changes.json" source uninstall >/dev/null 2>"$dir/log"
    jq -cn --argjson alone "$alone" --argjson beside "$beside" --argjson ages "$ages" --argjson before "$before" \
        --argjson late "$late" --argjson seconds "$1" --argjson rss "$rss" --argjson cpu "$cpu" --argjson hz "$(getconf CLK_TCK)" --argjson asked "$2" '{
            asked: $asked, alone: $alone, beside: $beside, sent_per_second: (($late - $before) / $seconds), p50_ms: $ages.p50_ms,
            p99_ms: $ages.p99_ms, most_ms: $ages.most_ms, peak_rss_mib: ($rss / 1024), cpu_share: ($cpu / $hz / $seconds)}'
}

# Prints one JSON object. $1: rounds, $2: seconds per round, $3: idle seconds.
changes() {
    local number rate
    say "single rows, $1 rounds of $2 s, then $3 s at rest"
    latency_lines "$1" "$2" "$3" | tee "$dir/latencies" >&2
    changes_prepare
    rm -f "$dir/changes"
    for ((number = 1; number <= $1; number++)); do
        say "$changes_a_second changes a second, round $number of $1"
        changes_round "$2" "$changes_a_second" >>"$dir/changes"
        tail -1 "$dir/changes" >&2
    done
    rm -f "$dir/faster"
    for rate in "${rates[@]}"; do
        say "$rate changes a second"
        changes_round "$2" "$rate" >>"$dir/faster"
        tail -1 "$dir/faster" >&2
    done
    jq -n --slurpfile latencies "$dir/latencies" --slurpfile changes "$dir/changes" --slurpfile faster "$dir/faster" "$statistics"'
        {rounds: ($changes | length), faster: $faster, highest: ($changes + $faster
            | map(select(.p99_ms <= 1000) | .beside.written_per_second) | max),
         single: ($latencies | map(select(.p50_ms)) | group_by(.subject) | map({key: .[0].subject, value: {p50_ms: of(.p50_ms), p99_ms: of(.p99_ms)}}) | from_entries),
         rest: ($latencies | map(select(.seconds))),
         sustained: ($changes | {written_alone: of(.alone.written_per_second), written: of(.beside.written_per_second),
            writer_alone_ms: of(.alone.writer_ms), writer_ms: of(.beside.writer_ms), sent: of(.sent_per_second),
            p50_ms: of(.p50_ms), p99_ms: of(.p99_ms), most_ms: of(.most_ms), peak_rss_mib: of(.peak_rss_mib), cpu_share: of(.cpu_share)})}'
}
