#include "boot/canary.h"

#include "board/board.h"
#include "board/isa.h"
#include "boot/boot.h"
#include "boot/panic.h"

/* The compiler uses these names. */
extern uintptr_t __stack_chk_guard;
void __stack_chk_fail(void) __attribute__((noreturn));

uintptr_t __stack_chk_guard;

enum { MOST_SEED_BYTES = 64 };

#define STRING_END 0xff /* the lowest byte is 0: an overrun by a string would end there */

/* A step of splitmix64: every bit of the seed reaches every bit of the result. */
static uint64_t mix(uint64_t seed, uint64_t value)
{
    uint64_t z = (seed ^ value) + 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t mix_property(uint64_t seed, const struct device_tree *tree, const char *name)
{
    struct device_tree_node chosen;
    const uint8_t *bytes;
    uint32_t n;

    if (!device_tree_find(tree, &chosen, "/chosen"))
        return seed;
    bytes = device_tree_property(tree, &chosen, name, &n);
    for (uint32_t i = 0; bytes != NULL && i < n && i < MOST_SEED_BYTES; i++)
        seed = mix(seed, bytes[i]);
    return seed;
}

__attribute__((no_stack_protector)) void canary_init(const struct device_tree *tree)
{
    uint64_t seed = mix(board.ticks(), core_random());

    if (tree != NULL) {
        seed = mix_property(seed, tree, "rng-seed");
        seed = mix_property(seed, tree, "kaslr-seed");
    }
    __stack_chk_guard = (uintptr_t)(mix(seed, board.ticks()) & ~(uint64_t)STRING_END);
}

void __stack_chk_fail(void)
{
    panic("the function at %p wrote beyond an array on its stack", __builtin_return_address(0));
}
