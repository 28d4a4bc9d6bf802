#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# container.sh REPOSITORY: checks the container file's syntax, that the files it copies exist, and its health check.
set -euo pipefail

root=$1
fail() { echo "container: $*"; exit 1; }
command -v python3 >/dev/null || { echo 'skip: python3 is not here'; exit 77; }
dir=$(mktemp -d)
server=''
trap '[ -z "$server" ] || kill "$server"; rm -rf "$dir"' EXIT

# --- instructions, one per line --------------------------------------------------------------
sed -E '/^#/d' "$root/deploy/container/Dockerfile" | sed -E ':a; /\\$/ { N; s/\\\n */ /; ba }' | grep . >"$dir/lines"
stages=' '
while read -r word rest; do
    case $word in
    FROM)
        [[ $rest =~ ^debian:12-slim(\ AS\ ([a-z]+))?$ ]] || fail "FROM $rest"
        stages+="${BASH_REMATCH[2]} " user='' ;;
    RUN) bash -n <<<"$rest" || fail "RUN $rest" ;;
    COPY)
        if [[ $rest =~ --from=([a-z]+) ]]; then
            [[ $stages == *" ${BASH_REMATCH[1]} "* ]] || fail "no stage ${BASH_REMATCH[1]}"
        else
            read -ra words <<<"${rest#--chmod=* }"
            for source in "${words[@]:0:${#words[@]}-1}"; do
                [ -e "$root/$source" ] || fail "$source is not there"
                ! grep -qxF "${source%%/*}" "$root/deploy/container/Dockerfile.dockerignore" || fail "$source is ignored"
            done
        fi ;;
    USER) user=$rest ;;
    WORKDIR | VOLUME) [[ $rest == /* ]] || fail "$word $rest" ;;
    ENV | EXPOSE) ;;
    HEALTHCHECK) [[ $rest == *' CMD ["/usr/local/bin/rowferry-healthcheck"]' ]] || fail "$word $rest" ;;
    ENTRYPOINT | CMD) python3 -c 'import json, sys; json.loads(sys.argv[1])[0]' "$rest" || fail "$word $rest" ;;
    *) fail "what is $word?" ;;
    esac
done <"$dir/lines"
[[ $user =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] || fail "it does not run as a number that is not root: $user"
grep -q '^HEALTHCHECK' "$dir/lines" || fail 'no health check'

# --- health check ----------------------------------------------------------------------------
check=$root/deploy/container/healthcheck
printf '/usr/bin/rowferry\0run\0' >"$dir/run"
printf '/usr/bin/rowferry\0sync\0' >"$dir/sync"
cat >"$dir/server.py" <<'PYTHON'
import http.server, pathlib, sys

class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status = pathlib.Path(sys.argv[1], "status").read_text() if self.path == "/healthz" else "404"
        self.send_response(int(status))
        self.end_headers()

server = http.server.HTTPServer(("127.0.0.1", 0), Health)
pathlib.Path(sys.argv[1], "port.new").write_text(str(server.server_port))
pathlib.Path(sys.argv[1], "port.new").rename(sys.argv[1] + "/port")
server.serve_forever()
PYTHON
python3 "$dir/server.py" "$dir" 2>"$dir/requests" &
server=$!
until [ -s "$dir/port" ]; do
    kill -0 "$server" || fail 'the server did not start'
    sleep 0.05
done
port=$(cat "$dir/port")
well() { ROWFERRY_LISTEN=$1 "$check" "$dir/$2" >"$dir/said" 2>&1 || { cat "$dir/said"; fail "ill: $3"; }; }
ill() { ! ROWFERRY_LISTEN=$1 "$check" "$dir/$2" >"$dir/said" 2>&1 || fail "well: $3"; }
echo 200 >"$dir/status"
well "0.0.0.0:$port" run 'a run that answers'
well "[::]:$port" run 'a run that listens everywhere'
echo 503 >"$dir/status"
ill "0.0.0.0:$port" run 'a run that has hung'
well "0.0.0.0:$port" sync 'a sync, which listens nowhere'
well '' run 'a run that listens nowhere'
kill "$server"
wait "$server" 2>/dev/null || true
server=''
ill "0.0.0.0:$port" run 'a run that does not answer'
[ "$(grep -c 'GET /healthz' "$dir/requests")" = 3 ] || fail 'it did not ask'
echo "container: $(wc -l <"$dir/lines") instructions, 6 states of health"
