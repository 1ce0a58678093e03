/* Which pre-tokenizer a model names. */
#ifndef INGOT_FLASH_IMAGE_PRE_TOKENIZER_H
#define INGOT_FLASH_IMAGE_PRE_TOKENIZER_H

#include "flash_image/source/source.h"

/* The names of GGUF's tokenizer.ggml.pre: *pre, and *flags of models with that name unless the
 * file says otherwise (INGOT_ADD_BOS, INGOT_IGNORE_MERGES). False: the name is not known. */
bool pre_tokenizer_find(struct source_text name, enum ingot_pre *pre, uint32_t *flags);

/* The name of each kind, the one that most files have. pre < INGOT_N_PRES. */
const char *pre_tokenizer_name(enum ingot_pre pre);

/* For a sentence: those names, "gpt-2, llama-bpe, ...". */
const char *pre_tokenizer_names(void);

#endif
