/* Regions are cut once and aligned, and their marks survive a reset. */
#include <string.h>

#include "runtime/base/arena.h"
#include "tests/unit/tap.h"

static _Alignas(64) uint8_t memory[1 << 20];

int main(void)
{
    struct arena a;
    uint8_t *p, *q;

    arena_init(&a, memory + 1, sizeof memory - 1);
    OK((uintptr_t)a.base % ARENA_ALIGN == 0, "the base is aligned whatever it was");
    OK(a.base + a.bytes <= memory + sizeof memory, "the end stays inside the range");

    OK(arena_reserve(&a, ARENA_WEIGHTS, 100) == ERR_OK, "100 bytes are reserved");
    OK(a.regions[ARENA_WEIGHTS].bytes == ARENA_ALIGN, "a region is aligned to a page");
    OK(arena_reserve(&a, ARENA_IO, arena_left(&a) + 1) == ERR_NO_SPACE,
       "more than the arena has left is refused");
    OK(arena_reserve(&a, ARENA_IO, SIZE_MAX) == ERR_NO_SPACE, "a size that wraps is refused");
    OK(arena_reserve(&a, ARENA_IO, arena_left(&a)) == ERR_OK, "all that is left is given");
    OK(arena_left(&a) == 0, "nothing is left in the arena");

    p = arena_take(&a, ARENA_WEIGHTS, 10);
    q = arena_take(&a, ARENA_WEIGHTS, 65);
    OK(q == p + 64, "two takes are at least 64 bytes apart");
    OK(a.regions[ARENA_WEIGHTS].used == 64 + 128, "takes are counted with their alignment");
    OK(arena_take_bytes(65) == 128, "arena_take_bytes() tells how many bytes a take needs");

    arena_reset(&a);
    OK(arena_left(&a) == a.bytes, "a reset gives everything back");
    OK(a.regions[ARENA_WEIGHTS].high_water == 64 + 128, "the high-water mark stays");

    arena_init(&a, memory + 1, 10);
    OK(a.bytes == 0 && arena_reserve(&a, ARENA_KV, 1) == ERR_NO_SPACE,
       "ten bytes are not an arena");
    return tap_done();
}
