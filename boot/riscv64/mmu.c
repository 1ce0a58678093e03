/* Identity map in S-mode: Sv39, three levels of 512 entries, blocks of 1 GiB, 2 MiB and 4 KiB
 * (RISC-V privileged architecture 20211203, 4.4). The address space ends where addresses would
 * have to be sign-extended, at 256 GiB. Sv39 has no memory types: what is a device, the
 * platform's PMAs say. */
#include "boot/boot.h"
#include "boot/panic.h"
#include "boot/riscv64/core.h"

enum { ENTRIES = 512, PAGE_BITS = 12, LEVEL_BITS = 9, ADDRESS_BITS = 38, MAX_TABLES = 24 };

enum {
    ENTRY_VALID = 1 << 0,
    ENTRY_READ = 1 << 1,
    ENTRY_WRITE = 1 << 2,
    ENTRY_EXECUTE = 1 << 3,
    ENTRY_GLOBAL = 1 << 5,
    ENTRY_ACCESSED = 1 << 6, /* set beforehand: a hart may fault instead of setting them */
    ENTRY_DIRTY = 1 << 7,
    ENTRY_NOTE_DEVICE = 1 << 8, /* bits for software: mappings that differ stay different, so */
    ENTRY_NOTE_UNCACHED = 1 << 9, /* that mmu_map refuses here what it refuses elsewhere */
    ENTRY_LEAF = ENTRY_READ | ENTRY_WRITE | ENTRY_EXECUTE,
    ENTRY_PAGE_SHIFT = 10,   /* of the physical page number */
};

/* By name in start.S; alone, because it must be aligned. */
extern uint64_t mmu_root[ENTRIES];
_Alignas(4096) uint64_t mmu_root[ENTRIES];

/* start.S: dtb as the firmware passed it, or NULL on a core that another one started. */
void mmu_refused(const void *dtb) __attribute__((noreturn));

static struct mmu_state {
    _Alignas(4096) uint64_t tables[MAX_TABLES][ENTRIES]; /* zero: nothing mapped */
    unsigned used;
} state;

/* With the MMU off addresses are what the identity map would make of them, so the console can be
 * opened to say why this is the end. On another core than the first it is open. */
void mmu_refused(const void *dtb)
{
    if (core_number() == 0)
        board.early_init(dtb);
    panic("core %u, hart %lu, has no Sv39 address translation: use a CPU with an MMU (QEMU: "
          "-cpu rv64)",
          core_number(), (unsigned long)core_hardware_id());
}

static uint64_t entry_flags(enum mapping mapping)
{
    uint64_t flags = ENTRY_VALID | ENTRY_GLOBAL | ENTRY_ACCESSED | ENTRY_READ;

    switch (mapping) {
    case MAP_CODE:
        return flags | ENTRY_EXECUTE;
    case MAP_RODATA:
        return flags;
    case MAP_DATA:
        return flags | ENTRY_WRITE | ENTRY_DIRTY;
    case MAP_UNCACHED:
        return flags | ENTRY_WRITE | ENTRY_DIRTY | ENTRY_NOTE_UNCACHED;
    case MAP_DEVICE:
    default:
        return flags | ENTRY_WRITE | ENTRY_DIRTY | ENTRY_NOTE_DEVICE;
    }
}

static unsigned level_shift(unsigned level)
{
    return PAGE_BITS + LEVEL_BITS * level;
}

static uint64_t entry_of(uint64_t address, uint64_t flags)
{
    return address >> PAGE_BITS << ENTRY_PAGE_SHIFT | flags;
}

/* The table below *entry, made where there is none; NULL: no more tables. */
static uint64_t *table_below(uint64_t *entry)
{
    if ((*entry & ENTRY_VALID) == 0) {
        if (state.used == MAX_TABLES)
            return NULL;
        *entry = entry_of((uintptr_t)state.tables[state.used++], ENTRY_VALID);
    }
    return (uint64_t *)(uintptr_t)(*entry >> ENTRY_PAGE_SHIFT << PAGE_BITS);
}

/* Map the largest block that begins at `at` and ends at or before `end`; *at goes past it. */
static enum err block_map(uint64_t *at, uint64_t end, uint64_t flags)
{
    uint64_t *table = mmu_root;

    for (unsigned level = 2;; level--) {
        uint64_t bytes = (uint64_t)1 << level_shift(level);
        uint64_t *entry = &table[*at >> level_shift(level) & (ENTRIES - 1)];
        uint64_t leaf = entry_of(*at & ~(bytes - 1), flags);

        if ((*entry & ENTRY_LEAF) != 0) {
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
    uint64_t start = base & ~(page - 1), at = start, end;
    enum err e = ERR_OK;

    if (bytes == 0)
        return ERR_OK;
    if (base >= limit || bytes > limit - base)
        return ERR_RANGE;
    end = (base + bytes + page - 1) & ~(page - 1);
    while (e == ERR_OK && at < end)
        e = block_map(&at, end, entry_flags(mapping));
    /* A hart may keep an invalid entry, too (4.2.1), and flash, which all cores read in place, is
     * mapped after they started. */
    __asm__ volatile("sfence.vma" ::: "memory");
    core_flush_tlbs(start, end - start);
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
