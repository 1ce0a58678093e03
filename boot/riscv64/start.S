/* From firmware to C. We enter in S-mode under SBI with the MMU off (RISC-V SBI 2.0, chapter 9;
 * RISC-V privileged architecture 20211203, chapter 4).
 *
 * tp holds the core's number; sscratch holds the end of its trap stack, so that a trap can
 * report even a stack overflow. gp is unused: without __global_pointer$ the linker relaxes only
 * calls. */
#include "boot/asm.h"
#include "boot/riscv64/trap_frame.h"
#include "boot/stacks.h"

#define SSTATUS_SIE  (1 << 1)
#define SSTATUS_VS   (1 << 9)           /* vector unit: initial state; without V the bits stay 0 */
#define SSTATUS_FS   (1 << 13)          /* FPU: initial */
#define SSTATUS_UNIT (3 << 13 | 3 << 9)
#define SATP_SV39    8                  /* mode, bits 63..60 */
#define CAUSE_EXTERNAL (1 << 63 | 9)   /* scause: an external interrupt (table 4.2) */

/* ---- the Image header (Linux Documentation/arch/riscv/boot-image-header.rst) ---------------- */

    .section .head, "ax"
    .globl _start
    .option push
    .option norvc                       // the first two words are one instruction each
_start:
    j       start_primary
    nop
    .option pop
    .quad   image_text_offset           // bytes from the RAM base to _start
    .quad   image_header_bytes          // RAM that the image needs, BSS and stacks included
    .quad   0                           // little-endian
    .long   2                           // version 0.2
    .long   0
    .quad   0
    .ascii  "RISCV\0\0\0"
    .ascii  "RSC\x05"
    .long   0
    packing

start_first:
    .long   0                           // harts that came here

/* a0: hart id, a1: the device tree. The other harts wait in firmware. Firmware that is older than
 * SBI's hart state management (SBI 0.1; HSS and U-Boot of 2020) sends all harts here at once, and
 * the first one continues. */
func start_primary
    la      t0, start_first
    li      t1, 1
    amoadd.w t0, t1, (t0)
    bnez    t0, start_rest
    mv      s1, a0
    mv      s2, a1
    call    image_unpack
    la      t0, bss_start
    la      t1, bss_end                 // both are multiples of 64 (image.ld.S)
1:  sd      zero, (t0)
    addi    t0, t0, 8
    bltu    t0, t1, 1b
    li      a0, 0
    call    core_enter
    la      t0, core_hart
    sd      s1, (t0)
    call    core_fp_init
    call    mmu_init
    call    mmu_enable
    mv      t0, a0
    mv      a0, s2
    li      s0, 0                       // a backtrace ends here
    li      ra, 0
    beqz    t0, 2f
    tail    boot_start
2:  tail    mmu_refused
endfunc start_primary

/* This hart cannot be started again: it waits in .head, because another hart unpacks the rest. */
    .section .head, "ax"
start_rest:
    csrw    sie, zero
1:  wfi
    j       1b

/* a0: hart id, a1: core number, which SBI calls `opaque`. */
func start_secondary
    fence.i                             // another hart unpacked the image
    mv      s1, a0
    mv      s2, a1
    mv      a0, a1
    call    core_enter
    la      t0, core_hart
    slli    t1, s2, 3
    add     t0, t0, t1
    sd      s1, (t0)
    call    mmu_enable
    mv      t0, a0
    mv      a0, s2
    li      s0, 0
    li      ra, 0
    beqz    t0, 1f
    tail    core_start
1:  li      a0, 0
    tail    mmu_refused
endfunc start_secondary

/* a0: core number. Turns interrupts off and the FPU and vector unit on, and sets the trap vector
 * and both stacks. Clobbers t0 to t2. */
func core_enter
    csrw    sie, zero
    li      t0, SSTATUS_SIE | SSTATUS_UNIT
    csrc    sstatus, t0
    li      t0, SSTATUS_FS | SSTATUS_VS
    csrs    sstatus, t0
    mv      tp, a0
    la      t0, trap_entry
    csrw    stvec, t0

    la      t0, stacks_start
    li      t1, STACK_GUARD + STACK_TRAP
    mul     t1, t1, a0
    li      t2, STACK_TRAP_TOP(0)
    add     t1, t1, t2
    add     t1, t0, t1
    csrw    sscratch, t1

    li      t2, STACK_CORE0_TOP
    beqz    a0, 1f
    li      t1, STACK_GUARD + STACK_OTHER
    mul     t1, t1, a0
    li      t2, STACK_OTHER_TOP(0)
    add     t2, t1, t2
1:  add     sp, t0, t2
    ret
endfunc core_enter

/* Turn on the MMU with the tables of mmu.c. Returns in a0 whether the MMU is on: a mode that the
 * hart lacks leaves satp unchanged (4.1.11). Clobbers t0, t1. */
func mmu_enable
    la      t0, mmu_root
    srli    t0, t0, 12
    li      t1, SATP_SV39
    slli    t1, t1, 60
    or      t0, t0, t1
    sfence.vma
    csrw    satp, t0
    sfence.vma
    csrr    t1, satp
    xor     t0, t0, t1
    seqz    a0, t0
    ret
endfunc mmu_enable

/* Any trap. Saves the registers, then calls C on the trap stack. Only an interrupt returns.
 * A trap in that handler must not overwrite the frame, so it takes the last stack. */
func trap_entry
    csrrw   sp, sscratch, sp            // sscratch: the stack pointer of the trap
    addi    sp, sp, -TRAP_FRAME_BYTES
    sd      zero, 0(sp)
    sd      x1, 8(sp)
    .irp    n, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, \
               18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    sd      x\n, 8 * \n(sp)
    .endr
    addi    t0, sp, TRAP_FRAME_BYTES
    csrrw   t1, sscratch, t0            // a stack for a trap inside the report
    sd      t1, 16(sp)
    csrr    t0, sepc
    sd      t0, TRAP_FRAME_SEPC(sp)
    csrr    t0, scause
    sd      t0, TRAP_FRAME_SCAUSE(sp)
    csrr    t0, stval
    sd      t0, TRAP_FRAME_STVAL(sp)
    csrr    t0, sstatus
    sd      t0, TRAP_FRAME_STATUS(sp)
    ld      t1, TRAP_FRAME_SCAUSE(sp)
    li      t2, CAUSE_EXTERNAL
    beq     t1, t2, 1f
    mv      a0, sp
    li      ra, 0
    tail    trap_report

1:  la      t0, trap_last_stack_end
    csrw    sscratch, t0
    csrr    t0, sepc                    // a record, so that a backtrace names the function
    addi    t0, t0, 2                   // the return address that a call would save
    addi    sp, sp, -16
    sd      t0, 8(sp)
    sd      zero, 0(sp)
    addi    s0, sp, 16
    la      t0, core_interrupt
    ld      a0, 8(t0)                   // context
    ld      t0, (t0)                    // handler
    jalr    t0
    addi    sp, sp, 16
    addi    t0, sp, TRAP_FRAME_BYTES
    csrw    sscratch, t0
    .irp    n, 1, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31
    ld      x\n, 8 * \n(sp)
    .endr
    ld      sp, 16(sp)
    sret
endfunc trap_entry

    .section .bss.trap_last_stack, "aw", %nobits
    .balign 4096
    .skip   4096
trap_last_stack_end:

    .section .note.GNU-stack, "", %progbits
