/* From OpenSBI to main() on QEMU's virt machine, in S-mode with caches and physical addresses, on
 * the hart that OpenSBI chose; the other harts stay in OpenSBI. */
#define SSTATUS_FS  (1 << 13)           /* turns floating point on, in its initial state */

    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    csrw    sie, zero
    li      t0, SSTATUS_FS
    csrs    sstatus, t0
    fscsr   zero                        // nearest even, no flags
    la      sp, stack_end
    la      t0, bss_start               // both are multiples of 4 KiB (firmware.ld)
    la      t1, bss_end
1:  bgeu    t0, t1, 2f
    sd      zero, 0(t0)
    addi    t0, t0, 8
    j       1b
2:  call    main
    call    machine_off
    .section .note.GNU-stack, "", %progbits
