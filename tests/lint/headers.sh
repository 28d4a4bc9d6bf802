#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh ROOT COMPILER [FLAG...]: checks that every header compiles alone, and twice in one source.
set -eu
cd "$1"
compiler=$2
shift 2

count=0
bad=0
for header in $(find include/rowferry src tools -name '*.h' 2>/dev/null | sort); do
    case $header in
    include/*)
        name=${header#include/}
        room=include
        ;;
    *)
        name=${header#*/*/}
        room=${header%"/$name"}
        ;;
    esac
    # the declaration avoids an empty source if a header has only macros
    if ! printf '#include "%s"\n#include "%s"\nextern int alone;\n' "$name" "$name" |
        "$compiler" "$@" -Iinclude -I"$room" -fsyntax-only -x c - 2>&1; then
        echo "$header: does not compile alone"
        bad=$((bad + 1))
    fi
    count=$((count + 1))
done
echo "headers: $count compiled alone, $bad violations"
[ "$bad" -eq 0 ] && [ "$count" -gt 0 ]
