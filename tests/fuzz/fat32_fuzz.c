/* The input is a card: mount it, list it, resolve and read every model, make files on it. Its seed is a whole
 * small volume (fat32_seed.py). */
#include "tests/fuzz/card.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *card = malloc(size + 1); /* which is written to */

    if (card == NULL)
        return 0;
    memcpy(card, data, size);
    read_card(card, size, true);
    free(card);
    return 0;
}
