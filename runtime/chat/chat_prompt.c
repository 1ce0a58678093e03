/* Make the tokens of a prompt, and wait until they are computed. */
#include "runtime/chat/chat_private.h"

#include "board/min_max.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/console/console.h"
#include "runtime/features/feature.h"
#include "runtime/session/session_rope.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

static enum err encode(struct chat *c, const struct tokenizer_part *parts, size_t n_parts,
                       bool first, uint32_t *ids, uint32_t room, size_t *n)
{
    struct session *s = c->session;
    unsigned flags = first ? TOKENIZER_BOS : TOKENIZER_CONTINUE;

    return tokenizer_encode_parts(&s->model->tokenizer, parts, n_parts, flags, ids, room, n,
                                  s->scratch.memory, s->scratch.bytes);
}

/* If system is NULL, use the template's own prompt. */
static struct chat_turn turn_under(struct chat *c, const char *system, size_t system_bytes,
                                   const char *text, size_t bytes, bool first)
{
    struct chat_turn turn = { .text = text,
                              .bytes = bytes,
                              .system = system,
                              .system_bytes = system_bytes,
                              .first = first,
                              .no_thinking = c->options->reply.think == THINK_OFF };

    features_system(c->features, c, &turn.system, &turn.system_bytes);
    return turn;
}

static struct chat_turn turn_of(struct chat *c, const char *text, size_t bytes, bool first)
{
    const struct options *o = c->options;
    bool given = options_given(o, OPTION_SYSTEM);

    return turn_under(c, given ? o->reply.system : NULL, given ? o->reply.system_bytes : 0, text,
                      bytes, first);
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

enum err chat_encode_alone(struct chat *c, const char *text, size_t bytes, uint32_t *ids,
                           uint32_t room, size_t *n)
{
    struct session *s = c->session;

    return tokenizer_encode(&s->model->tokenizer, text, bytes, TOKENIZER_PLAIN, ids, room, n,
                            s->scratch.memory, s->scratch.bytes);
}

enum err chat_encode_past(struct chat *c, const char *text, size_t bytes, bool first, uint32_t *ids,
                          uint32_t room, size_t *n)
{
    struct chat_turn turn = turn_of(c, text, bytes, first);
    struct tokenizer_part parts[CHAT_TURN_PARTS];

    turn.past = (c->template->flags & INGOT_CHAT_KEEPS_THOUGHTS) == 0;
    return encode(c, parts, chat_turn_parts(c->template, &turn, parts), first, ids, room, n);
}

/* Count the tokens of the text in front of a reply, with the template around it. */
static enum err count(struct chat *c, const struct chat_said *said, const char *text, size_t bytes,
                      size_t *n)
{
    const struct options *o = c->options;
    struct session *s = c->session;
    bool given = said->system == NULL && !said->ignores_options && options_given(o, OPTION_SYSTEM);
    const char *system = given ? o->reply.system : said->system;
    size_t system_bytes = given ? o->reply.system_bytes : said->system_bytes;
    struct chat_turn turn = turn_under(c, system, system_bytes, text, bytes, said->kept == 0);
    struct tokenizer_part parts[CHAT_TURN_PARTS] = { { text, bytes, false } };
    size_t n_parts = said->as_turn ? chat_turn_parts(c->template, &turn, parts) : 1;

    return tokenizer_count_parts(&s->model->tokenizer, parts, n_parts,
                                 said->kept == 0 ? TOKENIZER_BOS : TOKENIZER_CONTINUE, n,
                                 s->scratch.memory, s->scratch.bytes);
}

enum err chat_check_fits(struct chat *c, const struct chat_said *said)
{
    struct session *s = c->session;
    bool drops = c->options->reply.overflow == OVERFLOW_SINKS; /* overflow=sinks also drops parts of
                                                                * a prompt */
    size_t most = s->context - !drops, whole, around, room;
    enum err e = count(c, said, said->text, said->bytes, &whole);

    if (e != ERR_OK || said->kept + whole <= most) {
        return e;
    }
    e = count(c, said, "", 0, &around);
    if (e != ERR_OK) {
        return e;
    }
    around = min_size(around, whole);
    room = most - min_size(most, said->kept + around);
    format_text(s->error_message, sizeof s->error_message,
                "the prompt does not fit the context: it has %lu %s, and there is room for %lu of "
                "%u%s; %s, or raise ctx=",
                (unsigned long)(whole - around),
                plural((unsigned long)(whole - around), "token", "tokens"), (unsigned long)room,
                (unsigned)s->context, said->as_turn ? " after the system prompt" : "",
                room != 0 ? "shorten it" : "shorten the system prompt");
    return ERR_TOO_LONG;
}

size_t chat_encode_opening(struct chat *c)
{
    struct chat_turn turn = turn_of(c, "", 0, true);
    struct tokenizer_part parts[CHAT_TURN_PARTS];
    size_t n_parts = chat_turn_opening(c->template, &turn, parts), n;

    if (encode(c, parts, n_parts, true, c->opening.ids, SESSION_PREFIX_TOKENS, &n) != ERR_OK) {
        return 0;
    }
    return n;
}

void chat_wait_begin(struct chat *c, const char *what, uint32_t n_tokens)
{
    session_rope_settle(c->session); /* settle now, so that the count of cached tokens only grows
                                      * during the wait */
    c->wait.what = what;
    c->wait.start = c->session->n_cached;
    c->wait.n = n_tokens == CHAT_WAIT_PENDING ? c->session->n_ids - c->session->n_cached : n_tokens;
}

/* Show the progress of the wait; return true to stop it. Called before every layer. */
bool chat_wait_stop(void *chat)
{
    struct chat *c = chat;
    const struct session *s = c->session;
    const struct transformer *t = &s->model->transformer;
    uint32_t layers = s->model->image.header->params.n_layers;

    if (c->wait.is_shown) {
        uint32_t done = (t->layer + 1) % layers; /* how many layers of the current chunk are done */

        format_text(c->wait.label, sizeof c->wait.label, "%s, layer %u of %u", c->wait.what,
                    (unsigned)done + 1, (unsigned)layers);
        console_progress_share(c->console, c->wait.label,
                               (uint64_t)(s->n_cached - c->wait.start) * layers +
                                   (uint64_t)t->n_tokens * done,
                               (uint64_t)c->wait.n * layers);
    }
    return console_aborted(c->console);
}
