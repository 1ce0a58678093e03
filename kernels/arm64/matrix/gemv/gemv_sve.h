// Shared by the quantized gemvs with SVE: the loop over pairs of groups of 8 rows, as in
// gemv_neon_dotprod.h. 4 columns of 8 rows are 32 bytes: one vector at 256 bits, or the low part of
// a longer vector. At 128 bits a Z register is a V register, and these kernels call the NEON kernel;
// for some formats they also do so at 256 bits, where the NEON kernel is faster. So their rows in
// kernels.inc require the dot product, too.
#ifndef INGOT_KERNELS_ARM64_GEMV_SVE_H
#define INGOT_KERNELS_ARM64_GEMV_SVE_H

#include "kernels/arm64/matrix/gemv/gemv_neon_dotprod.h"

// Registers are as in gemv_neon_dotprod.h, except that z28 and z29 are y of the two groups. The
// blocks of a pair may use x11-x17, x19-x22 and all other vectors. p0: 32 bytes; p1: 8 words;
// p2: those of the 8 words that are rows of W.
#define vector_bytes x16
#define all_bytes p0
#define all_words p1
#define row_words p2

// Body of a gemv, like gemv_pairs. `least` is the shortest vector, in bytes, with which the body is
// faster than the NEON kernel.
.macro gemv_sve_pairs neon_kernel, blocks, block_bits, block_bytes, least=32
    cntb    vector_bytes
    cmp     vector_bytes, #\least
    b.lo    \neon_kernel
    cbz     rows_left, .Ldone\@
    save_vectors
    push_pair x19, x20, 32
    save_pair x21, x22, 16
    ptrue   all_bytes.b, vl32
    ptrue   all_words.s, vl8
    lsr     n_blocks, n_blocks, #\block_bits
    mov     group_bytes, #\block_bytes
    mul     group_bytes, group_bytes, n_blocks
.Lpair\@:
    take_pair
    dup     z28.s, #0
    dup     z29.s, #0
    cbz     n_blocks, .Lstore\@
    \blocks
.Lstore\@:
    store_rows z28
    b.ls    .Lrestore\@
    store_rows z29
    add     weights, weights, group_bytes, lsl #1
    b.hi    .Lpair\@
.Lrestore\@:
    restore_pair x21, x22, 16
    pop_pair x19, x20, 32
    restore_vectors
.Ldone\@:
    ret
.endm

// Store the next rows of y, up to 8; afterwards the condition `hi` holds if there are more.
.macro store_rows vector
    whilelo row_words.s, xzr, rows_left
    and     row_words.b, all_words/z, row_words.b, row_words.b
    st1w    {\vector\().s}, row_words, [out]
    add     out, out, #32
    subs    rows_left, rows_left, #8
.endm

#endif
