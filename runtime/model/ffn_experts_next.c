/* Predict which experts the next layer will take, so that the card need not idle. */
#include <string.h>

#include "runtime/image/image.h"
#include "runtime/model/ffn_experts_private.h"

/* Return the next layer if its router can be computed early for a single token, because its weights
 * are in memory and there is work space; otherwise NULL. */
static const struct ingot_layer *next_layer(const struct transformer *t)
{
    const struct ingot_layer *next;

    if (!is_cached(t) || !t->stream->experts.looks_ahead || t->n_tokens != 1 || t->act.chunk < 2 ||
        t->layer + 1 == params(t)->n_layers) {
        return NULL;
    }
    next = image_layer(t->image, t->layer + 1);
    if (next->ffn != INGOT_FFN_EXPERTS || t->stream->segments[next->segment] == NULL) {
        return NULL;
    }
    return next;
}

static const float *next_vector(const struct transformer *t, const struct ingot_layer *next,
                                enum ingot_role role)
{
    const struct ingot_tensor *w = image_tensor(t->image, role, t->layer + 1);

    return w == NULL ? NULL : (const void *)(t->stream->segments[next->segment] + w->offset);
}

/* Predict from this layer's x, which the rest of the layer and the next mixer change only a little.
 * The last core predicts while core 0 chooses. No result depends on the prediction. */
void experts_choose_next(const struct transformer *t)
{
    const struct ingot_layer *next = next_layer(t);
    const struct ingot_tensor *w;
    const float *norm, *bias;
    struct token_work work;

    if (next == NULL) {
        return;
    }
    w = image_tensor(t->image, INGOT_ROUTER, t->layer + 1);
    norm = next_vector(t, next, INGOT_FFN_NORM);
    bias = next_vector(t, next, INGOT_ROUTER_BIAS);
    work = work_of_layer(t, next, 1);
    memcpy(t->act.gathered, t->act.x, params(t)->dim * sizeof(float));
    if (norm != NULL) {
        t->kernels->rmsnorm_f32(t->act.gathered, t->act.x, norm, params(t)->dim,
                                params(t)->norm_eps, 0.0f);
    }
    t->kernels->gemv_f32_f32_f32(work.logits, t->stream->segments[next->segment] + w->offset,
                                 t->act.gathered, w->rows, w->cols_padded, 0);
    if (bias != NULL) {
        t->kernels->add_f32(work.logits, bias, w->rows);
    }
    router_choose(t->kernels, next, work.logits, next_vector(t, next, INGOT_ROUTER_CHOICE_BIAS),
                  work.scores, work.chosen);
}

/* Core 0 calls this after a barrier. */
void experts_ask_next(const struct transformer *t)
{
    const struct ingot_layer *next = next_layer(t);
    struct stream_experts *x = &t->stream->experts;
    const struct router_choice *chosen;

    if (next == NULL) {
        return;
    }
    chosen = work_of_layer(t, next, 1).chosen;
    for (uint32_t i = 0; i < next->n_experts_used; i++) {
        x->next.experts[i] = (uint16_t)chosen[i].expert;
    }
    stream_experts_look_ahead(t->stream, t->layer + 1, next->n_experts_used);
}
