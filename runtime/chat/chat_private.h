/* Functions of chat_prompt.c, chat_past.c and chat_history.c for chat_reply.c; no other folder
 * includes it. */
#ifndef INGOT_RUNTIME_CHAT_PRIVATE_H
#define INGOT_RUNTIME_CHAT_PRIVATE_H

#include "runtime/chat/chat.h"

/* Encode one turn (or a plain text) to ids, at most `room`. The first turn has the system
 * prompt; a later one closes the reply before it. Errors as tokenizer_encode_parts. */
enum err chat_encode(struct chat *c, const char *text, size_t bytes, bool as_turn, bool first,
                     uint32_t *ids, uint32_t room, size_t *n);

/* The tokens of a text by itself, without BOS, but with the space that a tokenizer puts in
 * front. */
enum err chat_encode_alone(struct chat *c, const char *text, size_t bytes, uint32_t *ids,
                           uint32_t room, size_t *n);

/* As above, for a turn that has its reply already: in the form that later turns see, without
 * what only opens a coming reply. */
enum err chat_encode_past(struct chat *c, const char *text, size_t bytes, bool first, uint32_t *ids,
                          uint32_t room, size_t *n);

/* A text to be answered. */
struct chat_said {
    const char *text;
    size_t bytes;
    bool as_turn;       /* in the model's template */
    const char *system; /* NULL: the system prompt comes from the options */
    size_t system_bytes;
    bool ignores_options; /* NULL is the template's own system prompt, whatever the options say */
    size_t kept;          /* tokens in front of it that stay; 0: it can begin a conversation */
};

/* Whether it fits the context with room for one token of its reply, after dropping as much of
 * the conversation as possible. Changes nothing. ERR_TOO_LONG: session->error_message has the
 * counts. ERR_NO_SPACE: it has more bytes than can be encoded. */
enum err chat_check_fits(struct chat *c, const struct chat_said *said);

/* The tokens with which every conversation begins at present: at most SESSION_PREFIX_TOKENS, in
 * c->opening.ids. 0: there are none, or too many. */
size_t chat_encode_opening(struct chat *c);

/* Put the turn's tokens after the conversation, and drop the oldest turns if needed, but not the
 * last `keep` (0 or 1); *own: where the turn begins. A quarter of the context is left for the
 * reply if possible, or more if the policy says so. */
enum err chat_put_turn(struct chat *c, const char *text, size_t bytes, unsigned keep,
                       uint32_t *own);

/* The message of chat_check_fits as an error; field: of a request, or NULL. */
void chat_say_too_long(struct chat *c, const char *field);

/* Put a text, or a list of tokens (json_ids.h), as it stands, into an empty context. */
enum err chat_put_text(struct chat *c, const char *text, size_t bytes);
enum err chat_put_list(struct chat *c, const char *list);

/* Call before the next turn: gives the last turn and its reply the form that the template has
 * for past ones, without thoughts. The changed part becomes pending in the session. */
void chat_settle_reply(struct chat *c);

/* Make room by dropping the oldest turns, so that at most half of the context is used, and say
 * so; the last `keep` turns (0 or 1) always stay. The rest is pending in the session. With
 * overflow=sinks, if possible: drop tokens after the first ones, also of the current turn; no
 * further token becomes pending. c->reply_start moves with the reply. False: there is nothing to
 * drop. */
bool chat_drop_oldest(struct chat *c, unsigned keep);

/* Call before the next turn: if turns= is full, drop the older half, so that the rest is not
 * computed again with every turn. */
void chat_keep_turns(struct chat *c);

/* How many tokens of the context may be in use when a turn is put, including the turn. */
uint32_t chat_room(const struct chat *c);

/* The index of the last turn that a person said: features added the turns after it as its
 * consequence. c->turns.n is not 0. */
unsigned chat_question(const struct chat *c);

/* chat_undo for a turn that never was a person's: no feature judges it. */
bool chat_take_back(struct chat *c);

#endif
