/* Order between the cores' memory accesses and a bus master. C11 fences order memory between
 * cores only: on riscv64 they leave device accesses out, on arm64 they stop at the inner
 * shareable domain. */
#ifndef INGOT_BOARD_DRIVERS_DMA_H
#define INGOT_BOARD_DRIVERS_DMA_H

#include <stdatomic.h>

/* Every access to memory or a device before the call is seen before every one after it. */
#if defined(__aarch64__)
static inline void dma_barrier(void)
{
    __asm__ volatile("dmb osh" ::: "memory"); /* Arm ARM (DDI 0487) B2.3.12 */
}
#elif defined(__riscv)
static inline void dma_barrier(void)
{
    __asm__ volatile("fence iorw, iorw" ::: "memory"); /* unprivileged ISA, section 2.7 */
}
#else
static inline void dma_barrier(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}
#endif

#endif
