#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# planted.sh LINT [ARGUMENT...]: the lint passes a clean tree and finds every fault planted in it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
lint=$1
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree
output=$scratch/output
planted=0

put() { # PATH TEXT: a file of the tree
    mkdir -p "$tree/$(dirname "$1")"
    printf '%s\n' "$2" >"$tree/$1"
}

clean_tree() {
    rm -rf "$tree"
    put include/rowferry/base/a.h 'int a(void);'
    put src/base/a.c '#include "rowferry/base/a.h"

int a(void)
{
    return 1;
}'
    put src/source/pg/own.h 'int own(void);'
    put src/source/pg/pg.c '#include <libpq-fe.h>
#include "pg/own.h"
#include "rowferry/base/a.h"

int pg_open(struct err *err)
{
    return err_set(err, ERR_CONFIG, "no \"%s\" is there", "table");
}'
    put tests/unit/base/test_a.c '#include "rowferry/base/a.h"'
    put tests/integration/sync/test_guard.c 'START_TEST(it_stops)'
    put docs/reliability.md 'see `unit_base_a`, `unit_base_*` and `sync_guard: it_stops`'
}

passes() {
    if ! "$here/$lint.sh" "$tree" "$@" >"$output" 2>&1; then
        echo "$lint complains about a clean tree:"
        cat "$output"
        exit 1
    fi
}

caught() { # PATH [LINT'S ARGUMENT...]: the lint fails and names the file; then the tree is clean
    path=$1
    shift
    if "$here/$lint.sh" "$tree" "$@" >"$output" 2>&1; then
        echo "$lint did not find the fault in $path:"
        exit 1
    fi
    if ! grep -q "$path" "$output"; then
        echo "$lint failed without naming $path:"
        cat "$output"
        exit 1
    fi
    planted=$((planted + 1))
    clean_tree
}

lines() { # COUNT
    i=0
    while [ $i -lt "$1" ]; do
        echo '    f();'
        i=$((i + 1))
    done
}

function_of() { # NAME LINES-OF-BODY
    printf 'void %s(void)\n{\n%s\n}\n' "$1" "$(lines "$2")"
}

plant_include() { # FILE INCLUDE
    put "$1" "#include $2"
    caught "$1"
}

clean_tree
passes "$@"
case $lint in
layers)
    plant_include src/base/b.c '"rowferry/document/d.h"'
    plant_include src/document/d.c '"rowferry/source/pg/pg.h"'
    plant_include src/source/s.c '"rowferry/service/http/http.h"'
    plant_include src/service/s.c '"rowferry/state/store.h"'
    plant_include src/state/s.c '"rowferry/source/pg/pg.h"'
    plant_include src/engine/e.c '"rowferry/config/config.h"'
    plant_include src/config/c.c '"rowferry/cli/command.h"'
    plant_include src/daemon/d.c '"rowferry/cli/command.h"'
    plant_include tools/devsearch/d.c '"rowferry/document/d.h"'
    plant_include include/rowferry/source/s.h '<rowferry/engine/pipeline/pipeline.h>'
    plant_include include/rowferry/source/p.h '"own.h"'
    plant_include src/state/own.c '"own.h"'
    plant_include src/state/up.c '"../source/own.h"'
    plant_include src/attic/a.c '<stdio.h>'
    plant_include src/source/attic/a.c '<stdio.h>'
    plant_include include/rowferry/source/pg/p.h '"rowferry/source/rows/reader.h"'
    plant_include tests/unit/document/test_d.c '"rowferry/source/pg.h"'
    put src/source/rows/rows.h 'int rows(void);'
    put src/source/pg/up.c '#include "rows/rows.h"'
    caught src/source/pg/up.c
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
        put src/source/pg/f$i.c 'int f;'
    done
    caught 'source/pg: 17 source files'
    put src/source/pg/down.h 'int down(void);'
    put src/source/rows/down.c '#include "pg/down.h"'
    put src/engine/e.c '  #  include "rowferry/state/store.h"'
    put src/cli/c.c '#include "rowferry/config/config.h"'
    passes
    ;;
foreign)
    plant_include src/engine/e.c '<libpq-fe.h>'
    plant_include src/cli/e.c '<postgresql/libpq-fe.h>'
    plant_include src/state/e.c '<curl/curl.h>'
    plant_include src/service/e.c '<sqlite3.h>'
    plant_include src/service/m.c '<microhttpd.h>'
    plant_include src/engine/j.c '<json-c/json.h>'
    plant_include src/source/j.c '<json.h>'
    plant_include include/rowferry/base/j.h '<json-c/json_object.h>'
    put tools/devsearch/d.c '#include <microhttpd.h>
#include <sqlite3.h>
#include <json-c/json.h>'
    put src/service/j.c '#include "json_walk.h"'
    passes
    ;;
trees)
    for call in 'json_object_array_length(list)' 'json_object_array_get_idx(list, 0)' \
        'json_object_object_foreach(tree, name, value)' 'json_object_object_length(tree)' \
        'json_object_object_add(tree, "a", value)' 'json_object_array_add(list, value)' \
        'json_object_object_get_ex(tree, "a", &value)' 'json_object_iter_begin(tree)' \
        'json_object_get_object(tree)' 'json_object_get_array (list)' \
        'json_tokener_parse(text)' 'json_tokener_parse_ex(t, text, len)' \
        'json_build_tokener(64)' 'json_build_parsed(t, text, len)'; do
        put src/service/s.c "    x = $call;"
        caught src/service/s.c
    done
    put src/cli/c.c '    json_tokener_parse(text);'
    caught src/cli/c.c
    put include/rowferry/document/d.h '#define LENGTH(list) json_object_array_length(list)'
    caught include/rowferry/document/d.h
    put src/document/json/json_tree.c '    return json_object_array_length(list);'
    put src/document/json/json_build.c '    return json_tokener_parse_ex(t, text, len);'
    put src/config/config.c '    tokener = json_build_tokener(64);'
    put tools/devsearch/d.c '    return json_object_array_length(list);'
    put src/service/s.c '    struct json_object *x = json_tree_item(json_object_get(list), 0);'
    passes
    ;;
headers)
    put include/rowferry/base/b.h 'size_t b(void);'
    caught include/rowferry/base/b.h "$@"
    put include/rowferry/base/b.h 'struct twice { int member; };'
    caught include/rowferry/base/b.h "$@"
    put src/source/private.h 'static inline int shadow(int a) { { int a = 1; return a; } }'
    caught src/source/private.h "$@"
    put src/source/private.h '#include "pg/own.h"'
    passes "$@"
    ;;
sizes)
    put src/base/long.c "$(function_of long 58)"
    caught src/base/long.c
    put tests/unit/base/test_long.c "$(function_of long 58)"
    caught tests/unit/base/test_long.c
    put src/base/split.c "static int split(int a,
                 int b)
{
$(lines 57)
}"
    caught src/base/split.c
    put src/base/file.c "$(lines 501)"
    caught src/base/file.c
    put include/rowferry/base/file.h "$(lines 501)"
    caught include/rowferry/base/file.h
    for name in b c d; do
        put "src/base/$name.c" "$(function_of $name 18)"
    done
    caught 'src: the median'
    put src/base/reason.c "/* long: one table */
$(function_of long 90)"
    put src/base/exact.c "$(function_of exact 57)"
    put src/base/b.c "$(function_of b 1)"
    put tests/file.c "$(lines 500)"
    passes
    ;;
words)
    for word in TO''DO FIX''ME X''XX; do
        put src/base/w.c "/* $word: later */"
        caught src/base/w.c
    done
    put tests/run.sh "cd /ro""ot/project"
    caught tests/run.sh
    put src/base/w.c "/* /ho""me/somebody/x */"
    caught src/base/w.c
    put docs/example.md "cp /ho""me/me/rowferry.json ."
    put src/base/w.c 'mktemp("aX''XXXXX")'
    passes
    ;;
map)
    passes # a tree without a map
    put src/README.md 'see `base/a`, `a` in `base/a.c`, and `base/`'
    passes
    put src/README.md 'see `base/z.c`'
    caught src/README.md
    put src/README.md '`b` in `base/a.c`'
    caught src/README.md
    ;;
named)
    put docs/reliability.md 'see `crash_kill`'
    caught docs/reliability.md
    put SECURITY.md 'see `integration_sync_guards`'
    caught SECURITY.md
    put tests/README.md 'see `unit_state_*`'
    caught tests/README.md
    put tests/README.md '| rule | `sync_guard: it_goes_on` |'
    caught tests/README.md
    put tests/README.md 'see `integration_sync_guard`, `sync_*` and `crash_tell()`'
    passes
    ;;
voice)
    for text in 'Could not open it' 'could not open it.' 'failed to open it' 'it cannot be opened!' \
        'the environment variable PG is not set' 'please open it'; do
        put src/cli/c.c "    rc = err_set(err, ERR_CONFIG,
                 \"$text\", name);"
        caught src/cli/c.c
        put src/config/c.c "    return err_hint(err, \"%s: \"
                         \"$text\");"
        [ "$text" = 'Could not open it' ] || caught src/config/c.c
        clean_tree
    done
    put tools/devsearch/d.c 'err_set(err, "Failed to parse.");'
    put src/cli/c.c 'err_set(err, ERR_CONFIG, "PostgreSQL 9 is too old, and so on ...");'
    passes
    ;;
names)
    put src/base/b.c 'int c_open(void)
{
    return 1;
}'
    caught src/base/b.c
    put src/base/b.c 'static int help(int a,
                int b)
{
    return a + b;
}'
    caught src/base/b.c
    put src/base/b.c 'int a(void)
{
    return 1;
}'
    caught src/base/b.c
    put src/base/b.c 'struct step {
    int a;
};'
    put src/source/pg/own.h 'static const struct step {
    int a;
} steps[] = {{1}};'
    caught src/source/pg/own.h
    put src/base/a_b.c 'int a_open(int a)
{
    return a;
}

static void __attribute__((noinline)) a_b_close(void)
{
    call(1);
}'
    put src/cli/commands/sync.c 'int command_sync(void)
{
    return 0;
}'
    passes
    ;;
plain)
    text=$(i=0; while [ $i -lt 30 ]; do echo " * If the source has more rows, reads the next page and sends it."; i=$((i + 1)); done)
    put src/base/good.c "/*
$text
 */"
    passes
    for habit in 'where there is one' 'it stands there' 'whoever has it' 'there is none, and so many were told'; do
        put src/base/good.c "/*
$text
 */"
        put src/base/bad.c "/* Returns it $habit. */"
        caught src/base/bad.c
    done
    put docs/bad.md "Nobody knows where it is."
    caught docs/bad.md
    put src/base/good.c "/* $(printf '%s\n' "$text" | sed 's/If/When/') */"
    caught 'comments: '
    ;;
terms)
    put src/base/b.c 'struct patience patience;'
    caught src/base/b.c
    put docs/run.md 'The Doorkeeper counts connections.'
    caught docs/run.md
    put src/base/b.c '#define CHANGE_GONE 1'
    caught src/base/b.c
    put src/base/b.c 'int change_rows;'
    put src/README.md 'the table of old names: patience'
    passes
    ;;
subjects)
    passes # no git history
    commit() { # SUBJECT
        git -C "$tree" -c user.name=planted -c user.email=planted@localhost commit -q --allow-empty -m "$1"
    }
    begin_history() {
        git -C "$tree" init -q
        commit 'the state of things before the release'
        git -C "$tree" -c user.name=planted -c user.email=planted@localhost tag -a -m v1 v1
        commit 'source, sql: shed the second cursor'
    }
    begin_history
    passes
    for subject in 'sync: what it was' 'sync: ends with a line' 'sync: Added a line' 'add a line' 'sync: end it.' \
        'sync: name the table, the key, the column, the page and the chunk of every row'; do
        commit "$subject"
        caught "$subject"
        begin_history
    done
    ;;
decisions)
    for call in 'strstr(err->message, "no handler")' 'strcmp(e.message, "")' 'strncmp(err->message, "x", 1)' \
        'span_contains(span_make(why.message, 3), words)' 'memcmp(text, b->failure.message, 4)' \
        'strstr(
        err->message, words)'; do
        put src/engine/e.c "    return $call == 0;"
        caught src/engine/e.c
        put tools/devsearch/d.c "    return $call == 0;"
        caught tools/devsearch/d.c
    done
    put src/engine/e.c '    return strcmp(err->service_type, "x") == 0 ? err_set(err, 1, "%s", e->message) : strcmp(o->messages, "y");'
    passes
    ;;
*)
    echo "no faults are known for $lint"
    exit 1
    ;;
esac
echo "$lint: $planted planted faults, all found"
