/* A prompt: its tokens, and the wait until they are computed. */
#include "runtime/chat/chat_private.h"

#include "runtime/chat/chat_turn.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

enum err chat_encode(struct chat *c, const char *text, size_t bytes, bool as_turn, bool first,
                     uint32_t *ids, uint32_t room, size_t *n)
{
    struct session *s = c->session;
    const struct options *o = c->options;
    struct chat_turn turn = { text, bytes, first, o->reply.think == THINK_OFF, NULL, 0 };
    struct tokenizer_part parts[CHAT_TURN_PARTS] = { { text, bytes, false } };
    unsigned flags = TOKENIZER_CONTINUE;
    size_t n_parts = 1;

    if (options_given(o, OPTION_SYSTEM)) {
        turn.system = o->reply.system;
        turn.system_bytes = o->reply.system_bytes;
    }
    if (first) {
        flags = TOKENIZER_BOS;
    }
    if (as_turn) {
        n_parts = chat_turn_parts(c->template, &turn, parts);
    }
    return tokenizer_encode_parts(&s->model->tokenizer, parts, n_parts, flags, ids, room, n,
                                  s->scratch.memory, s->scratch.bytes);
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
