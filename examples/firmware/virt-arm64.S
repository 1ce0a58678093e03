/* From reset to main() on QEMU's virt machine, at EL1: floating point, MMU and caches on, BSS
 * cleared. Without the MMU memory counts as device memory, where unaligned loads of the kernels
 * fault. Section numbers refer to the Arm ARM, DDI 0487. */
#define CPACR_FP    (3 << 20)
#define MAIR        0x04ff              /* 0: normal, write-back; 1: device nGnRE */
/* T0SZ 25: 39 bits, so that a table of 1 GiB blocks is enough; walks cached; no TTBR1 (D17.2.131). */
#define TCR         (25 | 1 << 8 | 1 << 10 | 3 << 12 | 1 << 23)
#define SCTLR       (0x30d00800 | 1 << 0 | 1 << 2 | 1 << 12) /* RES1 bits and M, C, I */
#define BLOCK       (1 | 1 << 10)       /* a block, accessed */
#define DEVICE      (BLOCK | 1 << 2 | 3 << 53) /* attribute 1, never executed */
#define NORMAL      (BLOCK | 3 << 8)    /* attribute 0, inner shareable */

    .section .text.start, "ax"
    .globl _start
_start:
    msr     daifset, #15
    mov     x9, #CPACR_FP
    msr     cpacr_el1, x9
    ldr     x9, =MAIR
    msr     mair_el1, x9
    ldr     x9, =TCR
    msr     tcr_el1, x9
    adrp    x9, table
    msr     ttbr0_el1, x9
    dsb     sy
    tlbi    vmalle1
    ic      iallu
    dsb     sy
    isb
    ldr     x9, =SCTLR
    msr     sctlr_el1, x9
    isb
    adrp    x9, stack_end
    mov     sp, x9
    adrp    x9, bss_start               // both are multiples of 4 KiB (firmware.ld)
    adrp    x10, bss_end
1:  cmp     x9, x10
    b.hs    2f
    stp     xzr, xzr, [x9], #16
    b       1b
2:  msr     fpcr, xzr                   // nearest even, subnormals kept
    bl      main
    b       machine_off

    .section .data.table, "aw"
    .balign 4096
table:
    .quad   0x00000000 | DEVICE
    .quad   0x40000000 | NORMAL
    .fill   510, 8, 0
    .section .note.GNU-stack, "", %progbits
