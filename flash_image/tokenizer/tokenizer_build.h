/* Shared only by the files of the tokenizer section's builder. */
#ifndef INGOT_FLASH_IMAGE_TOKENIZER_BUILD_H
#define INGOT_FLASH_IMAGE_TOKENIZER_BUILD_H

#include "flash_image/source/source.h"

enum {
    TOKENIZER_MOST_TOKEN_BYTES = 65536,
    TOKENIZER_LITERAL = 128, /* a bit of a type while the section is built: excluded from merges */
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

/* A text as it is printed: U+2581 as a space, or for byte-level BPE the bytes that GPT-2's
 * printable characters stand for. out has room for `bytes`. Returns its length; *literal: the text
 * is not spelled like this and was copied unchanged. */
uint32_t tokenizer_spell(enum ingot_tokenizer_kind kind, const uint8_t *text, uint32_t bytes,
                         uint8_t *out, bool *literal);

/* Write the ids of tokens that text may form to sorted[] and head->n_sorted, by text; of equal
 * texts one. The tokens are filled in; TOKENIZER_LITERAL is removed from their types. */
void tokenizer_fill_sorted(struct tokenizer_build *b);

/* The id in sorted[] of a text, or INGOT_NO_TOKEN. */
uint32_t tokenizer_find(const struct tokenizer_build *b, const uint8_t *text, uint32_t bytes);

/* Write rows and entries of the merges at section + at, and struct ingot_merges. *end: the size of
 * the section with them. Errors: ERR_BAD_TOKENIZER. */
enum err tokenizer_fill_merges(struct source *s, struct tokenizer_build *b, uint32_t at,
                               uint64_t *end);

#endif
