/* Makes the tokenizer section of an .ingot file from a model's vocabulary. */
#ifndef INGOT_FLASH_IMAGE_TOKENIZER_SECTION_H
#define INGOT_FLASH_IMAGE_TOKENIZER_SECTION_H

#include "flash_image/source/source.h"

/* The sizes of a vocabulary's section. */
struct tokenizer_size {
    uint32_t n_tokens;
    uint64_t bytes; /* room for the section; bytes after its exact size are zeros */
};

/* Measure the section, and check texts, scores and types. ERR_BAD_TOKENIZER. */
enum err tokenizer_section_measure(struct source *s, struct tokenizer_size *size);

/* Build the section in `section` (size->bytes, all zero, 8-byte aligned); *bytes: its exact size.
 * tokenizer_section_measure must have accepted the vocabulary. Errors: ERR_BAD_TOKENIZER (a merge
 * of unknown tokens). */
enum err tokenizer_section_build(struct source *s, const struct tokenizer_size *size,
                                 uint8_t *section, uint64_t *bytes);

#endif
