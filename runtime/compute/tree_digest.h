/* The digest of a part of a file (flash_image/FORMAT.md, "Signatures"), computed by all cores:
 * SHA-256 over the SHA-256 of each leaf in order; a leaf has SIGNATURE_LEAF bytes, the last leaf
 * has the rest. */
#ifndef INGOT_RUNTIME_TREE_DIGEST_H
#define INGOT_RUNTIME_TREE_DIGEST_H

#include "runtime/compute/workers.h"
#include "runtime/image/signing.h"

/* Begin a digest, add bytes (split anywhere between calls), and end it. If workers is NULL, only
 * this core computes; otherwise call on core 0, outside workers_run. */
void tree_digest_begin(struct tree_digest *d);
void tree_digest_add(struct tree_digest *d, struct workers *workers, const void *data,
                     size_t bytes);
void tree_digest_end(struct tree_digest *d, uint8_t digest[SHA256_BYTES]);

#endif
