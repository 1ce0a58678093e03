/* A prompt: its tokens, and the wait until they are computed. */
#include "runtime/chat/chat_private.h"

#include "runtime/chat/chat_act.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

static enum err encode(struct chat *c, const struct tokenizer_part *parts, size_t n_parts,
                       bool first, uint32_t *ids, uint32_t room, size_t *n)
{
    struct session *s = c->session;
    unsigned flags = first ? TOKENIZER_BOS : TOKENIZER_CONTINUE;

    return tokenizer_encode_parts(&s->model->tokenizer, parts, n_parts, flags, ids, room, n,
                                  s->scratch.memory, s->scratch.bytes);
}

static struct chat_turn turn_of(struct chat *c, const char *text, size_t bytes, bool first)
{
    const struct options *o = c->options;
    struct chat_turn turn = {
        .text = text, .bytes = bytes, .first = first, .no_thinking = o->reply.think == THINK_OFF
    };

    if (options_given(o, OPTION_SYSTEM)) {
        turn.system = o->reply.system;
        turn.system_bytes = o->reply.system_bytes;
    }
    chat_tell_actions(c, &turn.system, &turn.system_bytes);
    return turn;
}

enum err chat_encode(struct chat *c, const char *text, size_t bytes, bool as_turn, bool first,
                     uint32_t *ids, uint32_t room, size_t *n)
{
    struct chat_turn turn = turn_of(c, text, bytes, first);
    struct tokenizer_part parts[CHAT_TURN_PARTS] = { { text, bytes, false } };
    size_t n_parts = 1;

    if (as_turn) {
        n_parts = chat_turn_parts(c->template, &turn, parts);
    }
    return encode(c, parts, n_parts, first, ids, room, n);
}

enum err chat_encode_past(struct chat *c, const char *text, size_t bytes, bool first, uint32_t *ids,
                          uint32_t room, size_t *n)
{
    struct chat_turn turn = turn_of(c, text, bytes, first);
    struct tokenizer_part parts[CHAT_TURN_PARTS];

    turn.past = (c->template->flags & INGOT_CHAT_KEEPS_THOUGHTS) == 0;
    return encode(c, parts, chat_turn_parts(c->template, &turn, parts), first, ids, room, n);
}

size_t chat_encode_opening(struct chat *c)
{
    struct chat_turn turn = turn_of(c, "", 0, true);
    struct tokenizer_part parts[CHAT_TURN_PARTS];
    size_t n_parts = chat_turn_opening(c->template, &turn, parts), n;

    if (encode(c, parts, n_parts, true, c->opening, SESSION_PREFIX_TOKENS, &n) != ERR_OK) {
        return 0;
    }
    return n;
}

void chat_wait_begin(struct chat *c, const char *what, uint32_t n_tokens)
{
    c->wait = what;
    c->wait_start = c->session->n_cached;
    c->wait_tokens = n_tokens;
}

/* Asked before every layer. */
bool chat_wait_stop(void *chat)
{
    struct chat *c = chat;
    const struct session *s = c->session;
    const struct transformer *t = &s->model->transformer;
    uint32_t layers = s->model->image.header->params.n_layers;

    if (c->talks) {
        uint32_t done = (t->layer + 1) % layers; /* of a chunk's: this one is next */

        format_text(c->label, sizeof c->label, "%s, layer %u of %u", c->wait, (unsigned)done + 1,
                    (unsigned)layers);
        console_progress_share(c->console, c->label,
                               (uint64_t)(s->n_cached - c->wait_start) * layers +
                                   (uint64_t)t->n_tokens * done,
                               (uint64_t)c->wait_tokens * layers);
    }
    return console_aborted(c->console);
}
