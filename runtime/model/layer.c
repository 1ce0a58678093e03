#include "runtime/model/layer.h"

#include <string.h>

#include "runtime/model/layer_embedding.h"

/* The norms of a block's input and, if the block has one, of its result. */
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

const struct layer_block *layer_parallel(const struct ingot_layer *l)
{
    return find_block(layer_mixers, l->parallel);
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
    t->parallel = layer_parallel(l);
    t->ffn = layer_ffn(l);
    t->layer_types = 0;
    memset(t->tensors, 0, sizeof t->tensors);
    for (uint32_t i = 0; i < l->n_tensors; i++) {
        const struct ingot_tensor *w = &t->image->tensors[l->first_tensor + i];

        t->tensors[w->role] = w;
        t->layer_types |= 1u << w->type;
    }
    layer_enter_adapters(t, layer);
    if (layer == 0) { /* layer 0's segment also has the positions' vectors */
        static const enum ingot_role first[] = { INGOT_POSITION_EMBEDDING,
                                                 INGOT_PER_LAYER_PROJECTION, INGOT_PER_LAYER_NORM };

        for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
            t->tensors[first[i]] = image_tensor(t->image, first[i], INGOT_NO_LAYER);
        }
    }
}

/* ---- one layer ----------------------------------------------------------------------------- */

/* Return a token's normed x, or x if the layer does not norm inputs. */
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

    layer_own_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        norm_token(t, norms, to + i * a->dim_stride, a->x + i * a->dim_stride);
    }
    layer_quantize(t, core, reads, &normed);
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

/* Add this core's rows of act.out. The core has just computed them, so no barrier is needed. */
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

/* Norm the block's whole result, in act.out, then add it. */
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

/* Run the second mixer on the same normed input. Quantize the input again, because the first mixer
 * has overwritten its quantized form. The second mixer's weights follow those of the first and
 * begin in the first mixer's last phase. */
static bool run_parallel_mixer(const struct transformer *t, unsigned core)
{
    struct linear_input normed = layer_normed(t, core);

    if (t->parallel == NULL) {
        return true;
    }
    layer_step(t, core);
    layer_quantize(t, core, t->parallel->reads, &normed);
    layer_step_shared(t, core);
    if (!t->parallel->run(t, core)) {
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
    return run_block(t, core, t->mixer, &mixer_norms) && run_parallel_mixer(t, core);
}

/* Learned positions are added before layer 0, whose segment contains them. */
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

/* Scale the residual stream of this core's tokens after the whole layer. */
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

/* Begin the feed-forward. If no norm comes first, the feed-forward's first weights arrive in the
 * mixer's last phase. */
static bool begin_ffn(const struct transformer *t, unsigned core)
{
    if (t->tensors[INGOT_FFN_NORM] == NULL) {
        layer_step(t, core);
        return true;
    }
    return layer_wait(t, core, INGOT_FFN_NORM);
}

/* Add the vectors that come before the first layer. */
static void begin(const struct transformer *t, unsigned core)
{
    if (t->tensors[INGOT_POSITION_EMBEDDING] != NULL) {
        add_positions(t, core); /* each core norms the tokens to which it adds, so only a single
                                 * token needs a barrier */
        if (layer_alone(t)) {
            layer_step(t, core);
        }
    }
    if (t->tensors[INGOT_PER_LAYER_PROJECTION] != NULL) {
        layer_embedding_begin(t, core);
    }
}

static void finish(const struct transformer *t, unsigned core)
{
    if (t->ffn != NULL && begin_ffn(t, core)) {
        (void)run_block(t, core, t->ffn, &ffn_norms);
    }
    if (t->tensors[INGOT_PER_LAYER_GATE] != NULL && !layer_embedding_add(t, core)) {
        return;
    }
    scale_output(t, core);
}

void layer_run(const struct transformer *t, unsigned core)
{
    begin(t, core);
    if (run_mixers(t, core)) {
        finish(t, core);
    }
}

/* Return true if keys can be computed apart from the rest. If there is a second mixer, each of the
 * two runs as a whole, because both have the same input. */
static bool has_own_keys(const struct transformer *t)
{
    return t->mixer->keys != NULL && t->parallel == NULL;
}

void layer_run_first(const struct transformer *t, unsigned core)
{
    begin(t, core);
    if (!has_own_keys(t)) {
        (void)run_mixers(t, core);
        return;
    }
    norm_tokens(t, core, &mixer_norms, t->mixer->reads);
    layer_step_shared(t, core);
    t->mixer->keys(t, core);
}

void layer_run_rest(const struct transformer *t, unsigned core)
{
    if (!has_own_keys(t) || run_mixers(t, core)) {
        finish(t, core);
    }
}
