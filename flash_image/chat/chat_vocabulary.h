/* Finds, in a vocabulary, the texts of tokens and the tokens that mark turns. Only for the files of
 * the chat section. */
#ifndef INGOT_FLASH_IMAGE_CHAT_VOCABULARY_H
#define INGOT_FLASH_IMAGE_CHAT_VOCABULARY_H

#include <stddef.h>
#include <stdint.h>

#include "flash_image/format/format.h"

struct text {
    const char *data;
    size_t bytes;
};

static inline const struct ingot_tokenizer *head_of(const uint8_t *tokenizer)
{
    return (const void *)tokenizer;
}

/* The text of a token; empty for INGOT_NO_TOKEN. */
struct text chat_token_text(const uint8_t *tokenizer, uint32_t id);

/* The control or USER token with this text, or INGOT_NO_TOKEN. */
uint32_t chat_find_special(const uint8_t *tokenizer, const char *text, size_t bytes);

/* Return the token at the start of a reply's suffix, after spaces. The token must be special, or
 * look like a marker although the file gives it another type. INGOT_NO_TOKEN: there is none. */
uint32_t chat_end_of_turn(const uint8_t *chat, const uint8_t *tokenizer);

#endif
