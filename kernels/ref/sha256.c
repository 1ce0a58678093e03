/* Reference of the digest SHA-256: the loop over blocks of FIPS 180-4 (6.2.2). */
#include "kernels/kernels.h"

#include <string.h>

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

static inline uint32_t load_big(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Update the message schedule in place: word i - 16 becomes word i. */
static inline uint32_t next_word(uint32_t w[16], unsigned i)
{
    uint32_t a = w[(i + 1) & 15], b = w[(i + 14) & 15];

    w[i & 15] += w[(i + 9) & 15] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
                 (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    return w[i & 15];
}

/* Do round i of a block; `word` is the schedule's word plus the round constant. Instead of moving a
 * to h, each round renames them: v[-i & 7] is a. */
static inline void take_word(uint32_t v[8], unsigned i, uint32_t word)
{
    uint32_t a = v[-i & 7], b = v[(1 - i) & 7], c = v[(2 - i) & 7];
    uint32_t e = v[(4 - i) & 7], f = v[(5 - i) & 7], g = v[(6 - i) & 7], *h = &v[(7 - i) & 7];

    *h += (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) + word;
    v[(3 - i) & 7] += *h; /* d */
    *h += (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));
}

/* With constant indices, the compiler keeps both arrays in registers. */
#define EIGHT(DO, i) DO(i) DO(i + 1) DO(i + 2) DO(i + 3) DO(i + 4) DO(i + 5) DO(i + 6) DO(i + 7)
#define SIXTEEN(DO) EIGHT(DO, 0) EIGHT(DO, 8)

static void take_block(uint32_t *h, const uint8_t *block)
{
    const uint32_t *k = round_words;
    uint32_t v[8], w[16];

    memcpy(v, h, sizeof v);
    for (unsigned i = 0; i < 16; i++) {
        w[i] = load_big(block + 4 * i);
    }
#define FIRST(i) take_word(v, i, k[i] + w[i]);
    SIXTEEN(FIRST)
    for (k += 16; k != round_words + 64; k += 16) {
#define NEXT(i) take_word(v, i, k[i] + next_word(w, i));
        SIXTEEN(NEXT)
    }
    for (unsigned i = 0; i < 8; i++) {
        h[i] += v[i];
    }
}

void sha256_u8_ref(uint32_t *h, const void *blocks, size_t n)
{
    const uint8_t *p = blocks;

    for (; n != 0; n--, p += 64) {
        take_block(h, p);
    }
}
