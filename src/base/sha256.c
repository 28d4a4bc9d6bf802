/* SPDX-License-Identifier: Apache-2.0 */
/* Compression function over 64-byte blocks; the last block holds the length. */
#include "rowferry/base/sha256.h"

#include <stdint.h>
#include <string.h>

#define BLOCK 64
#define WORDS 8

static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t sha256_turn(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t sha256_word_at(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void sha256_spread(uint32_t w[64], const unsigned char *block)
{
    for (size_t i = 0; i < 16; i++) {
        w[i] = sha256_word_at(block + 4 * i);
    }
    for (size_t i = 16; i < 64; i++) {
        uint32_t a = w[i - 15];
        uint32_t b = w[i - 2];
        w[i] = w[i - 16] + (sha256_turn(a, 7) ^ sha256_turn(a, 18) ^ a >> 3) + w[i - 7] +
               (sha256_turn(b, 17) ^ sha256_turn(b, 19) ^ b >> 10);
    }
}

/* One round. It rotates the roles of the variables instead of their values, to keep all in
 * registers. */
static inline void sha256_step(uint32_t *d, uint32_t *h, const uint32_t abc[3],
                               const uint32_t efg[3], uint32_t input)
{
    uint32_t s1 = sha256_turn(efg[0], 6) ^ sha256_turn(efg[0], 11) ^ sha256_turn(efg[0], 25);
    uint32_t t1 = *h + s1 + ((efg[0] & efg[1]) ^ (~efg[0] & efg[2])) + input;
    uint32_t s0 = sha256_turn(abc[0], 2) ^ sha256_turn(abc[0], 13) ^ sha256_turn(abc[0], 22);
    *d += t1;
    *h = t1 + s0 + ((abc[0] & abc[1]) ^ (abc[0] & abc[2]) ^ (abc[1] & abc[2]));
}

#define ROUND(a, b, c, d, e, f, g, h, i)                                                           \
    sha256_step(&v[d], &v[h], (const uint32_t[3]){v[a], v[b], v[c]},                               \
                (const uint32_t[3]){v[e], v[f], v[g]}, rounds[i] + w[i])

static void sha256_take_block(uint32_t h[WORDS], const unsigned char *block)
{
    uint32_t w[64];
    uint32_t v[WORDS];
    sha256_spread(w, block);
    memcpy(v, h, sizeof(v));
    for (size_t i = 0; i < 64; i += WORDS) {
        ROUND(0, 1, 2, 3, 4, 5, 6, 7, i);
        ROUND(7, 0, 1, 2, 3, 4, 5, 6, i + 1);
        ROUND(6, 7, 0, 1, 2, 3, 4, 5, i + 2);
        ROUND(5, 6, 7, 0, 1, 2, 3, 4, i + 3);
        ROUND(4, 5, 6, 7, 0, 1, 2, 3, i + 4);
        ROUND(3, 4, 5, 6, 7, 0, 1, 2, i + 5);
        ROUND(2, 3, 4, 5, 6, 7, 0, 1, i + 6);
        ROUND(1, 2, 3, 4, 5, 6, 7, 0, i + 7);
    }
    for (size_t i = 0; i < WORDS; i++) {
        h[i] += v[i];
    }
}

/* Hashes head and text. head is the padded key of HMAC, one block, or null. */
static struct digest sha256_hash(const unsigned char *head, struct span text)
{
    uint32_t h[WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char last[2 * BLOCK] = {0};
    struct digest out;
    uint64_t bits = 8 * ((uint64_t)text.len + (head != NULL ? BLOCK : 0));
    if (head != NULL) {
        sha256_take_block(h, head);
    }
    size_t whole = text.len / BLOCK * BLOCK;
    for (size_t at = 0; at < whole; at += BLOCK) {
        sha256_take_block(h, (const unsigned char *)text.data + at);
    }
    size_t rest = text.len - whole;
    if (rest > 0) {
        memcpy(last, text.data + whole, rest);
    }
    last[rest] = 0x80;
    size_t end = rest + 9 <= BLOCK ? BLOCK : sizeof(last);
    for (size_t i = 0; i < 8; i++) {
        last[end - 1 - i] = (unsigned char)(bits >> 8 * i);
    }
    for (size_t at = 0; at < end; at += BLOCK) {
        sha256_take_block(h, last + at);
    }
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        out.bytes[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
    }
    return out;
}

struct digest sha256(struct span text)
{
    return sha256_hash(NULL, text);
}

struct digest sha256_hmac(struct span key, struct span text)
{
    unsigned char inner[BLOCK] = {0};
    unsigned char outer[BLOCK];
    struct digest d;
    if (key.len > BLOCK) {
        d = sha256(key);
        memcpy(inner, d.bytes, SHA256_BYTES);
    } else if (key.len > 0) {
        memcpy(inner, key.data, key.len);
    }
    for (size_t i = 0; i < BLOCK; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    d = sha256_hash(inner, text);
    d = sha256_hash(outer, span_make((const char *)d.bytes, SHA256_BYTES));
    explicit_bzero(inner, sizeof(inner));
    explicit_bzero(outer, sizeof(outer));
    return d;
}

void sha256_hex(char out[SHA256_HEX_BYTES], const struct digest *d)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        out[2 * i] = digits[d->bytes[i] >> 4];
        out[2 * i + 1] = digits[d->bytes[i] & 15];
    }
    out[SHA256_HEX_BYTES - 1] = '\0';
}
