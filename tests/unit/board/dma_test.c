/* Which cache lines a flush takes, and which buffers a master that is not coherent may use. */
#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/tap.h"

static _Alignas(DMA_LOG_LINE) uint8_t place[8 * DMA_LOG_LINE];

static void test_lines(size_t at, size_t bytes, size_t first, size_t lines)
{
    const struct dma_event *e = dma_log.events;

    dma_log.n = 0;
    dma_flush(place + at, bytes);
    OK(dma_log.n == 3 && e[0].kind == DMA_FLUSHED && e[0].at == (uintptr_t)place + first * 64 &&
           e[0].value == lines * 64,
       "%zu bytes at %zu flush lines %zu to %zu", bytes, at, first, first + lines - 1);
    OK(e[1].kind == DMA_FLUSH_ENDED && e[2].kind == DMA_ORDERED,
       "an end is flushed before it is ordered");
}

static void test_flush(void)
{
    test_lines(0, 64, 0, 1);
    test_lines(0, 65, 0, 2);
    test_lines(63, 1, 0, 1);
    test_lines(63, 2, 0, 2);
    test_lines(64, 128, 1, 2);
    test_lines(100, 200, 1, 4);
    dma_log.n = 0;
    dma_flush(place, 0);
    OK(dma_log.events[0].kind != DMA_FLUSHED, "an order of no bytes flushes no line");
}

static void test_sync(void)
{
    struct dma_window w = { .offset = 0, .end = UINT64_MAX, .coherent = true };

    dma_log.n = 0;
    dma_sync(&w, place, 64);
    OK(dma_log.n == 1 && dma_log.events[0].kind == DMA_ORDERED,
       "coherent memory needs only the order");
    w.coherent = false;
    dma_log.n = 0;
    dma_sync(&w, place, 64);
    OK(dma_log_flushed(place, 64, 0, dma_log.n), "memory that is not coherent is flushed");
    OK(dma_log.events[0].kind == DMA_ORDERED,
       "the data are ordered after the register that says that they may be read");
}

static void test_reach(void)
{
    struct dma_window w = { .offset = 0, .end = (uintptr_t)place + 256, .coherent = true };

    OK(dma_reaches(&w, place, 256) && dma_reaches(&w, place + 1, 1),
       "any bytes below the end of coherent memory are reached");
    OK(!dma_reaches(&w, place, 257) && !dma_reaches(&w, place + 256, 0),
       "coherent memory ends at its last byte");
    w.coherent = false;
    OK(dma_reaches(&w, place + 64, 128), "memory that is not coherent needs whole lines");
    OK(!dma_reaches(&w, place + 64, 100) && !dma_reaches(&w, place + 32, 64) &&
           !dma_reaches(&w, place + 32, 32),
       "a line that holds other data is not the master's");
}

int main(void)
{
    test_flush();
    test_sync();
    test_reach();
    return tap_done();
}
