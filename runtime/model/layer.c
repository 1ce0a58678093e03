#include "runtime/model/layer.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/model/layer_embedding.h"

/* As many rows as a gemm of RVV takes at once, and few enough between two looks at the card: a
 * large matrix takes longer than the requests in flight. A narrow one takes more rows, up to
 * POLL_PRODUCTS in all, as each beginning costs as much as a row or two. */
enum { POLL_ROWS = 128, POLL_PRODUCTS = 1 << 19, PADDED_COLS = 32 };

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

const struct layer_block *layer_beside(const struct ingot_layer *l)
{
    return find_block(layer_mixers, l->beside);
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
    t->beside = layer_beside(l);
    t->ffn = layer_ffn(l);
    memset(t->tensors, 0, sizeof t->tensors);
    for (uint32_t i = 0; i < l->n_tensors; i++) {
        const struct ingot_tensor *w = &t->image->tensors[l->first_tensor + i];

        t->tensors[w->role] = w;
    }
    layer_enter_adapters(t, layer);
    if (layer == 0) { /* its segment has them, and they are added there */
        static const enum ingot_role first[] = { INGOT_POSITION_EMBEDDING,
                                                 INGOT_PER_LAYER_PROJECTION, INGOT_PER_LAYER_NORM };

        for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
            t->tensors[first[i]] = image_tensor(t->image, first[i], INGOT_NO_LAYER);
        }
    }
}

/* ---- what blocks are made of ------------------------------------------------------------------ */

static size_t rows_between_polls(const struct ingot_tensor *w, const struct linear_input *in)
{
    size_t rows = POLL_PRODUCTS / ((size_t)w->cols_padded * in->n_tokens);

    return max_size(rows / POLL_ROWS, 1) * POLL_ROWS;
}

void layer_multiply(const struct transformer *t, unsigned core, const struct ingot_tensor *w,
                    const uint8_t *rows, size_t n_rows, const struct linear_input *in, float *y,
                    size_t y_stride)
{
    size_t first, last, step = rows_between_polls(w, in);

    workers_share(t->workers, core, n_rows, ROW_STEP, &first, &last);
    for (size_t r = first; r < last; r += step) {
        size_t n = min_size(last - r, step);

        linear_rows(t->kernels, &t->act, w, rows, in, y, y_stride, r, n);
        layer_expand(t, w, r, n, y, y_stride, in);
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

bool layer_alone(const struct transformer *t)
{
    return t->n_tokens == 1 && t->act.chunk >= t->workers->n_cores;
}

/* The first of the rows of the activations in which this core prepares. */
static uint32_t own_row(const struct transformer *t, unsigned core)
{
    return layer_alone(t) ? core : 0;
}

struct linear_input layer_normed(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    uint32_t row = own_row(t, core);

    return (struct linear_input){ a->norm + row * a->dim_stride, a->dim_stride, t->n_tokens, row };
}

void layer_step_shared(const struct transformer *t, unsigned core)
{
    if (!layer_alone(t)) {
        layer_step(t, core);
    }
}

void layer_share_tokens(const struct transformer *t, unsigned core, size_t *first, size_t *last)
{
    workers_share(t->workers, core, t->n_tokens, LINEAR_GROUP, first, last);
}

size_t layer_stride(const struct transformer *t, enum ingot_role role)
{
    return (t->tensors[role]->cols + PADDED_COLS - 1) / PADDED_COLS * PADDED_COLS;
}

void layer_pad(const struct transformer *t, unsigned core, float *rows, size_t stride,
               enum ingot_role role)
{
    const struct ingot_tensor *w = t->tensors[role];
    size_t first, last;

    layer_share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last && w->cols_padded != w->cols; i++) {
        memset(rows + i * stride + w->cols, 0, (w->cols_padded - w->cols) * sizeof *rows);
    }
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

/* Tokens [first, last) in the forms that the matrices in these roles take, and their adapters. */
static void prepare(const struct transformer *t, uint64_t roles, const struct linear_input *in,
                    size_t first, size_t last)
{
    linear_prepare(t->kernels, &t->act, types_of(t, roles), in, first, last);
    layer_shrink(t, roles, in, first, last);
}

/* The tokens of an input that this core prepares: its share, or the only one. */
static void own_tokens(const struct transformer *t, unsigned core, size_t *first, size_t *last)
{
    if (layer_alone(t)) {
        *first = 0;
        *last = 1;
    } else {
        layer_share_tokens(t, core, first, last);
    }
}

void layer_quantize(const struct transformer *t, unsigned core, uint64_t roles,
                    const struct linear_input *in)
{
    size_t first, last;

    own_tokens(t, core, &first, &last);
    prepare(t, roles, in, first, last);
}

void layer_step(const struct transformer *t, unsigned core)
{
    if (core == 0) {
        stream_poll(t->stream);
    }
    workers_barrier(t->workers, core);
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

static bool wait_phase(const struct transformer *t, unsigned core, unsigned phase)
{
    if (core == 0) {
        uint64_t begin = workers_wait_begin(t->workers);

        stream_need(t->stream, phase, image_phase_end(t->image, t->layer, phase));
        workers_wait_end(t->workers, core, begin);
    }
    layer_step(t, core);
    return !t->stream->now.missing[phase];
}

bool layer_wait(const struct transformer *t, unsigned core, enum ingot_role role)
{
    return wait_phase(t, core, phase_of(t, t->tensors[role]));
}

static bool needs_pad(const struct transformer *t, enum ingot_role role)
{
    return t->tensors[role]->cols != t->tensors[role]->cols_padded;
}

/* Alone each core quantizes what it can read after the barrier only. */
bool layer_take(const struct transformer *t, unsigned core, enum ingot_role role, float *rows,
                size_t stride, struct linear_input *in)
{
    bool there;

    *in = (struct linear_input){ rows, stride, t->n_tokens, own_row(t, core) };
    layer_pad(t, core, rows, stride, role);
    if (!layer_alone(t)) {
        layer_quantize(t, core, LAYER_ROLE(role), in);
    }
    there = layer_wait(t, core, role);
    if (layer_alone(t)) {
        layer_quantize(t, core, LAYER_ROLE(role), in);
    }
    return there;
}

bool layer_ready(const struct transformer *t, unsigned core, enum ingot_role role,
                 const float *norm, size_t n, float *rows, struct linear_input *in)
{
    size_t stride = layer_stride(t, role), first, last;

    if (!layer_alone(t) || norm != NULL || needs_pad(t, role)) {
        layer_step(t, core);
    }
    layer_share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last && norm != NULL; i++) {
        float *row = rows + i * stride;

        t->kernels->rmsnorm_f32(row, row, norm, n, params(t)->norm_eps, 0.0f);
    }
    return layer_take(t, core, role, rows, stride, in);
}

bool layer_wait_rest(const struct transformer *t, unsigned core)
{
    return wait_phase(t, core, INGOT_PHASES - 1);
}

/* ---- one layer ----------------------------------------------------------------------------- */

/* The normed x of a token; x itself where the layer norms no inputs. */
static void norm_token(const struct transformer *t, const struct block_norms *norms, float *y,
                       const float *x)
{
    const float *weights = layer_vector(t, norms->before);
    const float *bias = layer_vector(t, norms->before_bias);
    uint32_t dim = params(t)->dim;

    if (weights == NULL) {
        memcpy(y, x, dim * sizeof *y);
    } else if (bias != NULL) {
        t->kernels->layernorm_f32(y, x, weights, bias, dim, params(t)->norm_eps);
    } else {
        t->kernels->rmsnorm_f32(y, x, weights, dim, params(t)->norm_eps, 0.0f);
    }
}

/* Norm and quantize this core's tokens for the matrices that read them. */
static void norm_tokens(const struct transformer *t, unsigned core, const struct block_norms *norms,
                        uint64_t reads)
{
    const struct activations *a = &t->act;
    struct linear_input normed = layer_normed(t, core);
    float *to = a->norm + normed.first * a->dim_stride;
    size_t first, last;

    own_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        norm_token(t, norms, to + i * a->dim_stride, a->x + i * a->dim_stride);
    }
    prepare(t, reads, &normed, first, last);
}

/* Add n numbers of a block's result to the residual stream. */
static void add_result(const struct transformer *t, float *x, const float *result, size_t n)
{
    float scale = t->data->residual_scale;

    if (scale < 1.0f || scale > 1.0f) {
        t->kernels->add_scaled_f32(x, result, n, scale);
    } else {
        t->kernels->add_f32(x, result, n);
    }
}

/* This core's rows of act.out, just computed: no barrier lies between. */
static void add_residual(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    size_t first, last;

    workers_share(t->workers, core, params(t)->dim, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        add_result(t, a->x + i * a->dim_stride + first, a->out + i * a->dim_stride + first,
                   last - first);
    }
}

/* Norm the block's result as a whole, in act.out, then add it. */
static void add_normed(const struct transformer *t, unsigned core, const float *weights)
{
    const struct activations *a = &t->act;
    size_t first, last;

    layer_step(t, core);
    layer_share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        float *y = a->out + i * a->dim_stride;

        t->kernels->rmsnorm_f32(y, y, weights, params(t)->dim, params(t)->norm_eps, 0.0f);
        add_result(t, a->x + i * a->dim_stride, y, params(t)->dim);
    }
}

static bool run_block(const struct transformer *t, unsigned core, const struct layer_block *block,
                      const struct block_norms *norms)
{
    const float *after = layer_vector(t, norms->after);

    norm_tokens(t, core, norms, block->reads);
    layer_step_shared(t, core);
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

/* The second mixer of the same normed input, which is quantized again: the first one has quantized
 * its own. Its weights come after those of the first, whose last phase they begin. */
static bool run_beside(const struct transformer *t, unsigned core)
{
    struct linear_input normed = layer_normed(t, core);

    if (t->beside == NULL) {
        return true;
    }
    layer_step(t, core);
    layer_quantize(t, core, t->beside->reads, &normed);
    layer_step_shared(t, core);
    if (!t->beside->run(t, core)) {
        return false;
    }
    add_residual(t, core);
    return true;
}

static bool run_mixers(const struct transformer *t, unsigned core)
{
    if (t->mixer == NULL) {
        return true;
    }
    return run_block(t, core, t->mixer, &mixer_norms) && run_beside(t, core);
}

/* Learned positions are added before layer 0, in whose segment they lie. */
static void add_positions(const struct transformer *t, unsigned core)
{
    const struct ingot_tensor *w = t->tensors[INGOT_POSITION_EMBEDDING];
    const struct activations *a = &t->act;
    size_t row_bytes = image_type_row_bytes(w->type, w->cols_padded);
    size_t first, last;

    layer_share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        float *row = a->norm + i * a->dim_stride;

        linear_row(t->kernels, w, row, t->segment + w->offset + layer_position(t, i) * row_bytes,
                   0);
        t->kernels->add_f32(a->x + i * a->dim_stride, row, params(t)->dim);
    }
}

/* The residual stream of this core's tokens, after the whole layer. */
static void scale_output(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    float scale = t->data->output_scale;
    size_t first, last;

    if (!(scale < 1.0f || scale > 1.0f)) {
        return;
    }
    layer_step(t, core);
    layer_share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        float *x = a->x + i * a->dim_stride;

        t->kernels->scale_f32(x, x, params(t)->dim, scale);
    }
}

/* Without a norm in front the feed-forward begins in the mixer's last phase. */
static bool begin_ffn(const struct transformer *t, unsigned core)
{
    if (t->tensors[INGOT_FFN_NORM] == NULL) {
        layer_step(t, core);
        return true;
    }
    return layer_wait(t, core, INGOT_FFN_NORM);
}

void layer_run(const struct transformer *t, unsigned core)
{
    if (t->tensors[INGOT_POSITION_EMBEDDING] != NULL) {
        add_positions(t, core); /* each core its tokens, which it norms next, but for one alone */
        if (layer_alone(t)) {
            layer_step(t, core);
        }
    }
    if (t->tensors[INGOT_PER_LAYER_PROJECTION] != NULL) {
        layer_embedding_begin(t, core);
    }
    if (!run_mixers(t, core)) {
        return;
    }
    if (t->ffn != NULL && begin_ffn(t, core)) {
        (void)run_block(t, core, t->ffn, &ffn_norms);
    }
    if (t->tensors[INGOT_PER_LAYER_GATE] != NULL && !layer_embedding_add(t, core)) {
        return;
    }
    scale_output(t, core);
}
