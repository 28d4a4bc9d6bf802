/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alias watch: polls whether the alias still points at the generation being written, without
 * blocking. A mismatch, or a credential that was revoked, is only a suspicion; the caller repeats
 * the checks of a start. While no change waits, its polls are also the only sign of a service that
 * is away.
 */
#pragma once

#include "core/loop_view.h"

struct alias_watch {
    const struct loop_view *view;
    const char *alias; /* borrowed, as are uuid and place; null: watch disabled */
    const char *uuid;  /* null: unknown */
    const char *place; /* that the index named at the start; null or empty: unknown */
    struct retry_budget *service_retry;
    int64_t due_us; /* time of the next poll; 0 = not scheduled yet */
    bool asked;     /* a query is pending */
    bool permitted; /* a query was answered */
    bool forbidden; /* the credential never permitted the query */
    bool revoked;   /* it permitted the query before, or the service does not accept it any more */
    bool missed;    /* the alias points elsewhere */
};

/* Polls if due. Ends the work if the alias no longer points at the index being written, or the
 * credential was revoked; see struct loop_observer. */
enum loop_answer alias_watch_on_turn(void *self, struct err *why);
