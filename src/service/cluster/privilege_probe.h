/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Privileges of an OpenSearch account, seen by what it is refused.
 */
#ifndef ROWFERRY_SERVICE_PRIVILEGE_PROBE_H
#define ROWFERRY_SERVICE_PRIVILEGE_PROBE_H

#include "rowferry/service/cluster/privilege.h"

/* What the role of a pipeline has; null-terminated. */
extern const char *const privilege_cluster_needs[];
extern const char *const privilege_index_needs[];

/* Appends the actions that are refused. */
int privilege_probe(struct service *s, const char *alias, struct buf *missing,
                    struct err *err) MUST_CHECK;

/* Name, and whether it administers the cluster or reaches beyond its pipelines. */
int privilege_probe_account(struct service *s, struct account *out, struct err *err) MUST_CHECK;

#endif
