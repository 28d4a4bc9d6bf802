#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one subject of the benchmark once; run.sh measures it and sets the variables.
#
#   BENCH_URI, BENCH_URL, BENCH_PROGRAM, BENCH_CONFIG, ...   subject.sh SUBJECT
set -euo pipefail

# CSV with a quote character that no value contains outputs JSON unchanged.
as_json="copy (select row_to_json(e) from events e) to stdout (format csv, quote E'\\x01', delimiter E'\\x02')"
bulk_path='events/_bulk?filter_path=items.*._index,items.*._id,items.*.status,items.*.error,items.*.failure_store'

B0() { psql -qX "$BENCH_URI" -c 'copy events to stdout' >/dev/null; }

B0j() { psql -qX "$BENCH_URI" -c "$as_json" >/dev/null; }

# Prints an action line before each row.
bodies() { psql -qX "$BENCH_URI" -c "$as_json" | sed 's/^{"id":\([0-9]*\)/{"index":{"_id":"\1"}}\n&/'; }

# A simple script instead of a program: curl for each 5,000 rows.
B1() {
    bodies | split -l 10000 --filter "curl -sS -o /dev/null -H 'Content-Type: application/x-ndjson' -H 'Expect:' \
        --data-binary @- '$BENCH_URL/$bulk_path'"
}

# Posts the same bodies from a file by a loop around libcurl, without a database.
B2() { "$BENCH_POSTER" "$BENCH_FILE" "$BENCH_URL/$bulk_path"; }

# Small programs that use the client libraries of two languages.
python() { "$BENCH_PYTHON" "$BENCH_HERE/client.py" "$BENCH_URI" "$BENCH_URL"; }

node() { NODE_PATH=$BENCH_NODE/node_modules command node "$BENCH_HERE/client.js" "$BENCH_URI" "$BENCH_URL"; }

rowferry() { "$BENCH_PROGRAM" -c "$BENCH_CONFIG" --no-progress sync; }

# These differ only in the configuration.
rowferry1() { rowferry; }
catchup() { rowferry; }
idle() { rowferry; }
reconcile() { rowferry; }
distant() { rowferry; }

verify() { "$BENCH_PROGRAM" -c "$BENCH_CONFIG" --no-progress verify; }

table() { psql -qX "$BENCH_URI" -c "copy $BENCH_TABLE to stdout" >/dev/null; }

keys() { psql -qX "$BENCH_URI" -c 'copy (select id from events order by id) to stdout' >/dev/null; }

"$1"
