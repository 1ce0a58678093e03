#include "runtime/model/layer.h"

#include <string.h>

#include "board/min_max.h"

/* As many rows as a gemm of RVV takes at once, and few enough between two looks at the card: a
 * large matrix takes longer than the requests in flight. */
enum { POLL_ROWS = 128 };

/* The norms of a block: of its input, and of its result where there is one. */
struct block_norms {
    enum ingot_role before, before_bias, after;
};

static const struct block_norms mixer_norms = { INGOT_ATTN_NORM, INGOT_ATTN_NORM_BIAS,
                                                INGOT_ATTN_POST_NORM };
static const struct block_norms ffn_norms = { INGOT_FFN_NORM, INGOT_FFN_NORM_BIAS,
                                              INGOT_FFN_POST_NORM };

static const struct layer_block *find_block(const struct layer_block *const *list, uint8_t kind)
{
    while (*list != NULL && (*list)->kind != kind) {
        list++;
    }
    return *list;
}

const struct layer_block *layer_mixer(const struct ingot_layer *l)
{
    return find_block(layer_mixers, l->mixer);
}

const struct layer_block *layer_ffn(const struct ingot_layer *l)
{
    return find_block(layer_ffns, l->ffn);
}

void layer_enter(struct transformer *t, uint32_t layer)
{
    const struct ingot_layer *l = image_layer(t->image, layer);

    t->layer = layer;
    t->data = l;
    t->mixer = layer_mixer(l);
    t->ffn = layer_ffn(l);
    memset(t->tensors, 0, sizeof t->tensors);
    for (uint32_t i = 0; i < l->n_tensors; i++) {
        const struct ingot_tensor *w = &t->image->tensors[l->first_tensor + i];

        t->tensors[w->role] = w;
    }
    if (layer == 0) { /* its segment has them, and they are added there */
        t->tensors[INGOT_POSITION_EMBEDDING] = image_tensor(t->image, INGOT_POSITION_EMBEDDING,
                                                            INGOT_NO_LAYER);
    }
}

/* ---- what blocks are made of ------------------------------------------------------------------ */

void layer_multiply(const struct transformer *t, unsigned core, const struct ingot_tensor *w,
                    const uint8_t *rows, size_t n_rows, const struct linear_input *in, float *y,
                    size_t y_stride)
{
    size_t first, last;

    workers_share(t->workers, core, n_rows, ROW_STEP, &first, &last);
    for (size_t r = first; r < last; r += POLL_ROWS) {
        linear_rows(t->kernels, &t->act, w, rows, in, y, y_stride, r,
                    min_size(last - r, POLL_ROWS));
        if (core == 0) {
            stream_poll(t->stream);
        }
    }
}

/* Add a bias to the rows that this core has just computed. */
static void add_bias(const struct transformer *t, unsigned core, const float *bias, size_t n,
                     float *y, size_t stride)
{
    size_t first, last;

    workers_share(t->workers, core, n, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        t->kernels->add_f32(y + i * stride + first, bias + first, last - first);
    }
}

void layer_matrix(const struct transformer *t, unsigned core, enum ingot_role role,
                  enum ingot_role bias, const struct linear_input *in, float *y, size_t y_stride)
{
    const struct ingot_tensor *w = t->tensors[role];
    const float *added = layer_vector(t, bias);

    layer_multiply(t, core, w, t->segment + w->offset, w->rows, in, y, y_stride);
    if (added != NULL) {
        add_bias(t, core, added, w->rows, y, y_stride);
    }
}

static void share_tokens(const struct transformer *t, unsigned core, size_t *first, size_t *last)
{
    workers_share(t->workers, core, t->n_tokens, LINEAR_GROUP, first, last);
}

/* The types of the layer's matrices in these roles. */
static uint32_t types_of(const struct transformer *t, uint64_t roles)
{
    uint32_t types = 0;

    for (uint32_t i = 0; i < t->data->n_tensors; i++) {
        const struct ingot_tensor *w = &t->image->tensors[t->data->first_tensor + i];

        if ((roles & LAYER_ROLE(w->role)) != 0) {
            types |= 1u << w->type;
        }
    }
    return types;
}

void layer_quantize(const struct transformer *t, unsigned core, uint64_t roles,
                    const struct linear_input *in)
{
    size_t first, last;

    share_tokens(t, core, &first, &last);
    linear_prepare(t->kernels, &t->act, types_of(t, roles), in, first, last);
}

void layer_step(const struct transformer *t, unsigned core)
{
    if (core == 0) {
        stream_poll(t->stream);
    }
    workers_barrier(t->workers);
}

/* The phase in which a tensor of the layer arrives. */
static unsigned phase_of(const struct transformer *t, const struct ingot_tensor *w)
{
    unsigned phase = 0;

    while (w->offset >= image_phase_end(t->image, t->layer, phase)) {
        phase++;
    }
    return phase;
}

bool layer_wait(const struct transformer *t, unsigned core, enum ingot_role role)
{
    unsigned phase = phase_of(t, t->tensors[role]);

    if (core == 0) {
        stream_need(t->stream, phase, image_phase_end(t->image, t->layer, phase));
    }
    layer_step(t, core);
    return !t->stream->now.missing[phase];
}

/* ---- one layer ----------------------------------------------------------------------------- */

/* Norm and quantize this core's tokens for the matrices that read them. */
static void norm_tokens(const struct transformer *t, unsigned core, const struct block_norms *norms,
                        uint64_t reads)
{
    const struct activations *a = &t->act;
    const float *weights = layer_vector(t, norms->before);
    const float *bias = layer_vector(t, norms->before_bias);
    struct linear_input normed = { a->norm, a->dim_stride, t->n_tokens };
    size_t first, last;

    share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        float *y = a->norm + i * a->dim_stride;
        const float *x = a->x + i * a->dim_stride;

        if (bias != NULL) {
            t->kernels->layernorm_f32(y, x, weights, bias, params(t)->dim, params(t)->norm_eps);
        } else {
            t->kernels->rmsnorm_f32(y, x, weights, params(t)->dim, params(t)->norm_eps, 0.0f);
        }
    }
    linear_prepare(t->kernels, a, types_of(t, reads), &normed, first, last);
}

/* Add this core's rows of act.norm, just computed, to the residual stream: no barrier lies
 * between. */
static void add_residual(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    size_t first, last;

    workers_share(t->workers, core, params(t)->dim, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        t->kernels->add_f32(a->x + i * a->dim_stride + first, a->norm + i * a->dim_stride + first,
                            last - first);
    }
}

/* Norm the block's result as a whole, in act.norm, then add it. */
static void add_normed(const struct transformer *t, unsigned core, const float *weights)
{
    const struct activations *a = &t->act;
    size_t first, last;

    layer_step(t, core);
    share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        float *y = a->norm + i * a->dim_stride;

        t->kernels->rmsnorm_f32(y, y, weights, params(t)->dim, params(t)->norm_eps, 0.0f);
        t->kernels->add_f32(a->x + i * a->dim_stride, y, params(t)->dim);
    }
}

static bool run_block(const struct transformer *t, unsigned core, const struct layer_block *block,
                      const struct block_norms *norms)
{
    const float *after = layer_vector(t, norms->after);

    norm_tokens(t, core, norms, block->reads);
    layer_step(t, core);
    if (!block->run(t, core)) {
        return false;
    }
    if (after != NULL) {
        add_normed(t, core, after);
    } else {
        add_residual(t, core);
    }
    return true;
}

/* Learned positions are added before layer 0, in whose segment they lie. */
static void add_positions(const struct transformer *t, unsigned core)
{
    const struct ingot_tensor *w = t->tensors[INGOT_POSITION_EMBEDDING];
    const struct activations *a = &t->act;
    size_t row_bytes = image_type_row_bytes(w->type, w->cols_padded);
    size_t first, last;

    share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        float *row = a->norm + i * a->dim_stride;

        linear_row(t->kernels, w, row, t->segment + w->offset + (t->position + i) * row_bytes, 0);
        t->kernels->add_f32(a->x + i * a->dim_stride, row, params(t)->dim);
    }
}

void layer_run(const struct transformer *t, unsigned core)
{
    if (t->tensors[INGOT_POSITION_EMBEDDING] != NULL) {
        add_positions(t, core); /* each core its tokens, which it norms next: no barrier */
    }
    if (t->mixer != NULL && !run_block(t, core, t->mixer, &mixer_norms)) {
        return;
    }
    if (t->ffn != NULL && layer_wait(t, core, INGOT_FFN_NORM)) {
        (void)run_block(t, core, t->ffn, &ffn_norms);
    }
}
