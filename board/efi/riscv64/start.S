/* Entries into C: from the firmware on the first hart, and from SBI on the other harts. The firmware calls us in
 * S-mode, with its own page tables or without any (UEFI 2.10, 2.3.7); we leave this as it is. Sections are those of
 * the RISC-V privileged architecture 20211203. gp belongs to the firmware: U-Boot keeps its state there, and our
 * code never writes it. tp is the core's number. */
#include "boot/asm.h"
#include "boot/stacks.h"

#define SSTATUS_SIE  (1 << 1)
#define SSTATUS_UNIT (3 << 13 | 3 << 9)
#define SSTATUS_ON   (1 << 13 | 1 << 9)   /* FS, VS: initial; VS stays 0 without V */

/* a0: our image's handle, a1: the system table; we are on the firmware's stack. */
func efi_entry
    mv      s1, a0
    mv      s2, a1
    li      t0, SSTATUS_ON
    csrs    sstatus, t0
    mv      tp, zero
    la      t0, stacks_start
    li      t1, STACK_CORE0_TOP
    add     sp, t0, t1
    call    core_fp_init
    la      t0, core_env                // registers that other harts copy
    csrr    t1, satp
    sd      t1, 0(t0)
    csrr    t1, stvec
    sd      t1, 8(t0)
    mv      a0, s1
    mv      a1, s2
    li      s0, 0
    li      ra, 0
    tail    efi_start
endfunc efi_entry

/* a0: hart id, a1: core number (SBI's opaque). MMU off. */
func start_secondary
    fence.i
    csrw    sie, zero
    li      t0, SSTATUS_SIE | SSTATUS_UNIT
    csrc    sstatus, t0
    li      t0, SSTATUS_ON
    csrs    sstatus, t0
    mv      tp, a1
    la      t0, core_hart
    slli    t1, a1, 3
    add     t0, t0, t1
    sd      a0, (t0)
    la      t0, core_env
    ld      t1, 8(t0)
    csrw    stvec, t1
    ld      t1, 0(t0)
    sfence.vma
    csrw    satp, t1
    sfence.vma
    la      t0, stacks_start
    li      t1, STACK_GUARD + STACK_OTHER
    mul     t1, t1, a1
    li      t2, STACK_OTHER_TOP(0)
    add     t2, t1, t2
    add     sp, t0, t2
    mv      a0, a1
    li      s0, 0
    li      ra, 0
    tail    core_start
endfunc start_secondary

    .section .bss.core_env, "aw", %nobits
    .balign 16
core_env:
    .skip   16

    .section .note.GNU-stack, "", %progbits
