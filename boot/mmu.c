#include "boot/mmu.h"

#include "boot/boot.h"
#include "boot/panic.h"

/* A Pi 5 with a drive, RP1 and a screen needs 21 tables (tests/boards/trees.t counts those
 * of each board), and each of BOARD_MAX_RAM ranges needs at most four. */
enum { MAX_TABLES = 32 + 4 * BOARD_MAX_RAM };

/* A separate object, because it must be aligned. */
_Alignas(4096) uint64_t mmu_root[MMU_ENTRIES];

static struct mmu_state {
    _Alignas(4096) uint64_t tables[MAX_TABLES][MMU_ENTRIES]; /* zeros: nothing is mapped */
    unsigned used;
} mmu_state;

/* Return the table that *entry points to, creating it if necessary, or NULL if no table is left. */
static uint64_t *table_below(uint64_t *entry)
{
    if (*entry == 0) {
        if (mmu_state.used == MAX_TABLES)
            return NULL;
        *entry = mmu_entry_table(mmu_state.tables[mmu_state.used++]);
    }
    return mmu_entry_to_table(*entry);
}

/* Map the largest block that begins at *at and ends at or before `end`; advances *at past it. */
static enum err block_map(uint64_t *at, uint64_t end, enum mapping mapping)
{
    uint64_t *table = mmu_root;

    for (unsigned bits = MMU_BLOCK_BITS;; bits -= MMU_LEVEL_BITS) {
        uint64_t bytes = (uint64_t)1 << bits, start = *at & ~(bytes - 1);
        uint64_t *entry = &table[*at >> bits & (MMU_ENTRIES - 1)];
        uint64_t block = mmu_entry_block(start, bits, mapping);

        /* A block is mapped here. The same mapping is fine, a different one is a caller's bug. */
        if (*entry != 0 && mmu_entry_is_block(*entry, bits)) {
            if (*entry != block)
                return ERR_BAD_ARGUMENT;
            *at = start + bytes; /* the block is mapped already, in the same way */
            return ERR_OK;
        }
        if (*entry == 0 && *at == start && bytes <= end - *at) {
            *entry = block;
            *at += bytes;
            return ERR_OK;
        }
        /* A block of this size does not fit: go one level down. */
        table = table_below(entry);
        if (table == NULL)
            return ERR_NO_SPACE;
    }
}

enum err mmu_map(uintptr_t base, size_t bytes, enum mapping mapping)
{
    const uint64_t page = 1 << MMU_PAGE_BITS;
    uint64_t start = base & ~(page - 1), at = start, end;
    enum err e = ERR_OK;

    if (bytes == 0)
        return ERR_OK;
    if (base >= mmu_end || bytes > mmu_end - base)
        return ERR_RANGE;
    end = (base + bytes + page - 1) & ~(page - 1);
    while (e == ERR_OK && at < end)
        e = block_map(&at, end, mapping);
    /* Call this even after an error, because some entries may have been added. */
    mmu_entries_added(start, end - start);
    return e;
}

static void map_own(const uint8_t *start, const uint8_t *end, enum mapping mapping)
{
    if (mmu_map((uintptr_t)start, (size_t)(end - start), mapping) != ERR_OK)
        panic("mmu.c: too few page tables for the image");
}

void mmu_init(void)
{
    map_own(text_start, text_end, MAP_CODE);
    map_own(rodata_start, rodata_end, MAP_RODATA);
    map_own(data_start, data_end, MAP_DATA);
    /* The guards between the stacks stay unmapped, so that an overflow traps. */
    for (unsigned core = 0; core < BOARD_MAX_CORES; core++) {
        map_own(stack_bottom(core), stack_bottom(core) + stack_bytes(core), MAP_DATA);
        map_own(stack_trap_bottom(core), stack_trap_bottom(core) + STACK_TRAP, MAP_DATA);
    }
}

unsigned mmu_tables(unsigned *most)
{
    *most = MAX_TABLES;
    return mmu_state.used;
}
