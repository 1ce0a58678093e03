/* /bad: tokens of a reply give way to others. The adapter's steps change the logits of all
 * tokens, and with each /bad a little more, until words win that nobody would say there. Each
 * step is therefore checked: a token may win only if the model without the adapter has it at
 * most CHAT_LEARN_NEARLY behind its best. A step after which another token wins is made shorter,
 * or taken back. */
#include <string.h>

#include "runtime/chat/chat_private.h"
#include "runtime/features/lessons/chat_learn_private.h"

/* The logits of one hidden state, without the adapter and with it. */
struct look {
    const float *plain, *adapted;
    uint32_t vocab;
    float least; /* threshold in plain: a token below it may not win */
};

static enum err look_at(struct chat *c, uint32_t example, struct look *k)
{
    struct lessons *l = &lessons_of(c)->lessons;
    struct transformer *t = &c->session->model->transformer;
    float *rows = l->learner.gradient, *logits; /* no step is taken now */
    enum err e;

    memcpy(rows, l->hidden + (size_t)example * l->dim, l->dim * sizeof *rows);
    memcpy(rows + l->dim, rows, l->dim * sizeof *rows);
    transformer_adapt(t, rows + l->dim);
    e = transformer_logits_of_adapted(t, rows, 2, &logits);
    if (e != ERR_OK) {
        return e;
    }
    k->plain = logits;
    k->adapted = logits + t->act.logits_stride;
    k->vocab = c->session->model->image.header->params.vocab;
    k->least = k->plain[0];
    for (uint32_t id = 1; id < k->vocab; id++) {
        k->least = k->plain[id] > k->least ? k->plain[id] : k->least;
    }
    k->least -= CHAT_LEARN_NEARLY;
    return ERR_OK;
}

/* The most likely token that may win, other than token. k->vocab: there is none. */
static uint32_t best_other(const struct look *k, uint32_t token)
{
    uint32_t best = k->vocab;

    for (uint32_t id = 0; id < k->vocab; id++) {
        if (id != token && k->plain[id] >= k->least &&
            (best == k->vocab || k->adapted[id] > k->adapted[best])) {
            best = id;
        }
    }
    return best;
}

static bool is_strange(const struct look *k)
{
    uint32_t winner = 0;

    for (uint32_t id = 1; id < k->vocab; id++) {
        winner = k->adapted[id] > k->adapted[winner] ? id : winner;
    }
    return !(k->plain[winner] >= k->least);
}

/* *yields: another token wins now, by a little. */
static enum err yield(struct chat *c, uint32_t example, uint32_t token, bool *yields)
{
    struct lessons *l = &lessons_of(c)->lessons;
    const float *h = l->hidden + (size_t)example * l->dim;
    struct look k;
    enum err e = look_at(c, example, &k);
    uint32_t other;
    float lead, behind = 2.0f * CHAT_LEARN_BEHIND;

    *yields = false;
    if (e != ERR_OK || (other = best_other(&k, token)) == k.vocab) {
        return e;
    }
    lead = k.adapted[token] - k.adapted[other];
    if (lead > CHAT_LEARN_NEARLY || lead < -CHAT_LEARN_BEHIND) {
        return ERR_OK;
    }
    chat_learn_make_margin(c, other, k.adapted[other], token, k.adapted[token]);
    for (int tries = 0; tries < 2 && e == ERR_OK && !*yields; tries++, behind /= 4.0f) {
        if (!learner_yield(&l->learner, h, l->error, lead + behind)) {
            return ERR_OK;
        }
        e = look_at(c, example, &k);
        *yields = e == ERR_OK && !is_strange(&k);
        if (!*yields) {
            learner_step_back(&l->learner);
        }
    }
    return e;
}

enum err chat_learn_yield(struct chat *c, uint32_t *yields)
{
    struct lessons *l = &lessons_of(c)->lessons;
    enum err e = ERR_OK;

    *yields = 0;
    for (uint32_t i = l->first; i < l->n && e == ERR_OK;) {
        bool gives_way = false;

        if (*yields < CHAT_LEARN_YIELDS) {
            e = yield(c, i, l->targets[i], &gives_way);
        }
        if (gives_way) {
            ++*yields;
            l->targets[i++] = LESSONS_NO_TARGET;
        } else {
            lessons_drop(l, i);
        }
    }
    return e;
}

enum err chat_learn_count_strange(struct chat *c, uint32_t *strange)
{
    const struct lessons *l = &lessons_of(c)->lessons;
    enum err e = ERR_OK;

    *strange = 0;
    for (uint32_t i = 0; i < l->n && e == ERR_OK; i++) {
        struct look k;

        if (l->targets[i] == LESSONS_NO_TARGET) {
            e = look_at(c, i, &k);
            *strange += e == ERR_OK && is_strange(&k);
        }
    }
    return e;
}
