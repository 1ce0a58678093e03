#include "runtime/model/mtp.h"

#include <assert.h>
#include <string.h>

#include "runtime/model/layer.h"

static void norm(const struct transformer *t, float *y, const float *x, enum ingot_role role)
{
    const struct ingot_tensor *w = image_tensor(t->image, role, INGOT_NO_LAYER);
    const uint8_t *weights = t->stream->segments[w->segment] + w->offset;

    t->kernels->rmsnorm_f32(y, x, (const void *)weights, params(t)->dim, params(t)->norm_eps, 0.0f);
}

/* The product y = W x with a matrix outside the layers, for every token of x. */
struct product {
    const struct transformer *t;
    const struct ingot_tensor *w;
    struct linear_input in;
    float *y;
};

static void product_work(void *arg, struct workers *workers, unsigned core)
{
    const struct product *p = arg;
    const uint8_t *rows = p->t->stream->segments[p->w->segment] + p->w->offset;

    (void)workers;
    layer_multiply(p->t, core, p->w, rows, p->w->rows, &p->in, p->y, p->t->act.dim_stride);
}

static void run_product(const struct transformer *t, enum ingot_role role, float *x, size_t stride,
                        float *y)
{
    struct product p = {
        t, image_tensor(t->image, role, INGOT_NO_LAYER), { x, stride, t->n_tokens, 0 }, y
    };

    linear_prepare(t->kernels, &t->act, 1u << p.w->type, &p.in, 0, t->n_tokens);
    workers_run(t->workers, product_work, &p);
}

/* Write both halves of an assistant's input for its one token to row (2 target_dim). */
static void make_assistant_input(struct transformer *t, const struct ingot_tensor *w,
                                 const uint8_t *group, uint32_t number, float *row)
{
    uint32_t dim = params(t)->target_dim;
    const float *hidden;

    linear_row(t->kernels, w, row, group, number);
    t->kernels->scale_f32(row, row, dim, params(t->mtp.model)->embedding_scale);
    hidden = transformer_hidden(t->mtp.seen, t->mtp.row);
    if (t->mtp.seen == t) {
        run_product(t, INGOT_MTP_STATE, t->act.norm, t->act.dim_stride, row + dim);
    } else {
        memcpy(row + dim, hidden, dim * sizeof *row);
    }
}

/* Write both halves of one token's input to row. */
static enum err make_input(struct transformer *t, uint32_t token, uint32_t seen, float *row)
{
    struct transformer *model = t->mtp.model;
    const struct ingot_tensor *w = image_tensor(model->image, INGOT_TOKEN_EMBEDDING,
                                                INGOT_NO_LAYER);
    const uint8_t *group;
    uint32_t number;
    enum err e = stream_embedding(model->stream, token, &group, &number);

    if (e != ERR_OK) {
        return e;
    }
    if (mtp_is_assistant(t->image)) {
        make_assistant_input(t, w, group, number, row);
        return ERR_OK;
    }
    linear_row(t->kernels, w, t->act.norm, group, number);
    norm(t, row, t->act.norm, INGOT_MTP_TOKEN_NORM);
    norm(t, row + params(t)->dim, transformer_hidden(t->mtp.seen, seen), INGOT_MTP_HIDDEN_NORM);
    return ERR_OK;
}

enum err mtp_embed(struct transformer *t, const uint32_t *tokens, uint32_t n)
{
    /* act.gate has enough room, because params.hidden is at least as long. */
    size_t stride = (image_mtp_inputs(params(t)) + 31) / 32 * 32;
    uint32_t seen;

    if (t->mtp.model == NULL) {
        return ERR_UNSUPPORTED;
    }
    if (mtp_is_assistant(t->image)) {
        t->pass_parts[0].position = t->mtp.position; /* the same for all tokens of a draft */
    }
    seen = t->mtp.row + t->pass_parts[0].position - t->mtp.position;
    memset(t->act.gate, 0, n * stride * sizeof(float));
    for (uint32_t i = 0; i < n; i++) {
        enum err e = make_input(t, tokens[i], seen + i, t->act.gate + i * stride);

        if (e != ERR_OK) {
            return e;
        }
    }
    memset(t->act.norm, 0, t->act.dim_stride * sizeof(float));
    run_product(t, INGOT_TOKEN_EMBEDDING, t->act.gate, stride, t->act.x);
    return ERR_OK;
}

uint32_t mtp_key_layer(const struct image *model, const struct ingot_layer *l)
{
    uint32_t n = model->header->params.n_layers, i = n;

    while (i > 0) {
        const struct ingot_layer *from = image_layer(model, --i);

        if (from->mixer == INGOT_MIXER_ATTENTION && (from->window != 0) == (l->window != 0)) {
            return from->kv_layer;
        }
    }
    return n;
}

void mtp_take_keys(const struct transformer *t, struct attention_block *b)
{
    const struct transformer *model = t->mtp.model;

    b->layer = mtp_key_layer(model->image, t->data);
    b->kv = model->pass_parts[0].states[b->layer].self;
    b->first_position--; /* a window also counts the token's own key, but an assistant's token has
                          * none */
    b->window -= b->window != 0;
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
    /* The head's logits must not overwrite the model's logits. */
    model->act.logits = t->act.logits;
    e = transformer_logits_of(model, transformer_hidden(t, token), 1, logits);
    model->act.logits = own;
    return e;
}
