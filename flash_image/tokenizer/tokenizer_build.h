/* Shared only by the files of the tokenizer section's builder. */
#ifndef INGOT_FLASH_IMAGE_TOKENIZER_BUILD_H
#define INGOT_FLASH_IMAGE_TOKENIZER_BUILD_H

#include "flash_image/source/source.h"

enum {
    TOKENIZER_MOST_TOKEN_BYTES = 65536,
    TOKENIZER_LITERAL = 128, /* additional bit of a token's type while the section is built: no
                                merge may use it */
};

/* The arrays of the section under construction. */
struct tokenizer_build {
    uint8_t *section;
    struct ingot_tokenizer *head;
    uint32_t *text_offsets;
    float *scores;
    uint8_t *types;
    uint32_t *byte_tokens;
    uint8_t *text;
    uint32_t *sorted;
};

/* Write a text as it is printed: U+2581 becomes a space; in byte-level BPE, GPT-2's printable
 * characters become the bytes for which they stand. out has room for `bytes`. Returns the length.
 * If the text is not spelled like this, it is copied unchanged, and *literal is true. */
uint32_t tokenizer_spell(enum ingot_tokenizer_kind kind, const uint8_t *text, uint32_t bytes,
                         uint8_t *out, bool *literal);

/* Fill sorted[] and head->n_sorted with the ids of tokens that text may form, sorted by text; equal
 * texts have one id. Tokens must be filled in; TOKENIZER_LITERAL is removed from their types. */
void tokenizer_fill_sorted(struct tokenizer_build *b);

/* Find the id of a text in sorted[], or return INGOT_NO_TOKEN. */
uint32_t tokenizer_find(const struct tokenizer_build *b, const uint8_t *text, uint32_t bytes);

/* Write struct ingot_merges, and the merges' rows and entries at section + at. Set *end to the size
 * of the section up to their end. Errors: ERR_BAD_TOKENIZER. */
enum err tokenizer_fill_merges(struct source *s, struct tokenizer_build *b, uint32_t at,
                               uint64_t *end);

#endif
