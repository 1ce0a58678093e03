/* The input is a card: mount it, list it, resolve and read every model. Its seed is a whole
 * small volume (fat32_seed.py). */
#include "tests/fuzz/card.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_card(data, size);
    return 0;
}
