#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What CI runs beyond ctest: clang warns of nothing, clang-format has nothing to change,
# clang-tidy nothing to say. Installs the three by apt where they are missing.
#
#   tests/lint.sh --deep       cppcheck and gcc -fanalyzer instead, which take a few minutes; what they say that
#                              is not so stands in tests/lint/cppcheck.txt and analyzer.txt, with the reason
set -eu
cd "$(dirname "$0")/.."

missing=
tools='clang clang-format clang-tidy jq'
[ "${1:-}" != --deep ] || tools='cppcheck gcc'
for tool in $tools; do
    command -v "$tool" >/dev/null || missing="$missing $tool"
done
if [ -n "$missing" ]; then
    sudo=$([ "$(id -u)" -eq 0 ] || echo sudo)
    $sudo apt-get update >/dev/null
    $sudo apt-get install -y --no-install-recommends $missing >/dev/null
fi

deep() {
    found=0
    mkdir -p build
    for room in src/* tools/*; do # a room includes its own headers by their paths below it
        [ ! -d "$room" ] || cppcheck --quiet -j "$(nproc)" --std=c11 --enable=warning,performance,portability \
            --suppress=missingIncludeSystem --suppressions-list=tests/lint/cppcheck.txt --error-exitcode=1 \
            -D_GNU_SOURCE '-DROWFERRY_VERSION="0"' -I include -I "$room" "$room" || found=1
    done
    includes=$(pkg-config --cflags libpq libcurl json-c sqlite3 libmicrohttpd | sed 's/-I/-isystem /g')
    find src tools -name '*.c' -print0 | xargs -0 -n 1 -P "$(nproc)" sh -c '
        below=${1#*/*/}
        exec gcc -std=c17 -O1 -fanalyzer -D_GNU_SOURCE -DROWFERRY_VERSION=\"0\" -Iinclude -I"${1%"/$below"}" '"$includes"' \
            -c "$1" -o /dev/null' sh 2>build/analyzer || found=1
    if ! awk '
        NR == FNR { known[$1 " " $2] = $0 !~ /^#/; next }
        match($0, /\[-Wanalyzer-[a-z-]*\]/) && / warning: / {
            warning = substr($0, RSTART + 1, RLENGTH - 2)
            file = substr($0, 1, index($0, ":") - 1)
            if (!known[file " " warning]) {
                print
                bad++
            }
        }
        END { exit bad > 0 }' tests/lint/analyzer.txt build/analyzer; then
        found=1
    fi
    [ "$found" = 0 ] || { echo "lint: cppcheck or the analyzer found faults"; return 1; }
    echo "lint: cppcheck and gcc -fanalyzer, 0 violations"
}

if [ "${1:-}" = --deep ]; then
    deep
    exit
fi

formatted=$(find src include tools tests -name '*.[ch]' | wc -l)
find src include tools tests -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run -Werror

# No build: clang-tidy shows clang's own warnings in the sources, and -fsyntax-only those in the tests.
cmake --preset clang >/dev/null
if ! jq -r '.[] | select(.file | test("/tests/[^ ]*[.]c$")) | select(.file | test("/build/") | not) | .command' \
    build/clang/compile_commands.json | sed 's/ -o [^ ]* -c / -fsyntax-only /' | sort -u | tr '\n' '\0' |
    xargs -0 -n 1 -P "$(nproc)" sh -c; then
    echo "lint: clang found faults"
    exit 1
fi

tidied=$(find src tools -name '*.c' | wc -l)
if ! find src tools -name '*.c' -print0 |
    xargs -0 -n 1 -P "$(nproc)" timeout 300 clang-tidy --quiet -p build/clang >build/clang/tidy 2>&1; then
    grep -vE '^[0-9]+ warnings? generated|^Suppressed' build/clang/tidy
    echo "lint: clang-tidy found faults"
    exit 1
fi
echo "lint: $formatted files formatted, compiled by clang, $tidied sources tidy, 0 violations"
