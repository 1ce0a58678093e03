/* Whether a text of tokens says the same over and over. */
#ifndef INGOT_RUNTIME_REPETITION_H
#define INGOT_RUNTIME_REPETITION_H

#include <stdbool.h>
#include <stdint.h>

enum {
    REPETITION_LONGEST = 128, /* tokens that are said again and again; and ... */
    REPETITION_TOKENS = 128,  /* ... so many of them, and three times round at least */
};

/* Zeroed: an empty text. */
struct repetition {
    uint32_t n;                            /* tokens of the text, up to REPETITION_LONGEST + 1 */
    uint32_t same[REPETITION_LONGEST + 1]; /* latest tokens that are those of so many before */
};

/* The text has one more token, *latest, behind its others. True: it goes in circles. */
bool repetition_add(struct repetition *c, const uint32_t *latest);

#endif
