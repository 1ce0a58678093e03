/* The turns of a conversation: take the last turn back, drop the first ones. */
#include "runtime/chat/chat_private.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/console/console.h"
#include "runtime/features/feature.h"
#include "runtime/session/session_drop.h"

enum { NEWEST = KV_TILE / 2 }; /* least number of tokens that stay after the sinks */

void chat_clear(struct chat *c)
{
    if (c->session != NULL) {
        session_clear(c->session);
    }
    c->turns.n = 0;
    c->turns.text_bytes = 0;
    c->started = false;
    c->reply_start = 0;
    features_cleared(c->features, c);
}

void chat_forget(struct chat *c)
{
    c->program.messages.system = NULL;
    chat_messages_set_system(c, &c->program.messages);
    chat_clear(c);
}

void chat_weights_changed(struct chat *c)
{
    session_weights_changed(c->session);
    features_weights_changed(c->features, c);
}

unsigned chat_question(const struct chat *c)
{
    const struct turns *t = &c->turns;
    unsigned i = t->n - 1;

    while (i != 0 && features_is_led(c->features, t->text + t->list[i].text, t->list[i].bytes)) {
        i--;
    }
    return i;
}

bool chat_undo(struct chat *c)
{
    if (c->turns.n == 0) {
        return false;
    }
    features_undone(c->features, c);
    return chat_take_back(c);
}

bool chat_take_back(struct chat *c)
{
    struct turns *t = &c->turns;
    uint32_t start;

    if (t->n == 0) {
        return false;
    }
    for (unsigned question = chat_question(c); t->n > question + 1;) {
        turns_pop(t); /* first pop the turns that followed from the question */
    }
    start = t->list[t->n - 1].start;
    turns_pop(t);
    if (t->n == 0) { /* if no turn stays, drop everything: text without its marks cannot stay */
        chat_clear(c);
        return true;
    }
    (void)session_cut(c->session, start);
    c->reply_start = t->list[t->n - 1].reply;
    return true;
}

uint32_t chat_room(const struct chat *c)
{
    return features_room(c->features, c, c->session->context / 4 * 3);
}

/* Return the smallest number of turns to drop so that half of the context is free; the last `keep`
 * stay. */
static unsigned turns_to_drop(const struct chat *c, unsigned keep)
{
    const struct session *s = c->session;
    const struct turns *t = &c->turns;
    uint32_t most = min_u32(s->context / 2, chat_room(c));
    unsigned n = 0;

    while (n + keep < t->n && (n == 0 || (n < t->n && s->n_ids - t->list[n].start > most))) {
        n++;
    }
    return n;
}

/* Again encode the first turn that is kept, now with the system prompt. Everything after this turn
 * moves up. */
static bool retell(struct chat *c, const struct turn *first, bool past, size_t *opening)
{
    struct session *s = c->session;
    uint32_t from = first->reply, n = s->n_ids - from;
    const char *said = c->turns.text + first->text;
    enum err e;

    (void)session_cut(s, 0); /* the ids stay in memory */
    if (past) {
        e = chat_encode_past(c, said, first->bytes, true, s->ids, from, opening);
    } else {
        e = chat_encode(c, said, first->bytes, true, true, s->ids, from, opening);
    }
    if (e != ERR_OK) {
        return false; /* the system prompt is longer now, so the rest cannot be kept */
    }
    memmove(s->ids + *opening, s->ids + from, n * sizeof *s->ids);
    return session_put(s, s->ids, *opening + n) == ERR_OK;
}

/* Return how many of the first tokens always stay: the tiles with the conversation's opening, or,
 * if that leaves too little room, the first tile. */
static uint32_t count_sinks(struct chat *c)
{
    const struct session *s = c->session;
    uint32_t opening = min_u32((uint32_t)chat_encode_opening(c), s->n_ids), n = 0, tiles;

    while (n < opening && c->opening.ids[n] == s->ids[n]) {
        n++;
    }
    tiles = max_u32((n + KV_TILE - 1) / KV_TILE, 1);
    return tiles * KV_TILE <= s->context / 4 ? tiles * KV_TILE : KV_TILE;
}

/* Drop whole tiles between the sinks and the newest tokens: half of all tokens, if there are that
 * many. Because the step is large, few keys are rotated twice. Returns false if turns must be
 * dropped instead. */
static bool drop_middle(struct chat *c, unsigned keep)
{
    struct session *s = c->session;
    const char *error_message = session_drop_error_message(s);
    uint32_t sinks, most, n;

    if (error_message != NULL) {
        console_log(c->console, "overflow=sinks does not work with this model: %s", error_message);
        return false;
    }
    sinks = count_sinks(c);
    most = s->n_ids - min_u32(s->n_ids, sinks + NEWEST);
    n = min_u32((s->n_ids / 2 + KV_TILE - 1) / KV_TILE, most / KV_TILE) * KV_TILE;
    if (n == 0) {
        return false;
    }
    console_log(c->console,
                "the context of %u tokens is full: %u tokens after the first %u are dropped",
                (unsigned)s->context, (unsigned)n, (unsigned)sinks);
    session_drop(s, sinks, n);
    turns_cut_out(&c->turns, sinks, n, keep);
    c->reply_start = turns_moved(c->reply_start, sinks, n);
    return true;
}

/* Drop the first n > 0 turns. Returns false if the last `keep` turns should have stayed, but all
 * turns were dropped. */
static bool drop_turns(struct chat *c, unsigned n, unsigned keep)
{
    struct turns *t = &c->turns;
    size_t opening;

    if (n == t->n) {
        chat_clear(c);
        return true;
    }
    if (!retell(c, t->list + n, keep == 0 || n + 1 < t->n, &opening)) {
        chat_clear(c);
        return keep == 0;
    }
    turns_drop(t, n, (uint32_t)opening);
    c->reply_start = t->list[t->n - 1].reply;
    return true;
}

bool chat_drop_oldest(struct chat *c, unsigned keep)
{
    unsigned n = turns_to_drop(c, keep);

    if (c->options->reply.overflow == OVERFLOW_SINKS && drop_middle(c, keep)) {
        return true;
    }
    if (n == 0 && (keep != 0 || c->session->n_ids == 0)) {
        return false;
    }
    if (n == 0) { /* tokens outside any turn: a text without a template, or what overflow=sinks
                   * left */
        console_log(c->console, "the context of %u tokens is full: a new conversation begins",
                    (unsigned)c->session->context);
        chat_clear(c);
        return true;
    }
    console_log(c->console,
                "the context of %u tokens is full: the oldest %s of the conversation %s dropped",
                (unsigned)c->session->context, n == 1 ? "turn" : "turns", n == 1 ? "is" : "are");
    return drop_turns(c, n, keep);
}

void chat_keep_turns(struct chat *c)
{
    uint32_t most = c->options->reply.turns;

    if (most != 0 && c->turns.n >= most) {
        (void)drop_turns(c, c->turns.n - most / 2, 0);
    }
}
