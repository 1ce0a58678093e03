/* Traps save the registers and report. None returns: Ingot takes no interrupts, so every trap is
 * an error. A trap arrives with the interrupted sp still in place; it is exchanged for the trap
 * stack in sscratch before anything is stored, since the cause may be that sp ran over. */
#include "boot/riscv64/trap_frame.h"

    .section .text.trap_entry, "ax"
    .globl trap_entry
    .type trap_entry, %function
    .balign 4                           // stvec, direct mode
trap_entry:
    csrrw   sp, sscratch, sp
    addi    sp, sp, -TRAP_FRAME_BYTES

/* sp: where the frame goes; sscratch: the interrupted sp. */
trap_save:
    sd      x0, 0(sp)
    sd      x1, 8(sp)
    .irp n, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    sd      x\n, \n * 8(sp)
    .endr
    la      t0, trap_again              // from here on sscratch holds no stack
    csrw    stvec, t0
    csrr    t0, sscratch
    sd      t0, TRAP_FRAME_SP(sp)
    csrr    t0, sepc
    sd      t0, TRAP_FRAME_EPC(sp)
    csrr    t0, sstatus
    sd      t0, TRAP_FRAME_STATUS(sp)
    csrr    t0, scause
    sd      t0, TRAP_FRAME_CAUSE(sp)
    csrr    t0, stval
    sd      t0, TRAP_FRAME_VALUE(sp)
    mv      a0, sp
    li      s0, 0
    li      ra, 0
    tail    trap_report

/* A trap within the handler: neither its stack nor sscratch can be trusted. */
    .balign 4
trap_again:
    csrw    sscratch, sp
    la      sp, trap_last_stack_end - TRAP_FRAME_BYTES
    j       trap_save
    .size trap_entry, . - trap_entry

    .section .bss.trap_last_stack, "aw", %nobits
    .balign 4096
    .skip   4096
trap_last_stack_end:

    .section .note.GNU-stack, "", %progbits
