#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# map.sh ROOT: checks that each path in backticks in src/README.md exists, and that each function that it places with
# "`function` in `path`" is in this file.
set -eu
cd "$1"
map=src/README.md
[ -e "$map" ] || exit 0

# Prints the files that a path of the map means.
files() { # PATH
    for file in "$1" "src/$1" "include/$1" "include/rowferry/$1" "src/$1.c" "src/$1.h" "include/rowferry/$1.h"; do
        [ ! -e "$file" ] || echo "$file"
    done
}

# shellcheck disable=SC2016
wrong=$(
    grep -noE '`[A-Za-z0-9_.-]+/[A-Za-z0-9_./-]*`' "$map" | tr -d '`' | while IFS=: read -r line path; do
        [ -n "$(files "$path")" ] || echo "$map:$line: there is no $path"
    done
    grep -noE '`[a-z_0-9]+` (in|of) `[a-z0-9_./]+/[a-z0-9_.]+`' "$map" | tr -d '`' |
        sed 's/:\([^ ]*\) [a-z]* /:\1:/' | while IFS=: read -r line name path; do
        found=$(files "$path")
        # shellcheck disable=SC2086
        [ -z "$found" ] || grep -qrw "$name" $found || echo "$map:$line: $name is not in $path"
    done
)
# shellcheck disable=SC2016
echo "map: $(grep -oE '`[A-Za-z0-9_.-]+/[A-Za-z0-9_./-]*`' "$map" | wc -l) paths, $(printf '%s' "$wrong" | grep -c '') violations"
[ -z "$wrong" ] || {
    printf '%s\n' "$wrong"
    exit 1
}
