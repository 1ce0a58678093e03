/* SHA-256 (FIPS 180-4). */
#ifndef INGOT_RUNTIME_SHA256_H
#define INGOT_RUNTIME_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

enum { SHA256_BYTES = 32, SHA256_BLOCK = 64, SHA256_ALIGN = 8 /* of blocks, for kernels */ };

struct sha256 {
    uint32_t h[8];
    uint64_t bytes; /* so far */
    _Alignas(SHA256_ALIGN) uint8_t block[SHA256_BLOCK];
};

/* Begin a digest, add bytes of any alignment (data may be NULL if bytes is 0), and get the digest
 * of all added bytes. Errors: none. */
void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t bytes);
void sha256_end(struct sha256 *s, uint8_t digest[SHA256_BYTES]);

/* Begin, add and end in one call. */
void sha256(uint8_t digest[SHA256_BYTES], const void *data, size_t bytes);

/* Hash blocks with this kernel from now on. Before the first call the reference hashes blocks. See
 * crc32c_use. */
void sha256_use(const struct kernels *k);

#endif
