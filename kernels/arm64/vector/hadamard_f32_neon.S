// void hadamard_f32_neon(float *x, size_t n, size_t block)
//
// x0 x, block after block; x1 n, floats left; x2 block, also bytes of a quarter; x3 `from`; x4
// `to`; x5-x7 its other quarters; x8 floats left of a pass; x9 the remaining strides; x10, x11
// scratch. Clobbers x0, x1, x3-x11, v0-v7, v16-v19; 2 KiB of stack.
//
// A pass works on the two lowest bits of an index (on one bit in the last pass if a block has 32,
// 128 or 512 floats). ld4 sorts the floats by these bits, which become the highest bits of the
// index in the store. After all passes each float is at its own index again. Passes alternate
// between x and the stack.
#include "kernels/arm64/asm.h"

#define vector x0
#define left x1
#define block x2
#define from x3
#define to x4
#define second x5
#define third x6
#define fourth x7
#define pass_left x8
#define strides x9
#define temp x10
#define spare x11
#define ROOM 2048

// Sums and differences.
.macro butterfly sum, difference, a, b
    fadd    \sum\().4s, \a\().4s, \b\().4s
    fsub    \difference\().4s, \a\().4s, \b\().4s
.endm

// from = the buffer that the last pass wrote, to = the other buffer.
.macro next_pass
    mov     from, temp
    cmp     temp, vector
    mov     to, sp
    csel    to, to, vector, eq
.endm

func hadamard_f32_neon
    sub     sp, sp, #ROOM
    .cfi_adjust_cfa_offset ROOM
    cbz     left, 9f
1:
    mov     from, vector
    mov     to, sp
    mov     strides, block
2:
    mov     temp, to
    mov     pass_left, block
    cmp     strides, #2
    b.eq    4f
    add     second, to, block           // block / 4 floats have `block` bytes
    add     third, second, block
    add     fourth, third, block
3:
    ld4     {v0.4s, v1.4s, v2.4s, v3.4s}, [from], #64
    subs    pass_left, pass_left, #16
    butterfly v4, v5, v0, v1
    butterfly v6, v7, v2, v3
    butterfly v16, v18, v4, v6
    butterfly v17, v19, v5, v7
    st1     {v16.4s}, [to], #16
    st1     {v17.4s}, [second], #16
    st1     {v18.4s}, [third], #16
    st1     {v19.4s}, [fourth], #16
    b.ne    3b
    next_pass
    lsr     strides, strides, #2
    cmp     strides, #1
    b.ne    2b
    b       6f
4:
    add     second, to, block, lsl #1
5:
    ld2     {v0.4s, v1.4s}, [from], #32
    subs    pass_left, pass_left, #8
    butterfly v4, v5, v0, v1
    st1     {v4.4s}, [to], #16
    st1     {v5.4s}, [second], #16
    b.ne    5b
    next_pass
6:
    sub     left, left, block
    add     spare, vector, block, lsl #2
    cmp     from, vector
    b.eq    8f
    mov     pass_left, block
7:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [from], #64
    subs    pass_left, pass_left, #16
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [vector], #64
    b.ne    7b
8:
    mov     vector, spare
    cbnz    left, 1b
9:
    add     sp, sp, #ROOM
    .cfi_adjust_cfa_offset -ROOM
    ret
endfunc hadamard_f32_neon
