/* Detect that the latest tokens of a text repeat themselves again and again. */
#ifndef INGOT_RUNTIME_REPETITION_H
#define INGOT_RUNTIME_REPETITION_H

#include <stdbool.h>
#include <stdint.h>

enum {
    REPETITION_LONGEST = 128, /* tokens of the longest period that is looked for */
    REPETITION_TOKENS = 128,  /* this many repeated tokens are a repetition if they are three
                               * periods or more */
};

/* All zeros: an empty text. */
struct repetition {
    uint32_t n;                            /* tokens of the text, up to REPETITION_LONGEST + 1 */
    uint32_t same[REPETITION_LONGEST + 1]; /* for each period: how many of the latest tokens equal
                                       * the token one period before */
};

/* Add one more token, *latest, which follows the earlier tokens in memory. Return true if the text
 * repeats itself. */
bool repetition_add(struct repetition *r, const uint32_t *latest);

#endif
