/* The DMA engine beside Arasan's controller, whose caches nobody keeps coherent: which lines are
 * flushed before it starts and after it ended. Its registers are memory here. */
#include "board/drivers/dma/bcm_dma.h"

#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/tap.h"

enum { CHANNEL = 5, STATUS = CHANNEL * 0x100 / 4, BLOCK = STATUS + 1, BYTES = 4096 };
enum { ACTIVE = 1 << 0, END = 1 << 1, ERROR = 1 << 8 };

static uint32_t engine[BCM_DMA_BYTES / 4];
static _Alignas(DMA_LOG_LINE) uint8_t to[BYTES + DMA_LOG_LINE];
static struct bcm_dma dma;
static unsigned n_late; /* barriers while the channel runs */

static void look(void)
{
    n_late += (engine[STATUS] & ACTIVE) != 0;
}

static void open_channel(void)
{
    struct dma_window window = { .offset = 0xc0000000, .end = UINT64_MAX, .coherent = false };

    memset(engine, 0, sizeof engine);
    bcm_dma_init(&dma, (uintptr_t)engine, CHANNEL, BCM_DREQ_EMMC, &window);
    engine[STATUS] = 0;
    dma_log.n = 0;
    dma_log.ordered = look;
    n_late = 0;
}

static void test_transfer(void)
{
    open_channel();
    OK(engine[0xff0 / 4] == 1u << CHANNEL, "the channel is enabled");
    OK(bcm_dma_start(&dma, 0x3f300020, to, BYTES) && (engine[STATUS] & ACTIVE),
       "the channel starts");
    OK(dma.block[1] == 0x7e300020 && dma.block[2] == (uint32_t)((uintptr_t)to + 0xc0000000) &&
           dma.block[3] == BYTES && engine[BLOCK] == (uint32_t)((uintptr_t)dma.block + 0xc0000000),
       "bytes go from the port to the buffer, by the bus's addresses");
    OK(dma_log_flushed(to, BYTES, 0, dma_log.n) && n_late == 0,
       "the buffer is flushed before the transfer");
    OK(dma_log_flushed(dma.block, sizeof dma.block, 0, dma_log.n),
       "the control block is flushed before the transfer");
    dma_log.n = 0;
    OK(bcm_dma_poll(&dma) == ERR_BUSY && dma_log.n == 0,
       "nothing is flushed while the engine runs");
    engine[STATUS] = END;
    OK(bcm_dma_poll(&dma) == ERR_OK && dma_log_flushed(to, BYTES, 0, dma_log.n),
       "the buffer is flushed after the transfer");
    engine[STATUS] = END | ERROR;
    OK(bcm_dma_poll(&dma) == ERR_IO, "an error of the channel is reported");
}

static void test_refused(void)
{
    open_channel();
    OK(!bcm_dma_start(&dma, 0x3f300020, to + 16, BYTES) &&
           !bcm_dma_start(&dma, 0x3f300020, to, BYTES - 16) && engine[STATUS] == 0,
       "lines that hold other data as well are not given to the engine");
}

int main(void)
{
    test_transfer();
    test_refused();
    return tap_done();
}
