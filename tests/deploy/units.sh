#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# units.sh BUILD: the installed units are understood by systemd, and let the program do little.
set -euo pipefail

build=$1 most=15 # of 100: 1.5 of systemd-analyze's 10
fail() { echo "units: $*"; exit 1; }
command -v systemd-analyze >/dev/null || { echo 'skip: systemd-analyze (Debian package systemd) is not here'; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cmake --install "$build" --prefix "$dir" >"$dir/install.log" || { cat "$dir/install.log"; exit 1; }
cd "$dir/lib/systemd/system"

# Whatever systemd says is a fault: what it does not know it only warns of, and ends with 0.
for unit in rowferry{,-sync}.service rowferry-sync.timer; do
    said=$(systemd-analyze verify --man=no "$PWD/$unit" "$PWD/${unit/./@shop.}" 2>&1) || fail "$unit: $said"
    [ -z "$said" ] || fail "$unit: $said"
done
grep -q "^ExecStart=$dir/bin/rowferry " rowferry.service || fail 'the unit names another program'

for unit in *.service; do
    systemd-analyze security --no-pager --offline=yes --threshold="$most" "$PWD/${unit/@./@shop.}" >"$dir/security" ||
        { cat "$dir/security"; fail "$unit: more than $most"; }
    echo "units: $unit: $(sed -n 's/.*Overall exposure level for [^:]*: //p' "$dir/security")"
done

# The four differ in what they start, and not in what it may do.
may() { sed -n '/^# An account/,/^\[/{/=/p}' "$1" | sed 's|^StateDirectory=rowferry/%i$|StateDirectory=rowferry|'; }
for unit in *.service; do
    cmp -s <(may rowferry.service) <(may "$unit") || fail "$unit may do other things than rowferry.service"
done
[ "$(may rowferry.service | wc -l)" -gt 30 ] || fail 'nothing compared'
