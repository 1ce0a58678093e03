/* Detect that the latest tokens of a text repeat themselves again and again. */
#ifndef INGOT_RUNTIME_REPETITION_H
#define INGOT_RUNTIME_REPETITION_H

#include <stdbool.h>
#include <stdint.h>

enum {
    REPETITION_LONGEST = 128, /* tokens of the longest period that is looked for */
    REPETITION_TOKENS = 128,  /* repeated tokens that count as a repetition, and at least three
                               * periods */
};

/* All zeros: an empty text. */
struct repetition {
    uint32_t n;                            /* tokens of the text, up to REPETITION_LONGEST + 1 */
    uint32_t same[REPETITION_LONGEST + 1]; /* by period: how many latest tokens equal those a period
                                       * before */
};

/* Add one more token, *latest, which follows the earlier tokens in memory. Return true if the text
 * repeats itself. */
bool repetition_add(struct repetition *r, const uint32_t *latest);

#endif
