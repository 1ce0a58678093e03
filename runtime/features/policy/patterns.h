/* Patterns are kinds of turns, each with a quality. A pattern is a direction of mean hidden states,
 * and is found by cosine similarity. A turn is merged into a very similar pattern. If there is no
 * room, the least useful pattern is dropped. */
#ifndef INGOT_RUNTIME_LEARN_PATTERNS_H
#define INGOT_RUNTIME_LEARN_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

enum { PATTERNS_MOST = 512, PATTERNS_BEST = 5 };

struct pattern {
    float quality;   /* 0 to 1, mean of the pattern's turns */
    uint32_t merged; /* number of turns in the pattern */
    uint32_t uses;   /* how often the pattern was found */
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

/* Find the nearest patterns, the best first. If patterns are equal, the older comes first. Adds 1
 * to the uses of each. key (dim) has any length. Returns how many patterns were found. */
uint32_t patterns_find(struct patterns *p, const float *key, struct pattern_found *found);

/* Add a turn. Returns the index of the pattern with the turn: an old pattern if the cosine is above
 * .9, otherwise a new pattern. Adds nothing and returns UINT32_MAX if the key has no direction, or
 * quality is outside 0 to 1. */
uint32_t patterns_add(struct patterns *p, const float *key, float quality);

/* Drop patterns with a quality below .3 that were used less than 5 times. Returns how many. */
uint32_t patterns_prune(struct patterns *p);

#endif
