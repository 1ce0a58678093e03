/* The identity map. Both ISAs have three levels of tables with 512 entries, for blocks of 1 GiB,
 * 2 MiB and 4 KiB: boot/mmu.c walks them, boot/<isa>/mmu.c knows the bits of an entry.
 *
 * The code of both runs with the MMU off, when all data is device memory to an arm64 core: no
 * access may be unaligned and none may go through SIMD registers, which GCC uses to copy structs.
 * So this header comes first. */
#ifndef INGOT_BOOT_MMU_H
#define INGOT_BOOT_MMU_H

#ifdef __aarch64__
#pragma GCC target("general-regs-only,strict-align")
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/isa.h"

enum { MMU_ENTRIES = 512, MMU_LEVEL_BITS = 9, MMU_PAGE_BITS = 12, MMU_BLOCK_BITS = 30 };

/* The first table, for blocks of 1 GiB. By name in start.S. */
extern uint64_t mmu_root[MMU_ENTRIES];

/* ---- boot/<isa>/mmu.c ---------------------------------------------------------------------- */

/* Addresses from here on cannot be mapped. */
extern const uint64_t mmu_end;

/* The entry that maps the block of 2^bits bytes at `address`. Never 0, which is not an entry. */
uint64_t mmu_entry_block(uint64_t address, unsigned bits, enum mapping mapping);

/* Whether an entry, not 0, maps a block, where those have 2^bits bytes; else it has a table. */
bool mmu_entry_is_block(uint64_t entry, unsigned bits);

/* The entry that leads to a table, and back. */
uint64_t mmu_entry_table(const uint64_t *table);
uint64_t *mmu_entry_to_table(uint64_t entry);

/* After entries for [base, base + bytes) were added: all cores see them. */
void mmu_entries_added(uint64_t base, uint64_t bytes);

/* Page tables in use below the root, and how many there may be; both 0 where the firmware keeps them. */
unsigned mmu_tables(unsigned *most);

#endif
