#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# foreign.sh ROOT: checks that only one place uses each foreign library.
set -eu
cd "$1"

find src include tools -name '*.[ch]' 2>/dev/null | sort | xargs awk '
BEGIN {
    # prefix of a header, and the rooms that may include it
    may["libpq"] = "source"
    may["postgres"] = "source"
    may["pg_"] = "source"
    may["curl/"] = "service"
    may["sqlite3"] = "state devsearch"
    may["microhttpd"] = "serve devsearch"
    may["json"] = "config document service daemon cli devsearch"
    may["openssl/"] = ""
}

FNR == 1 {
    files++
    split(FILENAME, part, "/")
    room = part[1] == "include" ? part[3] : part[2]
}

/^[ \t]*#[ \t]*include[ \t]*["<]/ {
    private = index($0, "\"") > 0
    path = $0
    sub(/^[^"<]*["<]/, "", path)
    sub(/[">].*/, "", path)
    for (start in may) {
        if (!private && index(path, start) == 1 && !index(" " may[start] " ", " " room " ")) {
            printf "%s:%d: %s must not include <%s>\n", FILENAME, FNR, room, path
            bad++
        }
    }
}

END {
    printf "foreign: %d files, %d violations\n", files, bad
    exit bad > 0 || files == 0
}'
