#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests: installs what they need (root or sudo), builds, starts the servers that they ask for,
# and ends with the counts.
#
#   tests/run.sh [option of ctest]...   with sanitizers: unit, golden, integration, lints, and two real
#                                       search servers, where Maven can fetch them; without an option also what
#                                       asks a database, on PostgreSQL 18
#   tests/run.sh --postgres VERSION [option of ctest]...
#                                       only that, on this version (13 to 18)
#   tests/run.sh --coverage             the same without sanitizers, then what it went through: lines and branches of
#                                       the program, and of the modules of which every branch has to be gone
#   tests/run.sh --threads              the same with the sanitizer for threads
#   tests/run.sh --long                 without: kills (100 among faults), outages, restarts, damaged state files, memory,
#                                       a kill at every 20th call to the system (which ones, the commit says), and calls that fail,
#                                       1,500 seeds of each simulation, mutants that it must catch, and
#                                       a quarter of a minute of fuzzing for each target (with clang),
#                                       300 random histories, 250,000 changes, 600,000 rows, 100 verifies,
#                                       package, units and image on clean trees of Debian (as root)
#   tests/run.sh --night [--evidence]   the same with the full numbers and on all real search servers, in a night:
#                                       3,000 histories, 5,000 kills among faults and one at every call to the system,
#                                       a million changes, two million rows, 50,000 seeds of each simulation,
#                                       three minutes of fuzzing for each target, all versions of PostgreSQL,
#                                       200 mutants by fixed operators (tests/crash/operators.py);
#                                       --evidence writes what came out to docs/evidence/DATE.txt
#
# For example: tests/run.sh -L unit, tests/run.sh -R changelog
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
# shellcheck source=deploy/packages.sh
. "$top/deploy/packages.sh"

preset=asan select=(-LE '^(crash|long)$') evidence=
servers=(opensearch_2 elasticsearch_8_security)
# For the night.
more=(opensearch_2_knn opensearch_2_security opensearch_3 opensearch_3_security elasticsearch_8 elasticsearch_9)
# Versions of PostgreSQL besides Debian's, and the tests that run on them.
versions=() only='' # only: nothing else
database='^integration_(cli_(check|init|old|source)|reindex|run|source|sync)|^history_[a-z]*$'
# They wait for long, or count memory: label "long" in tests/integration too.
slow='reindex_(alias_moved|searches|stopped)|run_(listen_hostile|stall|standby)|sync_verify_concurrent'
conformance=
if [ "${1:-}" = --night ]; then
    export ROWFERRY_HISTORIES=${ROWFERRY_HISTORIES:-3000}
    export ROWFERRY_KILLS=${ROWFERRY_KILLS:-5000}
    export ROWFERRY_SLOW_KILLS=${ROWFERRY_SLOW_KILLS:-300}
    export ROWFERRY_STRIDE=${ROWFERRY_STRIDE:-1}
    export ROWFERRY_OUTAGE_S=${ROWFERRY_OUTAGE_S:-300}
    export ROWFERRY_SOAK_S=${ROWFERRY_SOAK_S:-1800}
    export ROWFERRY_RUN_SOAK_S=${ROWFERRY_RUN_SOAK_S:-1800}
    export ROWFERRY_STANDBY_KILLS=${ROWFERRY_STANDBY_KILLS:-20}
    export ROWFERRY_STANDBY_STOPS=${ROWFERRY_STANDBY_STOPS:-5}
    export ROWFERRY_NETWORK_S=${ROWFERRY_NETWORK_S:-20}
    export ROWFERRY_NETWORK_PATIENT=${ROWFERRY_NETWORK_PATIENT:-1}
    export ROWFERRY_CLIENTS=${ROWFERRY_CLIENTS:-10000}
    export ROWFERRY_CHANGED_ROWS=${ROWFERRY_CHANGED_ROWS:-1000000}
    export ROWFERRY_COPIED_ROWS=${ROWFERRY_COPIED_ROWS:-2000000}
    export ROWFERRY_ARTICLES=${ROWFERRY_ARTICLES:-100000}
    export ROWFERRY_FUZZ_S=${ROWFERRY_FUZZ_S:-180}
    export ROWFERRY_MUTANTS=${ROWFERRY_MUTANTS:-200}
    export ROWFERRY_SEEDS=${ROWFERRY_SEEDS:-50000}
    if [ "${2:-}" = --evidence ]; then
        evidence=docs/evidence/$(date -u +%Y-%m-%d).txt
        shift
    fi
    servers+=("${more[@]}")
    versions=(13 14 15 16 17 18)
    conformance='|^conformance_'
    shift
    set -- --long "$@"
fi
if [ "${1:-}" = --long ]; then
    shift
    preset=debug
    select=(-R '^crash_|^history_|^deploy_(debian|hardened)$|^unit_.*simulation$|^golden_service_|^fixture_'"$conformance|^integration_($slow)\$")
    export ROWFERRY_HISTORIES=${ROWFERRY_HISTORIES:-300}
    export ROWFERRY_KILLS=${ROWFERRY_KILLS:-100}
    export ROWFERRY_STRIDE=${ROWFERRY_STRIDE:-20}
    export ROWFERRY_OFFSET=${ROWFERRY_OFFSET:-$((16#$(git -C "$top" rev-parse --short=7 HEAD 2>/dev/null || echo 0)))}
    export ROWFERRY_PLACES=$top/build/debug/places
    export ROWFERRY_SOAK_S=${ROWFERRY_SOAK_S:-60}
    export ROWFERRY_RUN_SOAK_S=${ROWFERRY_RUN_SOAK_S:-60}
    export ROWFERRY_CHANGED_ROWS=${ROWFERRY_CHANGED_ROWS:-250000}
    export ROWFERRY_COPIED_ROWS=${ROWFERRY_COPIED_ROWS:-600000}
    export ROWFERRY_REBUILT_ROWS=${ROWFERRY_REBUILT_ROWS:-6000}
    export ROWFERRY_ARTICLES=${ROWFERRY_ARTICLES:-100000}
    export ROWFERRY_VERIFIES=${ROWFERRY_VERIFIES:-100}
    export ROWFERRY_FETCH_S=300
    export ROWFERRY_SEEDS=${ROWFERRY_SEEDS:-1500}
fi
if [ "${1:-}" = --coverage ]; then
    shift
    preset=coverage
fi
if [ "${1:-}" = --threads ]; then
    shift
    preset=tsan
fi
if [ "${1:-}" = --postgres ]; then
    [[ ${2:-} =~ ^1[3-8]$ ]] || { echo "tests/run.sh: --postgres needs a version from 13 to 18" >&2; exit 2; }
    versions=("$2") only=yes
    shift 2
elif [ "$preset" = asan ] && [ $# = 0 ]; then
    versions=(18)
fi
build=$top/build/$preset
results=$build/results.xml

# Debian starts both as services when they are installed, on ports 3000 and 6432; the tests start their own.
mask_proxies() {
    as_root mkdir -p /etc/systemd/system
    installed nghttp2-proxy || as_root ln -sfn /dev/null /etc/systemd/system/nghttpx.service
    installed pgbouncer || as_root ln -sfn /dev/null /etc/systemd/system/pgbouncer.service
}

install() {
    mkdir -p "$build"
    if ! installed nghttp2-proxy || ! installed pgbouncer; then
        mask_proxies || true # who cannot is told by the next line
    fi
    install_packages "$build/apt.log" "${build_packages[@]}" check postgresql postgresql-15-repack curl jq \
        openssl ca-certificates python3-prometheus-client nghttp2-proxy python3-h2 pgbouncer "${pack_packages[@]}" groff-base python3-yaml systemd
    [ "$preset" != debug ] || install_packages "$build/apt.log" clang libclang-rt-14-dev debootstrap "${fault_packages[@]}"
}

# Real servers are a bonus: whatever is missing for them only skips their tests.
fetch_servers() {
    install_packages "$build/apt-servers.log" "${opensearch_packages[@]}" || true
    tests/integration/conformance/run fetch "${servers[@]}" || true
    local version
    for version in "${versions[@]}"; do [ "$version" = 15 ] || tests/servers/postgres-fetch "$version" || true; done
}

build() {
    cmake --preset "$preset" >"$build/configure.log" 2>&1 || { tail -20 "$build/configure.log"; return 1; }
    cmake --build --preset "$preset" -- --quiet
}

# More than there are cores: most tests wait for a server, for a silence or for a disk.
run_tests() { # RESULTS [option of ctest]...
    ctest --test-dir "$build" --parallel "$((3 * $(nproc) + 1))" --timeout 600 --output-on-failure --no-tests=error \
        --output-junit "$@"
}

run_on_postgres() ( # VERSION [option of ctest]...
    results=$build/results-$1.xml
    if [ "$1" != 15 ]; then
        POSTGRES_BIN=$(timeout "${ROWFERRY_FETCH_S:-60}" tests/servers/postgres-fetch "$1" 2>"$build/postgres.log") || {
            printf '<testcase name="all" status="disabled">\nskip: %s\n</testcase>\n' \
                "$(tail -1 "$build/postgres.log")" >"$results"
            exit 0
        }
        export POSTGRES_BIN
    fi
    ROWFERRY_HISTORIES=40 run_tests "$results" -R "$database" -LE '^(crash|long)$' "${@:2}"
)

# Every failed and every skipped test by name (with the reason that it gave), then one line of counts.
summary() {
    awk '
    function attribute(name,    at, rest) {
        at = index($0, " " name "=\"")
        rest = substr($0, at + length(name) + 3)
        return at ? substr(rest, 1, index(rest, "\"") - 1) : ""
    }
    FNR == 1 { on = FILENAME ~ /-[0-9]+\.xml$/ ? " on PostgreSQL " substr(FILENAME, length(FILENAME) - 5, 2) : "" }
    /<testcase / { test = attribute("name"); status = attribute("status"); skipped = 0; reason = "" }
    /<skipped message="SKIP_/ { skipped = 1 }
    match($0, /skip: .*/) { reason = substr($0, RSTART + 6) }
    /<\/testcase>/ {
        sub(/<\/system-out>.*/, "", reason)
        if (test ~ /^fixture_/ && status == "run") { next }
        if (skipped || status == "disabled") {
            skips++
            print "skipped: " test on (reason != "" ? ": " reason : "")
        } else if (status == "run") {
            passed++
        } else {
            failed++
            print "failed: " test on
        }
    }
    END { printf "tests: %d passed, %d failed, %d skipped\n", passed, failed, skips }' "$build"/results*.xml
}

# What was tried on which commit, and the figures that the tests themselves tell.
evidence() {
    mkdir -p "$(dirname "$evidence")"
    {
        echo "commit $(git rev-parse HEAD), $(date -u +%FT%TZ), $(nproc) cores, $(psql --version)"
        env | grep -E '^ROWFERRY_(HISTORIES|SEEDS|KILLS|SLOW_KILLS|STRIDE|OUTAGE_S|STATE_STRIDE|SOAK_S|RUN_SOAK_S|CHANGED_ROWS|COPIED_ROWS|ARTICLES|REBUILT_ROWS|FUZZ_S|MUTANTS)=' | sort
        echo
        grep -hE '^simulation: |: [0-9]+ histories$|found at seed|: [0-9.]+ MiB|^ *[0-9]+ kills|^boundary |^storm: |^soak|^fault ' "$build/tests.log" || true
        [ ! -e "$build/unreached.log" ] || cat "$build/unreached.log"
        echo
        grep -E '^(mutants|operators|survived|fuzz|failed):' "$build/beyond.log" || true
        echo
        awk '/<testcase / { match($0, / name="[^"]*"/); name = substr($0, RSTART + 7, RLENGTH - 8)
                            match($0, / time="[^"]*"/); time = substr($0, RSTART + 7, RLENGTH - 8)
                            match($0, / status="[^"]*"/); print substr($0, RSTART + 9, RLENGTH - 10), time " s", name }' "$build"/results*.xml
        echo
        summary
    } >"$evidence"
    echo "evidence: $evidence"
}

# What is no test of ctest: bugs and inputs that nobody thought of.
beyond() {
    local rc=0
    tests/crash/mutants.sh || rc=$?
    [ -z "${ROWFERRY_MUTANTS:-}" ] || tests/crash/operators.py --count "$ROWFERRY_MUTANTS" || rc=$?
    tests/fuzz/run.sh "${ROWFERRY_FUZZ_S:-15}" || rc=$?
    return "$rc"
}

main() {
    local rc=0 version
    cd "$top"
    install
    rm -f "$build"/results*.xml "$build/unreached.log" "${ROWFERRY_PLACES:-}"
    find "$build" -name '*.gcda' -delete
    if [ $# = 0 ] && [ -z "$only" ] || [[ $* == *conformance* ]]; then
        fetch_servers >"$build/servers.log" 2>&1 &
    fi
    build
    wait
    [ -n "$only" ] || export ROWFERRY_FETCH_S=10 # what has not come by now is skipped
    # Each fork copies the page tables of the freed memory that the sanitizer keeps: 256 MB cost a quarter more time.
    export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=16}
    if [ -z "$only" ]; then
        run_tests "$results" "${select[@]}" "$@" || rc=$?
        cp "$build/Testing/Temporary/LastTest.log" "$build/tests.log"
    fi
    for version in "${versions[@]}"; do run_on_postgres "$version" "$@" || rc=$?; done
    summary
    [ ! -s "${ROWFERRY_PLACES:-}" ] ||
        tests/crash/unreached.sh "$build/rowferry" "$ROWFERRY_PLACES" "$build/unreached.txt" | tee "$build/unreached.log"
    [ "$preset" != coverage ] || tests/coverage.py "$build" || rc=$?
    if [ "$preset" = debug ]; then
        beyond 2>&1 | tee "$build/beyond.log" || rc=$?
    fi
    [ -z "$evidence" ] || evidence
    return "$rc"
}

main "$@"
