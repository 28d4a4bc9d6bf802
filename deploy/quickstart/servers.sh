# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # the variables are those of ../quickstart.sh, which sources this
# The quickstart's servers, the configuration that names them, and how they are spoken to.

# superuser DATABASE [psql option]...
superuser() {
    local server
    server=$(cat "$dir/postgres/uri")
    PGPASSWORD=$(cat "$dir/postgres/password") psql -X -v ON_ERROR_STOP=1 "${server%/*}/$1" "${@:2}"
}

# The application's side: what writes to the table needs to know nothing of rowferry.
query() { superuser catalogue "$@"; }

# request METHOD PATH [BODY]
request() {
    local arguments=(-sS --fail-with-body -X "$1")
    [ -n "$opensearch" ] || arguments+=(-H "@$dir/api-key.header")
    [ $# -lt 3 ] || arguments+=(-H 'Content-Type: application/json' --data-binary "$3")
    curl "${arguments[@]}" "$url$2"
}

# Its log lines go to a file that is shown where something fails.
rowferry() { "$program" -c "$dir/rowferry.json" "$@" 2>>"$dir/rowferry.log"; }

# A file that only its owner reads.
random_secret() { (umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$1"); }

start_postgres() {
    begin_step 'Start a throw-away PostgreSQL'
    local server
    server=$("$top/tests/servers/postgres" start --dir "$dir/postgres" --password)
    uri=$(sed -E 's|//[^@]*@(.*)/.*|//rowferry@\1/catalogue|' <<<"$server")
    random_secret "$dir/password"
    # rowferry's own user is no superuser: it owns the database, to install its change log there
    printf "create role rowferry login password '%s';\ncreate database catalogue owner rowferry;\n" \
        "$(cat "$dir/password")" | superuser postgres -q
    end_step "$uri"
}

start_devsearch() {
    random_secret "$dir/api-key"
    (umask 077 && printf 'Authorization: ApiKey %s\n' "$(cat "$dir/api-key")" >"$dir/api-key.header")
    setsid "$built/devsearch" --port-file "$dir/port" --data "$dir/devsearch" \
        --api-key-file "$dir/api-key" >"$dir/devsearch.log" 2>&1 </dev/null &
    echo $! >"$dir/devsearch.pid"
    until [ -s "$dir/port" ]; do
        running "$(cat "$dir/devsearch.pid")" || { cat "$dir/devsearch.log"; fail 'devsearch did not start'; }
        sleep 0.05
    done
    url=http://127.0.0.1:$(cat "$dir/port")
}

start_service() {
    local answers='answers as'
    if [ -n "$opensearch" ]; then
        begin_step 'Start a real OpenSearch (the first time: fetches it)'
        url=$("$top/tests/servers/opensearch" start --dir "$dir/opensearch")
        tell 'It asks for no credential: while it is up, every user of this machine may read and change it.'
    else
        begin_step 'Start devsearch, the small stand-in for a search service'
        start_devsearch
        answers='answers like'
    fi
    end_step "$url $answers $(request GET / | jq -r '"\(.version.distribution) \(.version.number)"')"
}

# The configuration file, as a person would write it.
configure() {
    local auth=''
    [ -n "$opensearch" ] || auth=", \"auth\": { \"api_key\": { \"file\": \"$dir/api-key\" } }"
    begin_step 'Write the configuration'
    cat >"$dir/rowferry.json" <<CONFIG
{
  // where the rows are, and where the documents go; secrets stay in files of their own
  "source":  { "uri": "$uri",
               "password": { "file": "$dir/password" } },
  "service": { "url": "$url"$auth },
  "state":   { "path": "$dir/state.db" },
  "pipelines": [ {
    "name": "packages",
    "from": { "table": "public.packages", "key": ["source_id"] },
    "to": {
      "index": "$index",                     // the alias that people search
      "mappings": { "properties": {            // each is filled from the column of the same name
        "source_id":       { "type": "keyword" },
        "package":         { "type": "keyword" },
        "version":         { "type": "keyword" },
        "architecture":    { "type": "keyword" },
        "section":         { "type": "keyword" },
        "priority":        { "type": "keyword" },
        "maintainer":      { "type": "text" },
        "homepage":        { "type": "keyword" },
        "installed_size":  { "type": "long" },
        "size":            { "type": "long" },
        "depends":         { "type": "keyword" },
        "tags":            { "type": "keyword" },
        "description":     { "type": "text" },
        "description_md5": { "type": "keyword" },
        "updated_at":      { "type": "date" } } },
      "settings": { "number_of_shards": 1, "number_of_replicas": 0 } }
  } ]
}
CONFIG
    sed 's/^/        /' "$dir/rowferry.json"
    write_stop
    end_step "$dir/rowferry.json"
}

# The script that ends what --keep leaves up.
write_stop() {
    cat >"$dir/stop" <<STOP
#!/usr/bin/env bash
"$top/tests/servers/postgres" stop --dir "$dir/postgres"
[ ! -e "$dir/opensearch" ] || "$top/tests/servers/opensearch" stop --dir "$dir/opensearch"
[ ! -e "$dir/devsearch.pid" ] || kill "\$(cat "$dir/devsearch.pid")"
rm -rf "$dir"
STOP
    chmod +x "$dir/stop"
}

stop_servers() {
    [ ! -e "$dir/postgres" ] || "$top/tests/servers/postgres" stop --dir "$dir/postgres" || true
    [ ! -e "$dir/opensearch" ] || "$top/tests/servers/opensearch" stop --dir "$dir/opensearch" || true
    [ ! -e "$dir/devsearch.pid" ] || stop_pid "$(cat "$dir/devsearch.pid")" TERM 10
}
