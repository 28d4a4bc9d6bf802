#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plants one bug at a time into a copy of the sources; the simulation must find each of them.
#
#   mutants.sh [SEEDS]       maximum number of seeds for each mutant (400)
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
seeds=${1:-400}
work=$(mktemp -d "${TMPDIR:-/tmp}/rowferry-mutants.XXXXXX")
trap 'rm -rf "$work"' EXIT
settle='int rc = sender_settle_all('
each='for (size_t i = 0; i < batch_in_flight(b); i++)'

# name @ file @ code that occurs once @ replacement
mutants() {
    cat <<LIST
a retry counts as done@src/engine/pipeline/sender.c@$settle@$each { if (b->operations[i].outcome == OUTCOME_RETRY) { b->operations[i].outcome = OUTCOME_DONE; } } $settle
a lost request counts as done@src/engine/pipeline/sender.c@$settle@$each { if (b->operations[i].outcome == OUTCOME_UNKNOWN) { b->operations[i].outcome = OUTCOME_DONE; } } $settle
what repeats is not kept@src/engine/pipeline/sender.c@batch_keep_unsettled(b);@batch_reset(b);
committed before it is settled@src/engine/core/window.c@if (!page->closed || page->unsettled > 0) {@if (!page->closed) {
a version is used again@src/document/model/version.c@wall_us > v->last ? wall_us : v->last + 1;@wall_us > v->last ? wall_us : v->last;
a version's ceiling is not durable@src/engine/core/source_reader.c@rc = checkpoint_raise_ceiling(r->state, ceiling, err);@rc = 0;
a held operation is dropped@src/engine/pipeline/loop.c@if (held && !replaces) {@if (held && !replaces) { return true;
a conflict counts as done@src/engine/pipeline/apply_outcome.c@apply_outcome_conflict(l, batch, o, hash);@apply_outcome_done(l, o, batch_key(batch, o), hash);
the position is forgotten with the connection@src/engine/core/source_reader.c@return retry_budget_away(r->retry_budget, &r->clock, err) ? 0 : ERR_TRANSIENT;@free(r->position); r->position = NULL; return retry_budget_away(r->retry_budget, &r->clock, err) ? 0 : ERR_TRANSIENT;
dead letters are not recorded@src/state/checkpoint.c@result = checkpoint_add_letters(s, settlement, err);@result = 0;
the version of a conflict is not stepped over@src/engine/core/source_reader.c@version_step_over(&r->ticks, seen);@(void)seen;
a walk owes no other@src/engine/guard/reconcile.c@d->schedule.owed_us = d->schedule.late_us > d->schedule.listing_us ? d->schedule.late_us : 0;@d->schedule.owed_us = 0;
a lost state file owes no walk@src/engine/guard/reconcile.c@d->schedule.owed_us = known ? reconcile_from_wall(d, d->schedule.kept.owed_us) : latest_us;@d->schedule.owed_us = reconcile_from_wall(d, d->schedule.kept.owed_us);
a change during the copy is not read again@src/engine/pipeline/pipeline.c@source_reader_init(&l->source_reader, &s->target.facts, c->position, c->clock_ceiling);@source_reader_init(&l->source_reader, &s->target.facts, c->phase == GENERATION_LIVE ? c->position : NULL, c->clock_ceiling);
what a crash of the server lost is not read again@tests/unit/engine/fake_shelf.c@if (f->cursor || fake_life(position) == f->life || kept >= (long)*log) {@if (f->cursor || fake_life(position) == f->life || kept >= (long)*log || true) {
LIST
}

# replace FILE CODE INSTEAD: replaces literally; fails unless CODE occurs exactly once.
replace() {
    awk -v code="$2" -v instead="$3" '
    {
        at = index($0, code)
        if (at > 0) {
            found++
            $0 = substr($0, 1, at - 1) instead substr($0, at + length(code))
        }
        print
    }
    END { exit found != 1 }' "$1" >"$work/replaced" || return 1
    cp "$work/replaced" "$1"
}

build() {
    ninja -C "$work/build" unit_engine_simulation >"$work/log" 2>&1 || { tail -20 "$work/log" >&2; return 1; }
}

# Runs for at most $1 seconds, because a mutant that hangs counts as found.
simulate() {
    ROWFERRY_SEEDS=$seeds timeout "$1" "$work/build/tests/unit_engine_simulation" >"$work/log" 2>&1
}

prepare() {
    tar -C "$top" --exclude=./build --exclude=./.git -cf - . | (mkdir "$work/tree" && tar -C "$work/tree" -xf -)
    sed -i 's/-Werror//' "$work/tree/cmake/Compile.cmake" # a mutant may leave something unused
    cmake -G Ninja -S "$work/tree" -B "$work/build" -DCMAKE_BUILD_TYPE=Debug \
        >"$work/log" 2>&1 || { tail -20 "$work/log" >&2; return 1; }
    build
    simulate 180 || { tail -5 "$work/log" >&2; echo "mutants: the simulation fails without any mutant" >&2; return 1; }
}

# Prints briefly why the simulation failed.
reason() {
    grep -ohE 'seed [0-9]+: .*|ended with -?[0-9]+|ended by signal [0-9]+|never happened.*|a law of the window.*|Assertion .*' "$work/log" |
        head -1 | cut -c1-70 || true
}

planted=0 survivors=0
prepare
while IFS=@ read -r name file code instead; do
    replace "$work/tree/$file" "$code" "$instead" || { echo "mutants: \"$name\" does not fit $file" >&2; exit 1; }
    build
    planted=$((planted + 1)) rc=0
    simulate 60 || rc=$?
    case $rc in
    0) verdict=SURVIVED survivors=$((survivors + 1)) ;;
    124) verdict="caught: it hangs" ;;
    *) verdict="caught: $(reason)" ;;
    esac
    printf '%-50s %s\n' "$name" "$verdict"
    cp "$top/$file" "$work/tree/$file"
done < <(mutants)
echo "mutants: $planted planted by hand, $((planted - survivors)) caught, $survivors survived"
[ "$survivors" = 0 ]
