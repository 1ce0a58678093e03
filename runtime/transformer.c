#include "runtime/transformer.h"

#include <string.h>

#include "runtime/attention.h"
#include "runtime/rope_table.h"

enum {
    ROW_STEP = 8,   /* rows are shared out in whole interleaved groups */
    POLL_ROWS = 64, /* rows between two looks at the card, well under a millisecond */
};

void transformer_open(struct transformer *t, const struct image *image,
                      const struct kernels *kernels, struct team *team, struct stream *stream,
                      struct kv_cache *kv, uint32_t chunk, struct arena *arena)
{
    memset(t, 0, sizeof *t);
    t->image = image;
    t->kernels = kernels;
    t->team = team;
    t->stream = stream;
    t->kv = kv;
    activations_take(&t->act, &image->header->params, chunk, arena);
}

static const struct ingot_params *params(const struct transformer *t)
{
    return &t->image->header->params;
}

/* ---- pieces that every core runs on its share ---------------------------------------------- */

/* y = W x for the tokens of a chunk. */
struct product {
    const struct ingot_tensor *w;
    const uint8_t *rows;           /* row 0 of W, or of the tile */
    const float *x;                /* what F32 matrices take */
    size_t x_stride;
    const struct block_q8 *blocks; /* what the others take */
    float *y;
    size_t y_stride;
    uint32_t n_tokens;
};

static void multiply_rows(const struct transformer *t, const struct product *p, size_t first,
                          size_t n)
{
    const struct kernels *k = t->kernels;
    const struct ingot_tensor *w = p->w;
    const void *rows = p->rows + first * image_type_row_bytes(w->type, w->cols_padded);

    for (uint32_t i = 0; i < p->n_tokens; i++) {
        const struct block_q8 *b = p->blocks + i * t->act.block_stride;
        float *y = p->y + i * p->y_stride + first;

        if (w->type == INGOT_F32) {
            k->gemv_f32_f32_f32(y, rows, p->x + i * p->x_stride, n, w->cols_padded);
        } else if (w->type == INGOT_Q8_0) {
            k->gemv_f32_q8x8_q8(y, rows, b, n, w->cols_padded);
        } else {
            k->gemv_f32_q4x8_q8(y, rows, b, n, w->cols_padded);
        }
    }
}

/* This core's rows. Row tiles outside, tokens inside: a tile is read from memory once. Core 0
 * keeps the card busy: a large matrix takes longer than what is in flight. */
static void multiply(const struct transformer *t, unsigned core, const struct product *p,
                     size_t n_rows)
{
    size_t first, last;

    team_share(t->team, core, n_rows, ROW_STEP, &first, &last);
    for (size_t r = first; r < last; r += ROW_STEP) {
        multiply_rows(t, p, r, last - r < ROW_STEP ? last - r : ROW_STEP);
        if (core == 0 && (r - first) % POLL_ROWS == POLL_ROWS - ROW_STEP) {
            stream_poll(t->stream);
        }
    }
}

struct operand { /* the input of a matrix as floats; its blocks are in act.blocks */
    const float *x;
    size_t stride;
};

/* This core's rows of a layer's matrix. */
static void layer_gemv(const struct transformer *t, unsigned core, enum ingot_role role,
                       struct operand in, float *y, size_t y_stride)
{
    const struct ingot_tensor *w = image_tensor(t->image, role, t->layer);
    struct product p = { w, t->extent + w->offset, in.x, in.stride, t->act.blocks, y, y_stride,
                         t->n_tokens };

    multiply(t, core, &p, w->rows);
}

/* Integer kernels want their input as blocks; F32 matrices take it as it is. The matrices of a
 * layer may differ in type: `from` .. `to` are those that read this input. */
static void quantize(const struct transformer *t, enum ingot_role from, enum ingot_role to,
                     const float *x, size_t stride, uint32_t token)
{
    bool wanted = false;

    for (int role = (int)from; role <= (int)to; role++) {
        wanted |= image_tensor(t->image, (enum ingot_role)role, t->layer)->type != INGOT_F32;
    }
    if (wanted) {
        t->kernels->quantize_q8_f32(t->act.blocks + token * t->act.block_stride,
                                    x + token * stride, stride);
    }
}

static const float *norm_weights(const struct transformer *t, enum ingot_role role)
{
    return (const float *)(const void *)(t->extent +
                                         image_tensor(t->image, role, t->layer)->offset);
}

static void share_tokens(const struct transformer *t, unsigned core, size_t *first, size_t *last)
{
    team_share(t->team, core, t->n_tokens, 1, first, last);
}

/* Norm and quantize this core's tokens for the matrices `from` .. `to`. */
static void norm_tokens(const struct transformer *t, unsigned core, enum ingot_role norm,
                        enum ingot_role from, enum ingot_role to)
{
    const struct activations *a = &t->act;
    size_t first, last;

    share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        t->kernels->rmsnorm_f32(a->norm + i * a->dim_stride, a->x + i * a->dim_stride,
                                norm_weights(t, norm), params(t)->dim, params(t)->norm_eps);
        quantize(t, from, to, a->norm, a->dim_stride, (uint32_t)i);
    }
}

static void quantize_tokens(const struct transformer *t, unsigned core, enum ingot_role role,
                            const float *x, size_t stride)
{
    size_t first, last;

    share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        quantize(t, role, role, x, stride, (uint32_t)i);
    }
}

static void rotate(const struct transformer *t, float *head, uint32_t token)
{
    const float *cos_sin = t->act.cos_sin + (size_t)token * params(t)->head_dim;

    if (params(t)->rope == INGOT_ROPE_PAIRS) {
        t->kernels->rope_f32_pairs(head, cos_sin, params(t)->head_dim);
    } else {
        t->kernels->rope_f32_halves(head, cos_sin, params(t)->head_dim);
    }
}

/* Rotate and append one kv head of the whole chunk. */
static void append_kv(const struct transformer *t, uint32_t head)
{
    const struct activations *a = &t->act;
    uint32_t d = params(t)->head_dim;
    uint16_t *keys = kv_cache_keys(t->kv, t->layer, head) + (size_t)t->position * d;
    uint16_t *values = kv_cache_values(t->kv, t->layer, head) + (size_t)t->position * d;

    for (uint32_t i = 0; i < t->n_tokens; i++) {
        float *k = a->k + i * a->kv_stride + (size_t)head * d;

        rotate(t, k, i);
        t->kernels->convert_f16_f32(keys + (size_t)i * d, k, d);
        t->kernels->convert_f16_f32(values + (size_t)i * d,
                                    a->v + i * a->kv_stride + (size_t)head * d, d);
    }
}

static void attend_head(const struct transformer *t, unsigned core, uint32_t head)
{
    const struct activations *a = &t->act;
    uint32_t d = params(t)->head_dim;
    uint32_t kv_head = head / (params(t)->n_heads / params(t)->n_kv_heads);

    for (uint32_t i = 0; i < t->n_tokens; i++) {
        float *q = a->q + i * a->q_stride + (size_t)head * d;

        rotate(t, q, i);
        attention_head(t->kernels, a->attended + i * a->q_stride + (size_t)head * d, q,
                       kv_cache_keys(t->kv, t->layer, kv_head),
                       kv_cache_values(t->kv, t->layer, kv_head), t->position + i + 1, d,
                       a->scores + (size_t)core * ATTENTION_TILE);
    }
}

/* Add this core's rows of `from` to the residual stream: the rows it has just computed, so no
 * barrier lies between. */
static void add_residual(const struct transformer *t, unsigned core, const float *from,
                         size_t stride)
{
    size_t first, last;

    team_share(t->team, core, params(t)->dim, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        t->kernels->add_f32(t->act.x + i * t->act.dim_stride + first, from + i * stride + first,
                            last - first);
    }
}

/* Core 0 keeps the card busy between two steps. */
static void step(const struct transformer *t, unsigned core)
{
    if (core == 0) {
        stream_poll(t->stream);
    }
    team_barrier(t->team);
}

/* ---- one layer ----------------------------------------------------------------------------- */

static void attention_block(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    struct operand normed = { a->norm, a->dim_stride };
    struct operand attended = { a->attended, a->q_stride };
    size_t first, last;

    norm_tokens(t, core, INGOT_ATTN_NORM, INGOT_ATTN_Q, INGOT_ATTN_V);
    step(t, core);
    layer_gemv(t, core, INGOT_ATTN_Q, normed, a->q, a->q_stride);
    layer_gemv(t, core, INGOT_ATTN_K, normed, a->k, a->kv_stride);
    layer_gemv(t, core, INGOT_ATTN_V, normed, a->v, a->kv_stride);
    step(t, core);
    team_share(t->team, core, params(t)->n_kv_heads, 1, &first, &last);
    for (size_t h = first; h < last; h++) {
        append_kv(t, (uint32_t)h);
    }
    step(t, core);
    team_share(t->team, core, params(t)->n_heads, 1, &first, &last);
    for (size_t h = first; h < last; h++) {
        attend_head(t, core, (uint32_t)h);
    }
    step(t, core);
    quantize_tokens(t, core, INGOT_ATTN_OUT, a->attended, a->q_stride);
    step(t, core);
    layer_gemv(t, core, INGOT_ATTN_OUT, attended, a->norm, a->dim_stride);
    add_residual(t, core, a->norm, a->dim_stride);
    step(t, core);
}

static void gate_rows(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    size_t first, last;

    team_share(t->team, core, params(t)->hidden, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        float *gate = a->gate + i * a->hidden_stride + first;

        t->kernels->silu_mul_f32(gate, gate, a->up + i * a->hidden_stride + first, last - first);
    }
}

static void feed_forward_block(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    struct operand normed = { a->norm, a->dim_stride };
    struct operand gated = { a->gate, a->hidden_stride };

    norm_tokens(t, core, INGOT_FFN_NORM, INGOT_FFN_GATE, INGOT_FFN_UP);
    step(t, core);
    layer_gemv(t, core, INGOT_FFN_GATE, normed, a->gate, a->hidden_stride);
    layer_gemv(t, core, INGOT_FFN_UP, normed, a->up, a->hidden_stride);
    gate_rows(t, core);
    step(t, core);
    quantize_tokens(t, core, INGOT_FFN_DOWN, a->gate, a->hidden_stride);
    step(t, core);
    layer_gemv(t, core, INGOT_FFN_DOWN, gated, a->norm, a->dim_stride);
    add_residual(t, core, a->norm, a->dim_stride);
}

static void layer_work(void *arg, struct team *team, unsigned core)
{
    const struct transformer *t = arg;

    (void)team;
    attention_block(t, core);
    feed_forward_block(t, core);
}

/* ---- the whole pass ------------------------------------------------------------------------ */

static enum err embed(struct transformer *t, const uint32_t *tokens, uint32_t n)
{
    const struct ingot_tensor *w = image_tensor(t->image, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER);

    for (uint32_t i = 0; i < n; i++) {
        float *x = t->act.norm; /* cols_padded may be wider than dim: copy just dim */
        const uint8_t *group;
        uint32_t row;
        enum err e = stream_embedding(t->stream, tokens[i], &group, &row);

        if (e != ERR_OK) {
            return e;
        }
        if (w->type == INGOT_Q8_0) {
            t->kernels->dequantize_f32_q8x8(x, group, row, w->cols_padded);
        } else if (w->type == INGOT_Q4_0) {
            t->kernels->dequantize_f32_q4x8(x, group, row, w->cols_padded);
        } else {
            memcpy(x, group, w->cols * sizeof(float));
        }
        memcpy(t->act.x + i * t->act.dim_stride, x, w->cols * sizeof(float));
    }
    memset(t->act.norm, 0, t->act.dim_stride * sizeof(float));
    return ERR_OK;
}

enum err transformer_pass(struct transformer *t, const uint32_t *tokens, uint32_t n,
                          bool want_head, bool (*should_stop)(void *), void *context)
{
    const struct ingot_params *p = params(t);
    enum err e;

    t->n_tokens = n;
    t->position = t->kv->length;
    stream_begin(t->stream, want_head);
    e = embed(t, tokens, n);
    for (uint32_t i = 0; i < n; i++) {
        rope_table_row(t->act.cos_sin + (size_t)i * p->head_dim, t->position + i, p->head_dim,
                       p->rope_base);
    }
    for (uint32_t layer = 0; layer < p->n_layers && e == ERR_OK; layer++) {
        if (should_stop != NULL && should_stop(context)) {
            stream_reset(t->stream);
            return ERR_ABORTED;
        }
        e = stream_layer(t->stream, layer, &t->extent);
        if (e != ERR_OK) {
            return e;
        }
        t->layer = layer;
        team_run(t->team, layer_work, t);
        stream_layer_done(t->stream, layer);
    }
    if (e == ERR_OK) {
        t->kv->length += n;
    }
    return e;
}

static void head_work(void *arg, struct team *team, unsigned core)
{
    const struct transformer *t = arg;
    const struct activations *a = &t->act;
    struct product p = { image_tensor(t->image, INGOT_OUTPUT, INGOT_NO_LAYER), t->rows, a->norm,
                         a->dim_stride, a->blocks, a->logits + t->first_row, 0, 1 };

    (void)team;
    multiply(t, core, &p, t->n_rows);
}

static const float *output_norm(const struct transformer *t)
{
    const struct ingot_tensor *w = image_tensor(t->image, INGOT_OUTPUT_NORM, INGOT_NO_LAYER);
    const uint8_t *extent = t->stream->extents[w->extent];

    return (const float *)(const void *)(extent != NULL ? extent + w->offset
                                                        : t->stream->output_norm);
}

static enum err tiled_head(struct transformer *t)
{
    for (uint32_t i = 0; i < t->stream->plan->n_tiles; i++) {
        struct plan_tile tile;
        enum err e = stream_tile(t->stream, i, &tile, &t->rows);

        if (e != ERR_OK) {
            return e;
        }
        t->first_row = tile.first_row;
        t->n_rows = tile.n_rows;
        team_run(t->team, head_work, t);
        stream_tile_done(t->stream, i);
    }
    return ERR_OK;
}

enum err transformer_logits(struct transformer *t, uint32_t i, float **logits)
{
    const struct ingot_tensor *w = image_tensor(t->image, INGOT_OUTPUT, INGOT_NO_LAYER);
    const struct activations *a = &t->act;

    t->kernels->rmsnorm_f32(a->norm, a->x + i * a->dim_stride, output_norm(t), params(t)->dim,
                            params(t)->norm_eps);
    if (w->type != INGOT_F32) {
        t->kernels->quantize_q8_f32(a->blocks, a->norm, a->dim_stride);
    }
    *logits = a->logits;
    if (t->stream->plan->tiled_head) {
        return tiled_head(t);
    }
    t->rows = t->stream->extents[w->extent] + w->offset;
    t->first_row = 0;
    t->n_rows = w->rows;
    team_run(t->team, head_work, t);
    return ERR_OK;
}
