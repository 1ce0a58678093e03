/* Guesses the next tokens by looking for an earlier copy of the text's end. The search needs no
 * model and no memory, and guesses right if a text repeats itself. */
#ifndef INGOT_RUNTIME_NGRAM_H
#define INGOT_RUNTIME_NGRAM_H

#include <stdint.h>

enum { NGRAM_LONGEST = 4 }; /* the most tokens that are compared; more would not help */

/* After the n ids, write `most` tokens that may follow. Find the earlier place whose preceding
 * tokens match the end of the text longest (at most NGRAM_LONGEST tokens); among equal places, take
 * the latest. Copy the tokens that follow there. Returns how many tokens match; if 0, nothing is
 * written. */
uint32_t ngram_guess(uint32_t *ids, uint32_t n, uint32_t most);

#endif
