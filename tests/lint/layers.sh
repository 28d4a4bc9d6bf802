#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# layers.sh ROOT: checks that a room includes only itself and the rooms below it, and a folder only the folders that
# layers.txt lists. The lists must have no circle. A private header stays in its room. A folder
# has at most 16 source files.
set -eu
table=$(cd "$(dirname "$0")" && pwd)/layers.txt
cd "$1"

find src include tools tests/unit -name '*.[ch]' 2>/dev/null | sort | xargs awk -v table="$table" '
function read_table(    line, name, list) {
    while ((getline line < table) > 0) {
        if (line ~ /^[a-z]/) {
            name = list = line
            sub(/:.*/, "", name)
            sub(/^[^:]*:[ ]*/, "", list)
            may[name] = " " list " "
            order[++rows] = name
        }
    }
    close(table)
    if (rows == 0) {
        print "layers.txt: no rows"
        bad++
    }
}

function complain(text) {
    printf "%s:%d: %s\n", FILENAME, FNR, text
    bad++
}

function exists(path,    line, found) {
    found = (getline line < path) >= 0
    close(path)
    return found
}

# The folder of a path below its room; "." if it lies in none.
function folder_of(rest) {
    return index(rest, "/") > 0 ? substr(rest, 1, index(rest, "/") - 1) : "."
}

# Follows the lists from row; a row on its own path is a circle.
function walk(row,    room, list, count, i) {
    if (state[row] == "open") {
        printf "layers.txt: a circle of folders through %s\n", row
        bad++
        return
    }
    if (state[row] == "done") {
        return
    }
    state[row] = "open"
    room = substr(row, 1, index(row, "/") - 1)
    count = split(may[row], list, " ")
    for (i = 1; i <= count; i++) {
        walk(room "/" list[i])
    }
    state[row] = "done"
}

BEGIN { read_table() }

FNR == 1 {
    files++
    count = split(FILENAME, part, "/")
    first = part[1] == "src" || part[1] == "tools" ? 2 : 3
    room = part[first]
    rest = ""
    for (i = first + 1; i <= count; i++) {
        rest = rest (i > first + 1 ? "/" : "") part[i]
    }
    folder = folder_of(rest)
    test = part[1] == "tests"
    if (!(room in may)) {
        complain("no layer is known for \"" room "\"")
    }
    if (folder != "." && !((room "/" folder) in may)) {
        complain("layers.txt has no row \"" room "/" folder "\"")
    }
    if (!test && FILENAME ~ /\.c$/) {
        sources[room "/" folder]++
    }
}

/^[ \t]*#[ \t]*include[ \t]*["<]/ {
    quoted = index($0, "\"") > 0
    path = $0
    sub(/^[^"<]*["<]/, "", path)
    sub(/[">].*/, "", path)
    target = ""
    if (path ~ /\.\./) {
        complain("includes by a relative path: " path)
    } else if (path ~ /^rowferry\//) {
        split(path, to, "/")
        target = substr(path, length("rowferry/" to[2] "/") + 1)
        if (to[2] != room) {
            target = ""
            if (!index(may[room], " " to[2] " ")) {
                complain(room " must not include " path)
            }
        }
    } else if (quoted && part[1] == "include") {
        complain("a public header includes a private one: " path)
    } else if (quoted && (part[1] == "src" || part[1] == "tools")) {
        target = path
        if (!exists(part[1] "/" room "/" path)) {
            complain("no such header in this room: " path)
        }
    }
    if (target != "" && !test && folder_of(target) != folder && \
        !index(may[room "/" folder], " " folder_of(target) " ")) {
        complain(room "/" folder " must not include " path)
    }
}

END {
    for (row in sources) {
        split(row, part, "/")
        most = 16
        if (sources[row] > most) {
            printf "%s: %d source files, at most %d\n", row, sources[row], most
            bad++
        }
    }
    for (i = 1; i <= rows; i++) {
        if (order[i] ~ /\//) {
            walk(order[i])
        }
    }
    printf "layers: %d files, %d rows, %d violations\n", files, rows, bad
    exit bad > 0 || files == 0
}'
