/* Identity map in Sv39: three levels, pages of 4 KiB, 2 MiB and 1 GiB (privileged specification
 * 1.12, sections 4.3 and 4.4). Which memory is cached is the platform's to say (PMA), so device and
 * uncached mappings differ from data only in a note that the hardware ignores. */
#include "boot/boot.h"
#include "boot/panic.h"
#include "boot/riscv64/harts.h"

/* 39 bits of address, but bit 38 is the sign: half of it maps to itself. */
enum { ENTRIES = 512, PAGE_BITS = 12, LEVEL_BITS = 9, ADDRESS_BITS = 38, MAX_TABLES = 24 };

enum entry_bits {
    ENTRY_VALID = 1 << 0,
    ENTRY_READ = 1 << 1, /* none of read, write, execute: the entry points to a table */
    ENTRY_WRITE = 1 << 2,
    ENTRY_EXECUTE = 1 << 3,
    ENTRY_GLOBAL = 1 << 5,
    ENTRY_ACCESSED = 1 << 6, /* both preset: a hart may fault instead of setting them */
    ENTRY_DIRTY = 1 << 7,
    ENTRY_NOTE_DEVICE = 1 << 8, /* the two bits left to software */
    ENTRY_NOTE_UNCACHED = 1 << 9,
    ENTRY_LEAF = ENTRY_READ | ENTRY_WRITE | ENTRY_EXECUTE,
    ENTRY_COMMON = ENTRY_VALID | ENTRY_READ | ENTRY_GLOBAL | ENTRY_ACCESSED | ENTRY_DIRTY,
};

enum { ENTRY_PAGE_SHIFT = 10 };

/* By name in start.S. */
extern uint64_t mmu_root[ENTRIES];
_Alignas(4096) uint64_t mmu_root[ENTRIES];

/* start.S. */
void mmu_refused(const void *dtb) __attribute__((noreturn));

static struct mmu_state {
    _Alignas(4096) uint64_t tables[MAX_TABLES][ENTRIES]; /* zero: nothing mapped */
    unsigned used;
} state;

static uint64_t entry_attributes(enum mapping mapping)
{
    switch (mapping) {
    case MAP_CODE:
        return ENTRY_COMMON | ENTRY_EXECUTE;
    case MAP_RODATA:
        return ENTRY_COMMON;
    case MAP_DATA:
        return ENTRY_COMMON | ENTRY_WRITE;
    case MAP_UNCACHED:
        return ENTRY_COMMON | ENTRY_WRITE | ENTRY_NOTE_UNCACHED;
    case MAP_DEVICE:
    default:
        return ENTRY_COMMON | ENTRY_WRITE | ENTRY_NOTE_DEVICE;
    }
}

/* Level 2 is the root, level 0 the 4 KiB pages, as the specification counts. */
static unsigned level_shift(unsigned level)
{
    return PAGE_BITS + LEVEL_BITS * level;
}

static uint64_t entry_make(uint64_t address, uint64_t attributes)
{
    return address >> PAGE_BITS << ENTRY_PAGE_SHIFT | attributes;
}

/* The table below *entry, made where there is none; NULL: no more tables. */
static uint64_t *table_below(uint64_t *entry)
{
    if ((*entry & ENTRY_VALID) == 0) {
        if (state.used == MAX_TABLES)
            return NULL;
        *entry = entry_make((uintptr_t)state.tables[state.used++], ENTRY_VALID);
    }
    return (uint64_t *)(uintptr_t)(*entry >> ENTRY_PAGE_SHIFT << PAGE_BITS);
}

/* Map the largest page that begins at `at` and ends at or before `end`; *at goes past it. */
static enum err page_map(uint64_t *at, uint64_t end, uint64_t attributes)
{
    uint64_t *table = mmu_root;

    for (unsigned level = 2;; level--) {
        uint64_t bytes = (uint64_t)1 << level_shift(level), base = *at & ~(bytes - 1);
        uint64_t *entry = &table[*at >> level_shift(level) & (ENTRIES - 1)];
        uint64_t leaf = entry_make(base, attributes);

        if ((*entry & ENTRY_LEAF) != 0) {
            if (*entry != leaf)
                return ERR_BAD_ARGUMENT;
            *at = base + bytes; /* mapped alike before */
            return ERR_OK;
        }
        if ((*entry & ENTRY_VALID) == 0 && *at == base && bytes <= end - *at) {
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
    uint64_t start = base & ~(page - 1), at = start, end;
    enum err e = ERR_OK;

    if (bytes == 0)
        return ERR_OK;
    if (base >= limit || bytes > limit - base)
        return ERR_RANGE;
    end = (base + bytes + page - 1) & ~(page - 1);
    while (e == ERR_OK && at < end)
        e = page_map(&at, end, entry_attributes(mapping));
    /* A hart may have cached that nothing was there (section 4.2.1). */
    __asm__ volatile("sfence.vma" ::: "memory");
    harts_flush_tlb(start, end - start);
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

/* Without the MMU addresses are what the identity map would make of them, so the console can be
 * opened to say why this is the end. dtb NULL: it is open, this is another core. */
void mmu_refused(const void *dtb)
{
    if (dtb != NULL)
        board.early_init(dtb);
    panic("core %u, hart %lu, has no Sv39 address translation, which Ingot needs: "
          "use a CPU with an MMU (QEMU: -cpu rv64)",
          core_number(), (unsigned long)core_hardware_id());
}
