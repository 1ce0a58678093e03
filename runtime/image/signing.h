/* How an image with a key, or a program that was given a key, checks signed files. The key and
 * the functions are passed down in one struct. Only the code that makes the struct names the
 * functions, so an image without a key does not contain them. */
#ifndef INGOT_RUNTIME_SIGNING_H
#define INGOT_RUNTIME_SIGNING_H

#include <stdbool.h>
#include <stddef.h>

#include "board/err.h"
#include "flash_image/format/signature.h"
#include "runtime/base/sha256.h"

enum { SIGNING_ERROR_MESSAGE_BYTES = 160 };

struct workers;

/* Digest of the current part of the file (runtime/compute/tree_digest.h). */
struct tree_digest {
    struct sha256 whole; /* hash of the leaves' digests */
    struct sha256 leaf;
};

struct signing {
    const uint8_t *key; /* (SIGNATURE_KEY_BYTES) public */
    const char *name;   /* name of the key: signature_id_text */
    /* ecdsa_p256_verify: returns true if signature (64) is the key's signature of a digest. */
    bool (*verify)(const uint8_t *key, const uint8_t *digest, const uint8_t *signature);
    /* ecdsa_selftest: returns NULL, or the name of the case that verify judges wrongly. */
    const char *(*selftest)(void);
    /* signature_check_block */
    enum err (*check_block)(const struct signing *g, const struct signature_block *b,
                            uint64_t file_bytes, uint32_t n_parts, char *error_message);
    /* tree_digest_begin, tree_digest_add, tree_digest_end */
    void (*begin_digest)(struct tree_digest *d);
    void (*add_digest)(struct tree_digest *d, struct workers *workers, const void *data,
                       size_t bytes);
    void (*end_digest)(struct tree_digest *d, uint8_t *digest);
};

/* The contents of a file's signature block, after check_block. */
struct signature {
    const struct signing *signing; /* NULL: files need no signature here */
    const uint8_t (*digests)[SIGNATURE_DIGEST_BYTES];
    uint64_t ticks; /* time that the check took */
};

#endif
