#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# voice.sh ROOT: checks the style of messages. They begin with a small letter, a quoted name or a proper name,
# end without a full stop, and use "could not" or "cannot" for failures. devsearch imitates the services.
set -eu
cd "$1"

find src -name '*.c' | sort | xargs awk '
function judge(text, why) {
    if (why != "") {
        printf "%s:%d: %s: %s\n", FILENAME, begun, why, text
        bad++
    }
}

# Joins and checks all string literals of the call.
function end_call(    text, part) {
    text = ""
    while (match(call, /"([^"\\]|\\.)*"/)) {
        part = substr(call, RSTART + 1, RLENGTH - 2)
        call = substr(call, RSTART + RLENGTH)
        text = text part
    }
    if (text == "") {
        return
    }
    messages++
    judge(text, text ~ /^[A-Z][a-z]/ && text !~ /^(PostgreSQL|OpenSearch|Elasticsearch)/ ? "begins with a capital" : "")
    judge(text, text ~ /[^.]\.$/ || text ~ /!$/ ? "ends like a sentence" : "")
    judge(text, tolower(text) ~ /(failed to|unable to|can'"'"'t|couldn'"'"'t|please|invalid|illegal|not allowed)/ ? \
        "says it in words of others" : "")
    judge(text, text ~ /environment variable/ ? "names a variable without its $" : "")
}

FNR == 1 { inside = 0 }
!inside && /(err_set|err_hint|err_context|terminal_print)\(/ {
    inside = 1
    begun = FNR
    call = ""
    sub(/.*(err_set|err_hint|err_context|terminal_print)\(/, "")
}
inside {
    call = call $0
    if (/;[ \t]*$|^}/) {
        inside = 0
        end_call()
    }
}
END {
    printf "voice: %d messages, %d violations\n", messages, bad
    exit bad > 0 || messages == 0
}'
