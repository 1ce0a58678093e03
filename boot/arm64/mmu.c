/* Entries of the map at EL1: 39-bit addresses, 4 KiB granule (Arm ARM D8.2, D8.3). */
#include "boot/mmu.h"

enum {
    ENTRY_VALID = 1,
    ENTRY_TABLE = 2, /* the entry points to a table or, on the last level, maps a page */
};

/* Indices into MAIR, as start.S sets it. */
enum { ATTRIBUTE_NORMAL = 0, ATTRIBUTE_UNCACHED = 1, ATTRIBUTE_DEVICE = 2 };

#define ENTRY_ATTRIBUTE(n) ((uint64_t)(n) << 2)
#define ENTRY_READ_ONLY ((uint64_t)1 << 7)
#define ENTRY_OUTER ((uint64_t)2 << 8)
#define ENTRY_INNER ((uint64_t)3 << 8)
#define ENTRY_ACCESSED ((uint64_t)1 << 10)
#define ENTRY_NO_EXECUTE ((uint64_t)3 << 53)   /* EL1 and EL0 */
#define ENTRY_NO_EXECUTE_0 ((uint64_t)1 << 54) /* EL0 only */
#define ENTRY_ADDRESS (((uint64_t)1 << 48) - 4096)

const uint64_t mmu_end = (uint64_t)1 << 39;

static uint64_t entry_attributes(enum mapping mapping)
{
    switch (mapping) {
    case MAP_CODE:
        return ENTRY_ATTRIBUTE(ATTRIBUTE_NORMAL) | ENTRY_INNER | ENTRY_READ_ONLY |
               ENTRY_NO_EXECUTE_0;
    case MAP_RODATA:
        return ENTRY_ATTRIBUTE(ATTRIBUTE_NORMAL) | ENTRY_INNER | ENTRY_READ_ONLY | ENTRY_NO_EXECUTE;
    case MAP_DATA: return ENTRY_ATTRIBUTE(ATTRIBUTE_NORMAL) | ENTRY_INNER | ENTRY_NO_EXECUTE;
    case MAP_UNCACHED: return ENTRY_ATTRIBUTE(ATTRIBUTE_UNCACHED) | ENTRY_OUTER | ENTRY_NO_EXECUTE;
    case MAP_DEVICE:
    default: return ENTRY_ATTRIBUTE(ATTRIBUTE_DEVICE) | ENTRY_OUTER | ENTRY_NO_EXECUTE;
    }
}

static uint64_t block_kind(unsigned bits)
{
    if (bits == MMU_PAGE_BITS)
        return ENTRY_VALID | ENTRY_TABLE;
    return ENTRY_VALID;
}

uint64_t mmu_entry_block(uint64_t address, unsigned bits, enum mapping mapping)
{
    return address | entry_attributes(mapping) | ENTRY_ACCESSED | block_kind(bits);
}

bool mmu_entry_is_block(uint64_t entry, unsigned bits)
{
    return (entry & (ENTRY_VALID | ENTRY_TABLE)) == block_kind(bits);
}

uint64_t mmu_entry_table(const uint64_t *table)
{
    return (uintptr_t)table | ENTRY_VALID | ENTRY_TABLE;
}

uint64_t *mmu_entry_to_table(uint64_t entry)
{
    return (uint64_t *)(uintptr_t)(entry & ENTRY_ADDRESS);
}

/* Changing an entry from invalid to valid needs no TLB invalidation; walks only have to see the
 * entry (D8.16.1). */
void mmu_entries_added(uint64_t base, uint64_t bytes)
{
    (void)base;
    (void)bytes;
    __asm__ volatile("dsb ishst\n\tisb" ::: "memory");
}
