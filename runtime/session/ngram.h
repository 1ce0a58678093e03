/* Guesses the tokens that come next by looking for the end of the text earlier in it: no model,
 * no memory, exact where a text repeats itself. */
#ifndef INGOT_RUNTIME_NGRAM_H
#define INGOT_RUNTIME_NGRAM_H

#include <stdint.h>

enum { NGRAM_LONGEST = 4 }; /* tokens that are compared; more tell no more */

/* After ids[0 .. n) write `most` tokens that may follow. They are taken from after the earlier
 * place where most of the last NGRAM_LONGEST tokens already stand, the latest of several such
 * places. Returns how many of these tokens stand there; 0: not even the last one, and nothing is
 * written. */
uint32_t ngram_guess(uint32_t *ids, uint32_t n, uint32_t most);

#endif
