/* /good and /bad: learning from the last reply. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/chat/chat_private.h"
#include "runtime/features/lessons/chat_learn_private.h"

/* Tokens of the reply whose hidden states become examples. */
struct collect {
    struct chat *chat;
    bool good;
    uint32_t most; /* of them */
};

/* Good: take one step towards each token. Bad: add examples, among which chat_learn_yield chooses
 * later. */
static void visit(void *context, uint32_t position, const float *logits)
{
    struct collect *k = context;
    const struct session *s = k->chat->session;
    struct lessons *l = &lessons_of(k->chat)->lessons;
    uint32_t target = position + 1 < s->n_ids ? s->ids[position + 1] : UINT32_MAX;

    if (target >= s->model->image.header->params.vocab) {
        return;
    }
    if (l->n - l->first < k->most) {
        lessons_add(l, k->good ? target | LESSONS_SAID : target);
    }
    if (k->good) {
        (void)chat_learn_step(k->chat, l->last, logits, target, 1.0f, true);
    }
}

/* ---- a /bad must not make other answers worse ------------------------------------------------ */

/* well: how many examples must be well. */
static enum err mend(struct chat *c, uint32_t well, struct chat_lesson *lesson)
{
    uint32_t now = 0;
    bool all = false;
    enum err e = chat_learn_count_well(c, &now);

    while (e == ERR_OK && now < well && lesson->rounds < CHAT_LEARN_MENDS) {
        e = chat_learn_practise(c, &all);
        if (e == ERR_OK) {
            e = chat_learn_count_well(c, &now);
        }
        lesson->rounds++;
    }
    if (e == ERR_OK && now < well) {
        lesson->taken_back = lessons_undo(&lessons_of(c)->lessons);
    }
    return e;
}

/* well: how many examples of earlier lessons were well. */
static enum err give_way(struct chat *c, uint32_t well, struct chat_lesson *lesson)
{
    enum err e = chat_learn_yield(c, &lesson->tokens);

    if (e == ERR_OK && lesson->tokens != 0) {
        return mend(c, well + lesson->tokens, lesson);
    }
    (void)lessons_undo(&lessons_of(c)->lessons); /* no token could be changed */
    return e;
}

/* ---- a rating -------------------------------------------------------------------------------- */

/* Compute the tokens of the reply, and the token before it, again. ids (n): the conversation. */
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

/* Return how many examples of a reply of n tokens are kept, or tried for /bad. */
static uint32_t room_of(struct chat *c, bool good, uint32_t n)
{
    const struct lessons *l = &lessons_of(c)->lessons;
    uint32_t room = min_u32(n, min_u32(l->room / 4, lessons_most(l)));

    /* Few examples of a bad reply stay, so other lessons need not make room for all of them. */
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
    uint32_t first = c->reply_start, n = s->n_ids, before = 0;
    struct collect k = { .chat = c, .good = good };
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
    if (!good) {
        e = chat_learn_count_well(c, &before);
    }
    if (e == ERR_OK) {
        e = go_over(c, lessons_of(c)->kept_ids, first, n, &k);
    }
    lesson->tokens = n - first;
    if (e == ERR_OK && !good) {
        e = give_way(c, before, lesson);
    }
    chat_learn_settle(c, &totals, lesson);
    if (e != ERR_OK) {
        (void)lessons_undo(&lessons_of(c)->lessons);
        session_take_back(s, lessons_of(c)->kept_ids, n, &hash);
    }
    s->hash = hash;
    return e;
}
