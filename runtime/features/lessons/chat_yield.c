/* /bad: tokens of a reply give way to others. The adapter's steps change the logits of all
 * tokens, a little more with each /bad, until strange words win or other answers change. So
 * each step is checked: a token may win only if it is at most CHAT_LEARN_NEARLY behind the
 * best token of the model without the adapter, and the nearest examples of earlier lessons
 * must keep their winners. A step that fails is made shorter, or taken back. */
#include <string.h>

#include "runtime/chat/chat_private.h"
#include "runtime/features/lessons/chat_learn_private.h"
#include "runtime/features/lessons/vector.h"

/* The logits of one hidden state, without the adapter and with it. */
struct look {
    const float *plain, *adapted;
    uint32_t vocab;
    float least; /* least plain logit of a token that may win */
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

/* Return the most likely token that may win, other than `token`. Returns k->vocab if there is
 * none. */
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

static uint32_t winner_of(const struct look *k)
{
    uint32_t winner = 0;

    for (uint32_t id = 1; id < k->vocab; id++) {
        winner = k->adapted[id] > k->adapted[winner] ? id : winner;
    }
    return winner;
}

static bool is_strange(const struct look *k)
{
    return !(k->plain[winner_of(k)] >= k->least);
}

/* ---- earlier examples ------------------------------------------------------------------------ */

/* Whether an example has the right winner: its token, or if none is known a token that the model
 * might say. */
static enum err look_whether_well(struct chat *c, uint32_t example, bool *well)
{
    uint32_t target = lessons_of(c)->lessons.targets[example], token = target & ~LESSONS_SAID;
    struct look k;
    enum err e = look_at(c, example, &k);

    if (e == ERR_OK) {
        *well = target == LESSONS_NO_TARGET ? !is_strange(&k) : winner_of(&k) == token;
    }
    return e;
}

/* The earlier examples that are nearest to an example, and whether they had the right winner. */
struct nearby {
    uint32_t n, examples[CHAT_LEARN_NEARBY];
    float cosines[CHAT_LEARN_NEARBY]; /* the largest first */
    bool well[CHAT_LEARN_NEARBY];
};

static void put_nearby(struct nearby *w, uint32_t example, float cosine)
{
    uint32_t at = CHAT_LEARN_NEARBY - 1;

    if (w->n < CHAT_LEARN_NEARBY) {
        at = w->n++;
    } else if (!(w->cosines[at] < cosine)) {
        return;
    }
    for (; at > 0 && w->cosines[at - 1] < cosine; at--) {
        w->cosines[at] = w->cosines[at - 1];
        w->examples[at] = w->examples[at - 1];
    }
    w->cosines[at] = cosine;
    w->examples[at] = example;
}

static enum err find_nearby(struct chat *c, uint32_t example, struct nearby *w)
{
    const struct lessons *l = &lessons_of(c)->lessons;
    const float *h = l->hidden + (size_t)example * l->dim;
    enum err e = ERR_OK;

    w->n = 0;
    for (uint32_t i = 0; i < example; i++) {
        put_nearby(w, i, vector_dot(h, l->hidden + (size_t)i * l->dim, l->dim) / l->lengths[i]);
    }
    for (uint32_t i = 0; i < w->n && e == ERR_OK; i++) {
        e = look_whether_well(c, w->examples[i], &w->well[i]);
    }
    return e;
}

static enum err look_for_losses(struct chat *c, const struct nearby *w, bool *loses)
{
    enum err e = ERR_OK;

    *loses = false;
    for (uint32_t i = 0; i < w->n && e == ERR_OK && !*loses; i++) {
        bool well = false;

        if (w->well[i]) {
            e = look_whether_well(c, w->examples[i], &well);
            *loses = e == ERR_OK && !well;
        }
    }
    return e;
}

enum err chat_learn_count_well(struct chat *c, uint32_t *n)
{
    enum err e = ERR_OK;

    *n = 0;
    for (uint32_t i = 0; i < lessons_of(c)->lessons.n && e == ERR_OK; i++) {
        bool well = false;

        e = look_whether_well(c, i, &well);
        *n += well;
    }
    return e;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Check the step that was taken: another token must win, and earlier examples must not lose. */
static enum err check_step(struct chat *c, uint32_t example, const struct nearby *w, bool *good)
{
    struct look k;
    bool loses = false;
    enum err e = look_at(c, example, &k);

    *good = false;
    if (e != ERR_OK || is_strange(&k)) {
        return e;
    }
    e = look_for_losses(c, w, &loses);
    *good = e == ERR_OK && !loses;
    return e;
}

/* Make a token give way. *yields: another token wins now, by a little. */
static enum err yield(struct chat *c, uint32_t example, uint32_t token, bool *yields)
{
    struct lessons *l = &lessons_of(c)->lessons;
    const float *h = l->hidden + (size_t)example * l->dim;
    struct nearby nearby;
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
    e = find_nearby(c, example, &nearby);
    chat_learn_make_margin(c, other, k.adapted[other], token, k.adapted[token]);
    for (int tries = 0; tries < 2 && e == ERR_OK && !*yields; tries++, behind /= 4.0f) {
        if (!learner_yield(&l->learner, h, l->error, lead + behind)) {
            return ERR_OK;
        }
        e = check_step(c, example, &nearby, yields);
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

        if (!lessons_is_taught(l->targets[i])) {
            e = look_at(c, i, &k);
            *strange += e == ERR_OK && is_strange(&k);
        }
    }
    return e;
}
