/* The strings of a chat template around one turn: everything that is written between two
 * replies. */
#ifndef INGOT_RUNTIME_CHAT_TURN_H
#define INGOT_RUNTIME_CHAT_TURN_H

#include <stdbool.h>
#include <stddef.h>

#include "flash_image/format/format.h"
#include "runtime/tokenizer/tokenizer.h"

enum { CHAT_TURN_PARTS = 9 };

struct chat_turn {
    const char *text; /* (bytes) the user's text */
    size_t bytes;
    bool first;         /* the first turn; a later turn closes the reply before it */
    bool no_thinking;   /* ask for a reply without thoughts, if the template allows that */
    const char *system; /* (system_bytes) of the first turn; NULL: the template's own prompt */
    size_t system_bytes;
    bool instructed; /* the turn has the system prompt although it is not the first one, if
                     * the template allows that */
    bool unspoken;   /* no person said anything before the reply */
    bool past;       /* the turn has its reply already, without thoughts */
};

/* Return true if the section has a template at all. */
bool chat_has_template(const struct ingot_chat *chat);

/* Return true if a turn that asks for thoughts ends with the mark that opens them. */
bool chat_turn_opens_thoughts(const struct ingot_chat *chat);

/* Write the turn's parts in order, up to the beginning of the reply. The person's text is marked
 * untrusted. Parts point into chat and turn. Returns how many there are. */
size_t chat_turn_parts(const struct ingot_chat *chat, const struct chat_turn *turn,
                       struct tokenizer_part parts[CHAT_TURN_PARTS]);

/* Write the parts in front of the person's text. These parts are the same in all conversations with
 * the same system prompt. */
size_t chat_turn_opening(const struct ingot_chat *chat, const struct chat_turn *turn,
                         struct tokenizer_part parts[CHAT_TURN_PARTS]);

/* Return the text of an earlier turn's reply as the template writes it, marked untrusted: without
 * thoughts and white space that the template removes. The part points into `text`. */
struct tokenizer_part chat_turn_reply(const struct ingot_chat *chat, const char *text,
                                      size_t bytes);

#endif
