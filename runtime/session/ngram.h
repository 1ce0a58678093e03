/* Guesses the next tokens by looking for an earlier copy of the text's end. This needs no model
 * and no memory, and is exact if a text repeats itself. */
#ifndef INGOT_RUNTIME_NGRAM_H
#define INGOT_RUNTIME_NGRAM_H

#include <stdint.h>

enum { NGRAM_LONGEST = 4 }; /* tokens that are compared; more do not help */

/* Write `most` tokens that may follow after ids[0 .. n). They are copies of the tokens after the
 * best earlier match, where most of the last NGRAM_LONGEST tokens match; among equals, the latest.
 * Returns how many tokens match there; 0 if none, and then nothing is written. */
uint32_t ngram_guess(uint32_t *ids, uint32_t n, uint32_t most);

#endif
