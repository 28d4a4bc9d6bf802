#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# terms.sh ROOT: no file uses a word that terms.txt replaces. The table of old names in src/README.md may.
set -eu
table=$(cd "$(dirname "$0")" && pwd)/terms.txt
cd "$1"

found=$(grep -v '^#' "$table" | while read -r old new; do
    grep -rniE "$old" src include tools tests docs README.md SECURITY.md CONTRIBUTING.md 2>/dev/null |
        grep -vE '^(docs/evidence/|src/README\.md:|tests/lint/(terms|planted))' | cut -c1-160 | sed "s/^/use $new: /" || true
done)
[ -z "$found" ] || echo "$found"
count=$(grep -vc '^#' "$table")
echo "terms: $count words, $(printf '%s' "$found" | grep -c '') violations"
[ -z "$found" ] && [ "$count" -gt 0 ]
