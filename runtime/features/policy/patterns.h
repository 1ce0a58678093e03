/* The kinds of turns, and how well they went: directions of mean hidden states, found again by their
 * cosine. A turn much like a known one is merged into it; where there is no room the least useful
 * goes. */
#ifndef INGOT_RUNTIME_LEARN_PATTERNS_H
#define INGOT_RUNTIME_LEARN_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

enum { PATTERNS_MOST = 512, PATTERNS_BEST = 5 };

struct pattern {
    float quality;   /* 0 .. 1, the mean of its turns */
    uint32_t merged; /* turns that it stands for */
    uint32_t uses;   /* times it was found */
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

/* The nearest of them, best first, of equals the older; counts a use of each. key (dim) of any length.
 * Returns how many. */
uint32_t patterns_find(struct patterns *p, const float *key, struct pattern_found *found);

/* Returns its index: of the pattern it was merged into where the cosine is above .9, else its own.
 * UINT32_MAX: the key has no direction, or quality is none of 0 .. 1; nothing was added. */
uint32_t patterns_add(struct patterns *p, const float *key, float quality);

/* Those of quality below .3 that were used less than 5 times go. Returns how many went. */
uint32_t patterns_prune(struct patterns *p);

#endif
