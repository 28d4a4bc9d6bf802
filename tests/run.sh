#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every test: installs what they need (root or sudo), builds with sanitizers, starts the
# servers that they ask for, and ends with the counts.
#
#   tests/run.sh [option of ctest]...        for example: tests/run.sh -L unit, tests/run.sh -R changelog
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
# shellcheck source=deploy/packages.sh
. "$top/deploy/packages.sh"

build=$top/build/asan
results=$build/results.xml

install() {
    mkdir -p "$build"
    install_packages "$build/apt.log" "${build_packages[@]}" check postgresql curl jq \
        openssl ca-certificates
}

build() {
    cmake --preset asan >"$build/configure.log" 2>&1 || { tail -20 "$build/configure.log"; return 1; }
    cmake --build --preset asan -- --quiet
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
    build
    ctest --test-dir "$build" --parallel 2 --timeout 300 --output-on-failure --no-tests=error \
        --output-junit "$results" "$@" || rc=$?
    summary
    return "$rc"
}

main "$@"
