/* The identity map. Both ISAs have three levels of tables with 512 entries, for blocks of 1 GiB, 2
 * MiB and 4 KiB: boot/mmu.c walks them, boot/<isa>/mmu.c knows the bits of an entry.
 *
 * Both files run while the MMU is off: an arm64 core then treats all data as device memory. No
 * access may be unaligned, and none may go through SIMD registers, which GCC uses to copy structs.
 * The pragma below ensures this, so include this header first. */
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

/* The first table, for blocks of 1 GiB. start.S uses this name. */
extern uint64_t mmu_root[MMU_ENTRIES];

/* ---- boot/<isa>/mmu.c ---------------------------------------------------------------------- */

/* Addresses from this one on cannot be mapped. */
extern const uint64_t mmu_end;

/* Return the entry that maps the block of 2^bits bytes at `address`. The entry is never 0, which
 * would be an empty one. */
uint64_t mmu_entry_block(uint64_t address, unsigned bits, enum mapping mapping);

/* Return true if an entry other than 0, at the level of blocks of
 * 2^bits bytes, maps a block; otherwise it points to a table. */
bool mmu_entry_is_block(uint64_t entry, unsigned bits);

/* Return the entry that points to a table; the second function returns an entry's table. */
uint64_t mmu_entry_table(const uint64_t *table);
uint64_t *mmu_entry_to_table(uint64_t entry);

/* Call after adding entries for [base, base + bytes): makes all cores see them. */
void mmu_entries_added(uint64_t base, uint64_t bytes);

/* Return the number of page tables in use below the root, and set *most to how many there may be;
 * both are 0 if the firmware keeps the tables. */
unsigned mmu_tables(unsigned *most);

#endif
