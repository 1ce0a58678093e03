/* All 16 exception vectors (Arm ARM D1.3.1.4). Only an IRQ of core 0 is expected: it calls the
 * function in core_interrupt and returns. All other traps save the registers and report. */
#include "boot/arm64/trap_frame.h"

/* `index` counts the entries. Traps from C arrive on the trap stack. A trap within a handler
 * (entries 4 to 7) cannot trust the trap stack and uses trap_last_stack. The thread registers of
 * EL0 are free at EL1 and keep x0 and sp meanwhile. */
.macro vector index
    .balign 0x80
    .if \index / 4 == 1
    msr     tpidrro_el0, x0
    mov     x0, sp
    msr     tpidr_el0, x0
    adrp    x0, trap_last_stack_end
    mov     sp, x0
    mrs     x0, tpidrro_el0
    .endif
    sub     sp, sp, #TRAP_FRAME_BYTES
    stp     x0, x1, [sp]
    mov     x0, #\index
    b       trap_save
.endm

    .section .text.trap_vectors, "ax"
    .globl trap_vectors
    .balign 0x800
trap_vectors:
    vector  0
    .balign 0x80
    b       interrupt
    vector  2
    vector  3
    vector  4
    vector  5
    vector  6
    vector  7
    vector  8
    vector  9
    vector  10
    vector  11
    vector  12
    vector  13
    vector  14
    vector  15
    .balign 0x80

/* x0: vector, sp: the frame with x0 and x1 in it. */
trap_save:
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x9, [sp, #64]
    stp     x10, x11, [sp, #80]
    stp     x12, x13, [sp, #96]
    stp     x14, x15, [sp, #112]
    stp     x16, x17, [sp, #128]
    stp     x18, x19, [sp, #144]
    stp     x20, x21, [sp, #160]
    stp     x22, x23, [sp, #176]
    stp     x24, x25, [sp, #192]
    stp     x26, x27, [sp, #208]
    stp     x28, x29, [sp, #224]
    str     x30, [sp, #240]
    mrs     x2, sp_el0
    lsr     x3, x0, #2
    cmp     x3, #1                      // 1: the handler itself caused the trap
    b.ne    1f
    mrs     x2, tpidr_el0
1:  str     x2, [sp, #TRAP_FRAME_SP]
    mrs     x2, elr_el1
    str     x2, [sp, #TRAP_FRAME_ELR]
    mrs     x2, spsr_el1
    str     x2, [sp, #TRAP_FRAME_SPSR]
    mrs     x2, esr_el1
    str     x2, [sp, #TRAP_FRAME_ESR]
    mrs     x2, far_el1
    str     x2, [sp, #TRAP_FRAME_FAR]
    mov     x1, sp
    mov     x29, #0
    mov     x30, #0
    b       trap_report

/* Registers that C preserves are not saved. The record at the end of the frame lets a backtrace
 * name the interrupted function. A trap in the handler never returns, so ELR and SPSR need no
 * saving. */
interrupt:
    sub     sp, sp, #TRAP_FRAME_BYTES
    stp     x0, x1, [sp]
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x9, [sp, #64]
    stp     x10, x11, [sp, #80]
    stp     x12, x13, [sp, #96]
    stp     x14, x15, [sp, #112]
    stp     x16, x17, [sp, #128]
    str     x18, [sp, #144]
    stp     x29, x30, [sp, #232]
    mrs     x0, elr_el1
    add     x0, x0, #4                  // the return address that a call would save
    stp     x29, x0, [sp, #TRAP_FRAME_BYTES - 16]
    add     x29, sp, #TRAP_FRAME_BYTES - 16
    adrp    x1, core_interrupt
    add     x1, x1, :lo12:core_interrupt
    ldp     x1, x0, [x1]                // handler, context
    blr     x1
    ldp     x29, x30, [sp, #232]
    ldr     x18, [sp, #144]
    ldp     x16, x17, [sp, #128]
    ldp     x14, x15, [sp, #112]
    ldp     x12, x13, [sp, #96]
    ldp     x10, x11, [sp, #80]
    ldp     x8, x9, [sp, #64]
    ldp     x6, x7, [sp, #48]
    ldp     x4, x5, [sp, #32]
    ldp     x2, x3, [sp, #16]
    ldp     x0, x1, [sp]
    add     sp, sp, #TRAP_FRAME_BYTES
    eret

    .section .bss.trap_last_stack, "aw", %nobits
    .balign 4096
    .skip   4096
trap_last_stack_end:

    .section .note.GNU-stack, "", %progbits
