#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries rowferry out on this machine (Debian 12), from nothing to a searchable table.
#
#   deploy/quickstart.sh [--opensearch] [--keep] [--dir DIR]
#
# Installs the packages (root or sudo), builds, starts a throw-away PostgreSQL and devsearch
# (--opensearch: a real OpenSearch), loads Debian's package catalogue into a table, keeps an index
# equal to it through a first load and a few hundred changes, and compares index and table document
# by document after each. --keep leaves the servers up and says how to use and to stop them; without
# it nothing but the packages and build/release stays. --dir: where the example lives, an empty or
# a new folder; a folder of its own below $TMPDIR if left out.
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
# shellcheck source=deploy/packages.sh
. "$top/deploy/packages.sh"
# shellcheck source=tests/servers/common.sh
. "$top/tests/servers/common.sh"
# shellcheck source=deploy/quickstart/servers.sh
. "$top/deploy/quickstart/servers.sh"
# shellcheck source=deploy/quickstart/compare.sh
. "$top/deploy/quickstart/compare.sh"

built=$top/build/release program=$built/rowferry
index=packages word=planetarium
opensearch='' keep='' dir='' step=0 steps=14 done_well=''

options() {
    while [ $# -gt 0 ]; do
        case $1 in
        --opensearch) opensearch=yes; shift ;;
        --keep) keep=yes; shift ;;
        --dir) dir=${2:?--dir needs a folder}; shift 2 ;;
        -h | --help) usage "$0" 2>&1; exit 0 ;;
        *) usage "$0"; exit 2 ;;
        esac
    done
}

# --- what people see -------------------------------------------------------------------------

colours() {
    bold='' green='' red='' plain=''
    if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
        bold=$'\e[1m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'
    fi
}

now_ms() { date +%s%3N; }
seconds_since() { awk -v from="$1" -v to="$(now_ms)" 'BEGIN { printf "%.1f s", (to - from) / 1000 }'; }
grouped() { printf '%s\n' "$1" | sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta'; }

begin_step() {
    step=$((step + 1))
    step_began=$(now_ms)
    printf '\n%s[%d/%d] %s%s\n' "$bold" "$step" "$steps" "$1" "$plain"
}
tell() { printf '        %s\n' "$*"; }
end_step() { printf '        %s%s%s (%s)\n' "$green" "$*" "$plain" "$(seconds_since "$step_began")"; }
fail() { printf '        %s%s%s\n' "$red" "$*" "$plain"; exit 1; }

# --- steps -----------------------------------------------------------------------------------

prepare() {
    if [ -n "$dir" ]; then
        mkdir -p "$dir"
        [ -z "$(ls -A "$dir")" ] || die "$dir is not empty"
    else
        dir=$(mktemp -d "${TMPDIR:-/tmp}/rowferry-quickstart.XXXXXX")
    fi
    dir=$(cd "$dir" && pwd)
    [ -O "$dir" ] || die "$dir is another user's"
    # nobody else reads what is put there; under root the database server has a user of its own, who passes
    chmod "$([ "$(id -u)" = 0 ] && echo 711 || echo 700)" "$dir"
    trap finish EXIT
    trap 'exit 130' INT TERM HUP
}

finish() {
    local rc=$?
    trap - EXIT
    if [ -z "$done_well" ] && [ "$rc" != 0 ]; then
        printf '\n%sThe quickstart stopped at step %d.%s\n' "$red" "$step" "$plain"
        [ ! -s "$dir/rowferry.log" ] || tail -20 "$dir/rowferry.log"
    fi
    if [ -z "$keep" ] || [ -z "$done_well" ]; then
        stop_servers
        rm -rf "$dir"
    fi
    exit "$rc"
}

packages() {
    begin_step 'Install the packages'
    local wanted=("${build_packages[@]}" postgresql curl jq)
    [ -z "$opensearch" ] || wanted+=("${opensearch_packages[@]}")
    tell "${wanted[*]}"
    install_packages "$dir/apt.log" "${wanted[@]}"
    # an image may come without the lists that the catalogue is made of
    [ -n "$(apt-cache dumpavail | head -c 1)" ] || apt_get update
    end_step 'installed'
}

build() {
    begin_step 'Build rowferry'
    cd "$top"
    if ! { cmake --preset release && cmake --build --preset release; } >"$dir/build.log" 2>&1; then
        tail -30 "$dir/build.log"
        fail 'the build failed'
    fi
    end_step "$("$program" --version | head -1), $(($(stat -c %s "$program") / 1024)) KiB"
}

load_catalogue() {
    begin_step "Load Debian's package catalogue into the table packages"
    local columns=source_id,package,version,architecture,section,priority,maintainer,homepage
    columns+=,installed_size,size,depends,tags,description,description_md5
    query -q -f "$top/deploy/quickstart/catalogue.sql"
    apt-cache dumpavail | LC_ALL=C awk -f "$top/deploy/quickstart/catalogue.awk" |
        query -q -c "\\copy packages ($columns) from stdin"
    query -q -c 'analyze packages'
    end_step "$(grouped "$(query -At -c 'select count(*) from packages')") rows"
}

install_change_log() {
    begin_step 'Install the change log in the database: rowferry source install'
    rowferry source install | sed 's/^/        /'
    end_step 'installed'
}

check() {
    begin_step 'Ask both ends whether all is well: rowferry check'
    rowferry check --accept-admin | sed 's/^/        /'
    end_step 'checked'
}

# run_sync EXPECTED: syncs and holds it to the number of operations.
run_sync() {
    local result operations
    result=$(rowferry sync --json)
    operations=$(jq .operations <<<"$result")
    [ "$operations" = "$1" ] || fail "expected $(grouped "$1") operations: $result"
    end_step "$(grouped "$operations") operations: $(grouped "$(jq .upserts <<<"$result")") upserts," \
        "$(grouped "$(jq .deletes <<<"$result")") deletes; rowferry itself took $(jq .seconds <<<"$result") s"
}

first_sync() {
    begin_step 'First sync: builds the index'
    run_sync "$(query -At -c 'select count(*) from packages')"
}

second_sync() {
    begin_step 'Second sync: nothing changed, nothing is sent'
    run_sync 0
}

change() {
    begin_step 'Change 500 rows, delete 100, insert 100, then sync'
    query -q -f "$top/deploy/quickstart/changes.sql"
    run_sync 700
}

search() {
    begin_step "Search: packages whose description has the word '$word'"
    local found expected
    request GET "/$index/_search?q=description:$word&size=5" >"$dir/search.json"
    jq -r '.hits.hits[]._source | "\(.package) \(.version): \(.description)"' "$dir/search.json" | sed 's/^/        /'
    found=$(jq -r '.hits.total.value' "$dir/search.json")
    expected=$(query -At -c "select count(*) from packages where description ~* '\\y$word\\y'")
    if [ "$found" = 0 ] || [ "$found" != "$expected" ]; then fail "$found found, the table has $expected"; fi
    end_step "$found found, as many as the table has"
}

what_next() {
    printf '\n%sDone.%s ' "$bold" "$plain"
    if [ -z "$keep" ]; then
        printf 'The servers are stopped and the example is deleted; run with --keep to play with it.\n'
    else
        kept
    fi
    printf 'Your own table: copy the configuration that step 6 shows, name your table, key and mapping in it,\n'
    printf 'then: rowferry source install, rowferry check, rowferry sync. The manual is in docs/.\n'
}

kept() {
    local key=''
    [ -n "$opensearch" ] || key="-H @$dir/api-key.header "
    cat <<NEXT
The servers stay up:
    $program -c $dir/rowferry.json status
    $program -c $dir/rowferry.json sync
    PGPASSWORD=\$(cat $dir/password) psql $uri
    curl -s $key'$url/$index/_search?q=description:$word'
Stop them and delete the example:
    $dir/stop
NEXT
}

main() {
    options "$@"
    colours
    local began
    began=$(now_ms)
    prepare
    packages
    build
    umask 077
    start_postgres
    start_service
    load_catalogue
    configure
    install_change_log
    check
    first_sync
    compare
    second_sync
    change
    compare
    search
    done_well=yes
    tell "all steps: $(seconds_since "$began")"
    what_next
}

# a test sources this and takes single steps
[ "${BASH_SOURCE[0]}" != "$0" ] || main "$@"
