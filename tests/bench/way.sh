# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Cost of the connection to both servers: a service with latency, and TLS on either side; sourced by run.sh.

delays_ms=(0 5 20 50) way_rows=2000000 stunnel_pid=''

way_end() { [ -z "$stunnel_pid" ] || stop_pid "$stunnel_pid" TERM 5; }

# An initial load into a sink with latency. $1: subject, $2: milliseconds, $3: limits
way_load() {
    if [ "$2" = 0 ]; then start_sink; else start_distant_sink "$2"; fi
    configure "${3:-{\}}" way.events
    begin_anew
    measure distant "$way_rows" | jq -c --arg subject "$1" '.subject = $subject'
    stop_sink "$way_rows" >&2
}

make_certificate() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout "$dir/tls.key" -out "$dir/tls.pem" -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null
    chmod 600 "$dir/tls.key"
    cp "$dir/tls.key" "$dir/postgres/data/server.key"
    cp "$dir/tls.pem" "$dir/postgres/data/server.crt"
    [ "$(id -u)" != 0 ] || chown postgres "$dir/postgres/data/server.key" "$dir/postgres/data/server.crt"
    psql -qX "$uri" -c 'alter system set ssl = on' -c 'select pg_reload_conf()' >/dev/null
}

# Encrypted on both sides: a separate process ends TLS for the service, and its CPU counts as the service's.
way_load_tls() {
    local port plain=$uri
    port=$(free_port)
    start_sink
    printf '%s\n' 'foreground = yes' 'pid =' 'debug = err' '[sink]' "accept = 127.0.0.1:$port" "connect = ${url#http://}" \
        "cert = $dir/tls.pem" "key = $dir/tls.key" >"$dir/stunnel.conf"
    stunnel4 "$dir/stunnel.conf" 2>"$dir/stunnel.log" &
    stunnel_pid=$!
    until curl -fsS -o /dev/null --cacert "$dir/tls.pem" "https://127.0.0.1:$port/" 2>/dev/null; do sleep 0.05; done
    url=https://127.0.0.1:$port
    uri="$uri?sslmode=require"
    configure '{}' way.events
    uri=$plain
    jq --arg ca "$dir/tls.pem" '.service.tls.ca_file = $ca' "$dir/rowferry.json" >"$dir/next.json"
    mv "$dir/next.json" "$dir/rowferry.json"
    begin_anew
    measure distant "$way_rows" | jq -c '.subject = "tls"'
    stop_pid "$stunnel_pid" TERM 5
    wait "$stunnel_pid" || true
    stunnel_pid=''
    stop_sink "$way_rows" >&2
}

# Estimates the cost and gain of gzip for requests, which rowferry does not use.
gzip_figures() {
    local TIMEFORMAT='%3U' packed
    make_bulk_file
    { time packed=$(head -c 100000000 "$dir/bulk" | gzip -1 | wc -c); } 2>"$dir/time"
    jq -n --argjson packed "$packed" --argjson seconds "$(cat "$dir/time")" --argjson rows "$rows" --argjson bytes "$(stat -c %s "$dir/bulk")" '
        ($bytes | if . > 100000000 then 100000000 else . end) as $read
        | {left: ($packed / $read), cpu_seconds_per_million: ($seconds * ($bytes / $read) / $rows * 1e6)}'
}

# Prints one JSON object. $1: rounds.
way() {
    local number delay
    rm -f "$dir/ways"
    make_table way "$way_rows"
    uri="$uri?sslmode=disable"
    for ((number = 0; number <= $1; number++)); do
        say "near and far, round $number of $1"
        for delay in "${delays_ms[@]}"; do way_load "$delay ms" "$delay" >"$dir/run"; way_keep "$number"; done
        way_load wide 20 '{"window_bytes": "20MiB"}' >"$dir/run"
        way_keep "$number"
    done
    uri=${uri%\?*}
    make_certificate
    for ((number = 1; number <= $1; number++)); do way_load_tls >"$dir/run"; way_keep 1; done
    psql -qX "$uri" -c 'set client_min_messages = warning' -c 'drop schema way cascade' -c 'alter system reset ssl' -c 'select pg_reload_conf()' >/dev/null
    jq -s --argjson gzip "$(gzip_figures)" "$statistics"'
        (group_by(.subject) | map({key: .[0].subject, value: {rows_per_second: of(.rows_per_second), peak_rss_mib: of(.peak_rss_mib),
            cpu_seconds_per_million: of(.cpu_seconds_per_million),
            database_cpu_seconds_per_million: of(.database_cpu_seconds_per_million)}}) | from_entries) as $ways
        | {ways: $ways, rows: .[0].rows, wide_of_near: ($ways.wide.rows_per_second.median / $ways["0 ms"].rows_per_second.median),
           far_of_near: ($ways["20 ms"].rows_per_second.median / $ways["0 ms"].rows_per_second.median),
           tls_cpu_seconds_per_million: ($ways.tls.cpu_seconds_per_million.median - $ways["0 ms"].cpu_seconds_per_million.median),
           tls_database_cpu_seconds_per_million: ($ways.tls.database_cpu_seconds_per_million.median - $ways["0 ms"].database_cpu_seconds_per_million.median),
           gzip: $gzip}' "$dir/ways"
}

# Keeps the figures of a round, except the first.
way_keep() {
    cat "$dir/run" >&2
    [ "$1" = 0 ] || cat "$dir/run" >>"$dir/ways"
}
