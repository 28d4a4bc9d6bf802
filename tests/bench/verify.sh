#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cost of a verify compared to reading both sides. Also checks that it finds 7 missing, 5 extra and 9 altered
# documents while the table is written. Uses a private OpenSearch. See README.md.
#
#   tests/bench/verify.sh [--rows 1000000] [--writes 500] [--program FILE] [--json FILE]
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/servers/common.sh
. "$top/tests/servers/common.sh"

rows=1000000 writes=500 program='' json='' page=1000
dir='' uri='' url='' writer='' holder=''

options() {
    while [ $# -gt 0 ]; do
        case $1 in
        --rows) rows=$2; shift 2 ;;
        --writes) writes=$2; shift 2 ;;
        --program) program=$(readlink -f "$2"); shift 2 ;;
        --json) json=$(readlink -f "$2"); shift 2 ;;
        *) usage "$0"; exit 2 ;;
        esac
    done
    [ -n "$program" ] || { usage "$0"; exit 2; }
}

finish() {
    local rc=$?
    trap - EXIT
    rm -f "$dir/writing"
    [ -z "$writer" ] || wait "$writer" || true
    [ -z "$holder" ] || stop_pid "$holder" TERM 20
    "$top/tests/servers/opensearch" stop --dir "$dir/node" || true
    "$top/tests/servers/postgres" stop --dir "$dir/postgres" || true
    [ "$rc" = 0 ] || cat "$dir"/*.log >&2 2>/dev/null || true
    rm -rf "$dir" || { sleep 2; rm -rf "$dir"; }
    exit "$rc"
}

prepare() {
    dir=$(mktemp -d "${TMPDIR:-/tmp}/rowferry-verify.XXXXXX")
    chmod 755 "$dir" # the database server has a user of its own
    trap finish EXIT
    trap 'exit 130' INT TERM HUP
    uri=$("$top/tests/servers/postgres" start --dir "$dir/postgres" --set shared_buffers=1GB --set max_wal_size=4GB)
    url=$("$top/tests/servers/opensearch" start --dir "$dir/node" --version 2.19.4 --heap 2g --timeout 300)
    psql -qX -v ON_ERROR_STOP=1 "$uri" -c "
        create table article (id bigint primary key, title text, body text, price numeric(12, 4), tags text[],
            published boolean, updated_at timestamptz not null);
        insert into article select i, 'title ' || i, repeat(md5(i::text) || ' ', 8), i * 1.0625,
            array['a', 'b' || i % 1000], i % 2 = 0, timestamptz '2024-03-10 07:04:56+00' + i * interval '1 second'
        from generate_series(1, $rows) i"
    psql -qX "$uri" -c 'vacuum analyze article'
    jq -n --arg uri "$uri" --arg url "$url" --arg state "$dir/state.db" '{
        accept_admin: true, source: {uri: $uri}, service: {url: $url}, state: {path: $state},
        pipelines: [{name: "article", from: {table: "public.article", key: ["id"]},
            to: {index: "article", settings: {number_of_shards: 1, number_of_replicas: 0},
                 mappings: {properties: {title: {type: "text"}, body: {type: "text", index: false},
                    price: {type: "double"}, tags: {type: "keyword"}, published: {type: "boolean"},
                    updated_at: {type: "date"}}}}}]}' >"$dir/rowferry.json"
    rf source install >"$dir/install.log" 2>&1
}

rf() { "$program" -c "$dir/rowferry.json" --no-progress "$@"; }

# Runs a command with its output in $dir/out; prints seconds, CPU seconds and peak memory as JSON.
# $1: name, $2: expected exit code, $3...: command.
timed() {
    local name=$1 wanted=$2 rc=0
    shift 2
    /usr/bin/time -o "$dir/time" -f '%e %U %S %M' "$@" >"$dir/out" 2>"$dir/$name.log" || rc=$?
    [ "$rc" = "$wanted" ] || { cat "$dir/out" >&2; die "$name ended with $rc"; }
    tail -1 "$dir/time" | jq -cR --arg name "$name" 'split(" ") | map(tonumber) | {($name): {
        seconds: .[0], cpu_seconds: (.[1] + .[2]), peak_rss_mib: (.[3] / 1024)}}' | tee -a "$dir/figures" >&2
}

timed_rf() {
    local name=$1 wanted=$2
    shift 2
    timed "$name" "$wanted" "$program" -c "$dir/rowferry.json" --no-progress "$@"
}

# Reads the whole table by COPY, then all documents page by page.
read_both() {
    local after='' body="$1/page"
    psql -qX "$uri" -c 'copy article to stdout' >/dev/null
    while :; do
        jq -cn --arg after "$after" --argjson page "$page" '{size: $page, sort: ["source_id"], track_total_hits: false}
            + if $after == "" then {} else {search_after: [$after]} end' |
            curl -fsS -H 'content-type: application/json' --data-binary @- "$url/article/_search" >"$body"
        after=$(tail -c 300 "$body" | sed -n 's/.*"sort":\["\([^"]*\)"\].*/\1/p')
        [ -n "$after" ] || return 0
    done
}

document() { curl -fsS -o /dev/null -X "$1" -H 'content-type: application/json' "$url/article/_doc/$2" ${3:+-d "$3"}; }

# Changes documents with odd keys only, because the writer uses the even ones.
spoil() {
    local i
    for ((i = 0; i < 7; i++)); do document DELETE $((2 * i * (rows / 16) + 101)); done
    for ((i = 0; i < 5; i++)); do document PUT $((20000001 + 2 * i)) "{\"source_id\":\"$((20000001 + 2 * i))\"}"; done
    for ((i = 0; i < 9; i++)); do
        curl -fsS "$url/article/_doc/$((2 * i * (rows / 20) + 51))" | jq -c '._source.title += "!" | ._source' >"$dir/doc"
        document PUT $((2 * i * (rows / 20) + 51)) "@$dir/doc"
    done
}

# Makes $writes changes a second, a tenth of them inserts and deletes.
write_on() {
    local n=0
    while [ -e "$dir/writing" ]; do
        echo "update article set title = 'live $n', updated_at = now() where id = any (array(
                  select 2 * (1 + floor(random() * $((rows / 2 - 1))))::bigint from generate_series(1, $((writes / 10)))));
              insert into article (id, title, updated_at) select 10000000 + 2 * ($n * $((writes / 200)) + i), 'new', now()
                  from generate_series(1, $((writes / 200))) i;
              delete from article where id = any (array(
                  select 2 * (1 + floor(random() * $((rows / 2 - 1))))::bigint from generate_series(1, $((writes / 200)))));"
        n=$((n + 1))
        sleep 0.1
    done | psql -qX "$uri" >"$dir/writer.log" 2>&1
}

# Number of changes of the table so far; may lag by a second.
written() { psql -AtX "$uri" -c "select n_tup_ins + n_tup_upd + n_tup_del from pg_stat_user_tables where relname = 'article'"; }

expect() { jq -e "$1" "$dir/out" >/dev/null || { cat "$dir/out" >&2; die "not as it should be: $1"; }; }

main() {
    local before began
    options "$@"
    need jq jq
    need psql postgresql-client
    [ -x /usr/bin/time ] || die 'needs /usr/bin/time (apt-get install time)'
    prepare
    say "a first sync of $rows rows"
    timed_rf first_load 0 sync
    timed_rf idle_sync 0 sync
    curl -fsS -o /dev/null -X POST "$url/article/_refresh"
    say 'reading both sides'
    export -f read_both
    timed reading_both 0 env uri="$uri" url="$url" page="$page" bash -c "read_both '$dir'"
    say 'a verify of an index that is equal'
    timed_rf verify_equal 0 verify --json
    expect '.missing + .extra + .altered + .waiting == 0'
    timed reading_both_again 0 env uri="$uri" url="$url" page="$page" bash -c "read_both '$dir'"
    say "7 missing, 5 extra, 9 altered, $writes writes a second"
    spoil
    "$program" -c "$dir/rowferry.json" --no-progress run >"$dir/run.log" 2>&1 &
    holder=$!
    touch "$dir/writing"
    write_on &
    writer=$!
    sleep 3
    before=$(written) began=$SECONDS
    timed_rf verify_live 4 verify --json
    say "$((($(written) - before) / (SECONDS - began + 1))) rows a second were written meanwhile"
    say "$(jq -c '{missing, extra, altered, waiting, rows, documents}' "$dir/out")"
    expect '.missing == 7 and .extra == 5 and .altered == 9'
    timed_rf repair 0 verify --json --repair
    expect 'select(has("upserts")) | .upserts == 16 and .deletes == 5'
    rm -f "$dir/writing"
    wait "$writer" || true
    writer=''
    stop_pid "$holder" TERM 120
    wait "$holder" || true
    holder=''
    rf sync >"$dir/sync.log" 2>&1
    timed_rf verify_repaired 0 verify --json
    expect '.missing + .extra + .altered + .waiting == 0'
    jq -s --argjson rows "$rows" 'add | . + {rows: $rows,
        of_reading_both: (([.reading_both.seconds, .reading_both_again.seconds] | add / 2) / .verify_equal.seconds),
        more_memory_mib: (([.verify_equal, .verify_live | .peak_rss_mib] | max) - .idle_sync.peak_rss_mib)}' "$dir/figures" |
        tee "${json:-/dev/null}"
}

main "$@"
