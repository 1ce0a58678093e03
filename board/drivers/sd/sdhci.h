/* SD host controllers by the SD Host Controller Simplified Specification 4.20 ("host"), or by an
 * earlier version of it, from 2 on. ADMA2, SDMA or a polling core moves data, over 4 lines (8 for
 * eMMC), with high speed and UHS-I with tuning. All registers are read and written as 32 bits,
 * which every controller of the family accepts. */
#ifndef INGOT_BOARD_DRIVERS_SD_SDHCI_H
#define INGOT_BOARD_DRIVERS_SD_SDHCI_H

#include <stdbool.h>
#include <stdint.h>

#include "board/drivers/dma/dma.h"
#include "board/drivers/sd/sd_host.h"
#include "board/err.h"

enum { SDHCI_REGISTER_BYTES = 0x100 };

enum sdhci_quirk {
    SDHCI_NO_DETECT = 1 << 0,   /* the slot's switch is not wired to the controller */
    SDHCI_NO_DMA = 1 << 1,      /* whatever the capabilities say */
    SDHCI_NO_1V8 = 1 << 2,      /* the board cannot switch the card's signals */
    SDHCI_NO_HIGH_BIT = 1 << 3, /* for 50 MHz do not set the High Speed Enable bit, which harms this
                                   controller */
    SDHCI_NO_BUSY_EVENT = 1 << 6, /* Transfer Complete may come while the card is still busy */
    SDHCI_WRITE_GAP = 1 << 4,     /* two register writes must be two card clocks apart (BCM2835) */
    SDHCI_8_BITS = 1 << 5,        /* eight data lines are wired, to an eMMC */
    SDHCI_SLOW_GAP = 1 << 7,      /* as SDHCI_WRITE_GAP, while the card's clock is at most 400 kHz
                                (BCM2711) */
    SDHCI_ONLY_1V8 = 1 << 8,      /* the signals are always at 1.8 V, as an eMMC allows */
};

/* A DMA engine for a controller that has none: it copies the data port to memory. */
struct sdhci_mover {
    void *state;
    /* Move `bytes` from the register at `port` to `to`. Returns false if a core must do it. */
    bool (*start)(void *state, uintptr_t port, void *to, uint32_t bytes);
    enum err (*poll)(void *state); /* ERR_BUSY, ERR_OK, ERR_IO */
    void (*stop)(void *state);
};

/* A board's facts about its controller. */
struct sdhci_setup {
    uintptr_t mmio;   /* mapped, SDHCI_REGISTER_BYTES */
    uint32_t quirks;  /* enum sdhci_quirk */
    uint32_t base_hz; /* the controller's clock; 0: as in its capabilities */
    uint32_t max_hz;  /* highest clock of the card; 0: the board sets no limit */
    uint32_t min_hz;  /* lowest clock of the card; 0: no limit */
    struct dma_window window;
    const struct sdhci_mover *mover; /* NULL: none */
    void *context;                   /* for the three functions below */
    void (*switch_power)(void *context,
                         bool on); /* switches the card's supply; NULL if the controller does so */
    enum err (*switch_1v8)(void *context,
                           bool on); /* switches the signals' supply; NULL if the controller does */
    void (*prepare_timing)(void *context, enum sd_timing timing); /* called while the card's clock
                                                                     is stopped; NULL: nothing to
                                                                     do */
    enum err (*identify_emmc)(struct sd_host *host,
                              struct sd_card *card); /* sd_emmc_identify, or NULL: never an eMMC */
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
};

enum sdhci_path { SDHCI_PIO, SDHCI_SDMA, SDHCI_ADMA, SDHCI_MOVER };

enum { SDHCI_MAX_BLOCKS = 2048, SDHCI_TABLE_BYTES = 17 * 16 };

struct sdhci {
    struct sd_host host; /* must be first: the card sees only this */
    struct sdhci_setup setup;
    uint32_t version; /* 1: 2.00, 2: 3.00, 3: 4.00, ... (host 2.3.16) */
    uint32_t
        descriptor_bytes; /* size of an ADMA2 descriptor: 8, 12 (64 bits) or 16 (64 bits, version 4); 0: none */
    bool has_sdma;
    uint32_t base_hz;
    uint32_t clock_hz;          /* of the card, now */
    uint32_t gap_hz;            /* the slower one of clock_hz and the clock that is being set */
    uint64_t written_at;        /* time of the last write, for the gap */
    struct sd_command *command; /* in progress, or NULL */
    enum sdhci_path path;       /* of its data */
    uint32_t waits_for;         /* bits of Normal Interrupt Status that are still expected */
    uint32_t blocks_left;       /* SDHCI_PIO */
    uint64_t next_address;      /* SDHCI_SDMA: the next address at which the controller stops */
    bool mover_runs;
    _Alignas(64) uint8_t table[SDHCI_TABLE_BYTES]; /* ADMA2's descriptors */
};

/* Reset the controller and fill s->host for sd_card_open. ERR_NO_DEVICE: its registers are not
 * there; ERR_TIMEOUT: it does not leave reset. */
enum err sdhci_open(struct sdhci *s, const struct sdhci_setup *setup);

/* Call it before the machine restarts. If the board switches the signals' supply, power the card
 * off and on at 3.3 V, because the firmware cannot start a card whose signals are at 1.8 V.
 * Transfers in progress then never end. Blocks for 20 ms, and 100 ms more if the controller does
 * not reset. */
void sdhci_close(struct sdhci *s);

#endif
