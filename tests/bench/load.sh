# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# An initial load compared to what is possible without a program; sourced by run.sh. The rounds are interleaved;
# the first one is a warm-up and not counted.

subjects=(B2 B0 B0j B1 rowferry1 rowferry)

# Writes the bodies that B1 sends to a file.
make_bulk_file() {
    [ -s "$dir/bulk" ] || BENCH_URI=$uri "$here/subject.sh" bodies >"$dir/bulk"
}

load_one() {
    case $1 in B1 | B2 | rowferry | rowferry1) start_sink ;; esac
    case $1 in
    rowferry) configure && begin_anew ;;
    rowferry1) configure '{"readers": 1}' && begin_anew ;;
    esac
    measure "$1"
    [ -z "$sink_pid" ] || stop_sink >&2
}

# Prints one JSON object. $1: rounds.
load() {
    local number subject
    make_bulk_file
    rm -f "$dir/runs"
    for ((number = 0; number <= $1; number++)); do
        say "round $number of $1"
        for subject in "${subjects[@]}"; do
            load_one "$subject" >"$dir/run"
            cat "$dir/run" >&2
            [ "$number" = 0 ] || cat "$dir/run" >>"$dir/runs"
        done
    done
    jq -s --argjson sent "$(jq '.bytes / .upserts | round' <<<"$taken")" \
        --argjson bytes "$(psql -AtX "$uri" -c 'select round(avg(octet_length(row_to_json(e)::text))) from events e')" "$statistics"'
        group_by(.subject) as $g | ($g | map({key: .[0].subject, value: map(.rows_per_second)}) | from_entries) as $rates
        | def over($b): [$rates.rowferry, $rates[$b]] | transpose | map(.[0] / .[1]) | of(.);
        {rows: .[0].rows, rounds: ($g[0] | length), bytes_as_json: $bytes, bytes_sent_per_document: $sent,
         of_B0: over("B0"), of_B0j: over("B0j"), of_B1: over("B1"), of_B2: over("B2"), of_one_reader: over("rowferry1"),
         subjects: ($g | map({key: .[0].subject, value: {
            rows_per_second: of(.rows_per_second), cpu_seconds_per_million: of(.cpu_seconds_per_million),
            database_cpu_seconds_per_million: of(.database_cpu_seconds_per_million), peak_rss_mib: of(.peak_rss_mib)}}) | from_entries)}' \
        "$dir/runs"
}

# Syncs 300,000 rows that one statement changed since the last sync.
catchup() {
    local changed=$((rows < 300000 ? rows : 300000)) number
    start_sink
    configure
    begin_anew
    rf sync
    rm -f "$dir/catchups"
    for ((number = 1; number <= growth_rounds; number++)); do
        say "catch-up of $changed rows"
        psql -qX "$uri" -c "update events set score = score + 1 where id <= $changed"
        measure catchup "$changed" | tee -a "$dir/catchups" >&2
    done
    stop_sink $((rows + growth_rounds * changed))
    jq -s "$statistics"'{rows: .[0].rows, seconds: of(.seconds), rows_per_second: of(.rows_per_second),
        cpu_seconds_per_million: of(.cpu_seconds_per_million),
        database_cpu_seconds_per_million: of(.database_cpu_seconds_per_million), peak_rss_mib: of(.peak_rss_mib)}' "$dir/catchups"
    psql -qX "$uri" -c 'vacuum (full, freeze, analyze) events'
}
