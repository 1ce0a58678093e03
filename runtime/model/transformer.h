/* The forward pass of the Llama family: one chunk of tokens through all layers, layer by
 * layer, on every worker. */
#ifndef INGOT_RUNTIME_TRANSFORMER_H
#define INGOT_RUNTIME_TRANSFORMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "kernels/kernels.h"
#include "runtime/compute/activations.h"
#include "runtime/compute/kv_cache.h"
#include "runtime/compute/workers.h"
#include "runtime/image/image.h"
#include "runtime/stream/stream.h"

struct transformer {
    const struct image *image;
    const struct kernels *kernels;
    struct workers *workers;
    struct stream *stream;
    struct kv_cache *kv;
    struct activations act;

    /* What the layer at work needs, set by core 0 before the workers starts on it. */
    const uint8_t *segment;
    uint32_t layer;
    uint32_t n_tokens; /* and of the head: whose logits are wanted */
    uint32_t position; /* of the chunk's first token */
    /* And of the head, whole or a tile. */
    const uint8_t *rows;
    uint32_t first_row;
    uint32_t n_rows;
};

/* Take the activations of the plan from ARENA_SCRATCH; everything else must outlive t. */
void transformer_open(struct transformer *t, const struct image *image,
                      const struct kernels *kernels, struct workers *workers, struct stream *stream,
                      struct kv_cache *kv, const struct plan *plan, struct arena *arena);

/* Run n tokens (1 .. chunk, ids below vocab) at positions kv->length .. through the layers and
 * append them to the cache. want_head: the pass goes on to transformer_logits.
 * ERR_ABORTED: should_stop (may be NULL) said so between two layers. Errors of the stream.
 * After an error the cache is as it was before. */
enum err transformer_pass(struct transformer *t, const uint32_t *tokens, uint32_t n, bool want_head,
                          bool (*should_stop)(void *), void *context);

/* Logits (n, vocab) f32 of tokens first .. first + n of the last pass, act.logits_stride apart,
 * valid until the next call; n <= the plan's logits_rows. With a tiled head only once per pass.
 * Errors of the stream. */
enum err transformer_logits(struct transformer *t, uint32_t first, uint32_t n, float **logits);

#endif
