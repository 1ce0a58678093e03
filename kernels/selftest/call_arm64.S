// void kernel_call_checked(struct kernel_call *call): AAPCS64.
//
// x0 call; kept in a static variable during the call, because registers and stack may be changed
//
// Fills x19-x29, x18 and the low halves of v8-v15 with known values and every other register with
// garbage (also SVE's registers if call->features has SVE), calls the kernel, and compares. The
// caller's registers are saved in call->saved, not on the stack, so that a kernel that moves sp
// does no harm; the kernel gets the stack at call->stack.
#include "kernels/arm64/asm.h"

#define CALL_INTEGER 8
#define CALL_SCALAR 56
#define CALL_RESULT 64
#define CALL_FEATURES 68
#define CALL_DAMAGE 72
#define CALL_STACK 80
#define CALL_SAVED 88
#define FEATURE_SVE 6               // the bit number of CPU_ARM64_SVE
#define SAVED_FLOATS (CALL_SAVED + 14 * 8)

#define FAULT_SAVED (1 << 3)
#define FAULT_SAVED_FLOAT (1 << 4)
#define FAULT_STACK (1 << 5)
#define FAULT_CONTROL (1 << 6)
#define FAULT_PLATFORM (1 << 7)

.macro pattern reg, number
    movz    \reg, #0x5a00 + \number
    movk    \reg, #0xc3d2, lsl #16
    movk    \reg, #0x7b00 + \number, lsl #32
    movk    \reg, #0xe1f0, lsl #48
.endm

// damage |= bit if value != pattern(number); x9 damage, x10, x11 scratch
.macro expect value, number, bit
    pattern x10, \number
    mov     w11, #\bit
    cmp     \value, x10
    csel    w11, wzr, w11, eq
    orr     w9, w9, w11
.endm

.macro expect_equal value, kept, bit
    ldr     x10, [x12, #\kept]
    mov     w11, #\bit
    cmp     \value, x10
    csel    w11, wzr, w11, eq
    orr     w9, w9, w11
.endm

func kernel_call_checked
    adrp    x9, kernel_call_current
    str     x0, [x9, :lo12:kernel_call_current]
    add     x9, x0, #CALL_SAVED
    mov     x10, sp
    mrs     x11, fpcr
    stp     x18, x19, [x9], #16
    stp     x20, x21, [x9], #16
    stp     x22, x23, [x9], #16
    stp     x24, x25, [x9], #16
    stp     x26, x27, [x9], #16
    stp     x28, x29, [x9], #16
    stp     x30, x10, [x9], #16
    stp     d8, d9, [x9], #16
    stp     d10, d11, [x9], #16
    stp     d12, d13, [x9], #16
    stp     d14, d15, [x9], #16
    str     x11, [x9]

    // Vectors: NaN garbage everywhere, then the patterns in the halves that must be preserved.
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movi    v\n\().16b, #0xff
.endr
.irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    movi    v\n\().16b, #0xff
.endr
.irp n, 8, 9, 10, 11, 12, 13, 14, 15
    pattern x9, \n
    ins     v\n\().d[0], x9
.endr
    ldp     w9, w10, [x0, #CALL_SCALAR]
    ins     v0.s[0], w9
    ins     v1.s[0], w10
    ldr     w11, [x0, #CALL_FEATURES]
    tbz     w11, #FEATURE_SVE, 1f
    // Fill SVE's registers again, because a write to V clears the upper part of Z: put garbage
    // above the low 64 bits of every Z, and into the first three bytes of every P a pattern that
    // no kernel uses.
    .arch_extension sve
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    dup     z\n\().b, #-1
.endr
.irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    dup     z\n\().b, #-1
.endr
    ptrue   p0.s, vl1
    mov     z0.s, p0/m, w9
    mov     z1.s, p0/m, w10
    ptrue   p0.d, vl1
.irp n, 8, 9, 10, 11, 12, 13, 14, 15
    pattern x9, \n
    mov     z\n\().d, p0/m, x9
.endr
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    ptrue   p\n\().b, vl3
.endr
1:
    ldr     x9, [x0, #CALL_STACK]
    mov     sp, x9
.irp n, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
    pattern x\n, \n
.endr
    ldr     x16, [x0]
    mov     x17, x0
    ldp     x0, x1, [x17, #CALL_INTEGER]
    ldp     x2, x3, [x17, #CALL_INTEGER + 16]
    ldp     x4, x5, [x17, #CALL_INTEGER + 32]
    pattern x6, 0x66
.irp n, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17
    mov     x\n, x6
.endr
    cmp     x6, #0
    blr     x16

    adrp    x12, kernel_call_current
    ldr     x12, [x12, :lo12:kernel_call_current]
    str     s0, [x12, #CALL_RESULT]
    mov     w9, #0
    expect  x18, 18, FAULT_PLATFORM
.irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
    expect  x\n, \n, FAULT_SAVED
.endr
.irp n, 8, 9, 10, 11, 12, 13, 14, 15
    umov    x13, v\n\().d[0]
    expect  x13, \n, FAULT_SAVED_FLOAT
.endr
    mov     x13, sp
    expect_equal x13, CALL_STACK, FAULT_STACK
    mrs     x13, fpcr
    expect_equal x13, SAVED_FLOATS + 64, FAULT_CONTROL
    str     w9, [x12, #CALL_DAMAGE]

    msr     fpcr, x10               // the saved fpcr, which expect_equal loaded
    ldp     d8, d9, [x12, #SAVED_FLOATS]
    ldp     d10, d11, [x12, #SAVED_FLOATS + 16]
    ldp     d12, d13, [x12, #SAVED_FLOATS + 32]
    ldp     d14, d15, [x12, #SAVED_FLOATS + 48]
    ldp     x18, x19, [x12, #CALL_SAVED]
    ldp     x20, x21, [x12, #CALL_SAVED + 16]
    ldp     x22, x23, [x12, #CALL_SAVED + 32]
    ldp     x24, x25, [x12, #CALL_SAVED + 48]
    ldp     x26, x27, [x12, #CALL_SAVED + 64]
    ldp     x28, x29, [x12, #CALL_SAVED + 80]
    ldp     x30, x10, [x12, #CALL_SAVED + 96]
    mov     sp, x10
    ret
endfunc kernel_call_checked

    .local  kernel_call_current
    .comm   kernel_call_current, 8, 8
