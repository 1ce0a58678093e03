/* Takes the steps of /good and /bad. Such steps change the logits of all tokens, a little more with
 * each rating, until strange words win or other answers change. So each step is checked: after /bad
 * a token may win only if it is at most CHAT_LEARN_NEARLY behind the best token of the model
 * without the adapter, and the nearest watched examples must keep their winners. A step that fails
 * is made shorter (/bad), or taken back. Then all watched examples are compared. If an example lost
 * its token, the shortest step restores it. */
#include <string.h>

#include "runtime/chat/chat_private.h"
#include "runtime/features/lessons/chat_learn_private.h"
#include "runtime/features/lessons/vector.h"

/* The logits of one hidden state, without the adapter and with it. */
struct look {
    const float *plain, *adapted;
    uint32_t vocab;
    float least; /* least logit, without the adapter, of a token that may win */
};

static enum err look_at(struct chat *c, uint32_t example, struct look *k)
{
    struct lessons *l = &lessons_of(c)->lessons;
    struct transformer *t = &c->session->model->transformer;
    float *rows = l->learner.gradient, *logits; /* `gradient` is free between steps */
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

/* Return the most likely token other than `token` that may win, or k->vocab if no token
 * may. */
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

/* Find the token that wins at the example, and the token that must win: the target or, without a
 * target, the likeliest token that the model might say, except given_up. */
static enum err look_for_target(struct chat *c, uint32_t example, uint32_t given_up, struct look *k,
                                uint32_t *token, uint32_t *winner)
{
    const struct lessons *l = &lessons_of(c)->lessons;
    float *logits;
    enum err e;

    if (l->targets[example] == LESSONS_NO_TARGET) {
        e = look_at(c, example, k);
        *winner = e == ERR_OK ? winner_of(k) : 0;
        *token = e == ERR_OK ? best_other(k, given_up) : 0;
        *token = *token == k->vocab ? *winner : *token;
        return e;
    }
    k->vocab = c->session->model->image.header->params.vocab;
    e = transformer_logits_of(&c->session->model->transformer, l->hidden + (size_t)example * l->dim,
                              1, &logits);
    k->adapted = logits;
    *token = l->targets[example] & ~LESSONS_SAID;
    *winner = e == ERR_OK ? winner_of(k) : *token;
    return e;
}

static enum err look_whether_well(struct chat *c, uint32_t example, bool *well)
{
    struct look k = { 0 };
    uint32_t token, winner;
    enum err e = look_for_target(c, example, LESSONS_NO_TARGET, &k, &token, &winner);

    *well = e == ERR_OK && winner == token;
    return e;
}

static bool is_watched(const struct chat_learn_watch *w, uint32_t example)
{
    return (w->well[example / 8] >> example % 8 & 1) != 0;
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

static enum err find_nearby(struct chat *c, uint32_t example, const struct chat_learn_watch *watch,
                            struct nearby *w)
{
    const struct lessons *l = &lessons_of(c)->lessons;
    const float *h = l->hidden + (size_t)example * l->dim;
    enum err e = ERR_OK;

    w->n = 0;
    for (uint32_t i = 0; i < example; i++) {
        if (is_watched(watch, i)) {
            put_nearby(w, i, vector_dot(h, l->hidden + (size_t)i * l->dim, l->dim) / l->lengths[i]);
        }
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

/* ---- the watch set --------------------------------------------------------------------------- */

enum err chat_learn_watch(struct chat *c, struct chat_learn_watch *w)
{
    enum err e = ERR_OK;

    memset(w, 0, sizeof *w);
    for (uint32_t i = 0; i < lessons_of(c)->lessons.n && e == ERR_OK; i++) {
        bool well = false;

        e = look_whether_well(c, i, &well);
        if (well) {
            chat_learn_watch_one(w, i);
        }
    }
    return e;
}

enum err chat_learn_count_lost(struct chat *c, const struct chat_learn_watch *w, uint32_t from,
                               uint32_t to, uint32_t *lost)
{
    enum err e = ERR_OK;

    *lost = 0;
    for (uint32_t i = from; i < to && e == ERR_OK; i++) {
        bool well = true;

        e = is_watched(w, i) ? look_whether_well(c, i, &well) : ERR_OK;
        *lost += !well;
    }
    return e;
}

/* If the example is not well, take the shortest step that, to first order, makes it well. */
static enum err win_back(struct chat *c, uint32_t example, uint32_t given_up, uint32_t *lost)
{
    struct lessons *l = &lessons_of(c)->lessons;
    struct look k = { 0 };
    uint32_t token, winner;
    float behind;
    enum err e = look_for_target(c, example, given_up, &k, &token, &winner);

    if (e != ERR_OK || winner == token) {
        return e;
    }
    ++*lost;
    behind = k.adapted[winner] - k.adapted[token];
    chat_learn_make_margin(c, token, k.adapted[token], winner, k.adapted[winner]);
    (void)learner_yield(&l->learner, l->hidden + (size_t)example * l->dim, l->error,
                        behind + CHAT_LEARN_AHEAD);
    return ERR_OK;
}

enum err chat_learn_hold(struct chat *c, const struct chat_learn_watch *w, uint32_t *lost)
{
    const struct lessons *l = &lessons_of(c)->lessons;
    enum err e = ERR_OK;

    *lost = 0;
    for (uint32_t i = 0; i < l->n && e == ERR_OK; i++) {
        bool gives_way = i >= l->first && l->targets[i] == LESSONS_NO_TARGET;

        if (is_watched(w, i)) {
            e = win_back(c, i, gives_way ? w->given_up[i - l->first] : LESSONS_NO_TARGET, lost);
        }
    }
    return e;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Check the step that was taken: the winner must be a token that the model might say, and the
 * earlier examples nearby must keep their tokens. */
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

/* Set *logits to the example's logits. *sure becomes true if the token already wins by
 * CHAT_LEARN_MARGIN. */
static enum err look_whether_sure(struct chat *c, uint32_t example, uint32_t token, float **logits,
                                  bool *sure)
{
    const struct lessons *l = &lessons_of(c)->lessons;
    struct micro_lora_choice choice;
    enum err e = transformer_logits_of(&c->session->model->transformer,
                                       l->hidden + (size_t)example * l->dim, 1, logits);

    if (e == ERR_OK) {
        micro_lora_choose(&choice, &l->head, *logits, c->session->model->image.header->params.vocab,
                          token);
        *sure = (*logits)[token] > choice.best + CHAT_LEARN_MARGIN;
    }
    return e;
}

/* Take one step towards a token of a good reply, unless a nearby example then loses its token. */
static enum err favor(struct chat *c, uint32_t example, const struct chat_learn_watch *w)
{
    struct lessons *l = &lessons_of(c)->lessons;
    uint32_t token = l->targets[example] & ~LESSONS_SAID, steps = l->learner.totals.steps;
    struct nearby nearby;
    float *logits;
    bool sure = false, loses = false;
    enum err e = look_whether_sure(c, example, token, &logits, &sure);

    if (e != ERR_OK || sure) {
        return e;
    }
    e = find_nearby(c, example, w, &nearby);
    if (e == ERR_OK) {
        e = look_whether_sure(c, example, token, &logits, &sure);
    }
    if (e != ERR_OK) {
        return e;
    }
    (void)chat_learn_step(c, l->hidden + (size_t)example * l->dim, logits, token, 1.0f, true);
    if (l->learner.totals.steps != steps) {
        e = look_for_losses(c, &nearby, &loses);
    }
    if (loses) {
        learner_step_back(&l->learner);
    }
    return e;
}

enum err chat_learn_favor(struct chat *c, const struct chat_learn_watch *w)
{
    const struct lessons *l = &lessons_of(c)->lessons;
    enum err e = ERR_OK;

    for (uint32_t i = l->first; i < l->n && e == ERR_OK; i++) {
        e = favor(c, i, w);
    }
    return e;
}

/* Make a token give way. *yields becomes true if another token now wins by a little. */
static enum err yield(struct chat *c, uint32_t example, uint32_t token,
                      const struct chat_learn_watch *w, bool *yields)
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
    e = find_nearby(c, example, w, &nearby);
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

/* Return true if the earlier example is the same place of the same reply, and that reply was rated
 * good at that time. */
static bool is_same_place(const struct lessons *l, uint32_t earlier, uint32_t example)
{
    float cosine = vector_dot(l->hidden + (size_t)earlier * l->dim,
                              l->hidden + (size_t)example * l->dim, l->dim);

    return l->targets[earlier] == (l->targets[example] | LESSONS_SAID) &&
           cosine >= LESSONS_NEAR * l->lengths[earlier] * l->lengths[example];
}

/* Stop watching earlier examples that come from this same reply. */
static void let_go(const struct lessons *l, struct chat_learn_watch *w)
{
    for (uint32_t i = 0; i < l->first; i++) {
        for (uint32_t k = l->first; k < l->n && is_watched(w, i); k++) {
            if (is_same_place(l, i, k)) {
                w->well[i / 8] &= (uint8_t) ~(1u << i % 8);
            }
        }
    }
}

enum err chat_learn_yield(struct chat *c, struct chat_learn_watch *w, uint32_t *yields)
{
    struct lessons *l = &lessons_of(c)->lessons;
    enum err e = ERR_OK;

    *yields = 0;
    let_go(l, w);
    for (uint32_t i = l->first; i < l->n && e == ERR_OK;) {
        bool gives_way = false;

        if (*yields < CHAT_LEARN_YIELDS) {
            e = yield(c, i, l->targets[i], w, &gives_way);
        }
        if (gives_way) {
            w->given_up[(*yields)++] = l->targets[i];
            chat_learn_watch_one(w, i);
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
