/* Functions of chat_prompt.c, chat_past.c and chat_history.c for chat_reply.c; nobody else includes it. */
#ifndef INGOT_RUNTIME_CHAT_PRIVATE_H
#define INGOT_RUNTIME_CHAT_PRIVATE_H

#include "runtime/chat/chat.h"

/* The tokens of one turn (or of a plain text) to ids, at most `room`. The first turn has the system
 * prompt; another one closes the reply before it. Errors as tokenizer_encode_parts. */
enum err chat_encode(struct chat *c, const char *text, size_t bytes, bool as_turn, bool first,
                     uint32_t *ids, uint32_t room, size_t *n);

/* The tokens of a text by itself, without BOS: with the space in front that a tokenizer puts there. */
enum err chat_encode_alone(struct chat *c, const char *text, size_t bytes, uint32_t *ids,
                           uint32_t room, size_t *n);

/* The same for a turn whose reply is there already: as later turns have it, without what only a reply
 * to come begins with. */
enum err chat_encode_past(struct chat *c, const char *text, size_t bytes, bool first, uint32_t *ids,
                          uint32_t room, size_t *n);

/* A text to be answered. */
struct chat_said {
    const char *text;
    size_t bytes;
    bool as_turn;       /* in the model's template */
    const char *system; /* NULL: the system prompt is as the options say */
    size_t system_bytes;
    bool ignores_options; /* NULL is the template's own system prompt, whatever the options say */
    size_t kept;          /* tokens in front of it that stay; 0: it can begin a conversation */
};

/* Whether it fits the context with room for a token of its reply, once all of the conversation that can give way is gone.
 * Nothing is changed. ERR_TOO_LONG: session->error_message has the counts. ERR_NO_SPACE: it has more bytes than can be encoded. */
enum err chat_check_fits(struct chat *c, const struct chat_said *said);

/* The tokens that every conversation begins with, as it is told now: at most SESSION_PREFIX_TOKENS, in
 * c->opening.ids. 0: there are none, or too many. */
size_t chat_encode_opening(struct chat *c);

/* The turn's tokens after the conversation, the oldest of which gives way, but not the last `keep` (0 or 1)
 * turns; *own: where they begin. A quarter of the context is left for the reply where that is possible, or
 * more as the policy has it. */
enum err chat_put_turn(struct chat *c, const char *text, size_t bytes, unsigned keep,
                       uint32_t *own);

/* The error message of chat_check_fits as an error; field: of a request, NULL: of none. */
void chat_say_too_long(struct chat *c, const char *field);

/* A text, or a list of tokens (json_ids.h), as it stands, from an empty context. */
enum err chat_put_text(struct chat *c, const char *text, size_t bytes);
enum err chat_put_list(struct chat *c, const char *list);

/* Before the next turn: the last one and its reply become what the template has of past ones,
 * without thoughts. The changed part is pending in the session. */
void chat_settle_reply(struct chat *c);

/* Make room by dropping the oldest turns, so that half of the context at most is taken, and say
 * so; the last `keep` turns (0 or 1) stay in any case. The rest is pending in the session. With
 * overflow=sinks, where that can be: by dropping tokens from after the first ones on, also of the turn
 * at work; nothing is pending that was not. c->reply_start moves with the reply.
 * False: there is nothing to drop. */
bool chat_drop_oldest(struct chat *c, unsigned keep);

/* Before the next turn: where turns= is full, the older half goes, so that what stays is not computed again with
 * every turn. */
void chat_keep_turns(struct chat *c);

/* How many tokens of the context may be taken when a turn is put, the turn's included. */
uint32_t chat_room(const struct chat *c);

/* The place among the turns of the last one that somebody said: those after it are of features, which it led to. c->turns.n is
 * not 0. */
unsigned chat_question(const struct chat *c);

/* chat_undo of a turn that was never the person's: nothing judges it. */
bool chat_take_back(struct chat *c);

#endif
