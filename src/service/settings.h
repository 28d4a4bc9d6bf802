/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configured index settings in the two forms that a generation needs: while it fills, and
 * afterwards. Pure. Settings may be written {"x": 1}, {"index": {"x": 1}} or {"index.x": 1}.
 */
#ifndef ROWFERRY_SERVICE_SETTINGS_H
#define ROWFERRY_SERVICE_SETTINGS_H

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

/* Appends the settings object of a generation that fills: the configured one (null = none) with
 * refresh_interval -1, and gc_deletes 1h unless configured. ERR_CONFIG where it is no object. */
int settings_filling(struct buf *out, const char *configured, struct err *err) MUST_CHECK;

/* Appends the object that puts the configured refresh interval back, null where none is. */
int settings_finished(struct buf *out, const char *configured, struct err *err) MUST_CHECK;

#endif
