#include "runtime/model/mtp.h"

#include <assert.h>
#include <string.h>

#include "runtime/model/layer.h"

/* Return the matrix that makes the input; it is stored in place of an output matrix. */
static const struct ingot_tensor *input_matrix(const struct transformer *t)
{
    return image_tensor(t->image, INGOT_OUTPUT, INGOT_NO_LAYER);
}

static void norm(const struct transformer *t, float *y, const float *x, enum ingot_role role)
{
    const struct ingot_tensor *w = image_tensor(t->image, role, INGOT_NO_LAYER);
    const uint8_t *weights = t->stream->segments[w->segment] + w->offset;

    t->kernels->rmsnorm_f32(y, x, (const void *)weights, params(t)->dim, params(t)->norm_eps, 0.0f);
}

/* Write both halves of one token's input to row (2 dim). */
static enum err make_input(struct transformer *t, uint32_t token, uint32_t seen, float *row)
{
    struct transformer *model = t->mtp.model;
    const uint8_t *group;
    uint32_t number;
    enum err e = stream_embedding(model->stream, token, &group, &number);

    if (e != ERR_OK) {
        return e;
    }
    linear_row(t->kernels, image_tensor(model->image, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER),
               t->act.norm, group, number);
    norm(t, row, t->act.norm, INGOT_MTP_TOKEN_NORM);
    norm(t, row + params(t)->dim, transformer_hidden(t->mtp.seen, seen), INGOT_MTP_HIDDEN_NORM);
    return ERR_OK;
}

static struct linear_input input_of(const struct transformer *t)
{
    /* act.gate has enough room: params.hidden is at least two widths. */
    size_t stride = (input_matrix(t)->cols + 31) / 32 * 32;

    return (struct linear_input){ t->act.gate, stride, t->n_tokens, 0 };
}

static void input_work(void *arg, struct workers *workers, unsigned core)
{
    const struct transformer *t = arg;
    const struct ingot_tensor *w = input_matrix(t);
    struct linear_input in = input_of(t);

    (void)workers;
    layer_multiply(t, core, w, t->rows, w->rows, &in, t->act.x, t->act.dim_stride);
}

enum err mtp_embed(struct transformer *t, const uint32_t *tokens, uint32_t n)
{
    const struct ingot_tensor *w = input_matrix(t);
    struct linear_input in = input_of(t);
    uint32_t seen = t->mtp.row + t->pass_parts[0].position - t->mtp.position;

    if (t->mtp.model == NULL) {
        return ERR_UNSUPPORTED;
    }
    memset(t->act.gate, 0, n * in.stride * sizeof(float));
    for (uint32_t i = 0; i < n; i++) {
        enum err e = make_input(t, tokens[i], seen + i, t->act.gate + i * in.stride);

        if (e != ERR_OK) {
            return e;
        }
    }
    memset(t->act.norm, 0, t->act.dim_stride * sizeof(float));
    linear_prepare(t->kernels, &t->act, 1u << w->type, &in, 0, n);
    t->rows = t->stream->segments[w->segment] + w->offset;
    workers_run(t->workers, input_work, t);
    return ERR_OK;
}

enum err mtp_logits(struct transformer *t, uint32_t token, uint32_t n, float **logits)
{
    struct transformer *model = t->mtp.model;
    float *own = model->act.logits;
    enum err e;

    assert(n == 1);
    (void)n;
    if (!transformer_has_head(model)) {
        return ERR_UNSUPPORTED;
    }
    /* The head's logits must not overwrite the model's. */
    model->act.logits = t->act.logits;
    e = transformer_logits_of(model, transformer_hidden(t, token), 1, logits);
    model->act.logits = own;
    return e;
}
