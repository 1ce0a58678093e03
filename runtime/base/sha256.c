#include "runtime/base/sha256.h"

#include <string.h>

#include "board/min_max.h"

static const uint32_t round_words[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t load_big(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The message schedule in place: word i becomes word i + 16. */
static inline void next_word(uint32_t w[16], unsigned i)
{
    uint32_t a = w[(i + 1) & 15], b = w[(i + 14) & 15];

    w[i & 15] += w[(i + 9) & 15] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
                 (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
}

/* One round of FIPS 180-4, 6.2.2; word: of the schedule and the round together. In place of moving its a to h
 * along, the next round has other names for them. */
static inline void take_word(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e,
                             uint32_t f, uint32_t g, uint32_t *h, uint32_t word)
{
    uint32_t t1 = *h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) + word;

    *d += t1;
    *h = t1 + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));
}

static void take_block(uint32_t h[8], const uint8_t *block)
{
    uint32_t v[8], w[16];

    memcpy(v, h, sizeof v);
    for (unsigned i = 0; i < 16; i++) {
        w[i] = load_big(block + 4 * i);
    }
    for (unsigned i = 0; i < 64; i += 8) {
        const uint32_t *k = round_words + i;
        uint32_t *x = w + (i & 8);

        take_word(v[0], v[1], v[2], &v[3], v[4], v[5], v[6], &v[7], k[0] + x[0]);
        take_word(v[7], v[0], v[1], &v[2], v[3], v[4], v[5], &v[6], k[1] + x[1]);
        take_word(v[6], v[7], v[0], &v[1], v[2], v[3], v[4], &v[5], k[2] + x[2]);
        take_word(v[5], v[6], v[7], &v[0], v[1], v[2], v[3], &v[4], k[3] + x[3]);
        take_word(v[4], v[5], v[6], &v[7], v[0], v[1], v[2], &v[3], k[4] + x[4]);
        take_word(v[3], v[4], v[5], &v[6], v[7], v[0], v[1], &v[2], k[5] + x[5]);
        take_word(v[2], v[3], v[4], &v[5], v[6], v[7], v[0], &v[1], k[6] + x[6]);
        take_word(v[1], v[2], v[3], &v[4], v[5], v[6], v[7], &v[0], k[7] + x[7]);
        for (unsigned j = i; j < i + 8; j++) {
            next_word(w, j); /* for the rounds after the next eight */
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        h[i] += v[i];
    }
}

void sha256_begin(struct sha256 *s)
{
    static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

    memcpy(s->h, start, sizeof s->h);
    s->bytes = 0;
}

void sha256_add(struct sha256 *s, const void *data, size_t bytes)
{
    const uint8_t *p = data;

    while (bytes != 0) {
        size_t at = (size_t)(s->bytes % SHA256_BLOCK), n = min_size(bytes, SHA256_BLOCK - at);

        if (n == SHA256_BLOCK) {
            take_block(s->h, p); /* where it lies */
        } else {
            memcpy(s->block + at, p, n);
            if (at + n == SHA256_BLOCK) {
                take_block(s->h, s->block);
            }
        }
        s->bytes += n;
        p += n;
        bytes -= n;
    }
}

void sha256_end(struct sha256 *s, uint8_t digest[SHA256_BYTES])
{
    static const uint8_t one = 0x80, zeros[SHA256_BLOCK] = { 0 };
    uint64_t bits = s->bytes * 8;
    uint8_t length[8];

    for (unsigned i = 0; i < 8; i++) {
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    sha256_add(s, &one, 1);
    sha256_add(s, zeros, (size_t)((120 - s->bytes % SHA256_BLOCK) % SHA256_BLOCK));
    sha256_add(s, length, sizeof length);
    for (unsigned i = 0; i < SHA256_BYTES; i++) {
        digest[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
    }
}

void sha256(uint8_t digest[SHA256_BYTES], const void *data, size_t bytes)
{
    struct sha256 s;

    sha256_begin(&s);
    sha256_add(&s, data, bytes);
    sha256_end(&s, digest);
}
