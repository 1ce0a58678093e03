/* Guesses the next tokens by looking for an earlier copy of the text's end: no model, no memory,
 * exact if a text repeats itself. */
#ifndef INGOT_RUNTIME_NGRAM_H
#define INGOT_RUNTIME_NGRAM_H

#include <stdint.h>

enum { NGRAM_LONGEST = 4 }; /* tokens that are compared; more do not help */

/* After ids[0 .. n) write `most` tokens that may follow. They come from after the earlier place
 * that matches most of the last NGRAM_LONGEST tokens; among equals, the latest. Returns how many
 * tokens match there; 0: not even the last one, and nothing is written. */
uint32_t ngram_guess(uint32_t *ids, uint32_t n, uint32_t most);

#endif
