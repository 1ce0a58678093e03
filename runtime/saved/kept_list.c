/* Find a block in a list, and choose the block to replace. */
#include "runtime/saved/kept_private.h"

uint32_t kept_find_serial(const struct kept_block *list, uint32_t n, uint64_t serial)
{
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].serial == serial) {
            return i;
        }
    }
    return KEPT_NONE;
}

uint32_t kept_oldest(const struct kept_block *list, uint32_t n, uint64_t since, uint64_t but)
{
    uint32_t best = KEPT_NONE;

    for (uint32_t i = 0; i < n; i++) {
        if (list[i].serial == 0) {
            return i;
        }
        if (list[i].used <= since && list[i].serial != but &&
            (best == KEPT_NONE || list[i].used < list[best].used)) {
            best = i;
        }
    }
    return best;
}
