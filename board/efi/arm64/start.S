/* Entries into C: from the firmware on core 0, and from PSCI on the other cores. The firmware calls us at EL1 or EL2
 * with its own page tables and caches on: we stay at its level and use its tables. Section numbers are those of the Arm
 * ARM, DDI 0487. x18 belongs to the firmware: U-Boot keeps its state there, and our code never writes it. */
#include "boot/asm.h"
#include "boot/arm64/sve_longest.h"
#include "boot/stacks.h"

#define EL2             (2 << 2)          /* CurrentEL */
#define CPACR_FP_SVE    (3 << 20 | 3 << 16)
#define CPTR_TFP_TZ     (1 << 10 | 1 << 8)
#define HCR_E2H_BIT     34
#define DAIF_ALL        15

/* Offsets in core_env below. */
#define ENV_LEVEL       0
#define ENV_TTBR0       8
#define ENV_TCR         16
#define ENV_MAIR        24
#define ENV_SCTLR       32
#define ENV_VBAR        40
#define ENV_HCR         48
#define ENV_BYTES       64

/* x0: our image's handle, x1: the system table; we are on the firmware's stack. */
func efi_entry
    mov     x20, x0
    mov     x21, x1
    adrp    x9, stacks_start
    ldr     x10, =STACK_CORE0_TOP
    add     x9, x9, x10
    mov     sp, x9
    msr     tpidr_el1, xzr              // core_number()
    bl      vectors_enable
    mrs     x9, CurrentEL
    lsr     x9, x9, #2
    adrp    x10, core_entry_level
    str     w9, [x10, :lo12:core_entry_level]
    bl      core_fp_init
    bl      core_env_save
    mov     x0, x20
    mov     x1, x21
    mov     x29, #0
    mov     x30, #0
    b       efi_start
endfunc efi_entry

/* Switch on FP, SIMD and SVE at our exception level. Clobbers x9, x10. */
func vectors_enable
    mrs     x9, CurrentEL
    cmp     x9, #EL2
    b.eq    1f
    mrs     x9, cpacr_el1
    orr     x9, x9, #(3 << 20)
    orr     x9, x9, #(3 << 16)
    msr     cpacr_el1, x9
    sve_longest el1
    ret
1:  mrs     x10, hcr_el2
    mrs     x9, cptr_el2
    tbnz    x10, #HCR_E2H_BIT, 2f
    bic     x9, x9, #(1 << 10)
    bic     x9, x9, #(1 << 8)
    b       3f
2:  orr     x9, x9, #(3 << 20)          // with E2H, the register has the form of CPACR (D17.2.30)
    orr     x9, x9, #(3 << 16)
3:  msr     cptr_el2, x9
    sve_longest el2
    ret
endfunc vectors_enable

/* Store the settings that other cores copy from core 0, and clean them to memory: a core with the MMU off reads them
 * there. Clobbers x9 to x12. */
func core_env_save
    adrp    x10, core_env
    add     x10, x10, :lo12:core_env
    mrs     x9, CurrentEL
    str     x9, [x10, #ENV_LEVEL]
    cmp     x9, #EL2
    b.eq    1f
    mrs     x9, ttbr0_el1
    mrs     x11, tcr_el1
    stp     x9, x11, [x10, #ENV_TTBR0]
    mrs     x9, mair_el1
    mrs     x11, sctlr_el1
    stp     x9, x11, [x10, #ENV_MAIR]
    mrs     x9, vbar_el1
    stp     x9, xzr, [x10, #ENV_VBAR]
    b       2f
1:  mrs     x9, ttbr0_el2
    mrs     x11, tcr_el2
    stp     x9, x11, [x10, #ENV_TTBR0]
    mrs     x9, mair_el2
    mrs     x11, sctlr_el2
    stp     x9, x11, [x10, #ENV_MAIR]
    mrs     x9, vbar_el2
    mrs     x11, hcr_el2
    stp     x9, x11, [x10, #ENV_VBAR]
2:  dc      cvac, x10
    dsb     sy
    adrp    x9, text_start              // cores fetch code before their caches are on
    adrp    x11, text_end
    mrs     x12, ctr_el0
    ubfx    x12, x12, #16, #4           // DminLine, log2 of words (D17.2.34)
    mov     x10, #4
    lsl     x12, x10, x12
3:  dc      cvac, x9
    add     x9, x9, x12
    cmp     x9, x11
    b.lo    3b
    dsb     sy
    ret
endfunc core_env_save

/* x0: the core's number, PSCI's context_id. MMU off, no stack. */
func start_secondary
    msr     daifset, #DAIF_ALL
    mov     x21, x0
    adrp    x22, core_env
    add     x22, x22, :lo12:core_env
    ldr     x9, [x22, #ENV_LEVEL]
    mrs     x10, CurrentEL
    cmp     x9, x10
    b.eq    1f
0:  wfi                                 // not core 0's level: this core cannot use the settings of core 0
    b       0b
1:  cmp     x9, #EL2
    ldp     x9, x11, [x22, #ENV_TTBR0]
    ldp     x12, x13, [x22, #ENV_MAIR]
    ldp     x14, x15, [x22, #ENV_VBAR]
    b.eq    2f
    msr     vbar_el1, x14
    msr     mair_el1, x12
    msr     tcr_el1, x11
    msr     ttbr0_el1, x9
    isb
    tlbi    vmalle1
    ic      iallu
    dsb     sy
    isb
    msr     sctlr_el1, x13
    b       3f
2:  msr     hcr_el2, x15
    isb
    msr     vbar_el2, x14
    msr     mair_el2, x12
    msr     tcr_el2, x11
    msr     ttbr0_el2, x9
    isb
    tlbi    alle2
    ic      iallu
    dsb     sy
    isb
    msr     sctlr_el2, x13
3:  isb
    bl      vectors_enable
    msr     spsel, #1                   // as the firmware sets it on core 0
    msr     tpidr_el1, x21
    adrp    x9, stacks_start
    mov     x10, #(STACK_GUARD + STACK_OTHER)
    ldr     x11, =STACK_OTHER_TOP(0)
    madd    x10, x21, x10, x11
    add     x10, x9, x10
    mov     sp, x10
    mov     x0, x21
    mov     x29, #0
    mov     x30, #0
    b       core_start
endfunc start_secondary

    .section .data.core_env, "aw"
    .balign 64
core_env:
    .fill   ENV_BYTES / 8, 8, 0
    .globl core_pen                     // boot/arm64/core.c refers to it; only PSCI starts cores
    .balign 64
core_pen:
    .fill   STACK_CORES, 8, 0

    .section .note.GNU-stack, "", %progbits
