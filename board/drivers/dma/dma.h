/* Orders memory accesses between the cores and a bus master. C11 fences only order memory between
 * cores: on riscv64 they do not cover device accesses, on arm64 they end at the inner shareable
 * domain. Also maintains caches for a bus master that does not snoop them. */
#ifndef INGOT_BOARD_DRIVERS_DMA_DMA_H
#define INGOT_BOARD_DRIVERS_DMA_DMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Drivers call dma_barrier and dma_flush. A program under Linux has no bus master, so a test
 * supplies these functions, and records the order in which a driver flushes lines and accesses
 * registers (tests/unit/board/fakes/dma_log.h). */
#if !defined(INGOT_FREESTANDING)

void dma_barrier(void);
size_t dma_cache_line_bytes(void);
void dma_flush_line(uintptr_t line);
void dma_flush_end(void);

#elif defined(__aarch64__)

/* Order accesses: those to memory or devices before the call are seen before those after it. */
static inline void dma_barrier(void)
{
    __asm__ volatile("dmb osh" ::: "memory"); /* DDI 0487, DMB */
}

static inline size_t dma_cache_line_bytes(void)
{
    uint64_t type;

    __asm__ volatile("mrs %0, ctr_el0" : "=r"(type));
    return (size_t)4 << (type >> 16 & 15); /* DminLine, log2 of words (DDI 0487, CTR_EL0) */
}

static inline void dma_flush_line(uintptr_t line)
{
    __asm__ volatile("dc civac, %0" ::"r"(line) : "memory");
}

static inline void dma_flush_end(void)
{
    __asm__ volatile("dsb sy" ::: "memory");
}

#else

static inline void dma_barrier(void)
{
    __asm__ volatile("fence iorw, iorw" ::: "memory"); /* unprivileged ISA, section 2.7 */
}

#endif

/* Write back and invalidate every cache line of [at, at + bytes). Call it before a bus master that
 * is not coherent reads or writes there, and again after it wrote, because a core may have fetched
 * a line meanwhile. Other data in these lines stay correct. Does nothing on riscv64, all of whose
 * boards have coherent DMA. */
#if defined(INGOT_FREESTANDING) && defined(__riscv)
static inline void dma_flush(const void *at, size_t bytes)
{
    (void)at;
    (void)bytes;
    dma_barrier();
}
#else
static inline void dma_flush(const void *at, size_t bytes)
{
    uintptr_t line = dma_cache_line_bytes(), end = (uintptr_t)at + bytes;

    for (uintptr_t p = (uintptr_t)at & ~(line - 1); p < end; p += line)
        dma_flush_line(p);
    dma_flush_end();
    dma_barrier();
}
#endif

/* How a bus master sees memory: the master's address is a core's address plus `offset`, for cores'
 * addresses below `end`. The cores' caches hide memory from a master that is not coherent. */
struct dma_window {
    uint64_t offset;
    uint64_t end;
    bool coherent;
};

enum { DMA_LINE_BYTES = 64 }; /* a multiple of every known core's line length */

/* True if the master can write these bytes without harming data next to them. If the master is not
 * coherent, the cache lines of these bytes must hold no other data, which a core may write
 * meanwhile. */
static inline bool dma_reaches(const struct dma_window *w, const void *buffer, size_t bytes)
{
    uint64_t start = (uintptr_t)buffer;

    return start < w->end && bytes <= w->end - start &&
           (w->coherent || (start % DMA_LINE_BYTES == 0 && bytes % DMA_LINE_BYTES == 0));
}

static inline uint64_t dma_address(const struct dma_window *w, const void *buffer)
{
    return (uintptr_t)buffer + w->offset;
}

/* Order accesses, then call dma_flush if the master needs it. Call this before the master reads or
 * writes these bytes, and again after it wrote them. Ordering comes first, because a line that is
 * invalidated before the read of "done" ends may be fetched again too early. */
static inline void dma_sync(const struct dma_window *w, const void *buffer, size_t bytes)
{
    dma_barrier();
    if (!w->coherent)
        dma_flush(buffer, bytes);
}

#endif
