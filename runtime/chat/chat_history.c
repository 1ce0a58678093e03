/* What has been said: taking the last turn back, dropping the first ones. */
#include "runtime/chat/chat_private.h"

#include <assert.h>
#include <string.h>

#include "runtime/chat/chat_turn.h"
#include "runtime/chat/reply_text.h"
#include "runtime/console/console.h"

void chat_clear(struct chat *c)
{
    engine_clear(c->engine);
    c->turns.n = 0;
    c->turns.text_bytes = 0;
    c->started = false;
    c->pending = 0;
    c->reply_start = 0;
}

/* Tokens of the conversation, in the cache or pending. */
static uint32_t end_of(const struct chat *c)
{
    return c->engine->kv.length + c->pending;
}

void chat_cut(struct chat *c, uint32_t length, uint32_t pending)
{
    struct engine *e = c->engine;

    e->kv.length = length < e->kv.length ? length : e->kv.length;
    c->pending = length + pending - e->kv.length;
    e->n_ahead = 0;
    e->logits = NULL;
}

const char *chat_piece(const struct chat *c, uint32_t id, uint32_t previous, size_t *bytes)
{
    const struct tokenizer *t = &c->engine->tokenizer;
    const char *text = tokenizer_piece(t, id, previous, bytes);

    if (*bytes == 0 && id < t->head->n_tokens &&
        reply_text_is_mark(tokenizer_text(t, id), tokenizer_text_bytes(t, id))) {
        text = tokenizer_text(t, id);
        *bytes = tokenizer_text_bytes(t, id);
    }
    return text;
}

void chat_cut_reply(struct chat *c, uint64_t bytes, uint64_t shown)
{
    struct engine *e = c->engine;
    uint32_t at = e->kv.length + c->pending;
    struct tokenizer_part part = { "", 0, false };
    size_t n = 0;

    while (bytes > shown) {
        size_t piece;

        at--;
        part.text = chat_piece(c, e->ids[at], at != 0 ? e->ids[at - 1] : INGOT_NO_TOKEN, &piece);
        bytes -= piece;
    }
    part.bytes = (size_t)(shown - bytes);
    if (part.bytes != 0 &&
        tokenizer_encode_parts(&e->tokenizer, &part, 1, TOKENIZER_CONTINUE, e->ids + at,
                               e->kv.context - at, &n, e->scratch, e->scratch_bytes) != ERR_OK) {
        n = 0; /* at the context's very end */
    }
    chat_cut(c, at, (uint32_t)n);
}

bool chat_undo(struct chat *c)
{
    struct turns *t = &c->turns;
    uint32_t start;

    if (t->n == 0) {
        return false;
    }
    start = t->list[t->n - 1].start;
    turns_pop(t);
    if (t->n == 0) { /* or the ones before it are forgotten: they cannot stay without their marks */
        chat_clear(c);
        return true;
    }
    chat_cut(c, start, 0);
    c->reply_start = t->list[t->n - 1].reply;
    return true;
}

enum err chat_retry(struct chat *c)
{
    const struct turns *t = &c->turns;
    const struct turn *last;
    size_t bytes;

    if (t->n == 0) {
        return ERR_NOT_FOUND;
    }
    last = &t->list[t->n - 1];
    bytes = last->bytes < sizeof c->line ? last->bytes : sizeof c->line - 1;
    memcpy(c->line, t->text + last->text, bytes);
    c->line[bytes] = '\0';
    (void)chat_undo(c);
    return chat_reply(c, c->line, bytes, true);
}

/* How many turns to drop: as few as leave half of the context free, and never the last `keep`. */
static unsigned turns_to_drop(const struct chat *c, unsigned keep)
{
    const struct turns *t = &c->turns;
    unsigned n = 0;

    while (n + keep < t->n &&
           (n == 0 || (n < t->n && end_of(c) - t->list[n].start > c->engine->kv.context / 2))) {
        n++;
    }
    return n;
}

/* The first turn that stays is told anew, with the system prompt; all behind it moves up to it. */
bool chat_drop_oldest(struct chat *c, unsigned keep)
{
    struct engine *e = c->engine;
    struct turns *t = &c->turns;
    unsigned n = turns_to_drop(c, keep);
    const struct turn *first = t->list + n;
    uint32_t end = end_of(c), from;
    size_t opening;

    if (n == 0) {
        return false;
    }
    console_log("the context of %u tokens is full: the oldest %s of the conversation %s dropped",
                (unsigned)e->kv.context, n == 1 ? "turn" : "turns", n == 1 ? "is" : "are");
    if (n == t->n) {
        chat_clear(c);
        return true;
    }
    from = first->reply;
    if (chat_encode(c, t->text + first->text, first->bytes, true, true, 0, from, &opening) !=
        ERR_OK) { /* a system prompt that has grown since: no way to keep the rest */
        chat_clear(c);
        return keep == 0;
    }
    memmove(e->ids + opening, e->ids + from, (end - from) * sizeof *e->ids);
    turns_drop(t, n, (uint32_t)opening);
    chat_cut(c, 0, end - from + (uint32_t)opening);
    c->reply_start = t->list[t->n - 1].reply;
    return true;
}
