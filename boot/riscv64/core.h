/* Shared by core.c and mmu.c. */
#ifndef INGOT_BOOT_RISCV64_CORE_H
#define INGOT_BOOT_RISCV64_CORE_H

#include <stdint.h>

/* Make all other started cores drop the TLB entries of [start, start + bytes). */
void core_flush_tlbs(uintptr_t start, uint64_t bytes);

#endif
