/* Replaces a core's caches and barriers (board/drivers/dma/dma.h): it records what drivers flush, in
 * which order with barriers and registers; and, for a piece of memory, what a bus master sees that
 * does not look into caches. Lines are 64 bytes. */
#ifndef INGOT_TESTS_UNIT_DMA_LOG_H
#define INGOT_TESTS_UNIT_DMA_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "board/drivers/dma/dma.h"

enum { DMA_LOG_EVENTS = 4096, DMA_LOG_LINE = 64 };

enum dma_event_kind { DMA_FLUSHED, DMA_FLUSH_ENDED, DMA_ORDERED, DMA_REGISTER };

struct dma_event {
    enum dma_event_kind kind;
    uintptr_t at;   /* DMA_FLUSHED: the first line; DMA_REGISTER: the register */
    uint64_t value; /* DMA_FLUSHED: bytes; DMA_REGISTER: what was written */
};

static struct dma_log {
    struct dma_event events[DMA_LOG_EVENTS];
    unsigned n;
    uint8_t *cores;   /* the memory as cores see it; NULL: all masters are coherent */
    uint8_t *memory;  /* the memory as the bus master sees it */
    uint8_t *fetched; /* contents when each line was fetched: a line that differs now is dirty */
    size_t bytes;     /* bytes of each of the three */
    void (*ordered)(void); /* called at each barrier; may be NULL */
} dma_log;

static inline void dma_log_add(enum dma_event_kind kind, uintptr_t at, uint64_t value)
{
    if (dma_log.n < DMA_LOG_EVENTS)
        dma_log.events[dma_log.n++] = (struct dma_event){ kind, at, value };
}

/* ---- what dma.h declares ---- */

void dma_barrier(void)
{
    dma_log_add(DMA_ORDERED, 0, 0);
    if (dma_log.ordered != NULL)
        dma_log.ordered();
}

size_t dma_cache_line_bytes(void)
{
    return DMA_LOG_LINE;
}

/* Writes a dirty line to memory, and fetches the line anew. */
static inline void dma_log_clean(size_t at)
{
    if (memcmp(dma_log.cores + at, dma_log.fetched + at, DMA_LOG_LINE) != 0)
        memcpy(dma_log.memory + at, dma_log.cores + at, DMA_LOG_LINE);
    memcpy(dma_log.cores + at, dma_log.memory + at, DMA_LOG_LINE);
    memcpy(dma_log.fetched + at, dma_log.memory + at, DMA_LOG_LINE);
}

void dma_flush_line(uintptr_t line)
{
    struct dma_event *last = dma_log.n > 0 ? &dma_log.events[dma_log.n - 1] : NULL;

    if (last != NULL && last->kind == DMA_FLUSHED && last->at + last->value == line)
        last->value += DMA_LOG_LINE; /* one range */
    else
        dma_log_add(DMA_FLUSHED, line, DMA_LOG_LINE);
    if (dma_log.cores != NULL && line - (uintptr_t)dma_log.cores < dma_log.bytes)
        dma_log_clean(line - (uintptr_t)dma_log.cores);
}

void dma_flush_end(void)
{
    dma_log_add(DMA_FLUSH_ENDED, 0, 0);
}

/* ---- a master that is not coherent ---- */

/* Begins with all of memory as cores have it. */
static inline void dma_log_watch(uint8_t *cores, uint8_t *memory, uint8_t *fetched, size_t bytes)
{
    dma_log.cores = cores;
    dma_log.memory = memory;
    dma_log.fetched = fetched;
    dma_log.bytes = bytes;
    memcpy(memory, cores, bytes);
    memcpy(fetched, cores, bytes);
}

/* Lets a cache write back a dirty line, which it may do at any time: over what the master wrote to
 * [at, at + bytes). */
static inline void dma_log_evict(size_t at, size_t bytes)
{
    size_t line = at / DMA_LOG_LINE * DMA_LOG_LINE;

    for (; line < at + bytes; line += DMA_LOG_LINE)
        if (memcmp(dma_log.cores + line, dma_log.fetched + line, DMA_LOG_LINE) != 0)
            memcpy(dma_log.memory + line, dma_log.cores + line, DMA_LOG_LINE);
}

/* The worst moment is after the master's write. */
static inline void dma_log_evict_all(void)
{
    if (dma_log.cores != NULL)
        dma_log_evict(0, dma_log.bytes);
}

/* Returns the address at which the master finds a byte that cores have at `at`. */
static inline void *dma_log_seen(uintptr_t at)
{
    if (dma_log.cores != NULL && at - (uintptr_t)dma_log.cores < dma_log.bytes)
        return dma_log.memory + (at - (uintptr_t)dma_log.cores);
    return (void *)at;
}

/* ---- questions ---- */

/* Whether a range among events [from, to), to <= dma_log.n, has all lines of these bytes, and the
 * flush was ended and ordered before event `to`. */
static inline bool dma_log_flushed(const void *at, size_t bytes, unsigned from, unsigned to)
{
    uintptr_t start = (uintptr_t)at, end = start + bytes;

    for (unsigned i = from; i + 2 < to; i++) {
        const struct dma_event *e = &dma_log.events[i];

        if (e->kind == DMA_FLUSHED && e->at <= start && e->at + e->value >= end)
            return e[1].kind == DMA_FLUSH_ENDED && e[2].kind == DMA_ORDERED;
    }
    return false;
}

#endif
