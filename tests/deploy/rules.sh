#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rules.sh REPOSITORY: checks that the alert rules are valid and that each fires for its own condition.
set -euo pipefail

root=$1
if ! command -v promtool >/dev/null; then
    echo "skip: promtool (Debian package prometheus) is not here"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$root/deploy/prometheus/rowferry.rules.yml" "$root/tests/deploy/rules_test.yml" "$dir"
cd "$dir"
promtool check rules rowferry.rules.yml
promtool test rules rules_test.yml
