#include "runtime/compute/tree_digest.h"

#include "board/min_max.h"

enum {
    MOST_LEAVES = 16 /* leaves that the cores share at a time; their digests are on core 0's
                         * stack */
};

void tree_digest_begin(struct tree_digest *d)
{
    sha256_begin(&d->whole);
    sha256_begin(&d->leaf);
}

/* End a leaf, which is full or the last one. */
static void end_leaf(struct tree_digest *d)
{
    uint8_t digest[SHA256_BYTES];

    sha256_end(&d->leaf, digest);
    sha256_add(&d->whole, digest, sizeof digest);
    sha256_begin(&d->leaf);
}

struct leaves {
    const uint8_t *data;
    size_t n;
    uint8_t digests[MOST_LEAVES][SHA256_BYTES];
};

static void digest_leaves(void *arg, struct workers *workers, unsigned core)
{
    struct leaves *l = arg;
    size_t first, last;

    workers_share(workers, core, l->n, 1, &first, &last);
    for (size_t i = first; i < last; i++) {
        sha256(l->digests[i], l->data + i * SIGNATURE_LEAF, SIGNATURE_LEAF);
    }
}

/* Hash whole leaves; data begins with a leaf. Returns how many bytes the leaves have. */
static size_t add_leaves(struct tree_digest *d, struct workers *workers, const uint8_t *data,
                         size_t bytes)
{
    struct leaves l = { .data = data, .n = min_size(bytes / SIGNATURE_LEAF, MOST_LEAVES) };

    workers_run(workers, digest_leaves, &l);
    sha256_add(&d->whole, l.digests, l.n * SHA256_BYTES);
    return l.n * SIGNATURE_LEAF;
}

void tree_digest_add(struct tree_digest *d, struct workers *workers, const void *data, size_t bytes)
{
    const uint8_t *p = data;

    while (bytes != 0) {
        size_t n = min_size(bytes, SIGNATURE_LEAF - (size_t)d->leaf.bytes);

        if (workers != NULL && d->leaf.bytes == 0 && bytes >= (size_t)2 * SIGNATURE_LEAF) {
            n = add_leaves(d, workers, p, bytes);
        } else {
            sha256_add(&d->leaf, p, n);
            if (d->leaf.bytes == SIGNATURE_LEAF) {
                end_leaf(d);
            }
        }
        p += n;
        bytes -= n;
    }
}

void tree_digest_end(struct tree_digest *d, uint8_t digest[SHA256_BYTES])
{
    if (d->leaf.bytes != 0) {
        end_leaf(d);
    }
    sha256_end(&d->whole, digest);
}
