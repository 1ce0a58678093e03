#include "runtime/features/policy/patterns.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "runtime/features/lessons/vector.h"

#define MERGE_ABOVE 0.9f
#define POOR 0.3f
#define USED 5

size_t patterns_bytes(uint32_t dim, uint32_t room)
{
    return room * (dim * sizeof(float) + sizeof(struct pattern));
}

void patterns_open(struct patterns *p, void *memory, uint32_t dim, uint32_t room)
{
    float *keys = memory;

    assert(dim != 0 && room != 0 && room <= PATTERNS_MOST);
    *p = (struct patterns){ dim, room, 0, keys, (void *)(keys + (size_t)room * dim) };
}

static float *key_of(const struct patterns *p, uint32_t i)
{
    return p->keys + (size_t)i * p->dim;
}

static void offer(struct pattern_found *found, uint32_t *n, uint32_t index, float cosine)
{
    uint32_t at;

    if (*n == PATTERNS_BEST && !(cosine > found[PATTERNS_BEST - 1].cosine)) {
        return;
    }
    at = *n < PATTERNS_BEST ? (*n)++ : PATTERNS_BEST - 1;
    for (; at > 0 && found[at - 1].cosine < cosine; at--) {
        found[at] = found[at - 1];
    }
    found[at] = (struct pattern_found){ index, cosine };
}

static uint32_t search(const struct patterns *p, const float *key, struct pattern_found *found)
{
    float square = vector_dot(key, key, p->dim);
    uint32_t n = 0;

    if (!(square > 0.0f) || !vector_is_finite(&square, 1)) {
        return 0;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        offer(found, &n, i, vector_dot(key, key_of(p, i), p->dim) / sqrtf(square));
    }
    return n;
}

uint32_t patterns_find(struct patterns *p, const float *key, struct pattern_found *found)
{
    uint32_t n = search(p, key, found);

    for (uint32_t i = 0; i < n; i++) {
        p->list[found[i].index].uses++;
    }
    return n;
}

/* Merge a turn into a pattern. The pattern is the mean direction of all its turns. */
static void merge(struct patterns *p, uint32_t i, const float *key, float quality)
{
    struct pattern *at = &p->list[i];
    float count = (float)at->merged, length = sqrtf(vector_dot(key, key, p->dim));

    vector_scale(key_of(p, i), count, p->dim);
    vector_add(key_of(p, i), key, 1.0f / length, p->dim);
    (void)vector_normalize(key_of(p, i), p->dim); /* the cosine is above .9, so the sum is not 0 */
    at->quality = (at->quality * count + quality) / (count + 1.0f);
    at->merged++;
}

/* Return the least useful pattern, by quality, then uses, then age. */
static uint32_t least(const struct patterns *p)
{
    uint32_t worst = 0;

    for (uint32_t i = 1; i < p->n; i++) {
        const struct pattern *a = &p->list[i], *b = &p->list[worst];

        if (a->quality < b->quality || (a->quality <= b->quality && a->uses < b->uses)) {
            worst = i;
        }
    }
    return worst;
}

/* Remove a pattern. Later patterns move down, so that the order by age stays. */
static void take_out(struct patterns *p, uint32_t i)
{
    size_t after = p->n - i - 1;

    memmove(key_of(p, i), key_of(p, i) + p->dim, after * p->dim * sizeof(float));
    memmove(&p->list[i], &p->list[i + 1], after * sizeof *p->list);
    p->n--;
}

uint32_t patterns_add(struct patterns *p, const float *key, float quality)
{
    struct pattern_found found[PATTERNS_BEST];
    float square = vector_dot(key, key, p->dim);

    if (!(quality >= 0.0f && quality <= 1.0f) || !(square > 0.0f) ||
        !vector_is_finite(&square, 1)) {
        return UINT32_MAX;
    }
    if (search(p, key, found) != 0 && found[0].cosine > MERGE_ABOVE) {
        merge(p, found[0].index, key, quality);
        return found[0].index;
    }
    if (p->n == p->room && patterns_prune(p) == 0) {
        take_out(p, least(p));
    }
    memcpy(key_of(p, p->n), key, p->dim * sizeof *key);
    (void)vector_normalize(key_of(p, p->n), p->dim);
    p->list[p->n] = (struct pattern){ quality, 1, 0 };
    return p->n++;
}

uint32_t patterns_prune(struct patterns *p)
{
    uint32_t before = p->n;

    for (uint32_t i = p->n; i-- > 0;) {
        if (p->list[i].quality < POOR && p->list[i].uses < USED) {
            take_out(p, i);
        }
    }
    return before - p->n;
}
