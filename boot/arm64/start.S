/* From reset to C. Section numbers refer to the Arm ARM, DDI 0487.
 *
 * C runs at EL1 on SP_EL0. A trap therefore arrives on SP_EL1, the core's trap stack, even if it
 * was caused by a stack overflow. */
#include "boot/arm64/mmu_bits.h"
#include "boot/asm.h"
#include "boot/arm64/sve_longest.h"
#include "boot/stacks.h"

#define SPSR_EL1T     0x3c4             /* EL1 on SP_EL0; debug, SError, IRQ, FIQ masked */
#define HCR_RW        (1 << 31)         /* EL1 is AArch64 */
#define SCR_SECURE    (1 << 10 | 3 << 4 | 1 << 8) /* RW, RES1, HCE; NS clear */
#define CPTR_EL3_EZ   (1 << 8)          /* SVE, FP and SIMD do not trap at any level */
#define CPTR_EL2_NONE 0x32ff            /* RES1 bits: nothing traps, SVE included (HCR.E2H 0) */
#define CNTHCTL_EL1   3                 /* EL1 may read the physical counter and timer */
#define CPACR_FP      (3 << 20)
#define CPACR_SVE     (3 << 16)         /* ZEN; RES0 without SVE */
#define ICC_SRE       15                /* SRE, bypass off, EL1 may too (IHI 0069, 12.2) */

/* ---- the Image header (Linux Documentation/arch/arm64/booting.rst) ------------------------- */

    .section .head, "ax"
    .globl _start
_start:
    b       start_primary
    .long   0
    .quad   image_text_offset           // bytes from the RAM base to _start
    .quad   image_header_bytes          // RAM that the image needs, BSS and stacks included
    .quad   2                           // little-endian, 4 KiB pages, at text_offset exactly
    .quad   0, 0, 0
    .ascii  "ARM\x64"
    .long   0
    packing

/* x0: the device tree, or 0. At EL3 there is no firmware, so the other cores come here, too. */
func start_primary
    msr     daifset, #15
    mov     x20, x0
    mrs     x9, CurrentEL
    lsr     x23, x9, #2
    cmp     x9, #(3 << 2)
    b.ne    1f
    mrs     x10, mpidr_el1
    ands    x10, x10, #0xffffff
    b.ne    start_pen
1:  bl      el1_enter
    bl      image_unpack
    mov     x0, #0
    bl      core_enter
    bl      image_clean
    adrp    x9, bss_start
    add     x9, x9, :lo12:bss_start
    adrp    x10, bss_end                // both are multiples of 64 (image.ld.S)
2:  stp     xzr, xzr, [x9], #16
    cmp     x9, x10
    b.lo    2b
    adrp    x9, core_entry_level
    str     w23, [x9, :lo12:core_entry_level]
    bl      core_fp_init
    bl      mmu_init
    bl      mmu_enable
    mov     x0, x20
    mov     x29, #0                     // a backtrace ends here
    mov     x30, #0
    msr     daifclr, #4                 // SError: a failing device is reported
    b       boot_start
endfunc start_primary

/* x10: affinity of a core that came here together with core 0. The core waits here for a store to
 * its entry of core_pen by core_prepare. The MMU is off, so the loads read memory, and core_prepare
 * cleans the cache to memory. core_pen is undefined until the image is unpacked. */
func start_pen
    and     x21, x10, #7
    adrp    x22, core_pen
    add     x22, x22, :lo12:core_pen
    adrp    x23, image_packed
    add     x23, x23, :lo12:image_packed
1:  wfe
    ldr     w9, [x23]
    cbnz    w9, 1b
    dmb     ld                          // do not use a value of core_pen that was loaded earlier
    ldr     x9, [x22, x21, lsl #3]
    cbz     x9, 1b
    mov     x0, x21
    b       start_secondary
endfunc start_pen

/* Cores released from a spin table enter here, with nothing useful in x0. */
func start_released
    mrs     x0, mpidr_el1
    and     x0, x0, #0xff
    b       start_secondary
endfunc start_released

/* x0: the core's number, PSCI's context_id. Core 0's cache may hold newer values of everything
 * in memory, so nothing is loaded before the MMU is on. */
func start_secondary
    msr     daifset, #15
    mov     x21, x0
    bl      el1_enter
    bl      mmu_enable
    mov     x0, x21
    bl      core_enter
    mov     x0, x21
    mov     x29, #0
    mov     x30, #0
    msr     daifclr, #4
    b       core_start
endfunc start_secondary

/* Go from EL3, EL2 or EL1 to EL1, then return to the caller. Clobbers x9 to x11. If we come from
 * EL3, we stay in the secure state, in which every device answers if there is no firmware. */
func el1_enter
    mov     x10, #SPSR_EL1T
    mrs     x11, CurrentEL
    cmp     x11, #(2 << 2)
    b.ne    0f
    mov     x9, #HCR_RW                 // with E2H clear, EL1's registers have their own names
    msr     hcr_el2, x9                 // CPTR and CNTHCTL then have the form that is used below
    isb
0:  ldr     x9, =SCTLR_OFF
    msr     sctlr_el1, x9
    isb
    cmp     x11, #(2 << 2)
    b.eq    2f
    b.lo    1f
    mov     x9, #SCR_SECURE
    msr     scr_el3, x9
    mov     x9, #CPTR_EL3_EZ
    msr     cptr_el3, x9
    sve_longest el3
    mrs     x9, id_aa64pfr0_el1
    ubfx    x9, x9, #24, #4             // if 0, the GIC's registers do not exist
    cbz     x9, 3f
    mov     x9, #ICC_SRE
    msr     icc_sre_el3, x9
3:
    msr     spsr_el3, x10
    msr     elr_el3, x30
    isb
    eret
2:  mov     x9, #CNTHCTL_EL1
    msr     cnthctl_el2, x9
    msr     cntvoff_el2, xzr            // virtual counter = physical counter, on every core
    mov     x9, #CPTR_EL2_NONE
    msr     cptr_el2, x9
    sve_longest el2
    msr     hstr_el2, xzr
    mrs     x9, id_aa64pfr0_el1
    ubfx    x9, x9, #24, #4
    cbz     x9, 4f
    mov     x9, #ICC_SRE
    msr     icc_sre_el2, x9
    isb
    mrs     x9, icc_sre_el2
    tbz     x9, #0, 4f                  // EL3 keeps the interface's state in memory
    msr     ich_hcr_el2, xzr            // do not trap ICC registers
4:
    mrs     x9, midr_el1
    msr     vpidr_el2, x9
    mrs     x9, mpidr_el1
    msr     vmpidr_el2, x9
    msr     spsr_el2, x10
    msr     elr_el2, x30
    isb
    eret
1:  msr     spsel, #0
    ret
endfunc el1_enter

/* x0: the core's number. Set up FPU, vectors, core number in TPIDR_EL1, both stacks. Clobbers x9 to
 * x11. */
func core_enter
    mov     x9, #(CPACR_FP | CPACR_SVE)
    msr     cpacr_el1, x9
    sve_longest el1
    adrp    x9, trap_vectors
    add     x9, x9, :lo12:trap_vectors
    msr     vbar_el1, x9
    msr     tpidr_el1, x0
    msr     mdscr_el1, xzr
    isb

    adrp    x9, stacks_start
    mov     x10, #(STACK_GUARD + STACK_TRAP)
    ldr     x11, =STACK_TRAP_TOP(0)
    madd    x10, x0, x10, x11
    add     x10, x9, x10
    msr     spsel, #1
    mov     sp, x10
    msr     spsel, #0

    mov     x10, #(STACK_GUARD + STACK_OTHER)
    ldr     x11, =STACK_OTHER_TOP(0)
    madd    x10, x0, x10, x11
    ldr     x11, =STACK_CORE0_TOP
    cmp     x0, #0
    csel    x10, x11, x10, eq
    add     x10, x9, x10
    mov     sp, x10
    ret
endfunc core_enter

/* Write back and invalidate the cached parts of the image. Until the MMU is on, stores go to
 * memory past the caches, and a stale line would hide them afterwards. Clobbers x9 to x12. */
func image_clean
    mrs     x9, ctr_el0                 // DminLine, log2 of words (D17.2.34)
    ubfx    x9, x9, #16, #4
    mov     x10, #4
    lsl     x9, x10, x9
    adrp    x10, image_start
    adrp    x11, image_end
1:  dc      civac, x10
    add     x10, x10, x9
    cmp     x10, x11
    b.lo    1b
    dsb     sy
    ret
endfunc image_clean

/* x0: physical address, x1: value. Store 8 bytes past the MMU and caches, because page 0 is never
 * mapped, then send an event. With the MMU off, this code still runs, because
 * its addresses are also physical ones, but it may use registers only. Clobbers x9 to x11. */
func core_store_physical
    mrs     x9, daif
    msr     daifset, #15
    mrs     x10, sctlr_el1
    bic     x11, x10, #1                // M
    dsb     sy
    msr     sctlr_el1, x11
    isb
    str     x1, [x0]
    dsb     sy
    msr     sctlr_el1, x10
    isb
    sev
    msr     daif, x9
    ret
endfunc core_store_physical

/* Turn on the MMU and caches with the tables of mmu.c; uses only registers and constants.
 * Clobbers x9 to x14. */
func mmu_enable
    adrp    x12, mmu_root
    ldr     x13, =TCR
    ldr     x14, =SCTLR_ON
    b       mmu_switch
endfunc mmu_enable

/* x12: first-level table, x13: TCR without IPS, x14: SCTLR with M. Clobbers x9 to x11. */
func mmu_switch
    ldr     x9, =MAIR
    msr     mair_el1, x9
    mov     x9, x13
    mrs     x10, id_aa64mmfr0_el1
    and     x10, x10, #15               // PARange, at most 48 bits with this granule
    mov     x11, #5
    cmp     x10, x11
    csel    x10, x10, x11, lo
    bfi     x9, x10, #32, #3            // IPS
    msr     tcr_el1, x9
    msr     ttbr0_el1, x12
    dsb     sy
    tlbi    vmalle1
    ic      iallu
    dsb     sy
    isb
    msr     sctlr_el1, x14
    isb
    ret
endfunc mmu_switch

/* core_prepare writes a number other than 0 here for a core in the pen. core_pen is data, not BSS,
 * because cores read it before core 0 has cleared BSS. */
    .section .data.core_pen, "aw"
    .globl core_pen
    .balign 64
core_pen:
    .fill   STACK_CORES, 8, 0

    .section .note.GNU-stack, "", %progbits
