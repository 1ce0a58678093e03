/* Whether a text of tokens says the same over and over. */
#ifndef INGOT_RUNTIME_CIRCLES_H
#define INGOT_RUNTIME_CIRCLES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CIRCLES_LONGEST = 128, /* tokens that are said again and again; and ... */
    CIRCLES_TOKENS = 128,  /* ... so many of them, and three times round at least */
};

/* Zeroed: an empty text. */
struct circles {
    uint32_t n;                         /* tokens of the text, up to CIRCLES_LONGEST + 1 */
    uint32_t same[CIRCLES_LONGEST + 1]; /* latest tokens that are those of so many before */
};

/* The text has one more token, *latest, behind its others. True: it goes in circles. */
bool circles_add(struct circles *c, const uint32_t *latest);

#endif
