#include "runtime/session/speculative_mtp.h"

#include "board/min_max.h"

static struct transformer *model_of(const struct speculative *s)
{
    return &s->session->model->transformer;
}

/* Follow a pass over a prompt: with all its tokens, and the next one if it is known. */
static void follow_pass(void *context, struct session *target)
{
    struct speculative *s = context;

    (void)speculative_mtp_follow(s, min_u32(target->n_cached + 1, target->n_ids), NULL);
}

void speculative_mtp_open(struct speculative *s)
{
    /* Without the output matrix in memory, a guess would have to read it from the card; then guess
     * from the text. */
    if (!s->on || !transformer_has_head(model_of(s))) {
        s->draft = NULL;
        return;
    }
    s->mtp.on = true;
    s->mtp.watch = (struct session_watch){ 0, follow_pass, s };
    s->session->follower = &s->mtp.watch;
    s->draft->model->transformer.mtp.model = model_of(s);
}

/* Return how many of the head's tokens equal the model's and have the model's hidden states. */
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
    uint32_t common = n > s->mtp.first ? common_tokens(s, n - s->mtp.first) : 0;
    uint32_t next = s->mtp.first + common; /* the first token that the head does not have */
    enum err e;

    if (model->is_narrow || pass->states != s->session->states || n < pass->position + 2 ||
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
    *in = (struct transformer_mtp){ model, model, next - 1 - pass->position, common };
    e = session_append(s->draft, s->session->ids + next, n - next, stop);
    s->mtp.exact = s->draft->n_cached;
    return e;
}

void speculative_mtp_continue(struct speculative *s)
{
    struct transformer *head = &s->draft->model->transformer;

    head->mtp.seen = head;
    head->mtp.row = head->pass_parts[0].n - 1;
    head->mtp.position = s->draft->n_cached;
}
