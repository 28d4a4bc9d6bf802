/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines the privileges of an OpenSearch account from refused requests.
 */
#pragma once

#include "rowferry/service/cluster/privilege.h"

/* Privileges of a pipeline's role; null-terminated. */
extern const char *const privilege_cluster_needs[];
extern const char *const privilege_index_needs[];

/* Appends the refused actions. */
int privilege_probe(struct service *s, const char *alias, struct buf *missing,
                    struct err *err) MUST_CHECK;

/* Reports the account's name, and whether it administers the cluster or has surplus privileges. */
int privilege_probe_account(struct service *s, bool beyond, struct account *out,
                            struct err *err) MUST_CHECK;
