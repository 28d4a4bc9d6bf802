#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# names.sh ROOT: checks the names of functions in src. A function bears the name of its file, or its first words, as a
# prefix (changelog_page.c: changelog_page_give, changelog_give), a static one too. names.txt lists the exceptions. A
# name occurs once in the program, and so does the tag of a struct, union or enum. Relies on the layout of .clang-format: a function's name stands in column 0 of its
# definition's first line.
set -eu
table=$(cd "$(dirname "$0")" && pwd)/names.txt
cd "$1"

tags=$(find src include -name '*.[ch]' | sort | xargs grep -nE '^(static |const )*(struct|union|enum) [a-z_0-9]+ \{' /dev/null |
    sed -E 's/^([^:]*:[0-9]*):.*(struct|union|enum) ([a-z_0-9]+) \{.*/\3 \1/' | sort |
    awk '$1 == tag { print $2 ": the tag " tag " also has a meaning in " place } { tag = $1; place = $2 }')
[ -z "$tags" ] || echo "$tags"

find src -name '*.c' | sort | xargs awk -v tags="$tags" -v table="$table" '
BEGIN {
    while ((getline line < table) > 0) {
        if (line ~ /^[a-z]/) {
            split(line, field, " ")
            allowed[field[1], field[2]] = 1
        }
    }
    close(table)
}

function complain(text) {
    printf "%s:%d: %s\n", FILENAME, start, text
    bad++
}

function fits(name,    count, word, i, prefix) {
    count = split(stem, word, "_")
    prefix = ""
    for (i = 1; i <= count; i++) {
        prefix = prefix (i > 1 ? "_" : "") word[i]
        if (name == prefix || index(name, prefix "_") == 1) {
            return 1
        }
    }
    split(name, word, "_")
    return (word[1], place) in allowed || (word[1], folder "/*") in allowed
}

FNR == 1 {
    files++
    place = FILENAME
    sub(/^src\//, "", place)
    sub(/\.c$/, "", place)
    folder = stem = place
    sub(/\/[^\/]*$/, "", folder)
    sub(/.*\//, "", stem)
    pending = ""
}

/^[A-Za-z_].*[A-Za-z0-9_]\(/ && !/^(typedef|struct [a-z_]+ \{|enum|#|DEFINE|extern)/ {
    head = $0
    gsub(/__attribute__\(\(([^()]|\([^()]*\))*\)\) */, "", head)
    sub(/\(.*/, "", head)
    sub(/.*[ *]/, "", head)
    pending = head
    start = FNR
}
/^[^{}]*;[ ]*$/ { pending = "" }
/^\{$/ && pending != "" {
    functions++
    if (stem != "main" && !fits(pending)) {
        complain(pending " does not bear the name of its file")
    }
    if (pending in seen) {
        complain(pending " is also a function of " seen[pending])
    }
    seen[pending] = FILENAME
    pending = ""
}

END {
    bad += split(tags, unused, "\n")
    printf "names: %d functions, %d violations\n", functions, bad
    exit bad > 0 || functions == 0
}'
