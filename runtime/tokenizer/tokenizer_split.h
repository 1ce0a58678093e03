/* Split a text into the words that byte-level BPE merges separately. The patterns, which models
 * publish as regular expressions, are stages of matchers here. Source: flash_image/FORMAT.md,
 * section 4. */
#ifndef INGOT_RUNTIME_TOKENIZER_SPLIT_H
#define INGOT_RUNTIME_TOKENIZER_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "flash_image/format/format.h"

enum { SPLIT_MOST_STAGES = 6 };

struct split_stage;

/* Each stage cuts the pieces of the previous stage. ends[i]: where the piece of stage i - 1 ends,
 * ends[0] is the text's end. */
struct splitter {
    const uint8_t *text;
    const struct split_stage *stages;
    uint32_t n_stages;
    uint32_t ends[SPLIT_MOST_STAGES + 1];
};

/* Begin to split the text in [start, end). pre is below INGOT_N_PRES. A byte that is not UTF-8
 * counts as a symbol, as U+FFFD would. */
void split_begin(struct splitter *s, enum ingot_pre pre, const uint8_t *text, uint32_t start,
                 uint32_t end);

/* Return the end of the word that starts at `at`; at < end. All calls for a text together take time
 * linear in its length. */
uint32_t split_next(struct splitter *s, uint32_t at);

#endif
