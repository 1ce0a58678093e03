/* A whole text of the user in memory, and its tokens. */
#ifndef INGOT_HOST_HOST_TEXT_H
#define INGOT_HOST_HOST_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/tokenizer/tokenizer.h"

struct text {
    char *bytes;
    size_t n_bytes;
    uint32_t *ids;
    size_t n_ids;
};

/* Read all of `in` (`name` is for error messages); copy a text; make the tokens, with flags of
 * tokenizer_encode. False after printing the error to standard error. Zero *t before, and call
 * text_free in any case. */
bool text_read(struct text *t, FILE *in, const char *name);
bool text_copy(struct text *t, const char *from);
bool text_tokenize(struct text *t, const struct tokenizer *tokenizer, unsigned flags);
void text_free(struct text *t);

#endif
