#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# named.sh ROOT: checks that each test named in backticks on a page exists: `crash_kill`, `unit_state_*`, `sync_guard`
# for integration_sync_guard, and `source_tree: a_function_of_it`.
set -eu
cd "$1"

stems() { # PREFIX FILE...
    prefix=$1
    shift
    for file in "$@"; do
        [ ! -e "$file" ] || basename "$file" .c | sed "s/^\(test\|fuzz\)_/${prefix}_/"
    done
}

# Prints the tests that the CMakeLists.txt files derive from source files or name directly.
tests() {
    stems crash tests/crash/test_*.c
    stems fault tests/fault/test_*.c
    stems fuzz tests/fuzz/fuzz_*.c
    for folder in tests/unit/*/ tests/integration/*/; do
        prefix=$(basename "$(dirname "$folder")")_$(basename "$folder")
        # shellcheck disable=SC2046
        stems "$prefix" $(find "$folder" -name 'test_*.c')
    done
    find tests -name CMakeLists.txt -exec sed -n 's/.*add_test(NAME \([a-z_]*\).*/\1/p; s/^broken(\([a-z_]*\).*/history_broken_\1/p' {} +
    sed -n 's/^foreach(mode \(.*\))$/\1/p' tests/history/CMakeLists.txt 2>/dev/null | tr ' ' '\n' | sed 's/^/history_/'
}

names() {
    for page in docs/reliability.md SECURITY.md tests/README.md; do
        # shellcheck disable=SC2016
        [ ! -e "$page" ] || grep -noE '`(crash|fault|fuzz|unit|integration|history|sync|source|reindex|run)_[a-z0-9_]+\*?(: [a-z0-9_]+)?`' "$page" |
            sed "s|^|$page:|; s/\`//g"
    done
}

all=$(tests)
found=$(names | while IFS=: read -r page line name function; do
    pattern=$(printf '%s' "$name" | sed 's/\*$/.*/')
    if ! printf '%s\n' "$all" | grep -qxE "(integration_)?$pattern"; then
        echo "$page:$line: there is no test $name"
    elif [ -n "$function" ] && ! grep -rqF "START_TEST(${function# })" --include="test_${name#*_}.c" tests; then
        echo "$page:$line: $name has no${function}"
    fi
done)
[ -z "$found" ] || echo "$found"
count=$(names | grep -c '' || true)
echo "named: $count tests, $(printf '%s' "$found" | grep -c '') violations"
[ -z "$found" ] && [ "$count" -gt 0 ]
