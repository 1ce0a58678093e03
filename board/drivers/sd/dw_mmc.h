/* The SD controller of Synopsys as a struct sd_host (DesignWare Cores Mobile Storage Host, 2.40a
 * and later), with its internal DMA controller for addresses of 32 or 64 bits. This driver never
 * ran on hardware; no emulator has the controller. The databook is not public: its names are taken
 * from public drivers. */
#ifndef INGOT_BOARD_DRIVERS_SD_DW_MMC_H
#define INGOT_BOARD_DRIVERS_SD_DW_MMC_H

#include <stdbool.h>
#include <stdint.h>

#include "board/drivers/dma/dma.h"
#include "board/drivers/sd/sd_host.h"
#include "board/err.h"

enum {
    DW_MMC_BYTES = 0x1000,
    DW_MMC_MAX_BLOCKS = 1024,
    DW_MMC_BUFFER_BYTES = 4096,
    DW_MMC_BUFFERS = DW_MMC_MAX_BLOCKS * 512 / DW_MMC_BUFFER_BYTES
};

struct dw_mmc_descriptor { /* a descriptor with addresses of 32 bits */
    uint32_t control, bytes, buffer, next;
};

struct dw_mmc_descriptor_64 {
    uint32_t control, reserved, bytes, reserved_2;
    uint32_t buffer[2], next[2]; /* the lower halves first */
};

struct dw_mmc_setup {
    uintptr_t mmio;           /* mapped, DW_MMC_BYTES */
    uint32_t clock_hz;        /* the controller's clock (ciu), as firmware has set it */
    uint32_t fifo_words;      /* a power of two */
    struct dma_window window; /* a core moves data beyond the window's end, and with 32-bit
                                 addresses beyond 4 GiB on the bus */
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
};

struct dw_mmc {
    struct sd_host host; /* must be first: the card sees only this */
    struct dw_mmc_setup setup;
    struct sd_command *command; /* in progress, or NULL */
    uint32_t waits_for;         /* bits of RINTSTS that are still expected */
    uint32_t words_left;        /* 4-byte words that a core still has to move; 0: DMA, or no data */
    bool has_dma, has_64_bits;  /* HCON: there is an internal DMA controller, and its addresses have
                                   64 bits */
    bool dma;                   /* DMA moves the current data */
    bool wakes;                 /* the next command sends 80 clocks first */
    _Alignas(64) union {
        struct dw_mmc_descriptor narrow[DW_MMC_BUFFERS];
        struct dw_mmc_descriptor_64 wide[DW_MMC_BUFFERS];
    } table;
};

/* Reset the controller and fill d->host for sd_card_open. ERR_NO_DEVICE: the registers are not
 * there; ERR_TIMEOUT: the controller does not leave reset. */
enum err dw_mmc_open(struct dw_mmc *d, const struct dw_mmc_setup *setup);

#endif
