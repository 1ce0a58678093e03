/* A layer of a model, run from its data: norm, mixer, add, norm, feed-forward, add. Each kind of
 * mixer or feed-forward has a file of its own (mixer_*.c, ffn_*.c) that ends in a struct
 * layer_block; layer_kinds.c lists these rows. Every worker runs this between two barriers of
 * transformer.c. Only the files of this room include it. */
#ifndef INGOT_RUNTIME_LAYER_H
#define INGOT_RUNTIME_LAYER_H

#include "runtime/compute/linear.h"
#include "runtime/model/transformer.h"

enum { ROW_STEP = 8 }; /* rows are shared out in whole interleaved groups */

/* A role as a bit of a set of roles. */
#define LAYER_ROLE(role) ((uint64_t)1 << (role))

/* A kind of mixer or feed-forward. */
struct layer_block {
    uint8_t kind; /* enum ingot_mixer or enum ingot_ffn */
    const char *name;
    uint64_t needs; /* roles without which it cannot run */
    uint64_t reads; /* of them, the matrices that multiply the normed input */
    uint64_t waits; /* roles before which it calls layer_wait: phases may begin with them alone */

    /* The state that a layer of this kind keeps for a sequence; NULL: none. */
    const struct layer_state_kind *state;

    /* Bytes of act.work that a token takes; NULL: none beside the activations. */
    size_t (*work_bytes)(const struct ingot_params *p, const struct ingot_layer *l);

    /* This core's part of y = block(x). x is act.norm (n_tokens, dim), also in the quantized
     * forms of act for `reads`, and stays. y goes to act.out: this core's rows of every token, as
     * layer_multiply shares them out. All cores have passed a barrier before. False: a part of
     * the weights will not come. */
    bool (*run)(const struct transformer *t, unsigned core);

    /* The result that `run` adds to the state, of the same x: with t->has_keys set, run leaves it out. NULL: that cannot be told
     * apart. Whole layers only: it waits for nothing. */
    void (*keys)(const struct transformer *t, unsigned core);
};

/* The kinds that exist, each list ended by NULL. A program that links this may have lists of its
 * own (layer_kinds.c has nothing else in it). */
extern const struct layer_block *const layer_mixers[];
extern const struct layer_block *const layer_ffns[];

/* The row of a layer's kind; NULL: there is none, of INGOT_..._NONE always. */
const struct layer_block *layer_mixer(const struct ingot_layer *l);
const struct layer_block *layer_parallel(const struct ingot_layer *l);
const struct layer_block *layer_ffn(const struct ingot_layer *l);

/* The layer at work becomes layer number `layer`: core 0, before the workers start on it. */
void layer_enter(struct transformer *t, uint32_t layer);

/* The adapters of all parts at work turn to a layer, or to none (INGOT_NO_LAYER). */
void layer_enter_adapters(const struct transformer *t, uint32_t layer);

/* Their first half for tokens [first, last) of an input of the matrices in these roles. */
void layer_shrink(const struct transformer *t, uint64_t roles, const struct linear_input *in,
                  size_t first, size_t last);

/* And the second: what they add to n rows of w that have just been computed, from row r of those at y.
 * Matrices of experts, whose inputs are not the pass' tokens, have none. */
void layer_expand(const struct transformer *t, const struct ingot_tensor *w, size_t r, size_t n,
                  float *y, size_t y_stride, const struct linear_input *in);

/* Run it, its weights at t->segment, on this core's share of the chunk. */
void layer_run(const struct transformer *t, unsigned core);

/* The same in two steps, all of its weights there: what states take of every token, then the rest for those tokens
 * that the pass goes on with, whose part in the states is there already (t->has_keys). */
void layer_run_first(const struct transformer *t, unsigned core);
void layer_run_rest(const struct transformer *t, unsigned core);

/* ---- what blocks are made of ------------------------------------------------------------------ */

static inline const struct ingot_params *params(const struct transformer *t)
{
    return &t->image->header->params;
}

/* The part at work that a token belongs to. */
static inline const struct transformer_part *layer_part(const struct transformer *t, size_t token)
{
    const struct transformer_part *p = t->parts;

    while (token >= (size_t)p->first + p->n) {
        p++;
    }
    return p;
}

/* The position of a token at work in its sequence. */
static inline uint32_t layer_position(const struct transformer *t, size_t token)
{
    const struct transformer_part *p = layer_part(t, token);

    return p->position + (uint32_t)(token - p->first);
}

/* A norm's or bias' floats of the layer at work; NULL: it has none. */
static inline const float *layer_vector(const struct transformer *t, enum ingot_role role)
{
    const struct ingot_tensor *w = t->tensors[role];

    if (w == NULL) {
        return NULL;
    }
    return (const float *)(const void *)(t->segment + w->offset);
}

/* This core's share of the n_rows rows of w at `rows` (whole interleaved groups): y = W x for the
 * tokens of the input, which was prepared for w->type (linear.h); y (n_tokens, n_rows) f32, a
 * token's row y_stride floats after the one before. Core 0 keeps the card busy meanwhile. */
void layer_multiply(const struct transformer *t, unsigned core, const struct ingot_tensor *w,
                    const uint8_t *rows, size_t n_rows, const struct linear_input *in, float *y,
                    size_t y_stride);

/* The same for the layer's matrix in a role, and its bias is added where there is one. */
void layer_matrix(const struct transformer *t, unsigned core, enum ingot_role role,
                  enum ingot_role bias, const struct linear_input *in, float *y, size_t y_stride);

/* One token's input each core prepares for itself, in its own rows of the activations: all would
 * wait for one otherwise, which takes as long and costs a meeting. False: cores share the tokens. */
bool layer_alone(const struct transformer *t);

/* The block's normed input, as this core multiplies it. */
struct linear_input layer_normed(const struct transformer *t, unsigned core);

/* A barrier, if what cores have prepared of the chunk is for others too. */
void layer_step_shared(const struct transformer *t, unsigned core);

/* This core's tokens [first, last) of the chunk, as layer_quantize shares them out. */
void layer_share_tokens(const struct transformer *t, unsigned core, size_t *first, size_t *last);

/* The tokens of an input that this core prepares: its share, or the only one. */
void layer_own_tokens(const struct transformer *t, unsigned core, size_t *first, size_t *last);

/* Floats from one token's row to the next of an input of the matrix in the role. A gemm wants the
 * quantized rows to follow each other without a gap, and layers differ in width. */
size_t layer_stride(const struct transformer *t, enum ingot_role role);

/* Zeros beyond the columns of the matrix in the role, in this core's rows: a wider layer before may
 * have left something there, and a block of 32 has one scale. */
void layer_pad(const struct transformer *t, unsigned core, float *rows, size_t stride,
               enum ingot_role role);

/* Quantize this core's tokens of an input for the matrices of these roles; in->first is of
 * layer_normed. */
void layer_quantize(const struct transformer *t, unsigned core, uint64_t roles,
                    const struct linear_input *in);

/* A barrier, at which core 0 keeps the card busy. */
void layer_step(const struct transformer *t, unsigned core);

/* The same; after it the tensor in the role and all before it are there. False: it will not
 * come. */
bool layer_wait(const struct transformer *t, unsigned core, enum ingot_role role);

/* `rows` (n_tokens, stride) are the input of the matrix in the role, which layer_wait waits for;
 * this core's tokens are whole. They are padded and quantized; *in: as this core multiplies them. */
bool layer_take(const struct transformer *t, unsigned core, enum ingot_role role, float *rows,
                size_t stride, struct linear_input *in);

/* The same for rows that all cores have made together, stride as layer_stride says. If norm is not NULL
 * their first n columns are normed. */
bool layer_ready(const struct transformer *t, unsigned core, enum ingot_role role,
                 const float *norm, size_t n, float *rows, struct linear_input *in);

/* The same for all that the layer has, its experts too. */
bool layer_wait_rest(const struct transformer *t, unsigned core);

#endif
