#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# layers.sh ROOT: a room includes itself and the rooms below it; a private header stays in its room.
set -eu
cd "$1"

find src include tests/unit -name '*.[ch]' | sort | xargs awk '
BEGIN {
    may["base"] = "base"
    may["document"] = "base document"
    may["source"] = "base document source"
    may["service"] = "base document service"
    may["state"] = "base document state"
    may["engine"] = "base document source service state engine"
    may["config"] = may["engine"] " config"
    may["serve"] = may["config"] " serve"
    may["cli"] = may["serve"] " cli"
    may["devsearch"] = "base devsearch"
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

FNR == 1 {
    files++
    split(FILENAME, part, "/")
    room = part[1] == "src" ? part[2] : part[3]
    folder = FILENAME
    sub(/[^\/]*$/, "", folder)
    if (!(room in may)) {
        complain("no layer is known for \"" room "\"")
    }
}

/^[ \t]*#[ \t]*include[ \t]*["<]/ {
    quoted = index($0, "\"") > 0
    path = $0
    sub(/^[^"<]*["<]/, "", path)
    sub(/[">].*/, "", path)
    if (path ~ /\.\./) {
        complain("includes by a relative path: " path)
    } else if (path ~ /^rowferry\//) {
        split(path, target, "/")
        if (!index(" " may[room] " ", " " target[2] " ")) {
            complain(room " must not include " path)
        }
    } else if (quoted && part[1] == "include") {
        complain("a public header includes a private one: " path)
    } else if (quoted && part[1] == "src" && !exists(folder path)) {
        complain("no such header in this room: " path)
    }
}

END {
    printf "layers: %d files, %d violations\n", files, bad
    exit bad > 0 || files == 0
}'
