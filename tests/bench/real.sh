# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Measurements with a real OpenSearch on the same cores: the agent's share of all CPU, the cost of a verify, and
# the cost of client libraries in other languages; sourced by run.sh. A figure that cannot be measured is
# replaced by its reason.

real_end() { [ ! -e "$dir/node/pid" ] || "$top/tests/servers/opensearch" stop --dir "$dir/node" >&2 || true; }

skipped() {
    say "skipped: $1"
    jq -n --arg why "$1" '{skipped: $why}'
}

# CPU seconds of a running process with all its threads.
process_cpu() {
    sed 's/.*) //' "/proc/$1/stat" | awk -v hz="$(getconf CLK_TCK)" '{ print ($12 + $13) / hz }'
}

real_start() {
    install_packages "$dir/packages.log" "${opensearch_packages[@]}" &&
        url=$("$top/tests/servers/opensearch" start --dir "$dir/node" --version 2.19.4 --heap 1g --timeout 300 2>"$dir/node.out")
}

# Measures a subject and adds the CPU of the node. $1: subject.
measure_real() {
    local before after pid
    pid=$(cat "$dir/node/pid")
    before=$(process_cpu "$pid")
    measure "$1" "$real_rows" >"$dir/run"
    after=$(process_cpu "$pid")
    jq -c --argjson before "$before" --argjson after "$after" \
        '. + {service_cpu_seconds_per_million: (($after - $before) / .rows * 1e6)}' "$dir/run"
}

# Resets the node to its state before the first load.
real_empty() { curl -fsS -o /dev/null -X DELETE "$url/events*"; }

# $1: file for the line of JSON.
real_posted() {
    real_empty
    curl -fsS -o /dev/null -X PUT -H 'content-type: application/json' "$url/events" \
        -d "$(jq '.pipelines[0].to | {mappings, settings}' "$dir/rowferry.json")"
    measure_real B2 | tee -a "$1" >&2
}

# Prints one JSON object. Alternates loads and posts of the same bodies from a file, then runs a verify. The first load
# is not counted, because a fresh JVM is several times slower.
real() {
    local round
    real_start || { skipped "no OpenSearch could be started here: $(tail -1 "$dir/node.out" "$dir/packages.log" 2>/dev/null | tail -1)"; return; }
    make_table real "$real_rows"
    BENCH_URI=$uri PGOPTIONS='-c search_path=real' "$here/subject.sh" bodies >"$dir/real.bulk"
    mv "$dir/real.bulk" "$dir/bulk"
    configure '{}' real.events
    jq '.pipelines[0].to.settings = {number_of_shards: 1, number_of_replicas: 0}' "$dir/rowferry.json" >"$dir/next.json"
    mv "$dir/next.json" "$dir/rowferry.json"
    rm -f "$dir"/real.load "$dir"/real.posted
    say "a real node, $real_rows rows, round 0 of $real_rounds"
    real_posted /dev/null
    for ((round = 1; round <= real_rounds; round++)); do
        say "round $round of $real_rounds"
        real_posted "$dir/real.posted"
        real_empty
        begin_anew
        measure_real rowferry | tee -a "$dir/real.load" >&2
    done
    curl -fsS -o /dev/null -X POST "$url/events/_refresh"
    measure_real idle | tee "$dir/real.idle" >&2
    measure_real verify | tee "$dir/real.verify" >&2
    rm -f "$dir/bulk"
    psql -qX "$uri" -c 'set client_min_messages = warning' -c 'drop schema real cascade'
    jq -n --slurpfile loads "$dir/real.load" --slurpfile idle "$dir/real.idle" --slurpfile verify "$dir/real.verify" --slurpfile posts "$dir/real.posted" '
        def middle: sort_by(.seconds) | .[length / 2 | floor];
        ($loads | middle) as $load | {load: $load, posted: ($posts | middle),
         of_posted: ([$loads, $posts] | transpose | map(.[0].rows_per_second / .[1].rows_per_second) | sort | .[length / 2 | floor]),
         agent_share: ($load | .cpu_seconds_per_million
            / (.cpu_seconds_per_million + .database_cpu_seconds_per_million + .service_cpu_seconds_per_million)),
         verify: {seconds_per_million: (($verify[0].seconds - $idle[0].seconds) / $verify[0].rows * 1e6),
            cpu_seconds_per_million: ($verify[0].cpu_seconds_per_million - $idle[0].cpu_seconds_per_million),
            database_cpu_seconds_per_million: ($verify[0].database_cpu_seconds_per_million - $idle[0].database_cpu_seconds_per_million),
            service_cpu_seconds_per_million: ($verify[0].service_cpu_seconds_per_million - $idle[0].service_cpu_seconds_per_million),
            peak_rss_mib: $verify[0].peak_rss_mib, more_rss_mib: ($verify[0].peak_rss_mib - $idle[0].peak_rss_mib)}}'
}

# --- client libraries -------------------------------------------------------------------------

python_client() {
    [ -x "$dir/python/bin/python" ] && return
    python3 -m venv "$dir/python" && "$dir/python/bin/pip" -q install 'psycopg2-binary==2.9.*' 'opensearch-py==3.*'
}

node_client() {
    [ -d "$dir/node-client/node_modules" ] && return
    mkdir -p "$dir/node-client" && cd "$dir/node-client" && npm install --silent pg@8 pg-query-stream@4 @opensearch-project/opensearch@3
}

# Prints one JSON object: the same load by small programs that use a client library.
clients() {
    local language
    make_table clients "$client_rows"
    rm -f "$dir/client.lines"
    for language in python node; do
        if ("${language}_client") >"$dir/client.log" 2>&1; then
            start_sink
            measure "$language" "$client_rows" | tee -a "$dir/client.lines" >&2
            stop_sink "$client_rows"
        else
            say "skipped: $language"
            jq -nc --arg subject "$language" --arg why "$(tail -1 "$dir/client.log")" \
                '{subject: $subject, skipped: "its packages could not be installed: \($why)"}' | tee -a "$dir/client.lines" >&2
        fi
    done
    psql -qX "$uri" -c 'set client_min_messages = warning' -c 'drop schema clients cascade'
    jq -s '{clients: .}' "$dir/client.lines"
}
