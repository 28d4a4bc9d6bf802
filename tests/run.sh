#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests: installs what they need (root or sudo), builds, starts the servers that they ask for,
# and ends with the counts.
#
#   tests/run.sh [option of ctest]...   with sanitizers: unit, golden, integration, lints, and two real
#                                       search servers, where Maven can fetch them
#   tests/run.sh --long                 without: all real search servers, kills, outages, restarts, damaged state files, memory,
#                                       2,000 seeds of the simulation, mutants that it must catch, and
#                                       half a minute of fuzzing for each target (with clang)
#
# For example: tests/run.sh -L unit, tests/run.sh -R changelog
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
# shellcheck source=deploy/packages.sh
. "$top/deploy/packages.sh"

preset=asan select=(-LE '^(crash|long)$')
servers=(opensearch_2 elasticsearch_8_security)
if [ "${1:-}" = --long ]; then
    shift
    preset=debug select=(-R '^crash_|^unit_engine_simulation$|^conformance_|^golden_service_|^fixture_')
    servers+=(opensearch_2_security opensearch_2_knn opensearch_3 opensearch_3_security elasticsearch_8 elasticsearch_9)
    export ROWFERRY_FETCH_S=300
    export ROWFERRY_SEEDS=${ROWFERRY_SEEDS:-2000}
fi
build=$top/build/$preset
results=$build/results.xml

install() {
    mkdir -p "$build"
    install_packages "$build/apt.log" "${build_packages[@]}" check postgresql curl jq \
        openssl ca-certificates
    [ "$preset" != debug ] || install_packages "$build/apt.log" clang libclang-rt-14-dev
}

# Real servers are a bonus: whatever is missing for them only skips their tests.
fetch_servers() {
    install_packages "$build/apt-servers.log" "${opensearch_packages[@]}" || true
    tests/integration/conformance/run fetch "${servers[@]}" || true
}

build() {
    cmake --preset "$preset" >"$build/configure.log" 2>&1 || { tail -20 "$build/configure.log"; return 1; }
    cmake --build --preset "$preset" -- --quiet
}

# Every failed and every skipped test by name (with the reason that it gave), then one line of counts.
summary() {
    awk '
    function attribute(name,    at, rest) {
        at = index($0, " " name "=\"")
        rest = substr($0, at + length(name) + 3)
        return at ? substr(rest, 1, index(rest, "\"") - 1) : ""
    }
    /<testcase / { test = attribute("name"); status = attribute("status"); skipped = 0; reason = "" }
    /<skipped message="SKIP_/ { skipped = 1 }
    match($0, /skip: .*/) { reason = substr($0, RSTART + 6) }
    /<\/testcase>/ {
        sub(/<\/system-out>.*/, "", reason)
        if (test ~ /^fixture_/ && status == "run") { next }
        if (skipped || status == "disabled") {
            skips++
            print "skipped: " test (reason != "" ? ": " reason : "")
        } else if (status == "run") {
            passed++
        } else {
            failed++
            print "failed: " test
        }
    }
    END { printf "tests: %d passed, %d failed, %d skipped\n", passed, failed, skips }' "$results"
}

main() {
    local rc=0
    cd "$top"
    install
    rm -f "$results"
    if [ $# = 0 ] || [[ $* == *conformance* ]]; then
        fetch_servers >"$build/servers.log" 2>&1 &
    fi
    build
    wait
    export ROWFERRY_FETCH_S=10 # what has not come by now is skipped
    ctest --test-dir "$build" "${select[@]}" --parallel 2 --timeout 600 --output-on-failure --no-tests=error \
        --output-junit "$results" "$@" || rc=$?
    summary
    if [ "$preset" = debug ]; then
        tests/crash/mutants.sh || rc=$?
        tests/fuzz/run.sh || rc=$?
    fi
    return "$rc"
}

main "$@"
