#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cost of the change log for writers: CPU time of the server process for the same statements on the same table
# without triggers, with the change log's triggers, with those of a table that a query depends on (which record
# old and new columns), and with NOTIFY. Prints medians of interleaved rounds as a table.
#
#   tests/bench/writer.sh [--rounds 5] [--rows 200000] [--build DIR]
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/servers/common.sh
. "$top/tests/servers/common.sh"

rounds=5 rows=200000 build=$top/build/bench dir=''
variants=(without log depends notify)

options() {
    while [ $# -gt 0 ]; do
        case $1 in
        --rounds) rounds=$2; shift 2 ;;
        --rows) rows=$2; shift 2 ;;
        --build) build=$(readlink -f "$2"); shift 2 ;;
        *) usage "$0"; exit 2 ;;
        esac
    done
}

finish() {
    local rc=$?
    trap - EXIT
    "$top/tests/servers/postgres" stop --dir "$dir/postgres" || true
    rm -rf "$dir"
    exit "$rc"
}

sql() { psql -qXAt -v ON_ERROR_STOP=1 "$uri" "$@"; }

# $1: table, $2: more of "from", $3: option of source install
install() {
    cat >"$dir/$1.json" <<CONFIG
{"accept_admin": true, "source": {"uri": "$uri"}, "service": {"url": "http://127.0.0.1:9"}, "state": {"path": "$dir/state.db"},
 "pipelines": [{"name": "$1", "from": {$2}, "to": {"index": "$1", "mappings": {"properties": {"body": {"type": "text"}}}}}]}
CONFIG
    "$build/rowferry" -c "$dir/$1.json" source install $3 >/dev/null 2>"$dir/log" || { cat "$dir/log" >&2; exit 1; }
}

prepare() {
    dir=$(mktemp -d "${TMPDIR:-/tmp}/rowferry-writer.XXXXXX")
    chmod 755 "$dir" # the database server has a user of its own
    trap finish EXIT
    trap 'exit 130' INT TERM HUP
    uri=$("$top/tests/servers/postgres" start --dir "$dir/postgres" --set shared_buffers=512MB --set max_wal_size=4GB \
        --set autovacuum=off)
    for table in "${variants[@]}" root; do
        sql -v rows="$rows" <<SQL
create table $table (id bigint primary key, owner int not null, body text not null);
insert into $table select i, i % 1000, repeat(md5(i::text), 7) from generate_series(1, :rows) i;
vacuum analyze $table;
SQL
    done
    install log '"table": "public.log"' ''
    install depends '"table": "public.root", "query": "select r.id, r.body, d.body as more from public.root r left join public.depends d on d.id = r.id",
        "depends_on": [{"table": "public.depends", "key": ["owner"], "keys": "select id from public.root where owner = any($1)"}]' ''
    install notify '"table": "public.notify"' --notify
}

# Prints CPU milliseconds per execution of $1, independent of other load. $2: number of executions.
measure() {
    sql <<SQL
select split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::bigint as before \\gset
$1
select round((split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::bigint - :before) / 1e6 / $2, 3);
SQL
}

# The statements: name, number, SQL. T is the table.
single="do \$\$ begin for i in 1..2000 loop update T set body = body || '' where id = 1 + i * 97 % $rows; commit; end loop; end \$\$;"
statements() {
    printf '%s\t%s\t%s\n' \
        'update of one row' 2000 "$single" \
        "update of $rows rows" 1 "update T set body = body || '';" \
        "update of $rows rows, all columns" 1 "update T set owner = owner + 1, body = body || '';"
}

one_round() {
    local table name count code
    while IFS=$'\t' read -r name count code; do
        for table in "${variants[@]}"; do
            printf '%s\t%s\t%s\n' "$name" "$table" "$(measure "${code//T set/$table set}" "$count")" >>"$dir/figures"
            sql -c 'truncate rowferry.change' -c "vacuum $table"
        done
    done < <(statements)
}

median() {
    awk -F'\t' -v name="$1" -v table="$2" '$1 == name && $2 == table { print $3 }' "$dir/figures" | sort -n |
        awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

table_of_medians() {
    local name
    echo '| ms of processor | without | change log | of `depends_on` | with NOTIFY |'
    echo '| --- | --- | --- | --- | --- |'
    statements | while IFS=$'\t' read -r name _ _; do
        printf '| %s |' "$name"
        for table in "${variants[@]}"; do printf ' %s |' "$(median "$name" "$table")"; done
        printf '\n'
    done
}

options "$@"
prepare
for ((round = 1; round <= rounds; round++)); do
    say "round $round"
    one_round
done
table_of_medians
