#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# subjects.sh ROOT: checks the subjects of the commits since the last release tag, or since this lint was added if there
# is no tag: "area: imperative subject", at most 72 characters, no full stop. Passes if ROOT has no git history.
set -eu
cd "$1"
git="git -c safe.directory=*"

if ! [ -e .git ] || ! $git rev-parse -q --verify HEAD >/dev/null 2>&1; then
    echo "subjects: no git history, 0 violations"
    exit 0
fi
since=$($git describe --tags --abbrev=0 2>/dev/null ||
    $git log --diff-filter=A --format=%H -- tests/lint/subjects.sh | tail -n 1)
range=HEAD
[ -z "$since" ] || range=$since..HEAD

$git log --no-merges --format='%h %s' "$range" | awk '
BEGIN {
    # words in -ed, -ing and -s that are imperatives
    count = split("embed exceed feed need proceed seed shed speed succeed bring ping string focus", list, " ")
    for (i = 1; i <= count; i++) {
        imperative[list[i]] = 1
    }
    # words that begin a subject that describes a state
    count = split("a an the this that these those it its one two some all every each no not what where when who why how " \
                  "if from of by as for with without nobody nothing", list, " ")
    for (i = 1; i <= count; i++) {
        other[list[i]] = 1
    }
}

function complain(text) {
    printf "%s: \"%s\": %s\n", commit, subject, text
    bad++
}

{
    commit = $1
    subject = $0
    sub(/^[^ ]+ /, "", subject)
    total++
    if (subject !~ /^[a-zA-Z0-9_.\/-]+(, [a-zA-Z0-9_.\/-]+)*: ./) {
        complain("does not begin with the area and a colon")
        next
    }
    words = subject
    sub(/^[^:]*: /, "", words)
    first = words
    sub(/ .*/, "", first)
    if (length(subject) > 72) {
        complain("longer than 72 characters")
    }
    if (subject ~ /\.$/) {
        complain("ends with a full stop")
    }
    if (first !~ /^[a-z]/ || first in other ||
        (!(first in imperative) && (first ~ /(ed|ing)$/ || (first ~ /s$/ && first !~ /ss$/)))) {
        complain("\"" first "\" is not an imperative in lower case")
    }
}

END {
    printf "subjects: %d commits, %d violations\n", total, bad
    exit bad > 0
}'
