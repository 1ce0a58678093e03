/* Between core.c and mmu.c. */
#ifndef INGOT_BOOT_RISCV64_CORE_H
#define INGOT_BOOT_RISCV64_CORE_H

#include <stdint.h>

/* Have all other started cores forget what their TLBs hold of [start, start + bytes). */
void core_flush_tlbs(uintptr_t start, uint64_t bytes);

#endif
