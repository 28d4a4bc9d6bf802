#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# units.sh BUILD: checks that systemd accepts the installed units and that they restrict the program.
set -euo pipefail

build=$1 most=15 # of 100: 1.5 of systemd-analyze's 10
fail() { echo "units: $*"; exit 1; }
command -v systemd-analyze >/dev/null || { echo 'skip: systemd-analyze (Debian package systemd) is not here'; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cmake --install "$build" --prefix "$dir" >"$dir/install.log" || { cat "$dir/install.log"; exit 1; }
cd "$dir/lib/systemd/system"

# Any output is a fault, because systemd only warns about unknown settings and exits with 0.
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

# The four units start different commands with the same restrictions.
may() { sed -n '/^# An account/,/^\[/{/=/p}' "$1" | sed 's|^StateDirectory=rowferry/%i$|StateDirectory=rowferry|'; }
for unit in *.service; do
    cmp -s <(may rowferry.service) <(may "$unit") || fail "$unit may do other things than rowferry.service"
done
[ "$(may rowferry.service | wc -l)" -gt 30 ] || fail 'nothing compared'
