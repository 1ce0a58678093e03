/* The benchmarks' arguments for each kernel: shapes of models, contents, and the call itself. Used
 * by the image of kernels_main.c and by the Linux program of native_kernels.c. */
#ifndef INGOT_TESTS_BENCH_KERNEL_CALLS_H
#define INGOT_TESTS_BENCH_KERNEL_CALLS_H

#include "kernels/kernels.h"

/* One call. For gemv: rows and columns of W; of gemm, tokens too. For attention: positions, dimension
 * of a head, queries. For a vector op: its length as columns, one row, one token. */
struct kernel_call {
    enum kernel_op op;
    size_t rows, cols, tokens;
};
extern const struct kernel_call kernel_calls[];
extern const size_t kernel_n_calls;

/* Multiply-adds of a product, scores of a softmax, else elements. */
size_t kernel_call_items(const struct kernel_call *call);

/* Bytes of weights that a gemv or gemm reads once; 0 for other ops. */
size_t kernel_call_weight_bytes(const struct kernel_call *call);

/* The same call with fewer rows if the op has a matrix; traces use it. */
struct kernel_call kernel_call_small(const struct kernel_call *call);

/* memory: KERNEL_CALLS_BYTES, 64-byte aligned; it is used from here on. */
enum { KERNEL_CALLS_BYTES = 5 << 20 };
void kernel_calls_init(uint8_t *memory);

/* Fills the inputs as the op reads them, always the same. */
void kernel_call_fill(const struct kernel_call *call);

/* `ahead` goes to a gemv. */
void kernel_call_run(const struct kernel_call *call, void (*function)(void), size_t ahead);

/* A function that returns at once, to measure the call itself. */
void kernel_call_nothing(void);

#endif
