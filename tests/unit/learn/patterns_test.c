/* Patterns of turns: finding, merging, pruning. */
#include "runtime/features/policy/patterns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/features/lessons/vector.h"
#include "tests/unit/tap.h"

enum { DIM = 32 };

static void axis(float *key, int i, float length)
{
    memset(key, 0, DIM * sizeof *key);
    key[i] = length;
}

static void check_find(struct patterns *p)
{
    struct pattern_found found[PATTERNS_BEST];
    float key[DIM];
    bool ordered = true;

    for (int i = 0; i < 8; i++) {
        axis(key, i, (float)(i + 1));
        OK(patterns_add(p, key, 0.5f) == (uint32_t)i, "pattern %d of length %d is added", i, i + 1);
    }
    for (int i = 0; i < 8; i++)
        key[i] = (float)(8 - i);
    OK(patterns_find(p, key, found) == PATTERNS_BEST, "the five nearest patterns are found");
    for (int i = 0; i < PATTERNS_BEST; i++)
        ordered = ordered && found[i].index == (uint32_t)i &&
                  fabsf(found[i].cosine - (float)(8 - i) / sqrtf(204.0f + 0.0f)) < 1e-5f;
    OK(ordered, "the nearest come in the order of their cosines");
    OK(p->list[4].uses == 1 && p->list[5].uses == 0,
       "the uses of patterns that are found are counted");
}

static void check_merge(struct patterns *p)
{
    float key[DIM];

    axis(key, 2, 10.0f);
    key[3] = 4.0f; /* cosine .928 */
    OK(patterns_add(p, key, 1.0f) == 2 && p->n == 8 && p->list[2].merged == 2 &&
           fabsf(p->list[2].quality - 0.75f) < 1e-6f,
       "a cosine of .93 merges, and qualities become their mean");
    OK(fabsf(vector_dot(p->keys + 2 * DIM, p->keys + 2 * DIM, DIM) - 1.0f) < 1e-5f &&
           fabsf(p->keys[2 * DIM + 3] / p->keys[2 * DIM + 2] - 0.3714f / 1.9285f) < 1e-3f,
       "the key is the mean direction, of length 1");
    axis(key, 2, 1.0f);
    key[4] = 0.9f;
    OK(patterns_add(p, key, 1.0f) == 8, "a cosine of .74 does not merge");
    key[0] = NAN;
    OK(patterns_add(p, key, 1.0f) == UINT32_MAX && p->n == 9, "NaN is not a pattern");
    axis(key, 0, 0.0f);
    OK(patterns_add(p, key, 1.0f) == UINT32_MAX, "a pattern of zeros is not added");
    axis(key, 9, 1.0f);
    OK(patterns_add(p, key, 1.5f) == UINT32_MAX && p->n == 9, "a quality is at most 1");
}

static void check_prune(struct patterns *p)
{
    float key[DIM];
    struct pattern_found found[PATTERNS_BEST];

    p->list[1].quality = 0.2f;
    p->list[6].quality = 0.29f;
    p->list[6].uses = 5;
    OK(patterns_prune(p) == 1 && p->n == 8 && p->keys[1 * DIM + 2] > 0.9f,
       "a poor pattern goes if it is unused, and stays if it is used");
    while (p->n < p->room) {
        axis(key, (int)p->n + 4, 1.0f);
        patterns_add(p, key, 0.8f);
    }
    axis(key, 31, 1.0f);
    OK(patterns_add(p, key, 0.9f) == p->room - 1 && p->n == p->room,
       "a full store gives up one pattern");
    axis(key, 6, 1.0f);
    (void)patterns_find(p, key, found);
    OK(found[0].cosine < 0.5f, "the poorest pattern goes");
}

int main(void)
{
    struct patterns p;
    void *memory = malloc(patterns_bytes(DIM, 16));

    patterns_open(&p, memory, DIM, 16);
    check_find(&p);
    check_merge(&p);
    check_prune(&p);
    free(memory);
    return tap_done();
}
