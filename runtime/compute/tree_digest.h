/* The digest of a part of a file (flash_image/FORMAT.md, "Signatures") by all cores: SHA-256 of the
 * SHA-256 of each leaf, SIGNATURE_LEAF bytes or what is left, in order. */
#ifndef INGOT_RUNTIME_TREE_DIGEST_H
#define INGOT_RUNTIME_TREE_DIGEST_H

#include "runtime/compute/workers.h"
#include "runtime/image/signing.h"

/* Begin, add bytes, which may be cut anywhere between two calls, and end. workers NULL: this core does it
 * alone; else core 0, outside workers_run. */
void tree_digest_begin(struct tree_digest *d);
void tree_digest_add(struct tree_digest *d, struct workers *workers, const void *data,
                     size_t bytes);
void tree_digest_end(struct tree_digest *d, uint8_t digest[SHA256_BYTES]);

#endif
