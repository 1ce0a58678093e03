# void kernel_call_checked(struct kernel_call *call): lp64d.
#
# a0  call; kept in a static variable over the call, as nothing else can be trusted
#
# Fills s0-s11 and fs0-fs11 with known values, every other register but gp, tp and sp with
# garbage, the vector registers, vl, vtype and vxrm too if call->features has V, calls, and
# compares. The own registers are kept in call->saved, not on the stack, so that a kernel that
# moves sp cannot hurt; the kernel gets the stack at call->stack.

.equ CALL_INTEGER, 8
.equ CALL_SCALAR, 56
.equ CALL_RESULT, 64
.equ CALL_FEATURES, 68
.equ CALL_DAMAGE, 72
.equ CALL_STACK, 80
.equ CALL_SAVED, 88
.equ SAVED_RA, CALL_SAVED + 12 * 8
.equ SAVED_SP, SAVED_RA + 8
.equ SAVED_GP, SAVED_RA + 16
.equ SAVED_TP, SAVED_RA + 24
.equ SAVED_FRM, SAVED_RA + 32
.equ SAVED_FLOATS, SAVED_RA + 40

.equ FEATURE_V, 1 << 2              # CPU_RV64_V
.equ FAULT_SAVED, 1 << 3
.equ FAULT_SAVED_FLOAT, 1 << 4
.equ FAULT_STACK, 1 << 5
.equ FAULT_CONTROL, 1 << 6
.equ FAULT_PLATFORM, 1 << 7

.equ PATTERN, 0x5a00e1f07b000000

# t0 damage; t1, t2 scratch; \value may be t3
.macro expect value, wanted, bit
    xor     t1, \value, \wanted
    snez    t1, t1
    neg     t1, t1
    andi    t1, t1, \bit
    or      t0, t0, t1
.endm

.macro expect_kept value, offset, bit
    ld      t2, \offset(a1)
    expect  \value, t2, \bit
.endm

    .section .text.kernel_call_checked, "ax", %progbits
    .balign 4
    .globl  kernel_call_checked
    .type   kernel_call_checked, %function
kernel_call_checked:
    .cfi_startproc
    la      t0, kernel_call_current
    sd      a0, 0(t0)
    .set    at, CALL_SAVED
.irp reg, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    sd      \reg, at(a0)
    .set    at, at + 8
.endr
    sd      ra, SAVED_RA(a0)
    sd      sp, SAVED_SP(a0)
    sd      gp, SAVED_GP(a0)
    sd      tp, SAVED_TP(a0)
    frrm    t0
    sd      t0, SAVED_FRM(a0)
    .set    at, SAVED_FLOATS
.irp reg, fs0, fs1, fs2, fs3, fs4, fs5, fs6, fs7, fs8, fs9, fs10, fs11
    fsd     \reg, at(a0)
    .set    at, at + 8
.endr

    li      t0, -1
    lwu     t1, CALL_FEATURES(a0)
    andi    t1, t1, FEATURE_V
    beqz    t1, 1f
    .option push
    .option arch, +v
    vsetvli t1, zero, e64, m8, ta, ma
    vmv.v.x v0, t0
    vmv.v.x v8, t0
    vmv.v.x v16, t0
    vmv.v.x v24, t0
    vsetivli zero, 3, e16, m1, ta, ma
    csrwi   vxrm, 3
    .option pop
1:
    li      t1, PATTERN
    .set    at, 0
.irp reg, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    addi    \reg, t1, at
    .set    at, at + 1
.endr
    .set    at, 0x100
.irp reg, fs0, fs1, fs2, fs3, fs4, fs5, fs6, fs7, fs8, fs9, fs10, fs11
    addi    t2, t1, at
    fmv.d.x \reg, t2
    .set    at, at + 1
.endr
    # boxed NaNs: read as f32 they are NaN, too
.irp reg, ft0, ft1, ft2, ft3, ft4, ft5, ft6, ft7, ft8, ft9, ft10, ft11
    fmv.d.x \reg, t0
.endr
.irp reg, fa2, fa3, fa4, fa5, fa6, fa7
    fmv.d.x \reg, t0
.endr
    flw     fa0, CALL_SCALAR(a0)
    flw     fa1, CALL_SCALAR + 4(a0)
    ld      sp, CALL_STACK(a0)
    ld      t6, 0(a0)
    ld      a1, CALL_INTEGER + 8(a0)
    ld      a2, CALL_INTEGER + 16(a0)
    ld      a3, CALL_INTEGER + 24(a0)
    ld      a4, CALL_INTEGER + 32(a0)
    ld      a5, CALL_INTEGER + 40(a0)
    ld      a0, CALL_INTEGER(a0)
    addi    a6, t1, 0x66
    addi    a7, t1, 0x67
    addi    t0, t1, 0x68
    addi    t2, t1, 0x69
    addi    t3, t1, 0x6a
    addi    t4, t1, 0x6b
    addi    t5, t1, 0x6c
    jalr    t6

    la      a1, kernel_call_current
    ld      a1, 0(a1)
    fsw     fa0, CALL_RESULT(a1)
    li      t0, 0
    li      t4, PATTERN
    .set    at, 0
.irp reg, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    addi    t5, t4, at
    expect  \reg, t5, FAULT_SAVED
    .set    at, at + 1
.endr
    .set    at, 0x100
.irp reg, fs0, fs1, fs2, fs3, fs4, fs5, fs6, fs7, fs8, fs9, fs10, fs11
    addi    t5, t4, at
    fmv.x.d t3, \reg
    expect  t3, t5, FAULT_SAVED_FLOAT
    .set    at, at + 1
.endr
    expect_kept sp, CALL_STACK, FAULT_STACK
    expect_kept gp, SAVED_GP, FAULT_PLATFORM
    expect_kept tp, SAVED_TP, FAULT_PLATFORM
    frrm    t3
    expect_kept t3, SAVED_FRM, FAULT_CONTROL
    sw      t0, CALL_DAMAGE(a1)

    ld      t3, SAVED_FRM(a1)
    fsrm    t3
    .set    at, SAVED_FLOATS
.irp reg, fs0, fs1, fs2, fs3, fs4, fs5, fs6, fs7, fs8, fs9, fs10, fs11
    fld     \reg, at(a1)
    .set    at, at + 8
.endr
    .set    at, CALL_SAVED
.irp reg, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    ld      \reg, at(a1)
    .set    at, at + 8
.endr
    ld      ra, SAVED_RA(a1)
    ld      sp, SAVED_SP(a1)
    ld      gp, SAVED_GP(a1)
    ld      tp, SAVED_TP(a1)
    ret
    .cfi_endproc
    .size   kernel_call_checked, . - kernel_call_checked

    .local  kernel_call_current
    .comm   kernel_call_current, 8, 8
    .section .note.GNU-stack, "", %progbits
