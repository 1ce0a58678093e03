/* The kernels of broken_*.c and, without the prototypes of an op, those of broken_<isa>.S. */
#ifndef INGOT_TESTS_KERNELS_BROKEN_KERNELS_H
#define INGOT_TESTS_KERNELS_BROKEN_KERNELS_H

#include "kernels/kernels.h"

/* BROKEN(function, op, fault that the tester must report, features of the CPU that it needs) */
#define BROKEN_KERNELS(BROKEN) \
    BROKEN(gemv_misses_last_row, gemv_f32_q4x8_q8, TESTER_VALUE, CPU_ANY) \
    BROKEN(gemv_writes_whole_groups, gemv_f32_q4x8_q8, TESTER_GUARD_HIT, CPU_ANY) \
    BROKEN(gemv_wraps_pairs, gemv_f32_q8x8_q8, TESTER_VALUE, CPU_ANY) \
    BROKEN(gemv_sums_in_order, gemv_f32_f32_f32, TESTER_VALUE, CPU_ANY) \
    BROKEN(gemv_takes_low_mins, gemv_f32_q4kx8_q8k, TESTER_VALUE, CPU_ANY) \
    BROKEN(gemv_wraps_sub_blocks, gemv_f32_q6kx8_q8k, TESTER_VALUE, CPU_ANY) \
    BROKEN(gemm_writes_past_tokens, gemm_f32_q4x8_q8x4, TESTER_GUARD_HIT, CPU_ANY) \
    BROKEN(gemm_misses_last_token, gemm_f32_q8x8_q8x4, TESTER_VALUE, CPU_ANY) \
    BROKEN(gemm_rounds_one_lane, gemm_f32_q4kx8_q8kx4, TESTER_VALUE, CPU_ANY) \
    BROKEN(gemm_needs_all_lanes, gemm_f32_q8x8_q8x4, TESTER_VALUE, CPU_ANY) \
    BROKEN(gemm_skips_last_block, gemm_f32_q6kx8_q8kx4, TESTER_VALUE, CPU_ANY) \
    BROKEN(gemm_writes_between_rows, gemm_f32_f32_f32, TESTER_VALUE, CPU_ANY) \
    BROKEN(gemm_ignores_x_stride, gemm_f32_f16_f32, TESTER_VALUE, CPU_ANY) \
    BROKEN(accumulate_rounds_twice, accumulate_f32_f16, TESTER_VALUE, CPU_ANY) \
    BROKEN(accumulate_reads_stale, accumulate_f32_q8, TESTER_VALUE, CPU_ANY) \
    BROKEN(score_writes_whole_tile, score_f32_f16, TESTER_VALUE, CPU_ANY) \
    BROKEN(softmax_writes_reserved, online_softmax_f32, TESTER_VALUE, CPU_ANY) \
    BROKEN(softmax_keeps_stale, online_softmax_f32, TESTER_VALUE, CPU_ANY) \
    BROKEN(rmsnorm_ignores_offset, rmsnorm_f32, TESTER_VALUE, CPU_ANY) \
    BROKEN(layernorm_cancels, layernorm_f32, TESTER_VALUE, CPU_ANY) \
    BROKEN(gelu_carries_one_float, gelu_f32, TESTER_VALUE, CPU_ANY) \
    BROKEN(quantize_forgets_reserved, quantize_q8k_f32, TESTER_VALUE, CPU_ANY) \
    BROKEN(interleave_forgets_zeros, interleave_q8x4_q8, TESTER_VALUE, CPU_ANY) \
    BROKEN(add_forgets_tail, add_f32, TESTER_VALUE, CPU_ANY) \
    BROKEN(add_writes_past_end, add_f32, TESTER_GUARD_HIT, CPU_ANY) \
    BROKEN(add_writes_before_start, add_f32, TESTER_GUARD_HIT, CPU_ANY) \
    BROKEN(add_changes_input, add_f32, TESTER_INPUT, CPU_ANY) \
    BROKEN(add_flushes_subnormals, add_f32, TESTER_VALUE, CPU_ANY) \
    BROKEN(max_lets_nan_win, max_f32, TESTER_VALUE, CPU_ANY) \
    BROKEN(convert_truncates, convert_f16_f32, TESTER_VALUE, CPU_ANY) \
    /* assembly that breaks one rule of the ABI each, and computes nothing */ \
    BROKEN(broken_saved, add_f32, TESTER_SAVED, CPU_ANY) \
    BROKEN(broken_stack, add_f32, TESTER_STACK, CPU_ANY) \
    BROKEN(broken_frame, add_f32, TESTER_STACK_HIT, CPU_ANY) \
    BROKEN(broken_depth, add_f32, TESTER_STACK_HIT, CPU_ANY) \
    BROKEN(broken_control, add_f32, TESTER_CONTROL, CPU_ANY) \
    BROKEN(broken_zero, add_f32, TESTER_VALUE, CPU_ANY)

#if defined(__aarch64__)
#define BROKEN_OF_ISA(BROKEN) \
    BROKEN(broken_saved_float, add_f32, TESTER_SAVED_FLOAT, CPU_ANY) \
    BROKEN(broken_platform, add_f32, TESTER_PLATFORM, CPU_ANY) \
    BROKEN(broken_saved_sve, add_f32, TESTER_SAVED_FLOAT, CPU_ARM64_SVE) \
    BROKEN(broken_zero_sve, add_f32, TESTER_VALUE, CPU_ARM64_SVE) \
    BROKEN(broken_predicate, add_f32, TESTER_VALUE, CPU_ARM64_SVE)
#elif defined(__riscv)
#define BROKEN_OF_ISA(BROKEN) \
    BROKEN(broken_saved_float, add_f32, TESTER_SAVED_FLOAT, CPU_ANY) \
    BROKEN(broken_platform, add_f32, TESTER_PLATFORM, CPU_ANY) \
    BROKEN(broken_zero_rvv, add_f32, TESTER_VALUE, CPU_RV64_V) \
    BROKEN(broken_vtype, add_f32, TESTER_VALUE, CPU_RV64_V)
#elif defined(__x86_64__)
#define BROKEN_OF_ISA(BROKEN) \
    BROKEN(broken_direction, add_f32, TESTER_CONTROL, CPU_ANY) \
    BROKEN(broken_dirty, add_f32, TESTER_DIRTY, CPU_X86_AVX2) \
    BROKEN(broken_dirty_zmm, add_f32, TESTER_DIRTY, CPU_X86_AVX512) \
    BROKEN(broken_zero_zmm, add_f32, TESTER_VALUE, CPU_X86_AVX512) \
    BROKEN(broken_mask, add_f32, TESTER_VALUE, CPU_X86_AVX512)
#endif

#define BROKEN_PROTOTYPE(function, op, fault, features) op##_fn function;
BROKEN_KERNELS(BROKEN_PROTOTYPE)
BROKEN_OF_ISA(BROKEN_PROTOTYPE)
#undef BROKEN_PROTOTYPE
max_f32_fn max_reads_past_end; /* it traps, so it is not in the list */

#endif
