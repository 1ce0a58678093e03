/* llama2.c checkpoints (karpathy/llama2.c, export.py), versions 0, 1 and 2, and their
 * tokenizers. */
#ifndef INGOT_FLASH_IMAGE_LLAMA2C_H
#define INGOT_FLASH_IMAGE_LLAMA2C_H

#include "flash_image/source/source.h"

/* Parse a file of `bytes` bytes at data into *s, whose path is set and whose rest is zero; the
 * vocabulary stays empty. Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED; s->error_message says why. */
enum err llama2c_parse(struct source *s, const uint8_t *data, size_t bytes);

/* Read a llama2.c tokenizer file of `bytes` bytes at data, for a model of n_tokens tokens; path is
 * for error messages. Errors: ERR_BAD_TOKENIZER. */
enum err llama2c_parse_vocab(struct source *s, const char *path, const uint8_t *data, size_t bytes,
                             uint32_t n_tokens);

#endif
