/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converters that write dates: ISO 8601, always with six digits of a second, years 1 to 9999.
 *
 * date_nanos holds only 1970-01-01 to 2262-04-11; the service refuses a document with any other
 * date.
 */
#pragma once

#include "rowferry/document/convert/type.h"

type_refusal convert_date(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair);
type_refusal convert_date_nanos(struct buf *out, const char *text, size_t len,
                                const struct type_pair *pair);
/* Without a time zone: no Z is written, and the service assumes UTC. */
type_refusal convert_timestamp(struct buf *out, const char *text, size_t len,
                               const struct type_pair *pair);
type_refusal convert_timestamp_nanos(struct buf *out, const char *text, size_t len,
                                     const struct type_pair *pair);
/* In UTC (the session's time zone), with Z. */
type_refusal convert_timestamptz(struct buf *out, const char *text, size_t len,
                                 const struct type_pair *pair);
type_refusal convert_timestamptz_nanos(struct buf *out, const char *text, size_t len,
                                       const struct type_pair *pair);
