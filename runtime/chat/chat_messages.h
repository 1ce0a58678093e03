/* A whole conversation in one request, as messages with the roles that chat programs use. The part
 * that the session has already computed is used again. The tokens depend only on the messages, so a
 * reply does not depend on earlier requests. */
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
    bool is_reply; /* true: from the assistant; false: from the user */
};

struct chat_messages {
    const char *system; /* system prompt; NULL: no message sets it; see chat_messages_set_system */
    unsigned n;         /* user, assistant, ..., user: the user's last message wants a reply */
    struct chat_message list[CHAT_MESSAGES];
    const char *error_message; /* why the reader failed */
    bool changed_system;       /* messages replaced the system prompt, which is saved
                                * here: */
    bool had_system;
    char before[OPTIONS_SYSTEM_BYTES];
    size_t before_bytes;
};

/* Read a list of {"role":...,"content":...,"said":...} as JSON (bytes, followed by a NUL), which
 * is overwritten and keeps the texts. If that fails, m->error_message says why. */
bool chat_messages_read(struct chat_messages *m, char *json, size_t bytes);

/* Set the system prompt of the messages. If the messages have none, restore the system prompt from
 * before any messages. */
void chat_messages_set_system(struct chat *c, struct chat_messages *m);

/* For chat_check_fits: write to *said the system prompt that chat_messages_set_system would
 * set. */
void chat_messages_tell_system(const struct chat_messages *m, struct chat_said *said);

/* Turn all messages except the last one into the conversation. The model must have a template. If
 * the messages do not fit, the oldest turns are dropped; a turn that is too long by itself is
 * dropped, too. Returns errors of tokenizer_encode_parts except ERR_TOO_LONG; the turns that were
 * put before the error stay. */
enum err chat_messages_put(struct chat *c, const struct chat_messages *m);

#endif
