/* Kinds of turns with their quality: directions of mean hidden states, found by their cosine. A
 * turn that is very similar to a known one is merged into it; if there is no room, the least useful
 * pattern is dropped. */
#ifndef INGOT_RUNTIME_LEARN_PATTERNS_H
#define INGOT_RUNTIME_LEARN_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

enum { PATTERNS_MOST = 512, PATTERNS_BEST = 5 };

struct pattern {
    float quality;   /* 0 .. 1, mean of its turns */
    uint32_t merged; /* turns that it represents */
    uint32_t uses;   /* how often it was found */
};

struct patterns {
    uint32_t dim, room, n;
    float *keys;          /* (room, dim), of length 1 */
    struct pattern *list; /* (room) */
};

struct pattern_found {
    uint32_t index;
    float cosine;
};

/* room: at most PATTERNS_MOST. */
size_t patterns_bytes(uint32_t dim, uint32_t room);
/* memory: aligned for floats. */
void patterns_open(struct patterns *p, void *memory, uint32_t dim, uint32_t room);

/* Find the nearest patterns, the best first, older ones first among equals; counts a use of each.
 * key (dim) has any length. Returns how many. */
uint32_t patterns_find(struct patterns *p, const float *key, struct pattern_found *found);

/* Add a turn. Returns the index of the pattern into which it was merged if the cosine is above .9,
 * otherwise of a new pattern. Adds nothing and returns UINT32_MAX if the key has no direction, or
 * quality is outside 0 .. 1. */
uint32_t patterns_add(struct patterns *p, const float *key, float quality);

/* Drop patterns with a quality below .3 that were used less than 5 times. Returns how many. */
uint32_t patterns_prune(struct patterns *p);

#endif
