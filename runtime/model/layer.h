/* Runs a layer of a model from its data: norm, mixer, add, norm, feed-forward, add. Each kind of
 * mixer or feed-forward has its own file (mixer_*.c, ffn_*.c), which defines a struct layer_block;
 * layer_kinds.c lists them. Every worker runs the layer between two barriers of transformer.c. Only
 * the files of this folder include this header. */
#ifndef INGOT_RUNTIME_LAYER_H
#define INGOT_RUNTIME_LAYER_H

#include "runtime/compute/linear.h"
#include "runtime/model/transformer.h"

enum { ROW_STEP = 8 }; /* cores share rows in whole interleaved groups */

/* The bit of a role in a set of roles. */
#define LAYER_ROLE(role) ((uint64_t)1 << (role))

/* A kind of mixer or feed-forward. */
struct layer_block {
    uint8_t kind; /* enum ingot_mixer or enum ingot_ffn */
    const char *name;
    uint64_t needs; /* roles that the block needs to run */
    uint64_t reads; /* those of `needs` whose matrices multiply the normed input */
    uint64_t waits; /* roles for which the block calls layer_wait; only they may begin a phase */

    /* The state that a layer of this kind keeps for a sequence, or NULL. */
    const struct layer_state_kind *state;

    /* Returns the bytes of act.work that a token needs. NULL means 0. */
    size_t (*work_bytes)(const struct ingot_params *p, const struct ingot_layer *l);

    /* Compute this core's part of y = block(x). x is act.norm (n_tokens, dim) and does not change;
     * for `reads`, act also has its quantized forms. act.out gets this core's rows of y for every
     * token, as layer_multiply distributes them. All cores pass a barrier before the call. Return
     * false if a part of the weights will not arrive. */
    bool (*run)(const struct transformer *t, unsigned core);

    /* Do only the part of `run` that adds to the state, for the same x; if t->has_keys is set, run
     * leaves this part out. NULL if the parts cannot be separated. All weights of the layer must be
     * present, because this function does not wait. */
    void (*keys)(const struct transformer *t, unsigned core);
};

/* The lists of kinds, each ended by NULL. A program may link its own lists instead of
 * layer_kinds.c, which contains only these two lists. */
extern const struct layer_block *const layer_mixers[];
extern const struct layer_block *const layer_ffns[];

/* Return the block of a layer's kind, or NULL for INGOT_..._NONE or an unknown kind. */
const struct layer_block *layer_mixer(const struct ingot_layer *l);
const struct layer_block *layer_parallel(const struct ingot_layer *l);
const struct layer_block *layer_ffn(const struct ingot_layer *l);

/* Make `layer` the current layer. Core 0 calls this before the workers start on the layer. */
void layer_enter(struct transformer *t, uint32_t layer);

/* Set the adapters of all current parts to a layer, or to none (INGOT_NO_LAYER). */
void layer_enter_adapters(const struct transformer *t, uint32_t layer);

/* Compute the first half of the adapters for tokens [first, last) of an input that the matrices in
 * these roles multiply. */
void layer_shrink(const struct transformer *t, uint64_t roles, const struct linear_input *in,
                  size_t first, size_t last);

/* Compute the second half of the adapters, and add it to rows [r, r + n) of w's result y, which
 * have just been computed. Experts have no adapters, because their inputs are not the pass's
 * tokens. */
void layer_expand(const struct transformer *t, const struct ingot_tensor *w, size_t r, size_t n,
                  float *y, size_t y_stride, const struct linear_input *in);

/* Run the layer, whose weights are at t->segment, on this core's share of the chunk. */
void layer_run(const struct transformer *t, unsigned core);

/* Together these two functions do the same as layer_run. All weights of the layer must be present.
 * layer_run_first computes the part for the states, for every token. layer_run_rest computes the
 * rest, without that part (t->has_keys), for the tokens that continue. */
void layer_run_first(const struct transformer *t, unsigned core);
void layer_run_rest(const struct transformer *t, unsigned core);

/* ---- parts of blocks ------------------------------------------------------------------------- */

static inline const struct ingot_params *params(const struct transformer *t)
{
    return &t->image->header->params;
}

/* Return the part of the pass that contains its token number `token`. */
static inline const struct transformer_part *layer_part(const struct transformer *t, size_t token)
{
    const struct transformer_part *p = t->parts;

    while (token >= (size_t)p->first + p->n) {
        p++;
    }
    return p;
}

/* Return the position in its sequence of the pass's token number `token`. */
static inline uint32_t layer_position(const struct transformer *t, size_t token)
{
    const struct transformer_part *p = layer_part(t, token);

    return p->position + (uint32_t)(token - p->first);
}

/* Return the floats of the current layer's norm or bias, or NULL if it has no such tensor. */
static inline const float *layer_vector(const struct transformer *t, enum ingot_role role)
{
    const struct ingot_tensor *w = t->tensors[role];

    if (w == NULL) {
        return NULL;
    }
    return (const float *)(const void *)(t->segment + w->offset);
}

/* Compute this core's share of y = W x. W is the n_rows rows of w at `rows` (whole interleaved
 * groups). x is the tokens of the input, which was prepared for w->type (linear.h). y is (n_tokens,
 * n_rows) f32, with y_stride floats from row to row. Core 0 keeps the card busy meanwhile. */
void layer_multiply(const struct transformer *t, unsigned core, const struct ingot_tensor *w,
                    const uint8_t *rows, size_t n_rows, const struct linear_input *in, float *y,
                    size_t y_stride);

/* Do as layer_multiply, for the layer's matrix in a role, and add the bias if there is one. */
void layer_matrix(const struct transformer *t, unsigned core, enum ingot_role role,
                  enum ingot_role bias, const struct linear_input *in, float *y, size_t y_stride);

/* Return true if each core prepares the input itself, in its own rows of the activations. Every
 * core prepares a single token itself, because otherwise all cores would wait for the one that
 * prepares it. Return false if cores share the tokens. */
static inline bool layer_alone(const struct transformer *t)
{
    return t->n_tokens == 1 && t->act.chunk >= t->workers->n_cores;
}

/* Return the block's normed input, as this core multiplies it. */
struct linear_input layer_normed(const struct transformer *t, unsigned core);

/* Pass a barrier if cores have shared the tokens. */
void layer_step_shared(const struct transformer *t, unsigned core);

/* Set [*first, *last) to this core's tokens of the chunk, as layer_quantize distributes them. */
void layer_share_tokens(const struct transformer *t, unsigned core, size_t *first, size_t *last);

/* Set [*first, *last) to the tokens that this core prepares, its share or the only token. */
void layer_own_tokens(const struct transformer *t, unsigned core, size_t *first, size_t *last);

/* Return the number of floats from one token's row to the next in an input of the role's matrix. A
 * gemm needs the quantized rows without gaps, and layers differ in width. */
size_t layer_stride(const struct transformer *t, enum ingot_role role);

/* Write zeros beyond the columns of the role's matrix, in this core's rows. An earlier, wider layer
 * may have left numbers there that would change the scale of a block of 32. */
void layer_pad(const struct transformer *t, unsigned core, float *rows, size_t stride,
               enum ingot_role role);

/* Quantize this core's tokens of an input for the matrices of these roles. in->first comes from
 * layer_normed. */
void layer_quantize(const struct transformer *t, unsigned core, uint64_t roles,
                    const struct linear_input *in);

/* Pass a barrier, at which core 0 keeps the card busy. */
void layer_step(const struct transformer *t, unsigned core);

/* Pass a barrier as layer_step does. Afterwards the role's tensor and all tensors before it have
 * arrived. Return false if the tensor will not arrive. */
bool layer_wait(const struct transformer *t, unsigned core, enum ingot_role role);

/* Take `rows` (n_tokens, stride), in which this core's tokens are complete, as the input of the
 * role's matrix. Waits for the matrix (layer_wait); pads and quantizes the rows. *in is set to the
 * input as this core multiplies it. */
bool layer_take(const struct transformer *t, unsigned core, enum ingot_role role, float *rows,
                size_t stride, struct linear_input *in);

/* Do as layer_take, for rows that several cores have made, with layer_stride's stride. If norm is
 * not NULL, the first n columns are normed. */
bool layer_ready(const struct transformer *t, unsigned core, enum ingot_role role,
                 const float *norm, size_t n, float *rows, struct linear_input *in);

/* Do as layer_wait, for all tensors of the layer and its experts. */
bool layer_wait_rest(const struct transformer *t, unsigned core);

#endif
