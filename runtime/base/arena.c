#include "runtime/base/arena.h"

#include <assert.h>
#include <string.h>

enum { TAKE_ALIGN = 64 };

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

void arena_init(struct arena *a, void *base, size_t bytes)
{
    size_t skip = (size_t)(-(uintptr_t)base & (ARENA_ALIGN - 1));

    memset(a, 0, sizeof *a);
    if (bytes > skip) {
        a->base = (uint8_t *)base + skip;
        a->bytes = (bytes - skip) / ARENA_ALIGN * ARENA_ALIGN;
    }
}

void arena_reset(struct arena *a)
{
    a->reserved = 0;
    for (int i = 0; i < ARENA_N_REGIONS; i++) {
        a->regions[i].base = NULL;
        a->regions[i].bytes = 0;
        a->regions[i].used = 0;
    }
}

size_t arena_left(const struct arena *a)
{
    return a->bytes - a->reserved;
}

enum err arena_reserve(struct arena *a, enum arena_region_name name, size_t bytes)
{
    struct arena_region *r = &a->regions[name];
    size_t rounded = round_up(bytes, ARENA_ALIGN);

    assert(r->base == NULL);
    if (rounded < bytes || rounded > arena_left(a)) {
        return ERR_NO_SPACE;
    }
    r->base = a->base + a->reserved;
    r->bytes = rounded;
    r->used = 0;
    a->reserved += rounded;
    return ERR_OK;
}

size_t arena_take_bytes(size_t bytes)
{
    return round_up(bytes, TAKE_ALIGN);
}

void *arena_take(struct arena *a, enum arena_region_name name, size_t bytes)
{
    struct arena_region *r = &a->regions[name];
    void *at = r->base + r->used;

    assert(r->base != NULL && arena_take_bytes(bytes) <= r->bytes - r->used);
    r->used += arena_take_bytes(bytes);
    if (r->used > r->high_water) {
        r->high_water = r->used;
    }
    return at;
}

const char *arena_region_text(enum arena_region_name name)
{
    static const char *const text[ARENA_N_REGIONS] = { "meta", "weights", "io",
                                                       "kv",   "scratch", "learn" };

    return text[name];
}
