# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Growth of the figures with rows, with columns and row size, and with pipelines; sourced by run.sh.

# Number of initial loads to average, so that clock ticks do not matter for a small table.
times_of() { echo $(($1 < 50000 ? 10 : $1 < 500000 ? 3 : 1)); }

# Prints the milliseconds of a command on one line.
milliseconds() {
    local began=$EPOCHREALTIME
    "$@" >/dev/null 2>"$dir/log"
    echo $(((${EPOCHREALTIME/[.,]/} - ${began/[.,]/}) / 1000)).$(((${EPOCHREALTIME/[.,]/} - ${began/[.,]/}) % 1000 / 100))
}

# Compares a sync with nothing to do to the start of a program and a session with either server. $1: rows.
idle_figures() {
    local number
    rm -f "$dir"/idle.*
    for ((number = 1; number <= 15; number++)); do
        milliseconds "$build/rowferry" -c "$dir/rowferry.json" --no-progress sync >>"$dir/idle.sync"
        milliseconds psql -qXAt "$uri" -c 'select 1' >>"$dir/idle.session"
        curl -fsS -o /dev/null -w '%{time_total}\n' "$url/" >>"$dir/idle.request"
        milliseconds "$build/rowferry" --version >>"$dir/idle.start"
    done
    jq -n --argjson rows "$1" --slurpfile sync "$dir/idle.sync" --slurpfile session "$dir/idle.session" \
        --slurpfile request "$dir/idle.request" --slurpfile start "$dir/idle.start" "$statistics"'
        ([$session, $request] | transpose | map(.[0] + 1000 * .[1])) as $bare
        | {rows: $rows, sync_ms: ($sync | of(.)), handshakes_ms: ($bare | of(.)), start_ms: ($start | of(.)),
           over_ms: ([$sync, $bare] | transpose | map(.[0] - .[1]) | of(.))}'
}

# Measures one size: loads, memory with a slow service and a full window, and syncs with nothing to do.
growth_of() {
    local size=$1 number
    url=http://127.0.0.1:9
    configure '{}' "rows_$size.events"
    for ((number = 1; number <= growth_rounds; number++)); do
        measure_loads load "$size" "$(times_of "$size")" >"$dir/run"
        tee -a "$dir/growth.loads" <"$dir/run" >&2
        [ "$size" = 1 ] || BENCH_TABLE=rows_$size.events measure table "$size" | tee -a "$dir/growth.copies" >&2
    done
    [ "$size" != 1 ] || return 0
    start_distant_sink 20
    configure '{}' "rows_$size.events"
    begin_anew
    measure distant "$size" | tee -a "$dir/growth.memory" >&2
    idle_figures "$size" | jq -c . | tee -a "$dir/growth.idle" >&2
    stop_sink "$size"
}

# Prints one JSON object. Subtracts the cost of a one-row table, which is the fixed cost of a load.
growth() {
    local size
    rm -f "$dir"/growth.{loads,memory,copies,idle}
    for size in 1 "${sizes[@]}"; do
        say "a table of $size rows"
        make_table "rows_$size" "$size"
        growth_of "$size"
        [ "$size" = 10000 ] || psql -qX "$uri" -c 'set client_min_messages = warning' -c "drop schema rows_$size cascade"
    done
    jq -n --slurpfile loads "$dir/growth.loads" --slurpfile memory "$dir/growth.memory" --slurpfile copies "$dir/growth.copies" \
        --slurpfile idle "$dir/growth.idle" "$statistics"'
        def middle(f): map(f) | median;
        ($loads | map(select(.rows == 1)) | {cpu: middle(.cpu_seconds), database: middle(.database_cpu_seconds), seconds: middle(.seconds)}) as $one
        | ($loads | group_by(.rows) | map(select(.[0].rows > 1)) | map(. as $l | .[0].rows as $rows | {
            rows: $rows, seconds: middle(.seconds), rows_per_second: middle(.rows_per_second), peak_rss_mib: middle(.peak_rss_mib),
            of_copy: (middle(.rows_per_second) / ($copies | map(select(.rows == $rows)) | middle(.rows_per_second))),
            cpu_seconds_per_million: ((middle(.cpu_seconds) - $one.cpu) / $rows * 1e6),
            database_cpu_seconds_per_million: ((middle(.database_cpu_seconds) - $one.database) / $rows * 1e6),
            full_window_rss_mib: ($memory[] | select(.rows == $rows) | .peak_rss_mib)}
            | . + {rows_per_cpu_second: (1e6 / (.cpu_seconds_per_million + .database_cpu_seconds_per_million)),
                   rows_per_agent_second: (1e6 / .cpu_seconds_per_million)})) as $sizes
        | ($sizes | map(select(.rows >= 1000000)) | if length > 0 then . else $sizes end) as $large # those that fill the window
        | {one_row: $one, sizes: $sizes, idle: $idle,
           core_rate_last_of_first: ($sizes | map(.rows_per_cpu_second) | (.[-1] / .[0])),
           agent_rate_last_of_first: ($sizes | map(.rows_per_agent_second) | (.[-1] / .[0])),
           more_rss_beside: $large[0].rows, more_rss_mib: ($large | map(.full_window_rss_mib) | (.[-1] - .[0]))}'
}

# --- rows of other shapes ---------------------------------------------------------------------

# Columns c1, c2, ... of four alternating types. $1: number.
columns_of_turn() {
    local number
    for ((number = 1; number <= $1; number++)); do
        case $((number % 4)) in
        0) printf ', (i %% 2 = 0) as c%d' "$number" ;;
        1) printf ', (i * %d %% 1000003)::integer as c%d' "$number" "$number" ;;
        2) printf ", 'text ' || i %% 9973 as c%d" "$number" ;;
        3) printf ', (i %% 100000)::numeric(12, 2) / 8 as c%d' "$number" ;;
        esac
    done
}

# $1: table, $2: rows, $3: further columns
make_shape() {
    psql -qX -v ON_ERROR_STOP=1 "$uri" -c "create table $1 as select i::bigint as id$3 from generate_series(1, $2) i" \
        -c "alter table $1 add primary key (id)" -c "vacuum (freeze, analyze) $1"
}

make_shapes() {
    local words="'he quick ferry carries words \" — grüße — \\\\ away over calm and rough water, day by day; '"
    make_shape narrow $((rows / 2)) ", 'night crossing ' || i as name"
    make_shape forty $((rows / 10)) "$(columns_of_turn 39)"
    make_shape wide $((rows / 10)) "$(columns_of_turn 79)"
    make_shape hostile $((rows / 10)) ", repeat(E'\\x01\\x02\\n\\r\\t\\b\"\\\\\"\\x1f', 4) as controls, '🐘' || chr(8232) || '🐘' as marks,
        -1234567890123456789012345678901234567890.12345678901234567 as digits, array[E'\"\\\\\"', null, 'a,b{}'] as quoted,
        '{\"\\\"\": [[[[{\"\\n\": \"\\\\\"}]]]], \"b\": 1e300}'::jsonb as json"
    make_shape big $((rows / 500)) ", repeat($words, 1200) as body"
    make_shape mebibyte 200 ", repeat('0123456789abcdef', 65536) as body"
}

# The properties of a table's columns, as JSON.
shape_properties() {
    psql -AtX "$uri" -c "select json_build_object('properties', json_object_agg(attname, json_strip_nulls(json_build_object('dynamic', nullif(atttypid = 'jsonb'::regtype, false), 'type',
            case when attname = 'id' or atttypid = 'integer'::regtype then 'long' when atttypid = 'numeric'::regtype then 'double'
                 when atttypid = 'boolean'::regtype then 'boolean' when atttypid = 'jsonb'::regtype then 'object' else 'text' end))))
        from pg_attribute where attrelid = '$1'::regclass and attnum > 0 and not attisdropped"
}

# Prints one JSON object: tables compared to a COPY of the same table.
tables() {
    local shape count number
    rm -f "$dir/shapes"
    make_shapes
    for shape in narrow forty wide hostile big mebibyte; do
        count=$(psql -AtX "$uri" -c "select count(*) from $shape")
        url=http://127.0.0.1:9
        configure '{}' "public.$shape"
        jq --argjson mappings "$(shape_properties "$shape")" '.pipelines[0].to.mappings = $mappings' "$dir/rowferry.json" >"$dir/next.json"
        mv "$dir/next.json" "$dir/rowferry.json"
        for ((number = 1; number <= growth_rounds; number++)); do
            BENCH_TABLE=$shape measure table "$count" >"$dir/copy"
            measure_loads "$shape" "$count" 1 >"$dir/run"
            jq -c --slurpfile copy "$dir/copy" --argjson bytes "$(jq '.bytes / .upserts | round' <<<"$taken")" '. + {bytes: $bytes,
                bytes_per_second: (.rows_per_second * $bytes), of_copy: (.rows_per_second / $copy[0].rows_per_second)}' "$dir/run" |
                tee -a "$dir/shapes" >&2
        done
        psql -qX "$uri" -c "drop table $shape"
    done
    jq -s "$statistics"'group_by(.subject) | map({key: .[0].subject, value: {rows: .[0].rows, bytes: .[0].bytes,
        rows_per_second: of(.rows_per_second), bytes_per_second: of(.bytes_per_second), of_copy: of(.of_copy),
        cpu_seconds_per_million: of(.cpu_seconds_per_million), peak_rss_mib: of(.peak_rss_mib)}}) | from_entries' "$dir/shapes"
}

# --- pipelines --------------------------------------------------------------------------------

# Loads the same table into $1 indices by one run. $1: pipelines, $2: rows.
pipelines_of() {
    local agent count=$1
    configure '{}' "rows_$2.events"
    jq --argjson count "$count" '.pipelines[0] as $p | .pipelines = [range($count) | . as $i | $p
        | .name = "events\($i)" | .to.index = "events\($i)"]' "$dir/rowferry.json" >"$dir/next.json"
    mv "$dir/next.json" "$dir/rowferry.json"
    begin_anew
    : >"$dir/run.log"
    "$build/rowferry" -c "$dir/rowferry.json" run >/dev/null 2>"$dir/run.log" &
    agent=$!
    until [ "$(grep -c event=following "$dir/run.log")" = "$count" ]; do
        running "$agent" || { cat "$dir/run.log" >&2; die 'run failed'; }
        sleep 0.05
    done
    jq -cn --argjson pipelines "$count" --argjson rss "$(awk '/VmHWM/ { print $2 }' "/proc/$agent/status")" \
        '{pipelines: $pipelines, peak_rss_mib: ($rss / 1024)}'
    kill -TERM "$agent"
    wait "$agent"
}

# Prints one JSON object: peak memory of a run that loads all of its pipelines at once.
pipelines() {
    local count loaded=100000
    make_table "rows_$loaded" "$loaded"
    rm -f "$dir/pipelines.lines"
    for count in 1 2 4 8; do
        start_distant_sink 20
        pipelines_of "$count" "$loaded" >>"$dir/pipelines.lines"
        tail -1 "$dir/pipelines.lines" >&2
        stop_sink $((count * loaded))
    done
    psql -qX "$uri" -c 'set client_min_messages = warning' -c "drop schema rows_$loaded cascade"
    jq -s '{counts: ., more_rss_mib_for_each: ((.[-1].peak_rss_mib - .[0].peak_rss_mib) / (.[-1].pipelines - .[0].pipelines))}' \
        "$dir/pipelines.lines"
}
