/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 and HMAC (FIPS 180-4, RFC 2104). No library that the program needs anyway provides them.
 */
#pragma once

#include "rowferry/base/text.h"

#define SHA256_BYTES 32
#define SHA256_HEX_BYTES 65

struct digest {
    unsigned char bytes[SHA256_BYTES];
};

struct digest sha256(struct span text);
struct digest sha256_hmac(struct span key, struct span text);

/* Writes lower-case digits and a NUL. */
void sha256_hex(char out[SHA256_HEX_BYTES], const struct digest *d);
