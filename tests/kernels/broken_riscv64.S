# Kernels that break one rule of the ABI each and do nothing else; see broken.c.

.macro broken name
    .section .text.\name, "ax", %progbits
    .balign 4
    .globl  \name
    .type   \name, %function
\name:
.endm

broken broken_saved
    addi    s9, s9, 1
    ret

broken broken_saved_float
    fmv.d.x fs4, zero
    ret

broken broken_stack
    addi    sp, sp, -16
    ret

broken broken_control
    fsrmi   3                       # towards plus infinity
    ret

broken broken_platform
    addi    gp, gp, 16
    ret

broken broken_frame
    sd      zero, 0(sp)             # the caller's
    ret

broken broken_depth
    li      t0, 12288 + 1000
    sub     t0, sp, t0
    sd      zero, 0(t0)
    ret

# Takes a register for zero that was not cleared.
broken broken_zero
    beqz    a2, 2f
1:
    flw     fa0, 0(a0)
    flw     fa1, 0(a1)
    fadd.s  fa0, fa0, fa1
    fadd.s  fa0, fa0, fa2
    fsw     fa0, 0(a0)
    addi    a0, a0, 4
    addi    a1, a1, 4
    addi    a2, a2, -1
    bnez    a2, 1b
2:
    ret

    .option push
    .option arch, +v
broken broken_zero_rvv
    vsetvli t0, a2, e32, m1, ta, ma
    beqz    a2, 1f
    vle32.v v1, (a0)
    vle32.v v2, (a1)
    vfadd.vv v1, v1, v2
    vfadd.vv v1, v1, v5             # not cleared
    vse32.v v1, (a0)
    slli    t1, t0, 2
    add     a0, a0, t1
    add     a1, a1, t1
    sub     a2, a2, t0
    bnez    a2, broken_zero_rvv
1:
    ret

# Trusts in the vtype that the caller left.
broken broken_vtype
    beqz    a2, 2f
1:
    flw     fa0, 0(a0)
    flw     fa1, 0(a1)
    fadd.s  fa0, fa0, fa1
    fmv.x.w t0, fa0
    vmv.s.x v1, t0                  # 32 bits, if that is what an element has
    vmv.x.s t0, v1
    sw      t0, 0(a0)
    addi    a0, a0, 4
    addi    a1, a1, 4
    addi    a2, a2, -1
    bnez    a2, 1b
2:
    ret
    .option pop

    .section .note.GNU-stack, "", %progbits
