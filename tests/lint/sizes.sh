#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sizes.sh ROOT: checks for functions over 60 lines (signature and braces included), files over 500,
# and in src/ a median function over 20. A line "/* long: reason */" directly above a function
# exempts it. Relies on the layout of .clang-format: a function's braces are alone in column 0.
set -eu
cd "$1"

lengths=$(find src include tools tests -name '*.[ch]' 2>/dev/null | sort | xargs awk '
FNR == 1 { start = 0; inside = 0; reason = 0; before = "" }
FNR == 501 { print "bad", 0, FILENAME ": over 500 lines" }
!inside && /^[A-Za-z_]/ {
    start = FNR
    signature = $0
    reason = before ~ /^\/\* long: .+ \*\/$/
}
/^{$/ { inside = 1 }
/^}$/ && inside {
    lines = FNR - start + 1
    kind = FILENAME ~ /^src\// ? "src" : "other"
    print kind, lines, FILENAME ":" start ": " signature
    if (lines > 60 && !reason) {
        print "bad", lines, FILENAME ":" start ": " lines " lines: " signature
    }
    inside = 0
}
{ before = $0 }')

echo "$lengths" | sort -k2,2n | awk '
$1 == "bad" { sub(/^bad [0-9]+ /, ""); print; bad++; next }
$1 == "src" { length_of[++functions] = $2; sub(/^src [0-9]+ /, ""); longest = $0 }
END {
    median = length_of[int((functions + 1) / 2)]
    if (median > 20) {
        print "src: the median function has " median " lines"
        bad++
    }
    printf "sizes: %d functions in src, median %d, p90 %d, longest %d (%s), %d violations\n", \
        functions, median, length_of[int((functions * 9 + 9) / 10)], length_of[functions], \
        longest, bad
    exit bad > 0 || functions == 0
}'
