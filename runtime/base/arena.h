/* The arena: the RAM after the image, cut once into named regions. A single region cannot be freed;
 * arena_reset drops all regions (for another model) and keeps the high-water marks. */
#ifndef INGOT_RUNTIME_ARENA_H
#define INGOT_RUNTIME_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

enum { ARENA_ALIGN = 4096 }; /* alignment of every region; DMA and vector loads need at least 64 */

enum arena_region_name {
    ARENA_META,    /* model header, tables and tokenizer, as stored in the file */
    ARENA_WEIGHTS, /* resident weights */
    ARENA_IO,      /* stream slots */
    ARENA_KV,      /* key and value cache */
    ARENA_SCRATCH, /* activations, logits, and work space of sampler and tokenizer */
    ARENA_LEARN,   /* with learn=on: what the model learnt, and work space for learning */
    ARENA_N_REGIONS
};

struct arena_region {
    uint8_t *base;
    size_t bytes; /* as reserved */
    size_t used;
    size_t high_water; /* the most ever used */
};

struct arena {
    uint8_t *base;
    size_t bytes;
    size_t reserved; /* sum of all regions so far */
    struct arena_region regions[ARENA_N_REGIONS];
};

/* base has any alignment; bytes may be 0. */
void arena_init(struct arena *a, void *base, size_t bytes);

/* Drop all regions; high-water marks stay. */
void arena_reset(struct arena *a);

/* Return the bytes that belong to no region yet. */
size_t arena_left(const struct arena *a);

/* Cut `bytes` (rounded up to ARENA_ALIGN) for a region that has no memory yet. ERR_NO_SPACE: too
 * little memory is left. */
enum err arena_reserve(struct arena *a, enum arena_region_name name, size_t bytes);

/* Return the next `bytes` bytes of a region, 64-byte aligned, with old contents. Asserts that there
 * is room, because the plan has computed every size in advance. */
void *arena_take(struct arena *a, enum arena_region_name name, size_t bytes);

/* Return how many bytes arena_take(bytes) takes from a region, for the plan. */
size_t arena_take_bytes(size_t bytes);

const char *arena_region_text(enum arena_region_name name);

#endif
