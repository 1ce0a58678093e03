#include "runtime/session/ngram.h"

/* Return how many tokens before `end` equal the tokens before n, at most NGRAM_LONGEST. */
static uint32_t match(const uint32_t *ids, uint32_t end, uint32_t n)
{
    uint32_t i = 0;

    while (i < NGRAM_LONGEST && i < end && ids[end - 1 - i] == ids[n - 1 - i]) {
        i++;
    }
    return i;
}

uint32_t ngram_guess(uint32_t *ids, uint32_t n, uint32_t most)
{
    uint32_t longest = 0;
    uint32_t from = 0;

    for (uint32_t end = n; end-- > 1 && longest < NGRAM_LONGEST;) {
        uint32_t length = match(ids, end, n);

        from = length > longest ? end : from;
        longest = length > longest ? length : longest;
    }
    for (uint32_t i = 0; i < most && longest != 0; i++) {
        ids[n + i] = ids[from + i]; /* after the last id this copies guessed tokens, so that a
                                     * repeating pattern continues */
    }
    return longest;
}
