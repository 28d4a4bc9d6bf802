#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lists the calls in the program that lead to a system call but were on the path of no call that crash_boundary_* counted.
#
#   unreached.sh PROGRAM PLACES [LIST]   PLACES: the file that $ROWFERRY_PLACES named; LIST: lines "caller, callee, file:line"
#
# A call leads to the system if its callee, a function of the program or of a library, did so when called from elsewhere.
set -euo pipefail

program=$1 places=$2 list=${3:-/dev/null}
work=$(mktemp -d "${TMPDIR:-/tmp}/rowferry-unreached.XXXXXX")
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

# place caller callee: one line for each direct call; the place is its return address
objdump -d --no-show-raw-insn "$program" | awk '
/^[0-9a-f]+ <.*>:$/ { function_name = $2; gsub(/[<>:]/, "", function_name); callee = ""; next }
callee != "" && /^ *[0-9a-f]+:/ { place = $1; sub(/:/, "", place); print place, function_name, callee; callee = "" }
/\tcall +[0-9a-f]+ </ { callee = $NF; gsub(/[<>]/, "", callee) }' >"$work/all"
sed -n 's/^by //p' "$places" | sort -u >"$work/reached"
awk 'NR == FNR { reached[$1]; next }
     FILENAME != last { last = FILENAME; pass++ }
     pass == 1 { if ($1 in reached) { leads[$2]; leads[$3]; } next }
     $3 in leads { print (($1 in reached) ? "reached" : "never"), $0 }' \
    "$work/reached" "$work/all" <(cat "$work/all") >"$work/judged"
awk '$1 == "never" { print $2 }' "$work/judged" | addr2line -e "$program" | sed 's|.*/src/|src/|; s| (disc.*||' >"$work/lines"
awk '$1 == "never" { print $3 ", " $4 }' "$work/judged" | paste -d ' ' - "$work/lines" | sort -k3 >"$list"
awk -v reached="$(wc -l <"$work/reached")" '{ n[$1]++ }
END { printf "boundary sites: %d places on the way; of %d calls that lead to the system %d were reached, %d never\n", \
             reached, n["reached"] + n["never"], n["reached"], n["never"] }' "$work/judged"
