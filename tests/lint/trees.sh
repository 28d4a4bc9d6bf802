#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# trees.sh ROOT: some json-c functions abort on a value of another type, others build trees of unlimited size. Checks
# that only document/json/json_tree and json_build call them. Exceptions: the configuration, which is the user's own
# text, and devsearch, a separate program.
set -eu
cd "$1"

find src include -name '*.[ch]' ! -path src/document/json/json_tree.c \
    ! -path src/document/json/json_build.c | sort | xargs awk '
FNR == 1 {
    files++
    parses = FILENAME ~ /^src\/config\/config\.c$/ || FILENAME ~ /document\/json\/json_build\.h$/
}

/json_object_(object|array|iter)_[a-z_]*[ \t]*\(/ || /json_object_get_(object|array)[ \t]*\(/ {
    printf "%s:%d: a list or an object is read by document/json/json_tree\n", FILENAME, FNR
    bad++
}

!parses && /json_(tokener_[a-z_]*|build_tokener|build_parsed)[ \t]*\(/ {
    printf "%s:%d: a text becomes a tree by json_tree_parse\n", FILENAME, FNR
    bad++
}

END {
    printf "trees: %d files, %d violations\n", files, bad
    exit bad > 0 || files == 0
}'
