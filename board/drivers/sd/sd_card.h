/* An SD card or eMMC as a block device: requests wait in a queue, one command moves one request,
 * and failed requests are tried again. struct sd_host hides the kind of bus. */
#ifndef INGOT_BOARD_DRIVERS_SD_SD_CARD_H
#define INGOT_BOARD_DRIVERS_SD_SD_CARD_H

#include <stdbool.h>
#include <stdint.h>

#include "board/block_device.h"
#include "board/drivers/sd/sd_facts.h"
#include "board/drivers/sd/sd_host.h"
#include "board/err.h"

enum { SD_CARD_DEPTH = 8, SD_CARD_MAX_SECTORS = 1024 };

enum sd_card_state {
    SD_CARD_IDLE,
    SD_CARD_MOVE,  /* CMD17, 18, 24 or 25 in progress */
    SD_CARD_STOP,  /* CMD12 after it */
    SD_CARD_STORE, /* CMD13 after a write, until the card has stored the data */
    SD_CARD_WAIT,  /* between two tries */
    SD_CARD_LOST,  /* the card is removed or silent: the next submit looks for it again */
};

/* Speeds, from the fastest (Physical Layer 3.9). After failures the next slower speed is used. */
enum sd_rung {
    SD_RUNG_SDR104,
    SD_RUNG_DDR50, /* 50 MB/s like SDR50, at half the clock and without tuning; Linux has the same
                      order */
    SD_RUNG_SDR50,
    SD_RUNG_HIGH,
    SD_RUNG_DEFAULT,
};

struct sd_card {
    struct sd_host *host;
    struct sd_facts facts;
    uint16_t rca; /* the card's address on the bus */
    enum sd_card_state state;
    struct block_request *queue[SD_CARD_DEPTH]; /* a ring; the first request is on the bus */
    unsigned first, n_queued;
    struct sd_command command; /* in progress */
    unsigned tries;            /* failures of the first request so far */
    uint64_t polled_at, silent_ticks, wait_ticks;
    uint32_t moved;    /* host->moved at the last poll */
    uint32_t n_errors; /* errors since the start; for statistics and tests */
    uint32_t n_retunes;
    uint32_t hz; /* clock of the bus in use */
    unsigned bits;
    enum sd_timing timing;
    unsigned tune_index; /* the tuning command of the current timing; 0: none */
    uint64_t tuned_at, lost_at;
    enum err lost;     /* why the card is lost */
    bool needs_stop;   /* CMD12 follows the current transfer */
    enum sd_rung rung; /* in use */
    enum sd_rung best; /* speed to try first; errors occurred at faster ones */
    const char *why;   /* an error message if the card is there but cannot be used */
    char name[40];
    uint8_t scratch[SD_EXT_CSD_BYTES] __attribute__((aligned(64))); /* SCR, switch, EXT_CSD */
};

/* Start the card on an open host and fill *out. kind and address make the device's name, as in
 * device_name_set. If no card can be used, out->error_message says why. Blocks for up to two
 * seconds, because a card may take so long to start. */
void sd_card_open(struct sd_card *card, struct sd_host *host, const char *kind, uintptr_t address,
                  struct block_device *out);

/* For block_device.facts: report the registers of controller and card, and the current state of the
 * bus. */
void sd_card_facts(const void *card, const struct facts *f);
/* Let the next start use the next slower speed, because errors occurred at the current one. */
void sd_card_step_down(struct sd_card *card);

/* For host->ops->identify of a controller with an SD bus: start an SD card of any size, and set the
 * bus to the best speed that both sides support. ERR_NO_DEVICE: no card answers. */
enum err sd_bus_identify(struct sd_host *host, struct sd_card *card);

/* For host->identify_emmc: the same for an eMMC. */
enum err sd_emmc_identify(struct sd_host *host, struct sd_card *card);

#endif
