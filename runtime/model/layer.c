#include "runtime/model/layer.h"

#include <math.h>
#include <string.h>

#include "runtime/compute/attention.h"
#include "runtime/compute/kv_cache.h"

/* What a gemm of RVV takes at once, and short enough between two looks at the card: a large matrix
 * takes longer than what is in flight. */
enum { POLL_ROWS = 128 };

void layer_multiply(const struct transformer *t, unsigned core, const struct ingot_tensor *w,
                    const uint8_t *rows, size_t n_rows, const struct linear_input *in, float *y,
                    size_t y_stride)
{
    size_t first, last;

    workers_share(t->workers, core, n_rows, ROW_STEP, &first, &last);
    for (size_t r = first; r < last; r += POLL_ROWS) {
        linear_rows(t->kernels, &t->act, w, rows, in, y, y_stride, r,
                    last - r < POLL_ROWS ? last - r : POLL_ROWS);
        if (core == 0) {
            stream_poll(t->stream);
        }
    }
}

/* This core's rows of a layer's matrix. */
static void multiply_role(const struct transformer *t, unsigned core, enum ingot_role role,
                          const struct linear_input *in, float *y, size_t y_stride)
{
    const struct ingot_tensor *w = image_tensor(t->image, role, t->layer);

    layer_multiply(t, core, w, t->segment + w->offset, w->rows, in, y, y_stride);
}

/* A norm's or bias' floats. */
static const float *vector_of(const struct transformer *t, enum ingot_role role)
{
    return (const float *)(const void *)(t->segment +
                                         image_tensor(t->image, role, t->layer)->offset);
}

static bool has(const struct transformer *t, enum ingot_feature feature)
{
    return (params(t)->features & (uint32_t)feature) != 0;
}

static void share_tokens(const struct transformer *t, unsigned core, size_t *first, size_t *last)
{
    workers_share(t->workers, core, t->n_tokens, LINEAR_GROUP, first, last);
}

/* The types of a layer's matrices `from` .. `to`, which read the same input. */
static uint32_t types_of(const struct transformer *t, enum ingot_role from, enum ingot_role to)
{
    uint32_t types = 0;

    for (int role = (int)from; role <= (int)to; role++) {
        const struct ingot_tensor *w = image_tensor(t->image, (enum ingot_role)role, t->layer);

        if (w != NULL && image_role_is_matrix((enum ingot_role)role)) {
            types |= 1u << w->type;
        }
    }
    return types;
}

/* Norm and quantize this core's tokens for the matrices `from` .. `to`; the role behind `norm`
 * is its bias. */
static void norm_tokens(const struct transformer *t, unsigned core, enum ingot_role norm,
                        enum ingot_role from, enum ingot_role to)
{
    const struct activations *a = &t->act;
    struct linear_input normed = { a->norm, a->dim_stride, t->n_tokens };
    size_t first, last;

    share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        float *y = a->norm + i * a->dim_stride;
        const float *x = a->x + i * a->dim_stride;

        if (has(t, INGOT_LAYER_NORM)) {
            t->kernels->layernorm_f32(y, x, vector_of(t, norm),
                                      vector_of(t, (enum ingot_role)(norm + 1)), params(t)->dim,
                                      params(t)->norm_eps);
        } else {
            t->kernels->rmsnorm_f32(y, x, vector_of(t, norm), params(t)->dim, params(t)->norm_eps,
                                    0.0f);
        }
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

/* Of an attention layer. */
static const struct kv_cache *cache(const struct transformer *t)
{
    return t->states[t->layer].self;
}

static bool is_local(const struct transformer *t)
{
    return image_layer_window(params(t), t->layer) != 0;
}

static void rotate(const struct transformer *t, float *head, const float *cos_sin)
{
    switch ((enum ingot_rope)params(t)->rope) {
    case INGOT_ROPE_PAIRS: t->kernels->rope_f32_pairs(head, cos_sin, params(t)->rope_dims); return;
    case INGOT_ROPE_HALVES:
        t->kernels->rope_f32_halves(head, cos_sin, params(t)->rope_dims);
        return;
    case INGOT_ROPE_NONE: return;
    }
}

static void norm_head(const struct transformer *t, float *head, enum ingot_role norm)
{
    if (has(t, INGOT_QK_NORM)) {
        t->kernels->rmsnorm_f32(head, head, vector_of(t, norm), params(t)->head_dim,
                                params(t)->norm_eps, 0.0f);
    }
}

/* Norm, rotate and scale a query: what is rotated takes its scale from the table. */
static void prepare_query(const struct transformer *t, float *q, uint32_t token)
{
    const struct ingot_params *p = params(t);
    const float *cos_sin = t->act.cos_sin_query[is_local(t)] + (size_t)token * p->head_dim;
    uint32_t rotated = p->rope == INGOT_ROPE_NONE ? 0 : p->rope_dims;

    norm_head(t, q, INGOT_ATTN_Q_NORM);
    rotate(t, q, cos_sin);
    if (rotated < p->head_dim) {
        t->kernels->scale_f32(q + rotated, q + rotated, p->head_dim - rotated, p->attn_scale);
    }
}

/* Norm, rotate and append this core's share of the chunk's keys and values. */
static void append_kv(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    size_t d = params(t)->head_dim;
    size_t first, last;

    workers_share(t->workers, core, (size_t)params(t)->n_kv_heads * t->n_tokens, 1, &first, &last);
    for (size_t item = first; item < last; item++) {
        uint32_t head = (uint32_t)(item / t->n_tokens);
        uint32_t i = (uint32_t)(item % t->n_tokens);
        float *k = a->k + i * a->kv_stride + head * d;

        norm_head(t, k, INGOT_ATTN_K_NORM);
        rotate(t, k, a->cos_sin[is_local(t)] + i * d);
        kv_cache_put(cache(t), t->kernels, t->layer, head, t->position + i, k,
                     a->v + i * a->kv_stride + head * d);
    }
}

/* The chunk's query rows as blocks: of one kv head, `heads` query heads, `tokens` tokens. */
struct attention_split {
    uint32_t group; /* query heads of a kv head */
    uint32_t heads; /* of a block */
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
                              t->workers->n_cores) {
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
    struct attention_block b = { cache(t),
                                 t->layer,
                                 head / (params(t)->n_heads / params(t)->n_kv_heads),
                                 t->position + token,
                                 tokens,
                                 heads,
                                 image_layer_window(params(t), t->layer),
                                 params(t)->attn_softcap };
    uint32_t row = 0;

    for (uint32_t i = token; i < token + tokens; i++) {
        for (uint32_t h = head; h < head + heads; h++, row++) {
            float *q = work->q + row * d;

            memcpy(q, a->q + i * a->q_stride + h * d, d * sizeof *q);
            prepare_query(t, q, i);
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

    workers_share(t->workers, core, (size_t)params(t)->n_kv_heads * s.head_pieces * s.token_pieces,
                  1, &first, &last);
    for (size_t item = first; item < last; item++) {
        uint32_t token = (uint32_t)(item % s.token_pieces) * s.tokens;
        uint32_t piece = (uint32_t)(item / s.token_pieces);
        uint32_t within = piece % s.head_pieces * s.heads;
        uint32_t heads = s.group - within < s.heads ? s.group - within : s.heads;

        attend_block(t, core, piece / s.head_pieces * s.group + within, heads, token,
                     t->n_tokens - token < s.tokens ? t->n_tokens - token : s.tokens);
    }
}

/* Core 0 keeps the card busy between two steps. */
static void step(const struct transformer *t, unsigned core)
{
    if (core == 0) {
        stream_poll(t->stream);
    }
    workers_barrier(t->workers);
}

/* The same before a piece of the layer that may not be there yet. False: it will not come. */
static bool step_to(const struct transformer *t, unsigned core, unsigned phase)
{
    if (core == 0) {
        stream_need(t->stream, phase, plan_phase_end(t->image, t->layer, phase));
    }
    step(t, core);
    return !t->stream->now.missing[phase];
}

/* Add a bias to the rows that this core has just computed. */
static void add_bias(const struct transformer *t, unsigned core, enum ingot_role role, size_t n,
                     float *y, size_t stride)
{
    const float *bias = vector_of(t, role);
    size_t first, last;

    workers_share(t->workers, core, n, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        t->kernels->add_f32(y + i * stride + first, bias + first, last - first);
    }
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
static void add_normed(const struct transformer *t, unsigned core, enum ingot_role norm)
{
    const struct activations *a = &t->act;
    size_t first, last;

    step(t, core);
    share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        float *y = a->norm + i * a->dim_stride;

        t->kernels->rmsnorm_f32(y, y, vector_of(t, norm), params(t)->dim, params(t)->norm_eps,
                                0.0f);
        t->kernels->add_f32(a->x + i * a->dim_stride, y, params(t)->dim);
    }
}

/* The last matrix of a block, from its quantized input to the residual stream. */
static void leave_block(const struct transformer *t, unsigned core, enum ingot_role role,
                        const struct linear_input *in, bool bias, enum ingot_role post_norm)
{
    const struct activations *a = &t->act;

    multiply_role(t, core, role, in, a->norm, a->dim_stride);
    if (bias) {
        add_bias(t, core, (enum ingot_role)(role + 1), params(t)->dim, a->norm, a->dim_stride);
    }
    if (has(t, INGOT_POST_NORMS)) {
        add_normed(t, core, post_norm);
    } else {
        add_residual(t, core);
    }
}

/* ---- one layer ----------------------------------------------------------------------------- */

static bool attention_layer(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    struct linear_input normed = { a->norm, a->dim_stride, t->n_tokens };
    struct linear_input attended = { a->attended, a->q_stride, t->n_tokens };
    size_t n_q = (size_t)params(t)->n_heads * params(t)->head_dim;
    size_t n_kv = (size_t)params(t)->n_kv_heads * params(t)->head_dim;

    norm_tokens(t, core, INGOT_ATTN_NORM, INGOT_ATTN_Q, INGOT_ATTN_V);
    step(t, core);
    multiply_role(t, core, INGOT_ATTN_Q, &normed, a->q, a->q_stride);
    multiply_role(t, core, INGOT_ATTN_K, &normed, a->k, a->kv_stride);
    multiply_role(t, core, INGOT_ATTN_V, &normed, a->v, a->kv_stride);
    if (has(t, INGOT_QKV_BIAS)) {
        add_bias(t, core, INGOT_ATTN_Q_BIAS, n_q, a->q, a->q_stride);
        add_bias(t, core, INGOT_ATTN_K_BIAS, n_kv, a->k, a->kv_stride);
        add_bias(t, core, INGOT_ATTN_V_BIAS, n_kv, a->v, a->kv_stride);
    }
    step(t, core);
    append_kv(t, core);
    step(t, core);
    attend(t, core);
    step(t, core);
    quantize_tokens(t, core, INGOT_ATTN_OUT, &attended);
    if (!step_to(t, core, 1)) {
        return false;
    }
    leave_block(t, core, INGOT_ATTN_OUT, &attended, has(t, INGOT_OUT_BIAS), INGOT_ATTN_POST_NORM);
    return step_to(t, core, 2);
}

/* The activation of n elements: of gate times up, or of up alone, to gate. */
static void activate(const struct transformer *t, float *gate, float *up, size_t n)
{
    if (has(t, INGOT_UNGATED)) { /* GELU: the reader refuses SiLU without a gate */
        t->kernels->gelu_f32(gate, up, n);
    } else if (has(t, INGOT_GELU)) {
        t->kernels->gelu_mul_f32(gate, gate, up, n);
    } else {
        t->kernels->silu_mul_f32(gate, gate, up, n);
    }
}

/* The rows that this core has just computed. */
static void activate_rows(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    size_t first, last;

    workers_share(t->workers, core, params(t)->hidden, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        activate(t, a->gate + i * a->hidden_stride + first, a->up + i * a->hidden_stride + first,
                 last - first);
    }
}

static void feed_forward_layer(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    struct linear_input normed = { a->norm, a->dim_stride, t->n_tokens };
    struct linear_input gated = { a->gate, a->hidden_stride, t->n_tokens };

    norm_tokens(t, core, INGOT_FFN_NORM, INGOT_FFN_GATE, INGOT_FFN_UP);
    step(t, core);
    if (!has(t, INGOT_UNGATED)) {
        multiply_role(t, core, INGOT_FFN_GATE, &normed, a->gate, a->hidden_stride);
    }
    multiply_role(t, core, INGOT_FFN_UP, &normed, a->up, a->hidden_stride);
    if (has(t, INGOT_FFN_BIAS)) {
        add_bias(t, core, INGOT_FFN_UP_BIAS, params(t)->hidden, a->up, a->hidden_stride);
    }
    activate_rows(t, core);
    step(t, core);
    quantize_tokens(t, core, INGOT_FFN_DOWN, &gated);
    if (!step_to(t, core, 3)) {
        return;
    }
    leave_block(t, core, INGOT_FFN_DOWN, &gated, has(t, INGOT_FFN_BIAS), INGOT_FFN_POST_NORM);
}

/* Learned positions are added before layer 0, in whose segment they lie. */
static void add_positions(const struct transformer *t, unsigned core)
{
    const struct ingot_tensor *w = image_tensor(t->image, INGOT_POSITION_EMBEDDING, INGOT_NO_LAYER);
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
    if (t->layer == 0 && has(t, INGOT_POSITIONS)) {
        add_positions(t, core); /* each core its tokens, which it norms next: no barrier */
    }
    if (attention_layer(t, core)) {
        feed_forward_layer(t, core);
    }
}
