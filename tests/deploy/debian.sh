#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# debian.sh REPOSITORY KEPT: tests deploy/ in clean directory trees of Debian 12. Executes the container file, installs
# the resulting package in a tree with systemd as process 1, runs it by its units, and removes it. KEPT caches the
# minimal Debian from which the trees are copied. Needs root, Debian's archive and some minutes.
set -euo pipefail

root=$1 kept=$2
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
# shellcheck source=tests/deploy/debian/tree.sh
. "$here/debian/tree.sh"
# shellcheck source=tests/deploy/debian/dockerfile.sh
. "$here/debian/dockerfile.sh"

step() { echo "debian: $*, ${SECONDS} s so far"; }
fail() {
    echo "debian: $*"
    [ -z "${init:-}" ] || tree_in journalctl --no-pager -q -n 40 -u 'rowferry*' || true
    exit 1
}
# quietly COMMAND...: shows the output only if the command fails.
quietly() { "$@" >"$dir/said" 2>&1 || { tail -30 "$dir/said"; fail "$*"; }; }
# until_true WHAT COMMAND...: repeats the command until it succeeds; fails with WHAT after 60 s.
until_true() {
    local what=$1 end=$((SECONDS + 60))
    shift
    until "$@" >"$dir/said" 2>&1; do
        [ "$SECONDS" -lt "$end" ] || { cat "$dir/said"; fail "$what"; }
        sleep 0.2
    done
}

needs_trees
mkdir -p "$kept"
tree_base "$kept/debian-12"
dir=$(mktemp -d)
machine='' init='' container=''
finish() {
    if [ -n "$container" ]; then
        kill -KILL "$(innermost "$container")" 2>/dev/null || true
        wait "$container" || true
    fi
    if [ -n "$machine" ]; then
        kill -KILL "$machine" 2>/dev/null || true
        wait "$machine" || true
    fi
    rm -rf --one-file-system "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
chmod 755 "$dir"

# --- the container file and its results ------------------------------------------------------
quietly dockerfile "$root" "$kept/debian-12" "$dir"
package=$(echo "$dir"/build/package/rowferry_*.deb)
in_image() {
    tree_run "$dir/image" setpriv --reuid="${user%:*}" --regid="${user#*:}" --clear-groups --no-new-privs \
        --bounding-set=-all env "${environment[@]}" "$@"
}
quietly in_image rowferry --version
quietly in_image sh -c 'touch "$STATE_DIRECTORY/rowferry.db" && ! touch /usr/bin/rowferry && /usr/local/bin/rowferry-healthcheck'
! tree_run "$dir/image" sh -c 'command -v gcc cmake devsearch' || fail 'the image has what only the build needs'
step "the container file: $(du -sm "$dir/image" | cut -f1) MiB of an image, $(($(stat -c %s "$package") / 1024)) KiB of a package"

# --- the package under systemd ---------------------------------------------------------------
tree=$dir/tree
tree_new "$kept/debian-12" "$tree"
quietly tree_run "$tree" sh -c 'apt-get update && apt-get install -y systemd dbus iproute2 postgresql curl'
ln -sf /dev/null "$tree/etc/systemd/system/systemd-networkd.service"
files() {
    (cd "$tree" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run -o -path ./tmp -o -path ./var/log \
        -o -path ./var/cache -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/lib/postgresql \) -prune -o -print | sort)
}
cp "$package" "$tree/var/cache/"
cp "$dir/build/src/build/release/devsearch" "$tree/var/cache/"
quietly tree_run "$tree" sh -c 'apt-get install -y libcurl4 libjson-c5 libmicrohttpd12 libpq5 libsqlite3-0'
files >"$dir/before"
quietly tree_run "$tree" sh -c "apt-get install -y /var/cache/${package##*/}"
quietly tree_run "$tree" rowferry --help
[ "$(tree_run "$tree" stat -c '%U:%G %a' /etc/rowferry)" = 'root:rowferry 750' ] || fail '/etc/rowferry'
step 'installed'

# --- servers, configuration and secrets, as in docs/systemd.md -------------------------------
tree_boot "$tree" "$dir/console" || { cat "$dir/console"; skip 'systemd does not start in a tree here'; }
quietly tree_in systemctl start postgresql.service
psql() { tree_in runuser -u postgres -- psql -XAtq -v ON_ERROR_STOP=1 "${2:-shop}" -c "$1"; }
until_true 'PostgreSQL does not answer' psql 'select 1' postgres
psql "create role rowferry login password 'secret-of-postgres'" postgres
psql 'create database shop owner rowferry' postgres
psql "create table articles (source_id text primary key, title text, body text, updated_at timestamptz default now())
      ; insert into articles select n, 'title ' || n, 'body' from generate_series(1, 1000) n
      ; alter table articles owner to rowferry"
install -m 600 <(printf 'secret-of-search') "$tree/var/lib/devsearch.key"
quietly tree_in systemd-run --unit=devsearch /var/cache/devsearch --listen 127.0.0.1:9200 --api-key-file /var/lib/devsearch.key
sed 's|db.internal/shop?[^"]*|127.0.0.1/shop|; s|https://search.internal|http://127.0.0.1|' \
    "$tree/usr/share/doc/rowferry/examples/rowferry.json" >"$tree/etc/rowferry/rowferry.json"
mkdir -p "$tree/etc/credstore"
install -m 600 <(echo secret-of-postgres) "$tree/etc/credstore/rowferry.postgres"
install -m 600 <(echo secret-of-search) "$tree/etc/credstore/rowferry.search"
search() { tree_in curl -sf -H 'Authorization: ApiKey secret-of-search' "http://127.0.0.1:9200/$1"; }
indexed() { search "shop-articles/_refresh?" >/dev/null && search 'shop-articles/_count' | grep -q "\"count\":$1[,}]"; }
# by_hand PARAMETER...: the function of docs/systemd.md
by_hand() {
    tree_in systemd-run --quiet --wait --pipe --collect -p User=rowferry -p StateDirectory=rowferry \
        -p LoadCredential=postgres:rowferry.postgres -p LoadCredential=search:rowferry.search rowferry "$@"
}
until_true 'devsearch does not answer' search ''
quietly by_hand source install
quietly by_hand check
step 'configured'

# --- the timer and its sync ------------------------------------------------------------------
mkdir -p "$tree/etc/systemd/system/rowferry-sync.timer.d"
printf '[Timer]\nOnCalendar=\nOnCalendar=*:*:*\nRandomizedDelaySec=0\n' >"$tree/etc/systemd/system/rowferry-sync.timer.d/often.conf"
quietly tree_in systemctl daemon-reload
quietly tree_in systemctl enable --now rowferry-sync.timer
until_true 'the timer brought no index' indexed 1000
psql "delete from articles where source_id = '1'; insert into articles values ('a', 'b', 'c'), ('d', 'e', 'f')"
until_true 'the timer brought no changes' indexed 1001
psql "alter table articles alter updated_at type text; update articles set updated_at = 'never' where source_id = 'a'"
quietly tree_in systemctl disable --now rowferry-sync.timer
rm -r "$tree/etc/systemd/system/rowferry-sync.timer.d"
quietly tree_in systemctl daemon-reload
step 'synced by the timer'

# --- effects of exit codes -------------------------------------------------------------------
property() { tree_in systemctl show -P "$2" "$1"; }
cp "$tree/etc/rowferry/rowferry.json" "$dir/good.json"
if tree_in systemctl start rowferry-sync.service 2>/dev/null; then fail 'a changed table is no failure'; fi
[ "$(property rowferry-sync.service ExecMainStatus) $(property rowferry-sync.service NRestarts)" = '1 0' ] ||
    fail "exit code 1: $(property rowferry-sync.service ExecMainStatus) $(property rowferry-sync.service NRestarts)"
psql "alter table articles alter updated_at type timestamptz using now()"
echo '{ "pipelines": 1 }' >"$tree/etc/rowferry/rowferry.json"
if tree_in systemctl start rowferry.service 2>/dev/null; then fail 'a wrong configuration is no failure'; fi
until_true 'a wrong configuration is tried again' eval '[ "$(property rowferry.service ActiveState)" = failed ]'
[ "$(property rowferry.service NRestarts)" = 0 ] || fail 'a wrong configuration was tried again'
cp "$dir/good.json" "$tree/etc/rowferry/rowferry.json"
quietly tree_in systemctl reset-failed

psql "insert into articles values (repeat('x', 600))"
quietly tree_in systemctl start rowferry-sync.service # exit code 3 is no failure
told() { tree_in journalctl --no-pager -q -u rowferry-sync.service | grep -q '1 dead letter open'; }
until_true 'no dead letter' told
psql "delete from articles where source_id like 'xx%'"

# --- run -------------------------------------------------------------------------------------
quietly tree_in systemctl start rowferry.service
[ "$(property rowferry.service ActiveState)" = active ] || fail 'not active'
main=$(property rowferry.service MainPID)
psql "insert into articles values ('g', 'h', 'i')"
until_true 'run brought no change' indexed 1002
tree_in cat "/proc/$main/status" >"$dir/status"
grep -qP '^CapEff:\t0+$' "$dir/status" && grep -qP '^NoNewPrivs:\t1$' "$dir/status" && grep -qP '^Seccomp:\t2$' "$dir/status" ||
    fail 'it has more rights than it should'
! tree_in cat "/proc/$main/environ" "/proc/$main/cmdline" | grep -aq secret-of || fail 'a secret stands in the process'
quietly tree_in curl -sf http://127.0.0.1:9187/healthz
until_true 'not ready' tree_in curl -sf http://127.0.0.1:9187/readyz
[[ $(property rowferry.service StatusText) == *articles* ]] || fail "status: $(property rowferry.service StatusText)"
quietly tree_in systemctl reload rowferry.service
quietly by_hand reindex
quietly by_hand status
[ "$(property rowferry.service MainPID)" = "$main" ] || fail 'it was started again'
mkdir -p "$tree/etc/systemd/system/rowferry.service.d"
printf '[Service]\nWatchdogSec=2\nTimeoutAbortSec=1\nRestartSec=0\n' >"$tree/etc/systemd/system/rowferry.service.d/soon.conf"
quietly tree_in systemctl daemon-reload
quietly tree_in systemctl restart rowferry.service
main=$(property rowferry.service MainPID)
tree_in sh -c "kill -STOP $main"
# more than once if the machine itself stalls for this time
started_again() { [ "$(property rowferry.service NRestarts)" -ge 1 ] && [ "$(property rowferry.service ActiveState)" = active ]; }
until_true 'a run that hangs is not started again' started_again
rm -r "$tree/etc/systemd/system/rowferry.service.d"
quietly tree_in systemctl daemon-reload
main=$(property rowferry.service MainPID)
step 'run by its unit'

# --- an instance -----------------------------------------------------------------------------
sed 's|/var/lib/rowferry/rowferry.db|/var/lib/rowferry/other/rowferry.db|; s|shop-articles|other-articles|; s|"articles"|"other"|; /listen/d' \
    "$dir/good.json" >"$tree/etc/rowferry/other.json"
for secret in postgres search; do cp -p "$tree/etc/credstore/rowferry."{,other.}"$secret"; done
quietly tree_in systemctl start rowferry-sync@other.service
search other-articles/_count | grep -q '"count":1002' || fail 'the instance brought no index'
tree_in test -s /var/lib/rowferry/other/rowferry.db || fail 'the instance has no state of its own'
step 'an instance'

# --- reinstallation, like an upgrade ---------------------------------------------------------
quietly tree_in dpkg -i "/var/cache/${package##*/}"
[ "$(property rowferry.service ActiveState)" = active ] || fail 'an upgrade stopped it'
[ "$(property rowferry.service MainPID)" != "$main" ] || fail 'an upgrade lets the old program run on'
main=$(property rowferry.service MainPID)

# --- the running image -----------------------------------------------------------------------
mkdir -p "$dir/image/etc/rowferry" "$dir/image/run/secrets/rowferry"
sed 's|shop-articles|image-articles|; s|"articles"|"image"|; /"state"/d; /"listen"/d' "$dir/good.json" \
    >"$dir/image/etc/rowferry/rowferry.json"
chmod 755 "$dir/image/etc/rowferry"
for secret in postgres search; do
    install -m 400 -o "${user%:*}" "$tree/etc/credstore/rowferry.$secret" "$dir/image/run/secrets/rowferry/$secret"
done
tree_network=(nsenter --target "$init" --net)
quietly tree_in systemctl stop rowferry.service # it listens on the same port
in_image rowferry run >"$dir/said" 2>&1 &
container=$!
in_container() {
    nsenter --target "$(innermost "$container")" --mount --pid --net --root --wd env -i "${environment[@]}" PATH=/usr/bin:/bin "$@"
}
tree_network=()
image_indexed() { search image-articles/_count | grep -q '"count":1002'; }
end=$((SECONDS + 60))
until image_indexed && in_container /usr/local/bin/rowferry-healthcheck 2>/dev/null; do
    if ! kill -0 "$container" 2>/dev/null || [ "$SECONDS" -ge "$end" ]; then cat "$dir/said"; fail 'the image brought no index, or is not well'; fi
    sleep 0.2
done
kill -TERM "$(innermost "$container")"
wait "$container" || { cat "$dir/said"; fail "the image ended with $?"; }
container=''
quietly tree_in systemctl start rowferry.service
main=$(property rowferry.service MainPID)
step 'the image, at work'

# --- removal ---------------------------------------------------------------------------------
quietly tree_in systemctl enable rowferry.service rowferry-sync@other.timer
quietly tree_in apt-get purge -y rowferry
tree_in test ! -e "/proc/$main" || fail 'it runs on without its program'
rm "$tree/etc/rowferry/"{rowferry,other}.json "$tree/etc/credstore/rowferry."*
rmdir "$tree/etc/rowferry" "$tree/etc/credstore"
files >"$dir/after"
left=$(comm -13 "$dir/before" "$dir/after" | grep -vE '^\./(etc/(passwd|group|g?shadow)-|var/lib/devsearch\.key|var/lib/systemd/.*|etc/machine-id|var/tmp/.*|etc/\.updated|var/\.updated|etc/\.pwd\.lock)$' || true)
grep -qx './var/lib/rowferry/rowferry.db' <<<"$left" || fail 'the state is gone'
! grep -vE '^\./var/lib/rowferry(/|$)' <<<"$left" || fail 'left after purge'
step 'removed, with nothing left but the state'
