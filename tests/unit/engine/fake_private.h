/* SPDX-License-Identifier: Apache-2.0 */
/* What the halves of the fake share. */
#ifndef ROWFERRY_TESTS_FAKE_PRIVATE_H
#define ROWFERRY_TESTS_FAKE_PRIVATE_H

#include "fake.h"

extern const struct service_port_ops fake_service_ops;
extern const struct source_port_ops fake_source_ops;

/* Every call of a port passes here. */
static inline void fake_step(struct fake *f)
{
    if (f->step != NULL) {
        f->step(f);
    }
}

#define FAKE_FINGERPRINT "0123456789abcdef"

#endif
