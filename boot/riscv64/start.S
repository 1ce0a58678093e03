/* Entry to C in S-mode under SBI. "Privileged" is the RISC-V privileged specification 1.12.
 *
 * The image is built without linker relaxation (-mno-relax), so nothing addresses memory through
 * gp; it is set all the same, for a library that was built otherwise. tp holds the core's number
 * and sscratch, outside the trap handler, the top of the core's trap stack. */
#include "boot/stacks.h"

#define SSTATUS_SIE       (1 << 1)
#define SSTATUS_FS_VS     (1 << 13 | 1 << 9)  /* both Initial; VS stays 0 where there is no V */
#define SATP_SV39         8
#define SATP_MODE_SHIFT   60
#define PAGE_SHIFT        12

.macro func name
    .section .text.\name, "ax"
    .globl \name
    .type \name, %function
    .balign 16
\name:
.endm

.macro endfunc name
    .size \name, . - \name
.endm

/* ---- the Image header (Linux Documentation/arch/riscv/boot-image-header.rst) --------------- */

    .section .head, "ax"
    .globl _start
    .option push
    .option norvc                       // code0 and code1 have 4 bytes each
_start:
    j       start_primary
    .word   0
    .quad   image_text_offset           // from the RAM base to _start
    .quad   image_header_bytes          // RAM that the image needs, BSS and stacks included
    .quad   0                           // little-endian
    .word   2                           // header version 0.2
    .word   0
    .quad   0
    .ascii  "RISCV\0\0\0"
    .ascii  "RSC\x05"
    .word   0
    .option pop

/* a0: hart id, a1: the device tree. SBI starts one hart here and keeps the others. */
func start_primary
    csrw    sie, zero
    csrci   sstatus, SSTATUS_SIE
    mv      s1, a0
    mv      s2, a1
    la      t0, bss_start
    la      t1, bss_end                 // both multiples of 64: linker script
1:  sd      zero, (t0)
    addi    t0, t0, 8
    bltu    t0, t1, 1b
    la      t0, core_harts
    sd      s1, (t0)
    li      a0, 0
    call    core_enter
    call    core_fp_init
    call    mmu_init
    call    mmu_enable
    beqz    a0, 2f
    mv      a0, s2
    li      s0, 0
    li      ra, 0                       // a backtrace ends here
    tail    boot_start
2:  mv      a0, s2
    tail    mmu_refused
endfunc start_primary

/* a0: hart id, a1: the core's number, SBI's opaque. */
func start_secondary
    csrw    sie, zero
    csrci   sstatus, SSTATUS_SIE
    mv      s1, a0
    mv      s2, a1
    mv      a0, a1
    call    core_enter
    call    mmu_enable
    beqz    a0, 1f
    mv      a0, s2
    mv      a1, s1
    li      s0, 0
    li      ra, 0
    tail    core_start
1:  tail    mmu_refused                 // a0 is 0: the console is open already
endfunc start_secondary

/* a0: the core's number. Sets gp, tp, sp, the traps and turns on FPU and V. Clobbers t0 to t2.
 * The stack starts 16 bytes below its top, so that every frame pointer lies within it. */
func core_enter
    la      gp, __global_pointer$
    mv      tp, a0
    la      t2, stacks_start

    li      t0, STACK_TRAP_TOP(1) - STACK_TRAP_TOP(0)
    mul     t0, t0, tp
    li      t1, STACK_TRAP_TOP(0)
    add     t0, t0, t1
    add     t0, t0, t2
    csrw    sscratch, t0
    la      t0, trap_entry
    csrw    stvec, t0

    li      t0, STACK_OTHER_TOP(1) - STACK_OTHER_TOP(0)
    mul     t0, t0, tp
    li      t1, STACK_OTHER_TOP(0)
    add     t0, t0, t1
    bnez    tp, 1f
    li      t0, STACK_CORE0_TOP
1:  add     sp, t0, t2
    addi    sp, sp, -16
    sd      zero, 0(sp)
    sd      zero, 8(sp)

    li      t0, SSTATUS_FS_VS
    csrs    sstatus, t0
    ret
endfunc core_enter

/* Turn on Sv39 with the tables of mmu.c. a0: is it on? A mode that a hart lacks leaves satp as it
 * was (Privileged 4.1.11). Clobbers t0, t1. */
func mmu_enable
    la      t0, mmu_root
    srli    t0, t0, PAGE_SHIFT
    li      t1, SATP_SV39
    slli    t1, t1, SATP_MODE_SHIFT
    or      t0, t0, t1
    sfence.vma
    csrw    satp, t0
    sfence.vma
    csrr    t1, satp
    xor     t0, t0, t1
    seqz    a0, t0
    ret
endfunc mmu_enable

    .section .note.GNU-stack, "", %progbits
