/* A whole conversation in one request: messages of the roles that chat programs use. The session's results
 * for it stay; the tokens are those of the messages in any case, so a reply does not depend on what was
 * there before. */
#ifndef INGOT_RUNTIME_CHAT_MESSAGES_H
#define INGOT_RUNTIME_CHAT_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/options/options.h"

struct chat;
struct chat_said;

enum { CHAT_MESSAGES = 64 };

struct chat_message {
    const char *text;
    uint32_t bytes;
    uint32_t
        said; /* bytes at the end of the text that the request marks as a person's words; 0: none */
    bool is_reply; /* of the assistant; else the user's */
};

struct chat_messages {
    const char *system; /* NULL: none is among them, and the one there is stays */
    unsigned n; /* user, assistant, user, ...: the last is the user's, which wants a reply */
    struct chat_message list[CHAT_MESSAGES];
    const char *error_message; /* after a false of the reader: an error message */
    bool changed_system;       /* by those of an earlier request, from this one: */
    bool had_system;
    char before[OPTIONS_SYSTEM_BYTES];
    size_t before_bytes;
};

/* A list of {"role":...,"content":...,"said":...} as JSON (bytes, and a NUL behind them), which is overwritten and keeps the
 * texts. False: m->error_message says why not. */
bool chat_messages_read(struct chat_messages *m, char *json, size_t bytes);

/* The system prompt of the messages is set, or where they have none that of before any had one. */
void chat_messages_set_system(struct chat *c, struct chat_messages *m);

/* The system prompt that chat_messages_set_system would set, for chat_check_fits: nothing is changed. */
void chat_messages_tell_system(const struct chat_messages *m, struct chat_said *said);

/* All but the last become the conversation, of a model with a template. The oldest turns give way where
 * they do not fit, also a turn that alone does not. Errors of tokenizer_encode_parts but ERR_TOO_LONG; the conversation is
 * what was put then. */
enum err chat_messages_put(struct chat *c, const struct chat_messages *m);

#endif
