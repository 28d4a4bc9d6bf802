#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# quickstart.sh ROOT BUILD: checks that only the owner can access the quickstart's servers and files, and that its
# printed commands work.
set -euo pipefail

root=$1 build=$2
for tool in curl psql jq; do
    command -v "$tool" >/dev/null || { echo "skip: $tool is not here"; exit 77; }
done
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || { echo 'skip: PostgreSQL is not here'; exit 77; }
# shellcheck source=deploy/quickstart.sh
. "$root/deploy/quickstart.sh"
built=$build program=$build/rowferry
oops() { echo "quickstart: $*"; exit 1; }

options
colours
prepare
umask 077
start_postgres
start_service
query -q -f "$root/deploy/quickstart/catalogue.sql"
configure >/dev/null

# --- other users ----------------------------------------------------------------------------

open=$(find "$dir" ! -path "$dir" -perm /077 ! -type l)
[ -z "$open" ] || oops "others may read $open"
if [ "$(id -u)" = 0 ]; then
    ! runuser -u nobody -- ls "$dir" >"$dir/ls" 2>&1 || oops "others may list $dir"
fi

server=$(sed 's|.*@\(.*\)/.*|\1|' "$dir/postgres/uri")
for user in rowferry_test rowferry postgres nobody; do
    ! PGPASSWORD='' psql -X -w "postgresql://$user@$server/catalogue" -c 'select 1' >"$dir/psql" 2>&1 ||
        oops "$user needs no password"
done
[ -z "$(find /tmp /run /var/run -maxdepth 2 -name ".s.PGSQL.${server##*:}" 2>/dev/null)" ] || oops 'the database has a socket'

status() { curl -s -o "$dir/answer" -w '%{http_code}' "$@" "$url/"; }
[ "$(status)" = 401 ] || oops 'the service asks for no credential'
[ "$(status -H 'Authorization: ApiKey wrong')" = 401 ] || oops 'any credential will do'
[ "$(status -H 'Host: evil.example')" = 401 ] || oops 'the service lets a page of another name in'
[ "$(status -H "@$dir/api-key.header")" = 200 ] || oops 'the service does not know its key'

for secret in "$dir/api-key" "$dir/password" "$dir/postgres/password"; do
    [ "$(wc -c <"$secret")" -ge 24 ] || oops "$secret is short"
    ! grep -aqsFf "$secret" /proc/[0-9]*/cmdline || oops "$secret stands in a command line"
done

# --- the owner -------------------------------------------------------------------------------

rowferry source install >/dev/null
query -q -c "insert into packages (source_id, package, version, architecture, description)
    values ('a', 'a', '1', 'all', 'a word'), ('b', 'b', '1', 'all', 'another')"
rowferry sync >/dev/null || oops "$(cat "$dir/rowferry.log")"
request POST "/$index/_refresh" >/dev/null
word=another
kept >"$dir/kept"
while read -r line; do
    case $line in
    *' status') bash -c "$line" | grep -q packages || oops "failed: $line" ;;
    *' sync') bash -c "$line" >"$dir/said" 2>&1 || oops "failed: $line" ;;
    PGPASSWORD*) [ "$(bash -c "$line -At -c 'select count(*) from packages'")" = 2 ] || oops "failed: $line" ;;
    curl*) [ "$(bash -c "$line" | jq .hits.total.value)" = 1 ] || oops "failed: $line" ;;
    */stop) bash -c "$line" || oops "failed: $line" ;;
    esac
    printf '%s\n' "${line%% *}" >>"${tried:=$(mktemp)}"
done < <(sed -n 's/^    //p' "$dir/kept")
[ "$(wc -l <"$tried")" = 5 ] || oops "it prints other commands: $(cat "$tried")"
rm -f "$tried"
[ ! -e "$dir" ] || oops "$dir is still there"
trap - EXIT
