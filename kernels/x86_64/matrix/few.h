// The gemvs and gemms of TQ2_0, Q2_0 and Q1_0 with AVX2 or, if FEW_VNNI is defined, with VNNI. With
// FEW_VEX, VNNI has the VEX coding, for processors without AVX-512; else it is AVX-512 VNNI on 256-bit
// vectors. A kernel that includes this defines PARTS, the number of parts of a block; each part has its own scale.
//
// gemv: registers of the loops are in gemv_rows.h; ymm2-ymm5 sums (two bits: each of 64 columns; one bit:
// ymm2 and ymm4 of part 0, ymm3 and ymm5 of part 1); ymm6 weights; ymm7, ymm8 scratch; ymm14 ones; ymm15 mask.
// gemm: registers of the loops are in tiles_avx2.h; ymm5-ymm8 sums of four tokens; ymm9-ymm12 integers of
// TQ2_0; ymm13 weights; ymm14 scratch; ymm15 mask.
// Clobbers the same as the loops, and ymm2-ymm15; 32 bytes of red zone: sums of x.
//
// 32 bytes are 8 rows by 4 columns; a 32-bit lane is therefore a row. Fields are
// unsigned, as vpmaddubsw and vpdpbusd require; a pair of products is within 2 * 3 * 128
// = 768, and an int16 adds the 16 pairs of a field. The sums of x are subtracted once.
#ifndef INGOT_KERNELS_X86_64_FEW_H
#define INGOT_KERNELS_X86_64_FEW_H

#define QUANTS_AT (16 * PARTS)

// ---- gemv --------------------------------------------------------------------------------------

// sum += weights * 4 columns of x.
.macro few_multiply sum, weight, at
#ifdef FEW_VEX
    vpbroadcastd ymm8, dword ptr [block + \at]
    {vex} vpdpbusd \sum, \weight, ymm8
#elif defined FEW_VNNI
    vpdpbusd \sum, \weight, dword ptr [block + \at]{1to8}
#else
    vpbroadcastd ymm8, dword ptr [block + \at]
    vpmaddubsw ymm8, \weight, ymm8
    vpaddw  \sum, \sum, ymm8
#endif
.endm

.macro few_chunk_two c
    vmovdqu ymm6, [weights + QUANTS_AT + 32*(\c)]
    vpand   ymm7, ymm6, ymm15
    few_multiply ymm2, ymm7, (4*(\c))
    vpsrlw  ymm7, ymm6, 2
    vpand   ymm7, ymm7, ymm15
    few_multiply ymm3, ymm7, (64 + 4*(\c))
    vpsrlw  ymm7, ymm6, 4
    vpand   ymm7, ymm7, ymm15
    few_multiply ymm4, ymm7, (128 + 4*(\c))
    vpsrlw  ymm7, ymm6, 6
    vpand   ymm7, ymm7, ymm15
    few_multiply ymm5, ymm7, (192 + 4*(\c))
.endm

.macro few_bit sum, c, k
    .if \k
    vpsrlw  ymm7, ymm6, \k
    vpand   ymm7, ymm7, ymm15
    .else
    vpand   ymm7, ymm6, ymm15
    .endif
    few_multiply \sum, ymm7, (32*(\k) + 4*(\c))
.endm

.macro few_chunk_one c
    vmovdqu ymm6, [weights + QUANTS_AT + 32*(\c)]
    few_bit ymm2, \c, 0
    few_bit ymm4, \c, 1
    few_bit ymm2, \c, 2
    few_bit ymm4, \c, 3
    few_bit ymm3, \c, 4
    few_bit ymm5, \c, 5
    few_bit ymm3, \c, 6
    few_bit ymm5, \c, 7
.endm

// Store the sums of x to the red zone: over 64 columns at 0, 4, 16, 20; 128 at 0, 16; 256 at 0.
.macro few_sums
    vpcmpeqw ymm14, ymm14, ymm14
    vpsrlw  ymm14, ymm14, 15
    vpmaddwd ymm6, ymm14, [block + Q8K_SUM]
    vphaddd ymm6, ymm6, ymm6
    .if PARTS < 4
    vphaddd ymm6, ymm6, ymm6
    .endif
    .if PARTS < 2
    vextracti128 xmm7, ymm6, 1
    vpaddd  xmm6, xmm6, xmm7
    .endif
    vmovdqu [rsp - 32], ymm6
.endm

// sum += other, where neither is folded yet.
.macro few_join sum, other
#ifdef FEW_VNNI
    vpaddd  \sum, \sum, \other
#else
    vpaddw  \sum, \sum, \other
#endif
.endm

// sum = the 32-bit integers of 8 rows.
.macro few_fold sum
#ifndef FEW_VNNI
    vpmaddwd \sum, \sum, ymm14
#endif
.endm

// y += (sum - sum of x) * scale * x.d
.macro few_add sum, part, sum_at
    vpbroadcastd ymm7, dword ptr [rsp - 32 + \sum_at]
    vpsubd  \sum, \sum, ymm7
    vcvtph2ps ymm6, [weights + 16*(\part)]
    vbroadcastss ymm7, dword ptr [block + Q8K_SCALE]
    vmulps  ymm6, ymm6, ymm7
    vcvtdq2ps \sum, \sum
    vfmadd231ps ymm0, \sum, ymm6
.endm

.macro few_clear
    vpxor   xmm2, xmm2, xmm2
    vpxor   xmm3, xmm3, xmm3
    vpxor   xmm4, xmm4, xmm4
    vpxor   xmm5, xmm5, xmm5
.endm

.macro few_fields
    few_sums
    few_clear
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    few_chunk_two \c
    .endr
    few_fold ymm2
    few_fold ymm3
    few_fold ymm4
    few_fold ymm5
.endm

.macro gemv_block_tq2
    few_fields
    vpaddd  ymm2, ymm2, ymm3
    vpaddd  ymm4, ymm4, ymm5
    vpaddd  ymm2, ymm2, ymm4
    few_add ymm2, 0, 0
.endm

.macro gemv_block_q2
    few_fields
    few_add ymm2, 0, 0
    few_add ymm3, 1, 4
    few_add ymm4, 2, 16
    few_add ymm5, 3, 20
.endm

.macro gemv_block_q1
    few_sums
    few_clear
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    few_chunk_one \c
    .endr
    few_join ymm2, ymm4
    few_join ymm3, ymm5
    few_fold ymm2
    few_fold ymm3
    vpaddd  ymm2, ymm2, ymm2
    vpaddd  ymm3, ymm3, ymm3
    few_add ymm2, 0, 0
    few_add ymm3, 1, 16
.endm

.macro gemv_few name, body, mask, block_bytes
func \name
    broadcast_word 15, \mask
    gemv_rows \body, 8, \block_bytes, Q8K_BYTES
endfunc \name
.endm

// ---- gemm --------------------------------------------------------------------------------------

.macro few_token sum, at:vararg
#ifdef FEW_VEX
    vpbroadcastd ymm14, dword ptr [\at]
    {vex} vpdpbusd \sum, ymm13, ymm14
#elif defined FEW_VNNI
    vpdpbusd \sum, ymm13, dword ptr [\at]{1to8}
#else
    vpbroadcastd ymm14, dword ptr [\at]
    vpmaddubsw ymm14, ymm13, ymm14
    vpaddw  \sum, \sum, ymm14
#endif
.endm

// ymm5-ymm8 += field k, `bits` wide, of `chunks` chunks * four tokens.
.macro few_tokens k, bits, chunks
    xor     eax, eax
.Lchunk\@:
    vmovdqu ymm13, [group + QUANTS_AT + 2*rax]
    .if \k
    vpsrlw  ymm13, ymm13, \k * \bits
    .endif
    vpand   ymm13, ymm13, ymm15
    few_token ymm5, block + 16*\k*\chunks + rax
    few_token ymm6, block + 16*\k*\chunks + rax + 4
    few_token ymm7, block + 16*\k*\chunks + rax + 8
    few_token ymm8, block + 16*\k*\chunks + rax + 12
    add     eax, 16
    cmp     eax, 16 * \chunks
    jne     .Lchunk\@
.endm

.macro few_clear_tokens
    vpxor   xmm5, xmm5, xmm5
    vpxor   xmm6, xmm6, xmm6
    vpxor   xmm7, xmm7, xmm7
    vpxor   xmm8, xmm8, xmm8
.endm

.macro few_fold_tokens
#ifndef FEW_VNNI
    vpcmpeqw ymm13, ymm13, ymm13
    vpsrlw  ymm13, ymm13, 15
    vpmaddwd ymm5, ymm5, ymm13
    vpmaddwd ymm6, ymm6, ymm13
    vpmaddwd ymm7, ymm7, ymm13
    vpmaddwd ymm8, ymm8, ymm13
#endif
.endm

// Store to the red zone, for each of four tokens, the sum of x over part `part`.
.macro few_token_sums part
    vpmovsxwd xmm13, [block + Q8KX4_SUM + 8*(\part)*(16/PARTS)]
    .irp    n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .if \n < 16/PARTS
    vpmovsxwd xmm14, [block + Q8KX4_SUM + 8*((\part)*(16/PARTS)+\n)]
    vpaddd  xmm13, xmm13, xmm14
    .endif
    .endr
    vmovdqu [rsp - 32], xmm13
.endm

.macro few_add_token y, sum, t
    vpbroadcastd ymm14, dword ptr [rsp - 32 + 4*\t]
    vpsubd  \sum, \sum, ymm14
    vbroadcastss ymm14, dword ptr [block + Q8KX4_SCALE + 4*\t]
    vmulps  ymm14, ymm13, ymm14
    vcvtdq2ps \sum, \sum
    vfmadd231ps \y, \sum, ymm14
.endm

.macro few_add_tokens part, a, b, c, d
    few_token_sums \part
    vcvtph2ps ymm13, [group + 16*(\part)]
    few_add_token ymm0, \a, 0
    few_add_token ymm1, \b, 1
    few_add_token ymm2, \c, 2
    few_add_token ymm3, \d, 3
.endm

.macro gemm_part_q2 k
    few_clear_tokens
    few_tokens \k, 2, 16
    few_fold_tokens
    few_add_tokens \k, ymm5, ymm6, ymm7, ymm8
.endm

.macro gemm_block_q2
    gemm_part_q2 0
    gemm_part_q2 1
    gemm_part_q2 2
    gemm_part_q2 3
.endm

.macro gemm_field_tq2 k
    few_clear_tokens
    few_tokens \k, 2, 16
    few_fold_tokens
    vpaddd  ymm9, ymm9, ymm5
    vpaddd  ymm10, ymm10, ymm6
    vpaddd  ymm11, ymm11, ymm7
    vpaddd  ymm12, ymm12, ymm8
.endm

.macro gemm_block_tq2
    vpxor   xmm9, xmm9, xmm9
    vpxor   xmm10, xmm10, xmm10
    vpxor   xmm11, xmm11, xmm11
    vpxor   xmm12, xmm12, xmm12
    gemm_field_tq2 0
    gemm_field_tq2 1
    gemm_field_tq2 2
    gemm_field_tq2 3
    few_add_tokens 0, ymm9, ymm10, ymm11, ymm12
.endm

.macro gemm_part_q1 part
    few_clear_tokens
    few_tokens (4 * \part), 1, 8
    few_tokens (4 * \part + 1), 1, 8
    few_tokens (4 * \part + 2), 1, 8
    few_tokens (4 * \part + 3), 1, 8
    few_fold_tokens
    vpaddd  ymm5, ymm5, ymm5
    vpaddd  ymm6, ymm6, ymm6
    vpaddd  ymm7, ymm7, ymm7
    vpaddd  ymm8, ymm8, ymm8
    few_add_tokens \part, ymm5, ymm6, ymm7, ymm8
.endm

.macro gemm_block_q1
    gemm_part_q1 0
    gemm_part_q1 1
.endm

// Like gemm_tiles, but with a mask.
.macro gemm_few name, body, mask, block_bytes
func \name
    enter_tiles 0
    broadcast_word 15, \mask
    mov     rows_left, [shape + SHAPE_ROWS]
    mov     n_blocks, [shape + SHAPE_COLS]
    mov     n_tokens, [shape + SHAPE_TOKENS]
    mov     y_stride, [shape + SHAPE_Y_STRIDE]
    shl     y_stride, 2
    shr     n_blocks, 8
    multiply_tiles 4, \body, \block_bytes, Q8KX4_BYTES
    leave_tiles 0
endfunc \name
.endm

#endif
