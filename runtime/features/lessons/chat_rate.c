/* /good and /bad: learning from the last reply. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/chat/chat_private.h"
#include "runtime/features/lessons/chat_learn_private.h"

/* The reply's tokens whose hidden states become examples. */
struct collect {
    struct chat *chat;
    bool good;
    uint32_t most; /* the most examples */
    struct chat_learn_watch *watch;
};

static uint32_t find_winner(const float *logits, uint32_t vocab)
{
    uint32_t winner = 0;

    for (uint32_t id = 1; id < vocab; id++) {
        winner = logits[id] > logits[winner] ? id : winner;
    }
    return winner;
}

/* Only make examples. chat_learn_favor and chat_learn_yield take the steps. */
static void visit(void *context, uint32_t position, const float *logits)
{
    struct collect *k = context;
    const struct session *s = k->chat->session;
    struct lessons *l = &lessons_of(k->chat)->lessons;
    uint32_t target = position + 1 < s->n_ids ? s->ids[position + 1] : UINT32_MAX;
    uint32_t vocab = s->model->image.header->params.vocab;

    if (target >= vocab) {
        return;
    }
    if (l->n - l->first < k->most) {
        lessons_add(l, k->good ? target | LESSONS_SAID : target);
        if (k->good && find_winner(logits, vocab) == target) {
            chat_learn_watch_one(k->watch, l->n - 1);
        }
    }
}

/* ---- a rating must not make other answers worse ---------------------------------------------- */

/* Keep the first half of the places of a bad reply; chat_learn_hold repeats their steps. */
static void halve_places(struct lessons *l, struct chat_lesson *lesson)
{
    lesson->tokens /= 2;
    lesson->halvings++;
    while (l->n - l->first > lesson->tokens) {
        lessons_drop(l, l->n - 1);
    }
    learner_restart(&l->learner);
}

/* After the steps of a bad reply, let watched examples regain their tokens and practise taught
 * answers, in turn. *lost becomes the number of examples that are not well yet. */
static enum err mend(struct chat *c, const struct chat_learn_watch *w, struct chat_lesson *lesson,
                     uint32_t *lost)
{
    bool all;
    enum err e = chat_learn_hold(c, w, lost);

    for (int i = 0; i < CHAT_LEARN_MENDS && e == ERR_OK && *lost != 0; i++) {
        e = chat_learn_practise(c, &all);
        e = e == ERR_OK ? chat_learn_hold(c, w, lost) : e;
        lesson->rounds++;
    }
    return e;
}

/* Drop the examples of a good reply that have lost their token. The gate is then shut at these
 * examples, so the same tokens win as before the lesson. */
static enum err drop_lost(struct chat *c, const struct chat_learn_watch *w)
{
    struct lessons *l = &lessons_of(c)->lessons;
    enum err e = ERR_OK;

    for (uint32_t i = l->n; i-- > l->first && e == ERR_OK;) {
        uint32_t lost = 0;

        e = chat_learn_count_lost(c, w, i, i + 1, &lost);
        if (e == ERR_OK && lost != 0) {
            lessons_drop(l, i);
        }
    }
    return e;
}

/* Take the steps towards a good reply, and shorten them until no earlier example has lost its
 * token. Half of the change still favours the reply. If even a small part of the change makes other
 * examples lose their tokens, take no step and only watch the reply. */
static enum err hold_back(struct chat *c, const struct chat_learn_watch *w,
                          struct chat_lesson *lesson)
{
    struct lessons *l = &lessons_of(c)->lessons;
    uint32_t lost = 1;
    enum err e = chat_learn_favor(c, w);

    for (int i = 0; i < CHAT_LEARN_REGAINS && e == ERR_OK && lost != 0; i++) {
        e = chat_learn_hold(c, w, &lost);
    }
    e = e == ERR_OK ? chat_learn_count_lost(c, w, 0, l->first, &lost) : e;
    while (e == ERR_OK && lost != 0 && lesson->halvings < CHAT_LEARN_HALVINGS) {
        learner_halve(&l->learner);
        lesson->halvings++;
        e = chat_learn_count_lost(c, w, 0, l->first, &lost);
    }
    if (lost != 0) {
        learner_restart(&l->learner);
        lesson->only_watched = true;
    }
    e = e == ERR_OK && l->gated ? drop_lost(c, w) : e;
    if (e == ERR_OK && l->n == l->first) {
        lesson->taken_back = lessons_undo(l);
    }
    return e;
}

/* Let tokens of a bad reply give way. If other examples do not regain their tokens, let half as
 * many give way, and so on. If even one token that gives way makes others lose theirs, undo
 * everything. */
static enum err give_way(struct chat *c, struct chat_learn_watch *w, struct chat_lesson *lesson)
{
    struct lessons *l = &lessons_of(c)->lessons;
    uint32_t lost = 0;
    enum err e = chat_learn_yield(c, w, &lesson->tokens);

    if (e != ERR_OK || lesson->tokens == 0) {
        (void)lessons_undo(l); /* there was nothing to learn */
        return e;
    }
    e = mend(c, w, lesson, &lost);
    while (e == ERR_OK && lost != 0 && lesson->tokens > 1) {
        halve_places(l, lesson);
        e = mend(c, w, lesson, &lost);
    }
    if (e == ERR_OK && lost != 0) {
        lesson->taken_back = lessons_undo(l);
    }
    return e;
}

/* ---- a rating -------------------------------------------------------------------------------- */

/* Compute the reply's tokens and the token before them again. ids (n): the conversation. */
static enum err go_over(struct chat *c, const uint32_t *ids, uint32_t first, uint32_t n,
                        struct collect *k)
{
    struct session *s = c->session;
    enum err e = ERR_OK;

    (void)session_cut(s, first - 1);
    if (s->n_ids != 0 && s->n_cached < s->n_ids) {
        e = session_run(s, NULL);
    }
    return e == ERR_OK ? session_append_visit(s, ids + first - 1, n - first + 1, visit, k) : e;
}

/* Return how many examples of a reply of n tokens are kept or, for /bad, tried. */
static uint32_t room_of(struct chat *c, bool good, uint32_t n)
{
    const struct lessons *l = &lessons_of(c)->lessons;
    uint32_t room = min_u32(n, min_u32(l->room / 4, lessons_most(l)));

    /* A bad reply keeps few examples, so other lessons need not make room for all. */
    return good ? room : min_u32(room, max_u32(l->room - l->n, CHAT_LEARN_LOOKED));
}

static void begin(struct chat *c, bool good, uint32_t room)
{
    const struct turns *t = &c->turns;
    static const struct turn none;
    const struct turn *last = t->n != 0 ? &t->list[t->n - 1] : &none;

    lessons_begin(&lessons_of(c)->lessons, room, good ? LESSON_GOOD : LESSON_BAD,
                  t->text + last->text, last->bytes, chat_learn_now(c));
}

enum err chat_learn_rate(struct chat *c, bool good, struct chat_lesson *lesson)
{
    struct session *s = c->session;
    struct session_hash hash = s->hash;
    struct learner_totals totals = lessons_of(c)->lessons.learner.totals;
    uint32_t first = c->reply_start, n = s->n_ids;
    struct chat_learn_watch watch;
    struct collect k = { .chat = c, .good = good, .watch = &watch };
    enum err e;

    memset(lesson, 0, sizeof *lesson);
    if (!c->started || first == 0 || first >= n) {
        return ERR_NOT_FOUND;
    }
    k.most = room_of(c, good, n - first);
    e = chat_learn_find_room(c, k.most, good ? LESSON_GOOD : LESSON_BAD, lesson);
    if (e != ERR_OK) {
        return e;
    }
    session_forget_guesses(s);
    memcpy(lessons_of(c)->kept_ids, s->ids, n * sizeof *s->ids);
    begin(c, good, k.most);
    e = chat_learn_watch(c, &watch);
    if (e == ERR_OK) {
        e = go_over(c, lessons_of(c)->kept_ids, first, n, &k);
    }
    lesson->tokens = n - first;
    chat_learn_begin(c);
    if (e == ERR_OK) {
        e = good ? hold_back(c, &watch, lesson) : give_way(c, &watch, lesson);
    }
    chat_learn_settle(c, &totals, lesson);
    if (e != ERR_OK) {
        (void)lessons_undo(&lessons_of(c)->lessons);
        session_take_back(s, lessons_of(c)->kept_ids, n, &hash);
    }
    s->hash = hash;
    return e;
}
