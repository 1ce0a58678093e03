/* Sections are those of BCM2835 ARM Peripherals, chapter 4. */
#include "board/drivers/dma/bcm_dma.h"

#include <string.h>

enum {
    CHANNEL_BYTES = 0x100, /* 4.2.1.2 */
    REG_STATUS = 0x00,
    REG_BLOCK = 0x04,
    REG_DEBUG = 0x20,
    REG_ENABLE = 0xff0, /* one bit for each channel of the engine */
};

enum {
    STATUS_ACTIVE = 1 << 0,
    STATUS_END = 1 << 1, /* this bit and the next are cleared by writing 1 */
    STATUS_INTERRUPT = 1 << 2,
    STATUS_ERROR = 1 << 8,
    STATUS_PRIORITY = 8 << 16,
    STATUS_PANIC_PRIORITY = 15 << 20,
    STATUS_WAIT_WRITES = 1 << 28,
};
#define STATUS_RESET (1u << 31)

enum {
    INFO_WAIT_RESPONSE = 1 << 3,
    INFO_TO_INCREMENT = 1 << 4,
    INFO_TO_128_BITS = 1 << 5,
    INFO_FROM_DREQ = 1 << 10,
    INFO_DREQ_SHIFT = 16,
};

enum { DEBUG_ERRORS = 7 };                                        /* writing ones clears them */
enum { PERIPHERALS = 0x7e000000, PERIPHERALS_MASK = 0x00ffffff }; /* 1.2.3: their bus addresses */

static volatile uint32_t *channel_reg(const struct bcm_dma *dma, unsigned reg)
{
    return (volatile uint32_t *)(dma->channel + reg);
}

void bcm_dma_init(struct bcm_dma *dma, uintptr_t mmio, unsigned number, enum bcm_dreq dreq,
                  const struct dma_window *window)
{
    memset(dma, 0, sizeof *dma);
    dma->channel = mmio + (uintptr_t)number * CHANNEL_BYTES;
    dma->dreq = dreq;
    dma->window = *window;
    /* A firmware may have left the channel off. */
    *(volatile uint32_t *)(mmio + REG_ENABLE) |= 1u << number;
    bcm_dma_stop(dma);
}

bool bcm_dma_start(void *state, uintptr_t port, void *to, uint32_t bytes)
{
    struct bcm_dma *dma = state;

    /* The engine writes 128 bits at a time, so the buffer must be aligned. */
    if (!dma_reaches(&dma->window, to, bytes) || (uintptr_t)to % 16 != 0)
        return false;
    dma->to = to;
    dma->bytes = bytes;
    memset(dma->block, 0, sizeof dma->block);
    dma->block[0] = INFO_WAIT_RESPONSE | INFO_TO_INCREMENT | INFO_TO_128_BITS | INFO_FROM_DREQ |
                    (uint32_t)dma->dreq << INFO_DREQ_SHIFT;
    dma->block[1] = (uint32_t)(port & PERIPHERALS_MASK) | PERIPHERALS;
    dma->block[2] = (uint32_t)dma_address(&dma->window, to);
    dma->block[3] = bytes; /* the other words are 0: no stride, no next block */
    dma_sync(&dma->window, to, bytes);
    dma_sync(&dma->window, dma->block, sizeof dma->block);
    /* Write the block's address first, then ACTIVE: the engine reads the block at once. */
    *channel_reg(dma, REG_BLOCK) = (uint32_t)dma_address(&dma->window, dma->block);
    *channel_reg(dma, REG_STATUS) = STATUS_ACTIVE | STATUS_PRIORITY | STATUS_PANIC_PRIORITY |
                                    STATUS_WAIT_WRITES;
    return true;
}

enum err bcm_dma_poll(void *state)
{
    struct bcm_dma *dma = state;
    uint32_t status = *channel_reg(dma, REG_STATUS);

    if (status & STATUS_ERROR)
        return ERR_IO;
    if ((status & STATUS_ACTIVE) || !(status & STATUS_END))
        return ERR_BUSY;
    *channel_reg(dma, REG_STATUS) = STATUS_END | STATUS_INTERRUPT;
    dma_sync(&dma->window, dma->to, dma->bytes);
    return ERR_OK;
}

/* RESET ends the transfer and clears itself (4.2.1.2); errors are cleared in DEBUG. */
void bcm_dma_stop(void *state)
{
    const struct bcm_dma *dma = state;

    *channel_reg(dma, REG_STATUS) = STATUS_RESET;
    for (unsigned i = 0; i < 1000 && (*channel_reg(dma, REG_STATUS) & STATUS_RESET); i++)
        continue;
    *channel_reg(dma, REG_DEBUG) = DEBUG_ERRORS;
    dma_barrier();
}
