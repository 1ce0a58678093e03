/* The signature of a file as C structures: a block after the last byte of a model or an adapter.
 * The bytes of the model or adapter do not change. FORMAT.md, "Signatures", is the specification.
 * Little-endian except for the signature. */
#ifndef INGOT_FLASH_IMAGE_SIGNATURE_FORMAT_H
#define INGOT_FLASH_IMAGE_SIGNATURE_FORMAT_H

#include <assert.h>
#include <stdint.h>

#include "flash_image/format/format.h"

#define SIGNATURE_MAGIC "INGOT\r\nS" /* 8 bytes, no NUL */

enum {
    SIGNATURE_VERSION = 1,
    SIGNATURE_P256 = 1,          /* kind: ECDSA over P-256 with SHA-256 */
    SIGNATURE_LEAF = 65536,      /* bytes of a leaf; leaves' digests make a part's digest */
    SIGNATURE_DIGEST_BYTES = 32, /* of SHA-256 */
    SIGNATURE_KEY_BYTES = 65,  /* size of a public key: 4, X, Y (an uncompressed point of SEC 1) */
    SIGNATURE_ID_BYTES = 8,    /* size of a key's name, the first bytes of the key's digest */
    SIGNATURE_FRONT_PARTS = 2, /* the header, and the tables after it */
    SIGNATURE_ADAPTER_PARTS = 3, /* those, and an adapter's data; a model has segments instead */
    SIGNATURE_MOST_PARTS = SIGNATURE_FRONT_PARTS + INGOT_MAX_SEGMENTS,
};

/* Zeros follow the digests up to the next page. */
struct signature_block {
    char magic[8];
    uint32_t version;
    uint32_t kind;
    uint64_t file_bytes;  /* size of the file before the block, which is the block's offset */
    uint64_t block_bytes; /* a multiple of 4096 */
    uint32_t n_parts;
    uint32_t leaf_bytes; /* SIGNATURE_LEAF */
    uint8_t key_id[SIGNATURE_ID_BYTES];
    uint8_t reserved[16];                      /* zero; the signed part of the header ends here */
    uint8_t signature[64];                     /* r and s, big-endian */
    uint8_t digests[][SIGNATURE_DIGEST_BYTES]; /* (n_parts), signed too */
};
static_assert(sizeof(struct signature_block) == 128, "the digests begin at 128");

enum { SIGNATURE_SIGNED_HEAD = 64 };

static inline uint64_t signature_block_bytes(uint32_t n_parts)
{
    uint64_t bytes = sizeof(struct signature_block) + (uint64_t)n_parts * SIGNATURE_DIGEST_BYTES;

    return (bytes + INGOT_PAGE - 1) / INGOT_PAGE * INGOT_PAGE;
}

#endif
