#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# decisions.sh ROOT: no code compares or searches the message of a struct err. A message is for people; a decision uses
# the class, sqlstate, http_status, service_type or service_reason.
set -eu
cd "$1"


find src include tools -name '*.[ch]' 2>/dev/null | sort | xargs awk '
FNR == 1 {
    scan()
    files++
    file = FILENAME
    text = ""
}

{ text = text $0 "\n" }

# Returns the arguments of the call whose opening parenthesis precedes s.
function arguments(s,    i, depth) {
    depth = 1
    for (i = 1; i <= length(s) && depth > 0; i++) {
        depth += (substr(s, i, 1) == "(") - (substr(s, i, 1) == ")")
    }
    return substr(s, 1, i)
}

function newlines(s) {
    return gsub(/\n/, "\n", s)
}

function scan(    line, rest) {
    line = 1
    while (match(text, /(str(n|case|ncase)?cmp|str(case|r)?str|strr?chr|str(c?spn|pbrk)|mem(cmp|mem)|fnmatch|span_(is|contains))\(/)) {
        rest = substr(text, RSTART + RLENGTH)
        line += newlines(substr(text, 1, RSTART))
        text = rest
        if (arguments(text) ~ /(->|\.)message[^a-z_A-Z0-9]/) {
            printf "%s:%d: a decision by the message of an error\n", file, line
            bad++
        }
    }
}

END {
    scan()
    printf "decisions: %d files, %d violations\n", files, bad
    exit bad > 0 || files == 0
}'
