/* Choose which experts the tokens of a pass take, and the weight of each. */
#include <string.h>

#include "kernels/ref/scalar.h"
#include "runtime/image/image.h"
#include "runtime/model/ffn_experts_private.h"

static void set_shared(const struct transformer *t, size_t token, float weight)
{
    *(float *)(void *)(t->act.work + token * experts_work_bytes(t->data)) = weight;
}

/* If the dense part has a weight, the weight is the sigmoid of a product. */
static float weight_of_shared(const struct transformer *t, const float *x)
{
    const struct ingot_tensor *w = t->tensors[INGOT_SHARED_SCALE];
    float y = 0.0f;

    if (w == NULL) {
        return 1.0f;
    }
    t->kernels->gemv_f32_f32_f32(&y, t->segment + w->offset, x, 1, w->cols_padded, 0);
    return sigmoid_f32(y);
}

/* The router's matrix is small and of floats, so compute each token by itself. */
void experts_choose(const struct transformer *t, unsigned core)
{
    const struct ingot_tensor *w = t->tensors[INGOT_ROUTER];
    const float *bias = layer_vector(t, INGOT_ROUTER_BIAS);
    const float *choice_bias = layer_vector(t, INGOT_ROUTER_CHOICE_BIAS);
    size_t first, last;

    layer_share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        const float *x = layer_normed(t, core).x + i * t->act.dim_stride;
        struct token_work work = work_of(t, i);

        t->kernels->gemv_f32_f32_f32(work.logits, t->segment + w->offset, x, w->rows,
                                     w->cols_padded, 0);
        if (bias != NULL) {
            t->kernels->add_f32(work.logits, bias, w->rows);
        }
        router_choose(t->kernels, t->data, work.logits, choice_bias, work.scores, work.chosen);
        set_shared(t, i, weight_of_shared(t, x));
    }
}

const float *experts_weight(const struct transformer *t, size_t token, uint32_t expert)
{
    struct token_work work = work_of(t, token);

    for (uint32_t i = 0; i < t->data->n_experts_used; i++) {
        if (work.chosen[i].expert == expert) {
            return &work.chosen[i].weight;
        }
    }
    return NULL;
}

uint32_t experts_count_tokens(const struct transformer *t, uint32_t expert)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_tokens; i++) {
        n += experts_weight(t, i, expert) != NULL;
    }
    return n;
}

void experts_ask(const struct transformer *t)
{
    struct stream_experts *x = &t->stream->experts;

    memset(x->counts, 0, t->data->n_experts * sizeof *x->counts);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        const struct router_choice *chosen = work_of(t, i).chosen;

        for (uint32_t j = 0; j < t->data->n_experts_used; j++) {
            x->counts[chosen[j].expert]++;
        }
    }
    stream_experts_ask(t->stream, t->layer, t->n_tokens);
}
