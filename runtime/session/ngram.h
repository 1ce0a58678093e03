/* Guesses the next tokens by looking for an earlier copy of the text's end. The search needs no
 * model and no memory, and guesses right if a text repeats itself. */
#ifndef INGOT_RUNTIME_NGRAM_H
#define INGOT_RUNTIME_NGRAM_H

#include <stdint.h>

enum { NGRAM_LONGEST = 4 }; /* the most tokens that are compared; more would not help */

/* Write `most` tokens that may follow after the n ids. Find the earlier place before which most
 * tokens equal the last tokens of the text (at most NGRAM_LONGEST); if places are equal, take the
 * latest. Copy the tokens that follow there. Returns how many tokens match; if 0, nothing is
 * written. */
uint32_t ngram_guess(uint32_t *ids, uint32_t n, uint32_t most);

#endif
