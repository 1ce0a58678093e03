// void gelu_mul_f32_neon(float *y, const float *gate, const float *up, size_t n)
//
// x0 y; x1 gate; x2 up; x3 n;
// x4-x8 as in tail_neon.h, x9-x15 and v24-v31 constants.
// Clobbers x0-x15, v0-v31; d8-d15 are saved; 192 bytes of stack.
//
// A step takes sixteen elements and reads them before it writes y, so that y may be gate or up. 16
// elements take about 170 instructions, 4 divisions among them: 387 cycles in the model of
// Cortex-A53, 298 in that of Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/vector/gelu_neon.h"
#include "kernels/arm64/vector/tail_neon.h"

#define out x0
#define vector x1
#define up_at x2
#define left x3

ups0 .req v16
ups1 .req v17
ups2 .req v18
ups3 .req v19

func gelu_mul_f32_neon
    save_vectors
    sub     sp, sp, #128
    .cfi_adjust_cfa_offset 128
    gelu_constants
    mov     tail, #0
1:
    subs    left, left, #16
    b.lo    3f
2:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [vector]
    gelu_sixteen vector
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [up_at], #64
    four    fmul, exp_x, exp_x, ups
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [out], #64
    cbz     tail, 1b
    store_tail
    b       4f
3:
    adds    tail, left, #16
    b.eq    4f
    load_tail vector, 0
    load_tail up_at, 64
    mov     tail_out, out
    mov     vector, sp
    add     up_at, sp, #64
    mov     out, sp
    b       2b
4:
    add     sp, sp, #128
    .cfi_adjust_cfa_offset -128
    restore_vectors
    ret
endfunc gelu_mul_f32_neon
