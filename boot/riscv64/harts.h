/* Between the files of boot/riscv64. */
#ifndef INGOT_BOOT_RISCV64_HARTS_H
#define INGOT_BOOT_RISCV64_HARTS_H

#include <stdint.h>

/* Have the other started cores forget what their TLBs hold of [start, start + bytes). */
void harts_flush_tlb(uintptr_t start, uint64_t bytes);

#endif
