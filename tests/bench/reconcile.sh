# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A reconcile of the whole table with an index that holds exactly its keys, compared to an ordered COPY of the
# keys and to a sync with nothing to do; sourced by run.sh.

# Prints one line of JSON. $1: rounds.
reconcile() {
    local rounds=$1 number subject
    say "a reconcile of $rows keys"
    start_sink --keys "$rows"
    rm -f "$dir"/state.db* "$dir/reconciles"
    configure
    jq '.pipelines[0].from.capture = {deletes: {reconcile: "1s"}}' "$dir/rowferry.json" >"$dir/reconcile.json"
    cp "$dir/rowferry.json" "$dir/idle.json"
    rf source install
    rf sync
    for ((number = 1; number <= rounds; number++)); do
        sleep 1.1 # so that it is due
        for subject in keys idle reconcile; do
            [ "$subject" = keys ] || cp "$dir/$subject.json" "$dir/rowferry.json"
            measure "$subject" | tee -a "$dir/reconciles" >&2
            [ "$subject" != reconcile ] || grep -q "reconcile_ended.*documents=$rows deletes=0" "$dir/log" ||
                { cat "$dir/log" >&2; die 'there was no reconcile, or it found something'; }
        done
    done
    stop_sink
    jq -cs --argjson rows "$rows" 'def median(f): map(f) | sort | .[length / 2 | floor];
        group_by(.subject) | map({(.[0].subject): {seconds: median(.seconds), cpu: median(.cpu_seconds_per_million),
            database_cpu: median(.database_cpu_seconds_per_million), rss: median(.peak_rss_mib)}}) | add
        | {rows: $rows, seconds: (.reconcile.seconds - .idle.seconds), of_copy: ((.reconcile.seconds - .idle.seconds) / .keys.seconds),
           copy_seconds: .keys.seconds, cpu_seconds_per_million: (.reconcile.cpu - .idle.cpu),
           database_cpu_seconds_per_million: (.reconcile.database_cpu - .idle.database_cpu),
           copy_database_cpu_seconds_per_million: .keys.database_cpu, more_rss_mib: (.reconcile.rss - .idle.rss)}' \
        "$dir/reconciles"
}
