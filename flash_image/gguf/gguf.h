/* GGUF versions 2 and 3 (ggml, docs/gguf.md). */
#ifndef INGOT_FLASH_IMAGE_GGUF_H
#define INGOT_FLASH_IMAGE_GGUF_H

#include "flash_image/source/source.h"

/* The file begins as a GGUF does. */
bool gguf_is(const uint8_t *data, size_t bytes);

/* Parse the file's bytes bytes at data into *s, whose path is set and whose rest is zero. s points
 * into data from then on. vocab_only: stop when the vocabulary is known.
 * Errors: ERR_BAD_MODEL, ERR_BAD_TOKENIZER, ERR_UNSUPPORTED; s->problem says what. */
enum err gguf_parse(struct source *s, const uint8_t *data, size_t bytes, bool vocab_only);

#endif
