/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configured index settings in the two forms that a generation needs: while it fills, and
 * afterwards. Pure. Settings may be written {"x": 1}, {"index": {"x": 1}} or {"index.x": 1}.
 */
#ifndef ROWFERRY_SERVICE_INDEX_SETTINGS_H
#define ROWFERRY_SERVICE_INDEX_SETTINGS_H

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

/* Appends the settings object of a generation that fills: the configured one (null = none) with
 * refresh_interval -1, number_of_replicas 0, auto_expand_replicas false where that is configured,
 * and gc_deletes 1h unless configured. ERR_CONFIG where it is no object. */
int settings_filling(struct buf *out, const char *configured, struct err *err) MUST_CHECK;

/* Appends the object that puts those back as configured; refresh_interval and number_of_replicas
 * are null where they are not, which is the service's default. */
int settings_finished(struct buf *out, const char *configured, struct err *err) MUST_CHECK;

#endif
