# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Reports the results of all parts: one JSON object, tables, comparison with the budget, plots; sourced by run.sh.

# Prints all results, and the machine and versions they were measured with.
summary() {
    local name files=()
    for name in "${parts[@]}"; do files+=("$dir/$name.json"); done
    jq -n --arg machine "$(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(awk '/MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo), Linux $(uname -r)" \
        --arg began "$began_at, load $began_load" --arg ended "$(date -u +%H:%M), load $(cut -d' ' -f1-3 /proc/loadavg)" \
        --arg postgresql "$(psql -AtX "$uri" -c 'show server_version')" --arg rowferry "$("$build/rowferry" --version | head -1)" \
        --arg libraries "$("$build/rowferry" --version | sed 1d | paste -sd' ')" --arg compiler "$(cc --version | head -1)" \
        --arg commit "$(git -C "$top" rev-parse --short HEAD)" --argjson binary "$(stripped_size)" \
        --arg columns "$(psql -AtX "$uri" -c "select string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' order by attnum)
            from pg_attribute where attrelid = 'public.events'::regclass and attnum > 0 and not attisdropped")" \
        '{machine: $machine, began: $began, ended: $ended, postgresql: $postgresql, rowferry: $rowferry, libraries: $libraries,
          compiler: $compiler, commit: $commit, binary_bytes: $binary, columns: $columns,
          parts: (reduce inputs as $part ({}; .[input_filename | split("/")[-1] | rtrimstr(".json")] = $part))}' "${files[@]}"
}

# Size of the program as installed.
stripped_size() {
    strip -o "$dir/stripped" "$build/rowferry"
    stat -c %s "$dir/stripped"
}

# Prints each line of the budget and of the other goals with its result, if its part has run.
budget() {
    jq "$statistics"'
        def ms: "\(n(1)) ms"; def mib: "\(n(1)) MiB";
        def line($what; $measured; $bound; $holds; $aim; $reached):
            {what: $what, measured: $measured, bound: $bound, aim: $aim,
             verdict: (if $holds | not then "MISSED" elif $reached == true then "holds, aim reached" elif $reached == false then "holds, aim missed" else "holds" end)};
        .binary_bytes as $binary | .parts as $p
        | [ ($p.load | select(.) | line("first load into a sink that costs nothing"; "\(.of_B0.median | n(2)) x B0, \(.of_B1.median | n(2)) x B1";
                "0.8 x B0 and 2 x B1"; .of_B0.median >= 0.8 and .of_B1.median >= 2; "1.0 x B0"; .of_B0.median >= 1)),
            ($p.load | select(.) | .subjects.rowferry.cpu_seconds_per_million.median as $c | line("CPU of the agent per million documents";
                "\($c | n(2)) s"; "2.0 s"; $c <= 2; "1.3 s"; $c <= 1.3)),
            ([$p.load.subjects.rowferry.peak_rss_mib.most, ($p.growth.sizes // [] | .[] | .full_window_rss_mib, .peak_rss_mib),
              ($p.tables // {} | .[].peak_rss_mib.most), $p.storm.peak_rss_mib, $p.catchup.peak_rss_mib.most, $p.time.sustained.peak_rss_mib.most]
             | map(select(.)) | select(length > 0) | max | line("peak memory: any table, rows to 1 MiB, outage, slow service"; mib;
                "32 MiB"; . <= 32; "20 MiB"; . <= 20)),
            ($p.pipelines | select(.) | .more_rss_mib_for_each | line("memory for each further pipeline"; mib; "6 MiB"; . <= 6; ""; null)),
            ($p.time | select(.) | .single.polled | line("commit to document at 100 a second, p50 / p99"; "\(.p50_ms.median | n(1)) / \(.p99_ms.median | n(1)) ms";
                "60 / 300 ms"; .p50_ms.median <= 60 and .p99_ms.median <= 300; "20 / 100 ms"; .p50_ms.median <= 20 and .p99_ms.median <= 100)),
            ($p.time | select(.) | (.highest // 0) | line("changes kept up with"; "\(round) a second"; "20,000 a second"; . >= 19000; "50,000 a second"; . >= 48500)),
            ($p.time | select(.) | .rest | map(.agent_cpu_s_per_hour, .backend_cpu_s_per_hour) | max
                | line("at rest, the agent or its sessions in the database, the greater"; "\(n(2)) CPU-s an hour"; "4"; . <= 4; "0.5"; . <= 0.5)),
            ($p.growth | select(.) | .idle | map(.over_ms.median) | max
                | line("`sync` with nothing to do, over process start and handshakes, any size"; ms; "20 ms"; . <= 20; "5 ms"; . <= 5)),
            ([$p.reconcile.more_rss_mib, $p.real.verify.more_rss_mib] | map(select(.)) | select(length > 0) | max
                | line("memory of a reconcile or verify beside a sync"; "+ \(mib)"; "+ 8 MiB"; . <= 8; ""; null)),
            line("the program"; "\($binary / 1024 | round) KiB"; "1,280 KiB"; $binary <= 1310720; "1,024 KiB"; $binary <= 1048576),
            ($p.load | select(.) | (1 / .of_B2.median) | line("the sink is faster than the agent"; "\(n(1)) times"; "4 times"; . >= 4; ""; null)),
            ($p.growth | select(.) | line("documents per CPU second of the agent, \(.sizes[-1].rows) rows beside \(.sizes[0].rows)";
                "\(.agent_rate_last_of_first | n(2))"; "0.9"; .agent_rate_last_of_first >= 0.9; ""; null)),
            ($p.growth | select(.) | line("the same with the database"; "\(.core_rate_last_of_first | n(2))"; "0.9"; .core_rate_last_of_first >= 0.9; ""; null)),
            ($p.growth | select(.) | line("memory with the window full, \(.sizes[-1].rows) rows beside \(.more_rss_beside)"; "\(.more_rss_mib | mib)"; "+ 1 MiB"; .more_rss_mib <= 1; ""; null)),
            ($p.way | select(.) | line("rate with 20 ms to the service, of that without"; "\(.far_of_near | n(2))"; "0.9"; .far_of_near >= 0.9; ""; null)),
            ($p.reconcile | select(.) | line("reconcile beside COPY of the keys"; "\(.of_copy | n(2)) times"; "3 times"; .of_copy <= 3; ""; null)),
            ($p.real.load | select(.) | ($p.real.agent_share * 100) | line("agent, of all CPU beside a real OpenSearch"; "\(n(1)) %"; "5 %"; . < 5; ""; null))
          ]' "$1"
}

table_of_budget() {
    jq -r '"| what | measured | bound | aim | |", "| --- | --- | --- | --- | --- |",
        (.budget[] | "| \(.what) | \(.measured) | \(.bound) | \(.aim) | \(.verdict) |")' "$1"
}

# --- the tables of the parts -----------------------------------------------------------------

table_of_load() {
    jq -r "$statistics"'.parts.load | select(.) |
        "\(.rows) rows, \(.bytes_as_json) bytes as JSON, \(.bytes_sent_per_document) sent per document; \(.rounds) rounds, median (least-most).", "",
        "| | rows/s | CPU-s per million | database CPU-s per million | peak RSS, MiB |", "| --- | --- | --- | --- | --- |",
        (.subjects | (["B0", "B0: COPY to /dev/null"], ["B0j", "B0j: COPY of row_to_json"], ["B1", "B1: psql, sed, split, curl"],
            ["B2", "B2: ready bodies from a file"], ["rowferry1", "rowferry, 1 reader"], ["rowferry", "rowferry, 2 readers"]) as [$s, $name] | .[$s]
         | "| \($name) | \(.rows_per_second | cell(0)) | \(.cpu_seconds_per_million | cell(2)) | \(.database_cpu_seconds_per_million | cell(2)) | \(.peak_rss_mib | cell(1)) |"),
        "", "Ratios of the same round: rowferry / B0 = \(.of_B0 | cell(2)), / B0j = \(.of_B0j | cell(2)), / B1 = \(.of_B1 | cell(2)), / one reader = \(.of_one_reader | cell(2)).", ""' "$1"
    jq -r "$statistics"'.parts.clients.clients // [] | .[] | if .skipped then "\(.subject): skipped, \(.skipped)" else
        "\(.subject) client library, \(.rows) rows: \(.rows_per_second | round) rows/s, \(.cpu_seconds_per_million | n(1)) CPU-s per million, \(.peak_rss_mib | round) MiB." end' "$1"
}

table_of_growth() {
    jq -r "$statistics"'.parts.growth | select(.) |
        "| rows | rows/s | of COPY | agent CPU-s per million | database CPU-s per million | peak RSS, MiB | with the window full |", "| --- | --- | --- | --- | --- | --- | --- |",
        (.sizes[] | "| \(.rows) | \(.rows_per_second | round) | \(.of_copy | n(2)) | \(.cpu_seconds_per_million | n(2)) | \(.database_cpu_seconds_per_million | n(2)) | \(.peak_rss_mib | n(1)) | \(.full_window_rss_mib | n(1)) |"),
        "", "| rows | `sync` with nothing to do, ms | start and handshakes alone, ms | over them, ms |", "| --- | --- | --- | --- |",
        (.idle[] | "| \(.rows) | \(.sync_ms | cell(1)) | \(.handshakes_ms | cell(1)) | \(.over_ms | cell(1)) |"),
        "", "To start the program alone: \(.idle[-1].start_ms | cell(1)) ms.", ""' "$1"
}

table_of_tables() {
    jq -r "$statistics"'.parts.tables | select(.) |
        "| table | bytes sent per document | documents/s | MB/s | of COPY | CPU-s per million | peak RSS, MiB |", "| --- | --- | --- | --- | --- | --- | --- |",
        ((["narrow", "2 columns"], ["forty", "40 columns"], ["wide", "80 columns"], ["hostile", "controls, quotes, 57 digits, nested"], ["big", "100 KB of text"],
            ["mebibyte", "1 MiB of text"]) as [$s, $name] | .[$s]
         | "| \($name) | \(.bytes) | \(.rows_per_second.median | round) | \(.bytes_per_second.median / 1e6 | n(0)) | \(.of_copy.median | n(2)) | \(.cpu_seconds_per_million.median | n(2)) | \(.peak_rss_mib.median | n(1)) |"), ""' "$1"
    jq -r "$statistics"'.parts.pipelines | select(.) | "| pipelines that load at once | " + (.counts | map("\(.pipelines)") | join(" | ")) + " |",
        "| --- |" + (.counts | map(" --- |") | join("")), "| peak RSS, MiB | " + (.counts | map("\(.peak_rss_mib | n(1))") | join(" | ")) + " |", ""' "$1"
}

table_of_way() {
    jq -r "$statistics"'.parts.way | select(.) |
        "| first load of \(.rows) rows | rows/s | CPU-s per million | database CPU-s per million | peak RSS, MiB |", "| --- | --- | --- | --- | --- |",
        (.ways | (["0 ms", "service at hand"], ["5 ms", "5 ms to the service"], ["20 ms", "20 ms"], ["wide", "20 ms, `window_bytes` of 20 MiB"], ["50 ms", "50 ms"], ["tls", "TLS to both servers"]) as [$s, $name] | .[$s]
         | "| \($name) | \(.rows_per_second | cell(0)) | \(.cpu_seconds_per_million | cell(2)) | \(.database_cpu_seconds_per_million | cell(2)) | \(.peak_rss_mib | cell(1)) |"),
        "", "`gzip -1` of the same bodies, which is not done: \(.gzip.cpu_seconds_per_million | n(2)) CPU-s per million to leave \(.gzip.left * 100 | n(0)) % of the bytes.", ""' "$1"
    jq -r "$statistics"'.parts.storm | select(.) | "A node of four writers and a queue of ten: \(.of_capacity * 100 | n(0)) % of its capacity, \(.refused_share * 100 | n(1)) % refused; " +
        "while it refuses everything \(.tries_in_storm) tries, then \(.after_of_before | n(2)) of the rate before; \(.peak_rss_mib | n(1)) MiB at the peak.", ""' "$1"
}

table_of_changes() {
    jq -r "$statistics"'.parts.catchup | select(.) | "Catch-up of \(.rows) changed rows by one `sync`: \(.seconds | cell(2)) s, \(.rows_per_second | cell(0)) a second; CPU-s per million \(.cpu_seconds_per_million | cell(2)), database \(.database_cpu_seconds_per_million | cell(2)); \(.peak_rss_mib.most | n(1)) MiB.", ""' "$1"
    jq -r "$statistics"'.parts.time | select(.) |
        "| 100 single rows a second, \(.rounds) rounds | p50, ms | p99, ms |", "| --- | --- | --- |",
        (.single | (["bare", "INSERT and `_bulk` of one document, nothing between"], ["polled", "commit to document, polls"], ["notified", "commit to document, NOTIFY"]) as [$key, $name]
         | .[$key] | "| \($name) | \(.p50_ms | cell(1)) | \(.p99_ms | cell(1)) |"),
        "", (.sustained | "| 20,000 changes a second | writer alone | with `run` |", "| --- | --- | --- |",
         "| written a second | \(.written_alone | cell(0)) | \(.written | cell(0)) |", "| a transaction of 200, ms | \(.writer_alone_ms | cell(1)) | \(.writer_ms | cell(1)) |",
         "| acknowledged a second | | \(.sent | cell(0)) |", "| statement to acknowledged, p50, ms | | \(.p50_ms | cell(0)) |", "| p99, ms | | \(.p99_ms | cell(0)) |",
         "| peak RSS, MiB | | \(.peak_rss_mib | cell(1)) |", "| processor, share of a core | | \(.cpu_share | cell(2)) |"),
        "", "| asked for a second | written alone | written beside `run` | acknowledged | p99, ms |", "| --- | --- | --- | --- | --- |",
        (.faster[] | "| \(.asked) | \(.alone.written_per_second) | \(.beside.written_per_second) | \(.sent_per_second | round) | \(.p99_ms) |"),
        "", (.rest[] | "At \(.subject) for \(.seconds) s: agent \(.agent_cpu_s_per_hour) CPU-s an hour, its sessions in the database \(.backend_cpu_s_per_hour)."), ""' "$1"
}

table_of_looks() {
    jq -r "$statistics"'.parts.reconcile | select(.) | "Reconcile of \(.rows) keys: \(.seconds | n(2)) s = \(.of_copy | n(2)) times COPY of the keys in their order (\(.copy_seconds | n(2)) s); CPU-s per million: " +
        "\(.cpu_seconds_per_million | n(2)), database \(.database_cpu_seconds_per_million | n(2)) (COPY \(.copy_database_cpu_seconds_per_million | n(2))); + \(.more_rss_mib | n(1)) MiB.", ""' "$1"
    jq -r "$statistics"'.parts.real | select(.) | if .skipped then "A real OpenSearch: skipped, \(.skipped)." else
        "| beside OpenSearch 2.19.4, \(.load.rows) rows | documents/s | agent CPU-s per million | database | service |", "| --- | --- | --- | --- | --- |",
        (["first load", .load], ["ready bodies from a file", .posted] | "| \(.[0]) | \(.[1] | "\(.rows_per_second | round) | \(.cpu_seconds_per_million | n(2)) | \(.database_cpu_seconds_per_million | n(2)) | \(.service_cpu_seconds_per_million | n(1))") |"),
        "| `verify` | \(1e6 / .verify.seconds_per_million | round) | \(.verify.cpu_seconds_per_million | n(2)) | \(.verify.database_cpu_seconds_per_million | n(2)) | \(.verify.service_cpu_seconds_per_million | n(1)) |",
        "", "The agent uses \(.agent_share * 100 | n(1)) % of all CPU, and loads at \(.of_posted | n(2)) of the rate of ready bodies." end, ""' "$1"
}

# --- plots -----------------------------------------------------------------------------------

plot() { jq -r "$statistics$2" "$3" | awk -f "$here/plot.awk" >"$1"; }

# $1: folder, $2: the summary
# shellcheck disable=SC2016
plots() {
    plot "$1/load.svg" '.parts.load | ["kind", "bars"], ["title", "First load into a sink that costs nothing"], ["ylabel", "rows a second"],
        (.subjects | ("B0", "B0j", "B1", "rowferry1", "rowferry") as $s | ["point", "rows", ({rowferry1: "1 reader", rowferry: "rowferry"}[$s] // $s),
            (.[$s].rows_per_second | .median, .least, .most)]) | @tsv' "$2"
    plot "$1/cpu.svg" '.parts.growth | ["kind", "lines"], ["title", "CPU per million documents, by the size of the table"], ["ylabel", "CPU seconds"], ["xlabel", "rows"],
        (.sizes[] | ["point", "database", .rows, .database_cpu_seconds_per_million], ["point", "agent", .rows, .cpu_seconds_per_million]) | @tsv' "$2"
    plot "$1/memory.svg" '.parts.growth | ["kind", "lines"], ["title", "Peak memory of a first load, by the size of the table"], ["ylabel", "MiB"], ["xlabel", "rows"],
        (.sizes[] | ["point", "service 20 ms away", .rows, .full_window_rss_mib], ["point", "service at hand", .rows, .peak_rss_mib]) | @tsv' "$2"
    plot "$1/far.svg" '.parts.way | ["kind", "bars"], ["title", "First load, by the time that a request takes to the service and back"], ["ylabel", "rows a second"],
        (.ways | ("0 ms", "5 ms", "20 ms", "50 ms") as $s | ["point", "rows", $s, (.[$s].rows_per_second | .median, .least, .most)]) | @tsv' "$2"
    plot "$1/latency.svg" '.parts.time | ["kind", "bars"], ["title", "Commit to document, 100 single rows a second"], ["ylabel", "milliseconds"],
        (.single | (["bare", "nothing between"], ["polled", "polls"], ["notified", "NOTIFY"]) as [$s, $name] | .[$s]
            | ["point", "p50", $name, (.p50_ms | .median, .least, .most)], ["point", "p99", $name, (.p99_ms | .median, .least, .most)]) | @tsv' "$2"
}

# --- all of it -------------------------------------------------------------------------------

everything() {
    local name
    jq -r '"\(.machine); PostgreSQL \(.postgresql); \(.rowferry), commit \(.commit), \(.compiler).", "Began \(.began); ended \(.ended)."' "$1"
    for name in load growth tables way changes looks; do
        printf '\n'
        "table_of_$name" "$1"
    done
    printf '\n'
    table_of_budget "$1"
}

# Replaces the text between "<!-- figures: NAME -->" and "<!-- end -->". $1: page, $2: name, $3: file
replace_figures() {
    awk -v name="$2" -v file="$3" '
        $0 == "<!-- end -->" { inside = 0 }
        !inside { print }
        $0 == "<!-- figures: " name " -->" { inside = 1; while ((getline said < file) > 0) print said }' "$1" >"$dir/page"
    cat "$dir/page" >"$1"
}

# $1: the summary
write_docs() {
    local name page=$top/docs/performance.md
    mkdir -p "$top/docs/performance"
    plots "$top/docs/performance" "$1"
    jq . "$1" >"$top/docs/performance/figures.json"
    jq -r '"\(.machine); PostgreSQL \(.postgresql); \(.rowferry), \(.compiler). Began \(.began); ended \(.ended)."' "$1" >"$dir/said"
    replace_figures "$page" machine "$dir/said"
    for name in budget load growth tables way changes looks; do
        "table_of_$name" "$1" | cat -s | sed -e '${/^$/d}' >"$dir/said"
        replace_figures "$page" "$name" "$dir/said"
    done
}

report() {
    summary >"$dir/summary.json"
    budget "$dir/summary.json" >"$dir/budget.json"
    jq --slurpfile budget "$dir/budget.json" '.budget = $budget[0]' "$dir/summary.json" >"$dir/whole.json"
    [ -z "$json" ] || cp "$dir/whole.json" "$json"
    everything "$dir/whole.json"
    [ -z "$docs" ] || write_docs "$dir/whole.json"
}
