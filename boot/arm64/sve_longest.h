/* Selects the longest SVE vectors when a core starts, in our own start code and under EFI. */
#ifndef INGOT_BOOT_ARM64_SVE_LONGEST_H
#define INGOT_BOOT_ARM64_SVE_LONGEST_H

#define ZCR_LONGEST     15              /* LEN: 2048 bits, or the longest supported length
                                         * (D17.2.161) */

/* If there is SVE, choose the longest vectors that this level may set. Traps of this level and
 * of lower ones are off already. Clobbers x9. */
.macro sve_longest level
    .arch_extension sve
    isb
    mrs     x9, id_aa64pfr0_el1
    ubfx    x9, x9, #32, #4             // SVE
    cbz     x9, 9f
    mov     x9, #ZCR_LONGEST
    msr     zcr_\level, x9
    isb
9:
    .arch_extension nosve
.endm

#endif
