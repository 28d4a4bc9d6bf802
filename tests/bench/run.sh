#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures speed, CPU and memory, compared to PostgreSQL's own tools with the same rows in the same run; how they
# grow; and every line of the budget against its bound. See README.md.
#
#   tests/bench/run.sh [--quick | --full] [--docs] [--json FILE] [--build DIR] [--only PART,PART...]
#                      [--rounds 5] [--rows 1000000] [--sizes 10000,100000,1000000,5000000] [--storm 30]
#                      [--time-rounds 5] [--time-seconds 12] [--rest 60]
#
# --quick   everything in about eleven minutes: fewer and shorter rounds
# --full    the time figures as promised, a minute each and ten minutes idle (about an hour)
# --docs    writes the table and the plots into docs/performance.md and docs/performance/
# --only    load, growth, tables, pipelines, way, storm, catchup, reconcile, time, real, clients
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=deploy/packages.sh
. "$top/deploy/packages.sh"
# shellcheck source=tests/servers/common.sh
. "$top/tests/servers/common.sh"
# shellcheck source=tests/bench/measure.sh
. "$here/measure.sh"
# shellcheck source=tests/bench/load.sh
. "$here/load.sh"
# shellcheck source=tests/bench/growth.sh
. "$here/growth.sh"
# shellcheck source=tests/bench/way.sh
. "$here/way.sh"
# shellcheck source=tests/bench/storm.sh
. "$here/storm.sh"
# shellcheck source=tests/bench/reconcile.sh
. "$here/reconcile.sh"
# shellcheck source=tests/bench/changes.sh
. "$here/changes.sh"
# shellcheck source=tests/bench/real.sh
. "$here/real.sh"
# shellcheck source=tests/bench/report.sh
. "$here/report.sh"

parts=(load growth tables pipelines way storm catchup reconcile time real clients)
rounds=5 rows=1000000 storm_s=30 time_rounds=5 time_s=12 rest_s=60 json='' only='' docs=''
sizes=(10000 100000 1000000 5000000) growth_rounds=3 rates=(30000 40000 50000 60000)
real_rows=200000 real_rounds=3 client_rows=200000
dir='' url='' uri='' sink_pid='' build='' began_at=$(date -u '+%-d %B %Y, %H:%M') began_load=$(cut -d' ' -f1-3 /proc/loadavg)

options() {
    while [ $# -gt 0 ]; do
        case $1 in
        --rounds) rounds=$2; shift 2 ;;
        --rows) rows=$2; shift 2 ;;
        --storm) storm_s=$2; shift 2 ;;
        --only) only=$2; shift 2 ;;
        --time-rounds) time_rounds=$2; shift 2 ;;
        --time-seconds) time_s=$2; shift 2 ;;
        --rest) rest_s=$2; shift 2 ;;
        --sizes) IFS=, read -ra sizes <<<"$2"; shift 2 ;;
        --quick)
            rounds=5 rows=500000 storm_s=15 time_rounds=3 time_s=5 rest_s=20 growth_rounds=1
            rates=(30000 50000) real_rows=60000 client_rows=50000
            shift ;;
        --full) time_s=60 rest_s=600 real_rows=1000000; shift ;;
        --docs) docs=yes; shift ;;
        --json) json=$(readlink -f "$2"); shift 2 ;;
        --build) build=$(readlink -f "$2"); shift 2 ;;
        *) usage "$0"; exit 2 ;;
        esac
    done
}

prepare() {
    install_packages /dev/null "${build_packages[@]}" check postgresql curl jq time openssl stunnel4
    cd "$top"
    if [ -z "$build" ]; then
        build=$top/build/bench
        cmake --preset bench >/dev/null
        cmake --build "$build" --target rowferry devsearch sink latency poster -- --quiet
    fi
    dir=$(mktemp -d "${TMPDIR:-/tmp}/rowferry-bench.XXXXXX")
    chmod 755 "$dir" # the database server has a user of its own
    trap finish EXIT
    trap 'exit 130' INT TERM HUP
    # without autovacuum, whose CPU would count as a session's
    uri=$(tests/servers/postgres start --dir "$dir/postgres" --set shared_buffers=1GB --set max_wal_size=4GB \
        --set autovacuum=off)
    say "loading $rows rows"
    make_table public "$rows"
    session_end
}

finish() {
    local rc=$?
    trap - EXIT
    [ -z "$sink_pid" ] || stop_pid "$sink_pid" TERM 5
    way_end
    real_end
    "$top/tests/servers/postgres" stop --dir "$dir/postgres" || true
    rm -rf "$dir" || { sleep 2; rm -rf "$dir"; }
    exit "$rc"
}

# Runs one part; its result becomes $dir/PART.json.
part() {
    case $1 in
    load) load "$rounds" ;;
    growth) growth ;;
    tables) tables ;;
    pipelines) pipelines ;;
    way) way "$growth_rounds" ;;
    storm) storm "$storm_s" ;;
    catchup) catchup ;;
    reconcile) reconcile "$growth_rounds" ;;
    time) changes "$time_rounds" "$time_s" "$rest_s" ;;
    real) real ;;
    clients) clients ;;
    *) die "no part $1: there are ${parts[*]}" ;;
    esac
}

main() {
    local name began
    options "$@"
    [ -z "$only" ] || IFS=, read -ra parts <<<"$only"
    prepare
    for name in "${parts[@]}"; do
        began=$SECONDS
        say "== $name"
        part "$name" >"$dir/part"
        mv "$dir/part" "$dir/$name.json"
        say "== $name: $((SECONDS - began)) s"
    done
    report
}

main "$@"
