/* The calls into SBI 1.0 that boot itself makes: to other harts. Extension ids are from chapters
 * 7 (IPI) and 8 (RFENCE). */
#ifndef INGOT_BOOT_RISCV64_SBI_CALL_H
#define INGOT_BOOT_RISCV64_SBI_CALL_H

#include <stdint.h>

#define SBI_IPI    0x735049  /* function 0: send_ipi(mask, base) */
#define SBI_RFENCE 0x52464e43

enum { SBI_REMOTE_SFENCE_VMA = 1 }; /* (mask, base, start, bytes) */

/* Harts base + i for every bit i of mask. Errors mean that there is no such hart. */
static inline void sbi_call_harts(uint64_t extension, uint64_t function, uint64_t mask,
                                  uint64_t base, uint64_t start, uint64_t bytes)
{
    register uint64_t a0 __asm__("a0") = mask;
    register uint64_t a1 __asm__("a1") = base;
    register uint64_t a2 __asm__("a2") = start;
    register uint64_t a3 __asm__("a3") = bytes;
    register uint64_t a6 __asm__("a6") = function;
    register uint64_t a7 __asm__("a7") = extension;

    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a2), "r"(a3), "r"(a6), "r"(a7) : "memory");
}

#endif
