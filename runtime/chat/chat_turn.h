/* The strings of a chat template around one turn: what is written between two replies. */
#ifndef INGOT_RUNTIME_CHAT_TURN_H
#define INGOT_RUNTIME_CHAT_TURN_H

#include <stdbool.h>
#include <stddef.h>

#include "flash_image/format/format.h"
#include "runtime/tokenizer/tokenizer.h"

enum { CHAT_TURN_PARTS = 9 };

struct chat_turn {
    const char *text; /* (bytes) the user's */
    size_t bytes;
    bool first;         /* of the conversation; else it closes the reply before it */
    bool no_thinking;   /* where the template can say so */
    const char *system; /* (system_bytes) of the first turn; NULL: the template's own prompt */
    size_t system_bytes;
    bool
        instructed; /* it has the system prompt although it is not the first, where a template has a place for one */
    bool unspoken; /* a reply follows nothing that a person said */
    bool past;     /* its reply is there already, without its thoughts */
};

/* Whether the section has a template at all. */
bool chat_has_template(const struct ingot_chat *chat);

/* Whether a turn ends within the model's thoughts, where it asks for them. */
bool chat_turn_opens_thoughts(const struct ingot_chat *chat);

/* The parts in order, up to where the reply begins; what a person wrote is untrusted. They point
 * into chat and turn. Returns how many there are. */
size_t chat_turn_parts(const struct ingot_chat *chat, const struct chat_turn *turn,
                       struct tokenizer_part parts[CHAT_TURN_PARTS]);

/* The first of these, up to what a person wrote: the same in all conversations of one system prompt. */
size_t chat_turn_opening(const struct ingot_chat *chat, const struct chat_turn *turn,
                         struct tokenizer_part parts[CHAT_TURN_PARTS]);

#endif
