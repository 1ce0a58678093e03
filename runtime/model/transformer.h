/* The forward pass of a model runs one chunk of tokens through all layers, layer by layer, on every
 * worker. */
#ifndef INGOT_RUNTIME_TRANSFORMER_H
#define INGOT_RUNTIME_TRANSFORMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "kernels/kernels.h"
#include "runtime/base/stop.h"
#include "runtime/compute/activations.h"
#include "runtime/compute/workers.h"
#include "runtime/image/image.h"
#include "runtime/model/hidden_watch.h"
#include "runtime/model/layer_state.h"
#include "runtime/model/lora.h"
#include "runtime/stream/stream.h"

struct layer_block;
struct transformer;

/* The data that an MTP head (mtp.h) takes from the model whose tokens it guesses. */
struct transformer_mtp {
    struct transformer *model; /* NULL without an MTP head, or before its model is known */
    struct transformer *seen;  /* the transformer of the model or of the head: its last pass
                                * computed the hidden states that are used */
    uint32_t row;              /* the token of that pass whose hidden state belongs to `position` */
    uint32_t position;         /* position in the head's sequence to which `row` belongs; the next
                                * position has the next row. All tokens of an assistant have this
                                * position in the model's sequence */
};

enum { TRANSFORMER_PARTS = 8 }; /* the most sequences of a pass */

/* Tokens of a pass that are consecutive in one sequence. */
struct transformer_part {
    uint32_t first, n;          /* index in the pass of the part's first token; number of the part's
                                 * tokens */
    uint32_t position;          /* position of the first token, and so the number of tokens in each
                                 * state before the pass */
    struct layer_state *states; /* see layer_kinds.h */
    struct lora *lora;          /* adapters in use on the sequence, or NULL */
    bool is_long;               /* all keys of the sequence have LongRoPE's long factors */
    uint32_t skip;              /* 0 to n: the results of the first `skip` tokens are not needed */
};

struct transformer {
    const struct image *image;
    const struct kernels *kernels;
    struct workers *workers;
    struct stream *stream;
    struct activations act;
    struct lora *lora;            /* adapters for sequences that have none of their own, or NULL */
    struct hidden_watch *watches; /* watchers of the last hidden states, latest first, or
                                   * NULL */
    uint32_t n_states;            /* number of states of a sequence (layer_kinds.h) */

    /* The data of the current layer. Core 0 sets them before the workers start. */
    const uint8_t *segment; /* the layer's bytes */
    uint32_t layer;
    const struct ingot_layer *data;
    const struct layer_block *mixer; /* mixer, parallel and ffn may be NULL */
    const struct layer_block *parallel;
    const struct layer_block *ffn;
    const struct ingot_tensor *tensors[INGOT_N_ROLES]; /* NULL if the layer has no tensor in the
                                                        * role */
    uint32_t layer_types;                              /* bits 1 << type of the tensors */
    const struct transformer_part *parts; /* (n_parts) parts of the pass, or of the head's rows */
    uint32_t n_parts;
    struct transformer_part pass_parts[TRANSFORMER_PARTS], head_parts[TRANSFORMER_PARTS];
    uint32_t n_pass_parts, n_head_parts;
    uint32_t n_tokens; /* number of tokens in `parts`, or of rows of the head */
    /* The last layer that writes a state. Once that layer has its keys and values, only tokens
     * whose results are needed continue; their rows of act.x become adjacent (read_parts). */
    uint32_t last_written;
    struct transformer_part read_parts[TRANSFORMER_PARTS];
    bool is_narrow; /* the pass has left tokens out */
    bool has_keys;  /* the current layer's keys and values were computed */
    struct transformer_mtp mtp;
    /* The rows of the head that are multiplied, all or a tile. */
    const uint8_t *rows;
    uint32_t first_row;
    uint32_t n_rows;
};

/* Take the plan's activations from ARENA_SCRATCH. All arguments except plan and arena must outlive
 * t. */
void transformer_open(struct transformer *t, const struct image *image,
                      const struct kernels *kernels, struct workers *workers, struct stream *stream,
                      const struct plan *plan, struct arena *arena);

/* Write to row the cosines and sines of a position in rotation number `rope`, without the
 * rotation's magnitude. If is_long is true, use the long factors, if the rotation has any. */
void transformer_rope_row(const struct transformer *t, uint32_t rope, uint32_t position,
                          bool is_long, float *row);

/* Let w see and change hidden states from now on, before earlier watchers. w must exist until
 * transformer_unwatch, or until the model is closed. */
void transformer_watch(struct transformer *t, struct hidden_watch *w);
void transformer_unwatch(struct transformer *t, struct hidden_watch *w);

struct transformer_pass {
    const uint32_t *tokens; /* (n), ids below vocab */
    uint32_t n;             /* 1 .. chunk */
    const struct transformer_part
        *parts; /* (n_parts) all tokens in order; each part is from another
                 * sequence */
    uint32_t n_parts;
    bool want_head; /* transformer_logits follows the pass */
};

/* Run the tokens through the layers, which adds them to the states. Errors: ERR_ABORTED if `stop`
 * (may be NULL) was set between two layers, and those of the stream and of the states. After an
 * error only some states hold the tokens, so the caller cuts all of them back.
 *
 * Tokens that a part skips only add to the states. They are computed up to the last layer that
 * writes a state, and in that layer only for the state. */
enum err transformer_pass(struct transformer *t, const struct transformer_pass *pass,
                          const struct stop *stop);

/* Compute the logits (n, vocab) f32 of tokens [first, first + n) of the last pass. None of these
 * may be a skipped token. Rows are act.logits_stride apart and valid until the next call; n <= the
 * plan's logits_rows. If the head is tiled, call this only once for each pass. Errors: those of the
 * stream. */
enum err transformer_logits(struct transformer *t, uint32_t first, uint32_t n, float **logits);

/* Return the hidden state (dim) f32 of a token of the last pass. The token must not have been
 * skipped. The state is after the last norm, and is not adapted. The state is valid until the next
 * call. */
const float *transformer_hidden(struct transformer *t, uint32_t token);

/* Do as transformer_logits, for n tokens of the pass, whose indices are in `tokens` in ascending
 * order. */
enum err transformer_logits_at(struct transformer *t, const uint32_t *tokens, uint32_t n,
                               float **logits);

/* Return true if the whole head is in memory, as the next functions require. */
bool transformer_has_head(const struct transformer *t);

/* Compute the logits (n, vocab), act.logits_stride apart, for hidden states (n, dim) after the last
 * norm, not adapted. n <= the plan's logits_rows. */
enum err transformer_logits_of(struct transformer *t, const float *hidden, uint32_t n,
                               float **logits);

/* Do as transformer_logits_of, for hidden states that are already adapted (transformer_adapt). */
enum err transformer_logits_of_adapted(struct transformer *t, const float *hidden, uint32_t n,
                                       float **logits);

/* Compute only the logits of rows ids[0] to ids[n - 1] of the head, without the head's adapters,
 * from an adapted hidden state. These logits are close enough for practice, but their bits may
 * differ from those of the other functions. row: (cols_padded). */
void transformer_logits_of_rows(const struct transformer *t, const float *hidden,
                                const uint32_t *ids, uint32_t n, float *row, float *logits);

/* Turn a hidden state (dim) after the last norm into the head's input, as lessons and memories
 * change it. */
void transformer_adapt(const struct transformer *t, float *hidden);

/* Return true if no adapter is in use, so that transformer_logits_of_rows gives nearly the same
 * logits as transformer_logits_of. */
static inline bool transformer_is_plain(const struct transformer *t)
{
    return t->lora == NULL;
}

/* Write row `id` of the head to `row` (the head's cols_padded). */
void transformer_head_row(const struct transformer *t, uint32_t id, float *row);

#endif
