/* Sets of cores, and the windows of 64 hart ids in which SBI takes such a set. */
#ifndef INGOT_BOOT_RISCV64_CORE_SET_H
#define INGOT_BOOT_RISCV64_CORE_SET_H

#include <stdatomic.h>
#include <stdint.h>

#include "board/machine.h"

enum { CORE_SET_BITS = 64, CORE_SET_WORDS = (BOARD_MAX_CORES + CORE_SET_BITS - 1) / CORE_SET_BITS };

/* Bit n % 64 of word n / 64 is set if core n is in the set. */
struct core_set {
    _Atomic uint64_t words[CORE_SET_WORDS];
};

static inline void core_set_add(struct core_set *set, unsigned core)
{
    atomic_fetch_or(&set->words[core / CORE_SET_BITS], (uint64_t)1 << core % CORE_SET_BITS);
}

static inline void core_set_remove(struct core_set *set, unsigned core)
{
    atomic_fetch_and(&set->words[core / CORE_SET_BITS], ~((uint64_t)1 << core % CORE_SET_BITS));
}

/* Return the cores of a word except `self`, for core_set_take_window. */
static inline uint64_t core_set_others(const struct core_set *set, unsigned word, unsigned self)
{
    uint64_t cores = atomic_load(&set->words[word]);

    return self / CORE_SET_BITS == word ? cores & ~((uint64_t)1 << self % CORE_SET_BITS) : cores;
}

/* SBI takes windows of 64 hart ids, and ids may be far apart. Removes the hart with the lowest id
 * from *cores (one word of a set, not 0), and all others whose ids are less than 64 higher; `harts`
 * has each core's id. Returns the mask of the removed harts, whose bit 0 is hart *base. */
static inline uint64_t core_set_take_window(const uint64_t *harts, unsigned word, uint64_t *cores,
                                            uint64_t *base)
{
    const uint64_t *ids = harts + word * CORE_SET_BITS;
    uint64_t mask = 0;

    *base = UINT64_MAX;
    for (unsigned i = 0; i < CORE_SET_BITS; i++)
        if ((*cores >> i & 1) != 0 && ids[i] < *base)
            *base = ids[i];
    for (unsigned i = 0; i < CORE_SET_BITS; i++) {
        if ((*cores >> i & 1) == 0 || ids[i] - *base >= CORE_SET_BITS)
            continue;
        mask |= (uint64_t)1 << (ids[i] - *base);
        *cores &= ~((uint64_t)1 << i);
    }
    return mask;
}

#endif
