/* One channel of the DMA engine of Broadcom's BCM2835 family (BCM2835 ARM Peripherals, chapter
 * 4); it copies a peripheral's data register to memory at the peripheral's pace. */
#ifndef INGOT_BOARD_DRIVERS_DMA_BCM_DMA_H
#define INGOT_BOARD_DRIVERS_DMA_BCM_DMA_H

#include <stdbool.h>
#include <stdint.h>

#include "board/drivers/dma/dma.h"
#include "board/err.h"

enum { BCM_DMA_BYTES = 0x1000 };      /* of the engine's registers */
enum bcm_dreq { BCM_DREQ_EMMC = 11 }; /* 4.2.1.3, peripheral DREQ signals */

struct bcm_dma {
    uintptr_t channel; /* its registers */
    enum bcm_dreq dreq;
    struct dma_window window;
    void *to; /* target of the transfer in progress */
    uint32_t bytes;
    _Alignas(64) uint32_t block[16]; /* the control block, in a separate cache line */
};

/* Take channel `number` (0 to 6, one that the firmware does not use) of the engine whose registers
 * are at mmio, mapped. The engine sees memory as the VideoCore does: window.offset is
 * 0xc0000000. */
void bcm_dma_init(struct bcm_dma *dma, uintptr_t mmio, unsigned number, enum bcm_dreq dreq,
                  const struct dma_window *window);

/* Functions for struct sdhci_mover; state is the struct bcm_dma. */
bool bcm_dma_start(void *state, uintptr_t port, void *to, uint32_t bytes);
enum err bcm_dma_poll(void *state);
void bcm_dma_stop(void *state);

#endif
