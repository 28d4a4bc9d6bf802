/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derives two forms of the configured index settings: for the initial load of a generation, and for
 * afterwards. Pure. Settings may be written {"x": 1}, {"index": {"x": 1}} or {"index.x": 1}.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

/* Appends the settings for the initial load: the configured object (null = none) with
 * refresh_interval -1, number_of_replicas 0, auto_expand_replicas false if that is configured, and
 * gc_deletes 1h unless configured. ERR_CONFIG if configured is not an object. */
int index_settings_filling(struct buf *out, const char *configured, struct err *err) MUST_CHECK;

/* Appends the settings after the initial load. refresh_interval and number_of_replicas are null,
 * which is the service's default, unless configured. */
int index_settings_finished(struct buf *out, const char *configured, struct err *err) MUST_CHECK;
