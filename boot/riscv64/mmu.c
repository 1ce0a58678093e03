/* Entries of the map in S-mode: Sv39 (RISC-V privileged architecture 20211203, 4.4). The address
 * space ends where addresses would have to be sign-extended, at 256 GiB. Sv39 has no memory
 * types: the platform's PMAs say where devices are. */
#include "boot/mmu.h"

#include "boot/boot.h"
#include "boot/panic.h"
#include "boot/riscv64/core.h"

enum {
    ENTRY_VALID = 1 << 0,
    ENTRY_READ = 1 << 1,
    ENTRY_WRITE = 1 << 2,
    ENTRY_EXECUTE = 1 << 3,
    ENTRY_GLOBAL = 1 << 5,
    ENTRY_ACCESSED = 1 << 6, /* set in advance: a hart may fault instead of setting bits */
    ENTRY_DIRTY = 1 << 7,
    ENTRY_NOTE_DEVICE = 1 << 8,   /* software bit: a page of a device */
    ENTRY_NOTE_UNCACHED = 1 << 9, /* software bit: an uncached page; mmu_map compares these bits */
    ENTRY_LEAF = ENTRY_READ | ENTRY_WRITE | ENTRY_EXECUTE,
    ENTRY_PAGE_SHIFT = 10, /* bits of the physical page number */
};

const uint64_t mmu_end = (uint64_t)1 << 38;

/* Called by start.S; dtb is from the firmware, or NULL on a core that another core started. */
void mmu_refused(const void *dtb) __attribute__((noreturn));

/* Report that the MMU cannot be turned on. Without the MMU, addresses are the same as in the
 * identity map, so core 0 can open the console for this message. On other cores the console is open
 * already. */
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
    case MAP_CODE: return flags | ENTRY_EXECUTE;
    case MAP_RODATA: return flags;
    case MAP_DATA: return flags | ENTRY_WRITE | ENTRY_DIRTY;
    case MAP_UNCACHED: return flags | ENTRY_WRITE | ENTRY_DIRTY | ENTRY_NOTE_UNCACHED;
    case MAP_DEVICE:
    default: return flags | ENTRY_WRITE | ENTRY_DIRTY | ENTRY_NOTE_DEVICE;
    }
}

uint64_t mmu_entry_block(uint64_t address, unsigned bits, enum mapping mapping)
{
    (void)bits; /* leaf entries are the same on every level */
    return address >> MMU_PAGE_BITS << ENTRY_PAGE_SHIFT | entry_flags(mapping);
}

bool mmu_entry_is_block(uint64_t entry, unsigned bits)
{
    (void)bits;
    return (entry & ENTRY_LEAF) != 0;
}

uint64_t mmu_entry_table(const uint64_t *table)
{
    return (uintptr_t)table >> MMU_PAGE_BITS << ENTRY_PAGE_SHIFT | ENTRY_VALID;
}

uint64_t *mmu_entry_to_table(uint64_t entry)
{
    return (uint64_t *)(uintptr_t)(entry >> ENTRY_PAGE_SHIFT << MMU_PAGE_BITS);
}

/* Invalid entries may be cached, too (4.2.1). Flash is mapped after the other cores have started,
 * and all cores read it in place. */
void mmu_entries_added(uint64_t base, uint64_t bytes)
{
    __asm__ volatile("sfence.vma" ::: "memory");
    core_flush_tlbs(base, bytes);
}
