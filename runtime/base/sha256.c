/* SHA-256 by a kernel for this CPU, or by the reference if there is no such kernel. */
#include "runtime/base/sha256.h"

#include <stdatomic.h>
#include <string.h>

#include "board/min_max.h"

/* The chosen kernel, or NULL for the reference. Atomic for the same reason as in crc32c.c. */
static sha256_u8_fn *_Atomic chosen;

void sha256_use(const struct kernels *k)
{
    atomic_store_explicit(&chosen, k->sha256_u8, memory_order_relaxed);
}

static void take_blocks(struct sha256 *s, const void *blocks, size_t n)
{
    sha256_u8_fn *digest_blocks = atomic_load_explicit(&chosen, memory_order_relaxed);

    if (digest_blocks == NULL) {
        digest_blocks = sha256_u8_ref;
    }
    digest_blocks(s->h, blocks, n);
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

        if (n == SHA256_BLOCK && (uintptr_t)p % SHA256_ALIGN == 0) {
            n = bytes - bytes % SHA256_BLOCK;
            take_blocks(s, p, n / SHA256_BLOCK); /* whole blocks are hashed in place */
        } else {
            memcpy(s->block + at, p, n);
            if (at + n == SHA256_BLOCK) {
                take_blocks(s, s->block, 1);
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
