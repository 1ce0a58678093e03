// Shared by the gemms of FIG4, whose nibbles are indices into a table. One block of x serves two
// blocks of FIG4. The including header defines these macros with the instructions of its ISA
// level:
//   begin_fig4         runs before the columns, and calls sum_half_of_x.
//   collect_run w, x   multiplies 32 columns at `w` of the group by x at `x` of the block.
//   finish_token t     adds the sums of token t to its y; ymm12 has the scales of the rows.
// The header also defines the registers of tiles_avx2.h.
#ifndef INGOT_KERNELS_X86_64_GEMM_TABLE_H
#define INGOT_KERNELS_X86_64_GEMM_TABLE_H

#define n_blocks_32 r9d
#define blocks_left_32 r13d

// eax = 0 or 1: the half of the block of x that this block of weights uses.
.macro half_of_block
    mov     eax, n_blocks_32
    sub     eax, blocks_left_32
    and     eax, 1
.endm

// The first four int16 of xmm12 = the sums of x of four tokens over this half, at most 128 * 128.
// rax = 64 if this is the second half, else 0. Destroys ymm13.
.macro sum_half_of_x
    half_of_block
    shl     eax, 6
    vmovdqu ymm12, [block + rax + Q8KX4_SUM]
    vpaddw  ymm12, ymm12, [block + rax + Q8KX4_SUM + 32]
    vextracti128 xmm13, ymm12, 1
    vpaddw  xmm12, xmm12, xmm13
    vpsrldq xmm13, xmm12, 8
    vpaddw  xmm12, xmm12, xmm13
.endm

.macro block_fig4 collect=collect_run
    begin_fig4
    \collect QUANTS, 0
    \collect (QUANTS + 128), 128
    \collect (QUANTS + 256), 256
    \collect (QUANTS + 384), 384
    vcvtph2ps ymm12, [group]
    .irp    t, 0, 1, 2, 3
    finish_token \t
    .endr
    half_of_block
    jnz     .Lsecond_half\@
    cmp     blocks_left, 1
    jne     .Lnext\@
    add     block, 4 * FIG4_COLS    // skip the last half of x, because no block uses it
.Lsecond_half\@:
    add     block, Q8KX4_BYTES - 4 * FIG4_COLS
.Lnext\@:
.endm

#endif
