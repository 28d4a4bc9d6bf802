#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one subject of the benchmark once; run.sh measures it and sets the variables.
#
#   BENCH_URI, BENCH_URL, BENCH_PROGRAM, BENCH_CONFIG   subject.sh B0|B0j|B1|rowferry|keys|idle|reconcile
set -euo pipefail

# CSV with a quote that no value holds hands JSON out as it is
as_json="copy (select row_to_json(e) from events e) to stdout (format csv, quote E'\\x01', delimiter E'\\x02')"
bulk_path='events/_bulk?filter_path=items.*.status,items.*.error,items.*.failure_store'

B0() { psql -qX "$BENCH_URI" -c 'copy events to stdout' >/dev/null; }

B0j() { psql -qX "$BENCH_URI" -c "$as_json" >/dev/null; }

# What one writes without a program: an action line before each row, and curl for each 5,000 of them.
B1() {
    psql -qX "$BENCH_URI" -c "$as_json" |
        sed 's/^{"id":\([0-9]*\)/{"index":{"_id":"\1"}}\n&/' |
        split -l 10000 --filter "curl -sS -o /dev/null -H 'Content-Type: application/x-ndjson' -H 'Expect:' \
            --data-binary @- '$BENCH_URL/$bulk_path'"
}

rowferry() { "$BENCH_PROGRAM" -c "$BENCH_CONFIG" --no-progress sync; }

# A sync with nothing to do, one that reconciles, and what they are held against.
idle() { rowferry; }

reconcile() { rowferry; }

keys() { psql -qX "$BENCH_URI" -c 'copy (select id from events order by id) to stdout' >/dev/null; }

"$1"
