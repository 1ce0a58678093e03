#include "runtime/session/speculative_mtp.h"

#include "board/min_max.h"
#include "runtime/model/mtp.h"
#include "runtime/text/format_text.h"

static struct transformer *model_of(const struct speculative *s)
{
    return &s->session->model->transformer;
}

static bool is_assistant(const struct speculative *s)
{
    return mtp_is_assistant(&s->draft->model->image);
}

/* Return true if layer l can read the keys of layer `from`, which must have the same shape. */
static bool reads(const struct ingot_layer *l, const struct ingot_layer *from)
{
    return l->n_kv_heads == from->n_kv_heads && l->head_dim == from->head_dim &&
           l->value_dim == from->value_dim &&
           ((l->features | from->features) & INGOT_LATENT_KV) == 0;
}

/* Return an assistant's first layer that has no keys to read, or the number of layers. */
static uint32_t keyless(const struct image *draft, const struct image *model)
{
    uint32_t n = draft->header->params.n_layers, i = 0, at;

    while (i < n) {
        at = mtp_key_layer(model, image_layer(draft, i));
        if (at == model->header->params.n_layers ||
            !reads(image_layer(draft, i), image_layer(model, at))) {
            break;
        }
        i++;
    }
    return i;
}

enum err speculative_mtp_check(struct model *draft, const struct model *model)
{
    const struct ingot_params *p = &draft->image.header->params;
    uint32_t width = image_mtp_inputs(p) / 2, dim = model->image.header->params.dim, layer;

    if (p->mtp != 0 && width != dim) {
        format_text(draft->error_message, sizeof draft->error_message,
                    "%.100s guesses for a model of width %u, but the width of %.100s is %u: give a "
                    "draft of this model with draft=",
                    draft->file->name, (unsigned)width, model->file->name, (unsigned)dim);
        return ERR_UNSUPPORTED;
    }
    layer = p->target_dim == 0 ? p->n_layers : keyless(&draft->image, &model->image);
    if (layer != p->n_layers) {
        const struct ingot_layer *l = image_layer(&draft->image, layer);

        format_text(draft->error_message, sizeof draft->error_message,
                    "%.100s: its layer %u reads keys of %u x %u numbers, but those of %.100s "
                    "differ: give a draft of this model with draft=",
                    draft->file->name, (unsigned)layer, (unsigned)l->n_kv_heads,
                    (unsigned)l->head_dim, model->file->name);
        return ERR_UNSUPPORTED;
    }
    return ERR_OK;
}

/* After a pass over a prompt, compute the same tokens, and the next token if it is known. */
static void follow_pass(void *context, struct session *target)
{
    struct speculative *s = context;

    (void)speculative_mtp_follow(s, min_u32(target->n_cached + 1, target->n_ids), NULL);
}

void speculative_mtp_open(struct speculative *s)
{
    bool assists = is_assistant(s);

    /* If the output matrix or the keys are not in memory, a guess would have to read them from the
     * card; then guess from the text. */
    if (!s->on || (assists ? s->session->model->plan.kv.n_spilled != 0
                           : !transformer_has_head(model_of(s)))) {
        s->draft = NULL;
        return;
    }
    s->mtp.on = true;
    s->draft->model->transformer.mtp.model = model_of(s);
    if (!assists) {
        s->mtp.watch = (struct session_watch){ 0, follow_pass, s };
        s->session->follower = &s->mtp.watch;
    }
}

/* Return how many of the head's tokens equal the model's tokens and have the model's hidden
 * states. */
static uint32_t common_tokens(const struct speculative *s, uint32_t n)
{
    const struct session *d = s->draft;
    uint32_t most = min_u32(min_u32(s->mtp.exact, d->n_cached), n - 1), common = 0;

    while (common < most && d->ids[common] == s->session->ids[s->mtp.first + common]) {
        common++;
    }
    return common;
}

enum err speculative_mtp_follow(struct speculative *s, uint32_t n, const struct stop *stop)
{
    struct transformer *model = model_of(s);
    const struct transformer_part *pass = &model->pass_parts[0];
    struct transformer_mtp *in = &s->draft->model->transformer.mtp;
    uint32_t common, next;
    enum err e;

    if (is_assistant(s)) {
        s->mtp.first = n - 1;
    }
    common = n > s->mtp.first ? common_tokens(s, n - s->mtp.first) : 0;
    next = s->mtp.first + common; /* the first token that the head does not have */
    /* A narrow pass has the state of its last token, which an assistant needs, but no others. */
    if ((model->is_narrow && (!is_assistant(s) || n != pass->position + pass->n + 1)) ||
        pass->states != s->session->states || n < pass->position + 2 ||
        n > pass->position + pass->n + 1) {
        return ERR_NOT_FOUND;
    }
    /* Hidden states from before this pass are lost: if the head did not use them, it begins
     * anew. */
    if (next <= pass->position || n <= s->mtp.first) {
        common = 0;
        next = s->mtp.first = pass->position + 1;
    }
    (void)session_cut(s->draft, common);
    *in = (struct transformer_mtp){ model, model, next - 1 - pass->position,
                                    is_assistant(s) ? next : common };
    e = session_append(s->draft, s->session->ids + next, n - next, stop);
    s->mtp.exact = s->draft->n_cached;
    return e;
}

void speculative_mtp_continue(struct speculative *s)
{
    struct transformer *head = &s->draft->model->transformer;

    head->mtp.seen = head;
    head->mtp.row = head->pass_parts[0].n - 1;
    if (!is_assistant(s)) {
        head->mtp.position = s->draft->n_cached;
    }
}
