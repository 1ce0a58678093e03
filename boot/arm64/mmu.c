/* Identity map at EL1: 39-bit addresses, three levels, 4 KiB granule (Arm ARM D8.2, D8.3).
 *
 * mmu_init runs with the MMU off, when all data is device memory to the core: no access may be
 * unaligned and none may go through SIMD registers, which GCC uses to copy structs. */
#pragma GCC target("general-regs-only,strict-align")

#include "boot/boot.h"
#include "boot/panic.h"

enum { ENTRIES = 512, PAGE_BITS = 12, LEVEL_BITS = 9, ADDRESS_BITS = 39, MAX_TABLES = 24 };

enum {
    ENTRY_VALID = 1,
    ENTRY_TABLE = 2, /* levels 1 and 2: points to a table; level 3: is a page */
};

/* Numbers of MAIR in start.S. */
enum { ATTRIBUTE_NORMAL = 0, ATTRIBUTE_UNCACHED = 1, ATTRIBUTE_DEVICE = 2 };

#define ENTRY_ATTRIBUTE(n) ((uint64_t)(n) << 2)
#define ENTRY_READ_ONLY    ((uint64_t)1 << 7)
#define ENTRY_OUTER        ((uint64_t)2 << 8)
#define ENTRY_INNER        ((uint64_t)3 << 8)
#define ENTRY_ACCESSED     ((uint64_t)1 << 10)
#define ENTRY_NO_EXECUTE   ((uint64_t)3 << 53) /* EL1 and EL0 */
#define ENTRY_NO_EXECUTE_0 ((uint64_t)1 << 54) /* EL0 only */
#define ENTRY_ADDRESS      (((uint64_t)1 << 48) - 4096)

/* By name in start.S; alone, because it must be aligned. */
extern uint64_t mmu_root[ENTRIES];
_Alignas(4096) uint64_t mmu_root[ENTRIES];

static struct mmu_state {
    _Alignas(4096) uint64_t tables[MAX_TABLES][ENTRIES]; /* zero: nothing mapped */
    unsigned used;
} state;

static uint64_t entry_attributes(enum mapping mapping)
{
    switch (mapping) {
    case MAP_CODE:
        return ENTRY_ATTRIBUTE(ATTRIBUTE_NORMAL) | ENTRY_INNER | ENTRY_READ_ONLY |
               ENTRY_NO_EXECUTE_0;
    case MAP_RODATA:
        return ENTRY_ATTRIBUTE(ATTRIBUTE_NORMAL) | ENTRY_INNER | ENTRY_READ_ONLY |
               ENTRY_NO_EXECUTE;
    case MAP_DATA:
        return ENTRY_ATTRIBUTE(ATTRIBUTE_NORMAL) | ENTRY_INNER | ENTRY_NO_EXECUTE;
    case MAP_UNCACHED:
        return ENTRY_ATTRIBUTE(ATTRIBUTE_UNCACHED) | ENTRY_OUTER | ENTRY_NO_EXECUTE;
    case MAP_DEVICE:
    default:
        return ENTRY_ATTRIBUTE(ATTRIBUTE_DEVICE) | ENTRY_OUTER | ENTRY_NO_EXECUTE;
    }
}

static unsigned level_shift(unsigned level)
{
    return PAGE_BITS + LEVEL_BITS * (3 - level);
}

/* The table below *entry, made where there is none; NULL: no more tables. */
static uint64_t *table_below(uint64_t *entry)
{
    if ((*entry & ENTRY_VALID) == 0) {
        if (state.used == MAX_TABLES)
            return NULL;
        *entry = (uint64_t)(uintptr_t)state.tables[state.used++] | ENTRY_VALID | ENTRY_TABLE;
    }
    return (uint64_t *)(uintptr_t)(*entry & ENTRY_ADDRESS);
}

/* Map the largest block that begins at `at` and ends at or before `end`; *at goes past it. */
static enum err block_map(uint64_t *at, uint64_t end, uint64_t attributes)
{
    uint64_t *table = mmu_root;

    for (unsigned level = 1;; level++) {
        uint64_t bytes = (uint64_t)1 << level_shift(level);
        uint64_t *entry = &table[*at >> level_shift(level) & (ENTRIES - 1)];
        uint64_t kind = level == 3 ? ENTRY_VALID | ENTRY_TABLE : ENTRY_VALID;
        uint64_t leaf = (*at & ~(bytes - 1)) | attributes | ENTRY_ACCESSED | kind;

        if ((*entry & ENTRY_VALID) != 0 && (*entry & 3) == kind) {
            if (*entry != leaf)
                return ERR_BAD_ARGUMENT;
            *at = (*at & ~(bytes - 1)) + bytes; /* mapped alike before */
            return ERR_OK;
        }
        if ((*entry & ENTRY_VALID) == 0 && *at % bytes == 0 && bytes <= end - *at) {
            *entry = leaf;
            *at += bytes;
            return ERR_OK;
        }
        table = table_below(entry);
        if (table == NULL)
            return ERR_NO_SPACE;
    }
}

enum err mmu_map(uintptr_t base, size_t bytes, enum mapping mapping)
{
    const uint64_t limit = (uint64_t)1 << ADDRESS_BITS, page = 1 << PAGE_BITS;
    uint64_t at = base & ~(page - 1), end;
    enum err e = ERR_OK;

    if (bytes == 0)
        return ERR_OK;
    if (base >= limit || bytes > limit - base)
        return ERR_RANGE;
    end = (base + bytes + page - 1) & ~(page - 1);
    while (e == ERR_OK && at < end)
        e = block_map(&at, end, entry_attributes(mapping));
    /* Invalid to valid needs no TLB invalidation, only that walks see the entry (D8.16.1). */
    __asm__ volatile("dsb ishst\n\tisb" ::: "memory");
    return e;
}

static void map_own(const uint8_t *start, const uint8_t *end, enum mapping mapping)
{
    if (mmu_map((uintptr_t)start, (size_t)(end - start), mapping) != ERR_OK)
        panic("mmu.c has too few tables for the image itself");
}

void mmu_init(void)
{
    map_own(text_start, text_end, MAP_CODE);
    map_own(rodata_start, rodata_end, MAP_RODATA);
    map_own(data_start, data_end, MAP_DATA);
    for (unsigned core = 0; core < BOARD_MAX_CORES; core++) {
        map_own(stack_bottom(core), stack_bottom(core) + stack_bytes(core), MAP_DATA);
        map_own(stack_trap_bottom(core), stack_trap_bottom(core) + STACK_TRAP, MAP_DATA);
    }
}
