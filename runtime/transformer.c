#include "runtime/transformer.h"

#include <math.h>
#include <string.h>

#include "runtime/attention.h"
#include "runtime/linear.h"
#include "runtime/rope_table.h"

enum {
    ROW_STEP = 8,   /* rows are shared out in whole interleaved groups */
    POLL_ROWS = 64, /* rows between two looks at the card, a few milliseconds at the most */
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
    activations_take(&t->act, &(struct activations_request){ &image->header->params, chunk,
                     image_types(image) }, arena);
}

static const struct ingot_params *params(const struct transformer *t)
{
    return &t->image->header->params;
}

/* ---- pieces that every core runs on its share ---------------------------------------------- */

/* This core's rows of w: y = W x for the tokens of the input. Core 0 keeps the card busy: a large
 * matrix takes longer than what is in flight. */
static void multiply(const struct transformer *t, unsigned core, const struct ingot_tensor *w,
                     const uint8_t *rows, size_t n_rows, const struct linear_input *in, float *y,
                     size_t y_stride)
{
    size_t first, last;

    team_share(t->team, core, n_rows, ROW_STEP, &first, &last);
    for (size_t r = first; r < last; r += POLL_ROWS) {
        linear_rows(t->kernels, &t->act, w, rows, in, y, y_stride, r,
                    last - r < POLL_ROWS ? last - r : POLL_ROWS);
        if (core == 0) {
            stream_poll(t->stream);
        }
    }
}

/* This core's rows of a layer's matrix. */
static void layer_multiply(const struct transformer *t, unsigned core, enum ingot_role role,
                           const struct linear_input *in, float *y, size_t y_stride)
{
    const struct ingot_tensor *w = image_tensor(t->image, role, t->layer);

    multiply(t, core, w, t->extent + w->offset, w->rows, in, y, y_stride);
}

/* The types of a layer's matrices `from` .. `to`, which read the same input. */
static uint32_t types_of(const struct transformer *t, enum ingot_role from, enum ingot_role to)
{
    uint32_t types = 0;

    for (int role = (int)from; role <= (int)to; role++) {
        types |= 1u << image_tensor(t->image, (enum ingot_role)role, t->layer)->type;
    }
    return types;
}

static const float *norm_weights(const struct transformer *t, enum ingot_role role)
{
    return (const float *)(const void *)(t->extent +
                                         image_tensor(t->image, role, t->layer)->offset);
}

static void share_tokens(const struct transformer *t, unsigned core, size_t *first, size_t *last)
{
    team_share(t->team, core, t->n_tokens, LINEAR_GROUP, first, last);
}

/* Norm and quantize this core's tokens for the matrices `from` .. `to`. */
static void norm_tokens(const struct transformer *t, unsigned core, enum ingot_role norm,
                        enum ingot_role from, enum ingot_role to)
{
    const struct activations *a = &t->act;
    struct linear_input normed = { a->norm, a->dim_stride, t->n_tokens };
    size_t first, last;

    share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        t->kernels->rmsnorm_f32(a->norm + i * a->dim_stride, a->x + i * a->dim_stride,
                                norm_weights(t, norm), params(t)->dim, params(t)->norm_eps, 0.0f);
    }
    linear_prepare(t->kernels, a, types_of(t, from, to), &normed, first, last);
}

static void quantize_tokens(const struct transformer *t, unsigned core, enum ingot_role role,
                            const struct linear_input *in)
{
    size_t first, last;

    share_tokens(t, core, &first, &last);
    linear_prepare(t->kernels, &t->act, types_of(t, role, role), in, first, last);
}

static void rotate(const struct transformer *t, float *head, const float *cos_sin)
{
    if (params(t)->rope == INGOT_ROPE_PAIRS) {
        t->kernels->rope_f32_pairs(head, cos_sin, params(t)->head_dim);
    } else {
        t->kernels->rope_f32_halves(head, cos_sin, params(t)->head_dim);
    }
}

/* Rotate and append this core's share of the chunk's keys and values. */
static void append_kv(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    size_t d = params(t)->head_dim;
    size_t first, last;

    team_share(t->team, core, (size_t)params(t)->n_kv_heads * t->n_tokens, 1, &first, &last);
    for (size_t item = first; item < last; item++) {
        uint32_t head = (uint32_t)(item / t->n_tokens);
        uint32_t i = (uint32_t)(item % t->n_tokens);
        float *k = a->k + i * a->kv_stride + head * d;

        rotate(t, k, a->cos_sin + i * d);
        kv_cache_put(t->kv, t->kernels, t->layer, head, t->position + i, k,
                     a->v + i * a->kv_stride + head * d);
    }
}

/* The chunk's query rows as blocks: of one kv head, `heads` query heads, `tokens` tokens. */
struct attention_split {
    uint32_t group;       /* query heads of a kv head */
    uint32_t heads;       /* of a block */
    uint32_t tokens;
    uint32_t head_pieces; /* blocks per group */
    uint32_t token_pieces;
};

static uint32_t pieces(uint32_t n, uint32_t step)
{
    return (n + step - 1) / step;
}

/* Smaller blocks where there would not be one for every core; which rows share a block changes
 * no bit. */
static struct attention_split split_attention(const struct transformer *t)
{
    struct attention_split s = { .group = params(t)->n_heads / params(t)->n_kv_heads };

    s.heads = s.group < ATTENTION_ROWS ? s.group : ATTENTION_ROWS;
    s.tokens = ATTENTION_ROWS / s.heads;
    s.tokens = s.tokens < t->n_tokens ? s.tokens : t->n_tokens;
    s.token_pieces = pieces(t->n_tokens, s.tokens);
    while (s.heads > 1 && params(t)->n_kv_heads * pieces(s.group, s.heads) * s.token_pieces <
                              t->team->n_cores) {
        s.heads = (s.heads + 1) / 2;
    }
    s.head_pieces = pieces(s.group, s.heads);
    return s;
}

/* Query heads head .. head + heads of tokens token .. token + tokens. */
static void attend_block(const struct transformer *t, unsigned core, uint32_t head, uint32_t heads,
                         uint32_t token, uint32_t tokens)
{
    const struct activations *a = &t->act;
    const struct attention_work *work = &a->attention[core];
    size_t d = params(t)->head_dim;
    struct attention_block b = { t->kv, t->layer,
                                 head / (params(t)->n_heads / params(t)->n_kv_heads),
                                 t->position + token, tokens, heads };
    uint32_t row = 0;

    for (uint32_t i = token; i < token + tokens; i++) {
        for (uint32_t h = head; h < head + heads; h++, row++) {
            float *q = work->q + row * d;

            memcpy(q, a->q + i * a->q_stride + h * d, d * sizeof *q);
            rotate(t, q, a->cos_sin_query + i * d);
        }
    }
    attention_run(t->kernels, &b, work);
    row = 0;
    for (uint32_t i = token; i < token + tokens; i++) {
        for (uint32_t h = head; h < head + heads; h++, row++) {
            t->kernels->scale_f32(a->attended + i * a->q_stride + h * d, work->out + row * d, d,
                                  1.0f / work->scores[row].sum);
        }
    }
}

/* This core's share of the blocks. */
static void attend(const struct transformer *t, unsigned core)
{
    struct attention_split s = split_attention(t);
    size_t first, last;

    team_share(t->team, core, (size_t)params(t)->n_kv_heads * s.head_pieces * s.token_pieces, 1,
               &first, &last);
    for (size_t item = first; item < last; item++) {
        uint32_t token = (uint32_t)(item % s.token_pieces) * s.tokens;
        uint32_t piece = (uint32_t)(item / s.token_pieces);
        uint32_t within = piece % s.head_pieces * s.heads;
        uint32_t heads = s.group - within < s.heads ? s.group - within : s.heads;

        attend_block(t, core, piece / s.head_pieces * s.group + within, heads, token,
                     t->n_tokens - token < s.tokens ? t->n_tokens - token : s.tokens);
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

static void attention_layer(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    struct linear_input normed = { a->norm, a->dim_stride, t->n_tokens };
    struct linear_input attended = { a->attended, a->q_stride, t->n_tokens };

    norm_tokens(t, core, INGOT_ATTN_NORM, INGOT_ATTN_Q, INGOT_ATTN_V);
    step(t, core);
    layer_multiply(t, core, INGOT_ATTN_Q, &normed, a->q, a->q_stride);
    layer_multiply(t, core, INGOT_ATTN_K, &normed, a->k, a->kv_stride);
    layer_multiply(t, core, INGOT_ATTN_V, &normed, a->v, a->kv_stride);
    step(t, core);
    append_kv(t, core);
    step(t, core);
    attend(t, core);
    step(t, core);
    quantize_tokens(t, core, INGOT_ATTN_OUT, &attended);
    step(t, core);
    layer_multiply(t, core, INGOT_ATTN_OUT, &attended, a->norm, a->dim_stride);
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

static void feed_forward_layer(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    struct linear_input normed = { a->norm, a->dim_stride, t->n_tokens };
    struct linear_input gated = { a->gate, a->hidden_stride, t->n_tokens };

    norm_tokens(t, core, INGOT_FFN_NORM, INGOT_FFN_GATE, INGOT_FFN_UP);
    step(t, core);
    layer_multiply(t, core, INGOT_FFN_GATE, &normed, a->gate, a->hidden_stride);
    layer_multiply(t, core, INGOT_FFN_UP, &normed, a->up, a->hidden_stride);
    gate_rows(t, core);
    step(t, core);
    quantize_tokens(t, core, INGOT_FFN_DOWN, &gated);
    step(t, core);
    layer_multiply(t, core, INGOT_FFN_DOWN, &gated, a->norm, a->dim_stride);
    add_residual(t, core, a->norm, a->dim_stride);
}

static void layer_work(void *arg, struct team *team, unsigned core)
{
    const struct transformer *t = arg;

    (void)team;
    attention_layer(t, core);
    feed_forward_layer(t, core);
}

/* ---- the whole pass ------------------------------------------------------------------------ */

/* Row `row` of the group of rows at `group`, as floats. */
static void dequantize_row(const struct kernels *k, const struct ingot_tensor *w, float *x,
                           const void *group, uint32_t row)
{
    switch ((enum ingot_type)w->type) {
    case INGOT_F32: memcpy(x, group, w->cols * sizeof(float)); return;
    case INGOT_F16: k->convert_f32_f16(x, group, w->cols); return;
    case INGOT_Q8_0: k->dequantize_f32_q8x8(x, group, row, w->cols_padded); return;
    case INGOT_Q4_0: k->dequantize_f32_q4x8(x, group, row, w->cols_padded); return;
    case INGOT_Q4_K: k->dequantize_f32_q4kx8(x, group, row, w->cols_padded); return;
    case INGOT_Q6_K: k->dequantize_f32_q6kx8(x, group, row, w->cols_padded); return;
    case INGOT_N_TYPES: return;
    }
}

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
        dequantize_row(t->kernels, w, x, group, row);
        memcpy(t->act.x + i * t->act.dim_stride, x, w->cols * sizeof(float));
    }
    memset(t->act.norm, 0, t->act.dim_stride * sizeof(float));
    return ERR_OK;
}

/* The scale of the scores goes into the rotation of the queries. */
static void make_rope_tables(const struct transformer *t)
{
    size_t d = params(t)->head_dim;
    float scale = 1.0f / sqrtf((float)d);

    for (uint32_t i = 0; i < t->n_tokens; i++) {
        rope_table_row(t->act.cos_sin + i * d, t->position + i, (uint32_t)d,
                       params(t)->rope_base);
    }
    t->kernels->scale_f32(t->act.cos_sin_query, t->act.cos_sin, t->n_tokens * d, scale);
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
    make_rope_tables(t);
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
    struct linear_input in = { t->act.norm, t->act.dim_stride, 1 };

    (void)team;
    multiply(t, core, image_tensor(t->image, INGOT_OUTPUT, INGOT_NO_LAYER), t->rows, t->n_rows,
             &in, t->act.logits + t->first_row, 0);
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
    struct linear_input in = { a->norm, a->dim_stride, 1 };

    t->kernels->rmsnorm_f32(a->norm, a->x + i * a->dim_stride, output_norm(t), params(t)->dim,
                            params(t)->norm_eps, 0.0f);
    linear_prepare(t->kernels, a, 1u << w->type, &in, 0, 1);
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
