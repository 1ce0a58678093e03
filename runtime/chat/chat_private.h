/* Functions that the files of this folder share; outside this folder, only features include this
 * header. */
#ifndef INGOT_RUNTIME_CHAT_PRIVATE_H
#define INGOT_RUNTIME_CHAT_PRIVATE_H

#include "runtime/chat/chat.h"

/* Encode one turn (or a plain text) to ids, at most `room`. The first turn has the system
 * prompt; a later one closes the reply before it. Returns errors of tokenizer_encode_parts. */
enum err chat_encode(struct chat *c, const char *text, size_t bytes, bool as_turn, bool first,
                     uint32_t *ids, uint32_t room, size_t *n);

/* Encode a text by itself, without BOS, but with the space that a tokenizer puts in front. */
enum err chat_encode_alone(struct chat *c, const char *text, size_t bytes, uint32_t *ids,
                           uint32_t room, size_t *n);

/* Like chat_encode, for a turn that has its reply already. The turn gets the form for past turns,
 * without the strings that open a new reply. */
enum err chat_encode_past(struct chat *c, const char *text, size_t bytes, bool first, uint32_t *ids,
                          uint32_t room, size_t *n);

/* A text that the model is to answer. */
struct chat_said {
    const char *text;
    size_t bytes;
    bool as_turn;       /* in the model's template */
    const char *system; /* NULL: the system prompt comes from the options */
    size_t system_bytes;
    bool ignores_options; /* if system is NULL, use the system prompt of the template, not of the
                           * options */
    size_t kept;          /* number of tokens that must stay in front of the text; 0: the text can
                           * begin a conversation */
};

/* Check that the text and one token of its reply fit the context once all turns that may be dropped
 * are dropped. Changes nothing. ERR_TOO_LONG: c->session->error_message gives the numbers of
 * tokens. ERR_NO_SPACE: the text has more bytes than can be encoded. */
enum err chat_check_fits(struct chat *c, const struct chat_said *said);

/* Write to c->opening.ids the tokens with which every conversation now begins. Returns how many, at
 * most SESSION_PREFIX_TOKENS, or 0 if there are none or too many. */
size_t chat_encode_opening(struct chat *c);

/* Put the turn's tokens after the conversation. If needed, drop the oldest turns, but never the
 * last `keep` (0 or 1). Sets *own to the offset of the turn. A quarter of the context is left for
 * the reply if possible, or more if a feature asks for more. */
enum err chat_put_turn(struct chat *c, const char *text, size_t bytes, unsigned keep,
                       uint32_t *own);

/* Print the message of chat_check_fits as an error; field: field of a request, or NULL. */
void chat_say_too_long(struct chat *c, const char *field);

/* Put a text, or a list of tokens (json_ids.h), as it stands, into an empty context. */
enum err chat_put_text(struct chat *c, const char *text, size_t bytes);
enum err chat_put_list(struct chat *c, const char *list);

/* Call before the next turn. The call gives the last turn and its reply the template's form for
 * past turns, without thoughts. The changed part becomes pending in the session. */
void chat_settle_reply(struct chat *c);

/* Make room by dropping the oldest turns, so that at most half of the context is used, and log
 * this; the last `keep` turns (0 or 1) always stay. The turns that stay become pending. With
 * overflow=sinks, if possible: keep the first few tokens and drop the oldest after them, even of
 * the current turn; then no further token becomes pending. c->reply_start moves with the reply.
 * Returns false if there is nothing to drop. */
bool chat_drop_oldest(struct chat *c, unsigned keep);

/* Call before the next turn: if turns= is full, drop the older half, so that the rest is not
 * computed again with every turn. */
void chat_keep_turns(struct chat *c);

/* Return how many tokens of the context may be in use when a turn is put, including the turn. */
uint32_t chat_room(const struct chat *c);

/* Return the index of the last turn that a person said. Any later turns were added by features in
 * response to that turn. c->turns.n is not 0. */
unsigned chat_question(const struct chat *c);

/* Like chat_undo, but for a turn that no person said, so features do not judge the turn. */
bool chat_take_back(struct chat *c);

#endif
